// SPDX-License-Identifier: Apache-2.0
// A GPU: its primary context, which is also that of CUDA's runtime and all who use it in this process, memory, modules loaded from
// PTX, streams and events. Null is the legacy default stream; our own streams do not wait for it.
#include <algorithm>
#include <limits>

#include "backend/cuda/cuda.h"
#include "backend/cuda/driver.h"
#include "backend/slots.h"
#include "base/error.h"

namespace strider {
namespace {

constexpr int64_t kStaticSharedLimit = 48 << 10;  // more must be asked for

int attribute(int device, CudaDeviceAttribute what) {
  int value = 0;
  cuda_driver().device_attribute(&value, what, device);
  return value;
}

/// The newest known target that a GPU of this compute capability runs.
Target target_for(int device) {
  const int capability = 10 * attribute(device, kCudaMajor) + attribute(device, kCudaMinor);
  std::vector<Target> all = cuda_targets();
  auto newer = std::ranges::find_if(all, [&](const Target& t) { return t.level > capability; });
  if (newer == all.begin()) unsupported_error("cuda:{}: compute capability {} is older than any that is supported", device, capability);
  return *--newer;
}

/// Makes the device's context current in this thread, and the one before it again at the end: a host may use others.
class Current {
 public:
  explicit Current(CudaContext context) {
    cuda_driver().context_get(&before_);
    changed_ = before_ != context;
    if (changed_) cuda_driver().context_set(context);
  }
  ~Current() {
    if (changed_) cuda_driver().context_set.result(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  CudaContext before_ = nullptr;
  bool changed_;
};

/// Options for the driver's compiler, and what it says.
class CompilerOptions {
 public:
  explicit CompilerOptions(const Binary& binary) : name_(binary.entry), count_(binary.is_quick ? 3 : 2) {}
  unsigned count() const { return count_; }
  int* options() { return options_; }
  void** values() { return values_; }

  /// Calls f; an error carries the compiler's words.
  template <class F>
  void explaining(F&& f) {
    try {
      f();
    } catch (const Error& error) {
      driver_error("{}: {}; {}", name_, error.what(), log_.c_str());
    }
  }

 private:
  static constexpr uintptr_t kLogBytes = 4096;
  const std::string& name_;
  unsigned count_;
  std::string log_ = std::string(kLogBytes, '\0');
  int options_[3] = {kCudaErrorLog, kCudaErrorLogBytes, kCudaOptimization};  // the last one asks for the least
  void* values_[3] = {log_.data(), reinterpret_cast<void*>(kLogBytes), reinterpret_cast<void*>(uintptr_t{0})};
};

/// Loads PTX, or what link() gave.
CudaModule load_module(const Binary& binary) {
  std::string code(binary.code.begin(), binary.code.end());
  CompilerOptions options(binary);
  CudaModule module = nullptr;
  options.explaining(
      [&] { cuda_driver().module_load(&module, code.c_str(), options.count(), options.options(), options.values()); });
  return module;
}

/// PTX to code for the current device.
std::vector<char> link(const Binary& binary) {
  std::string ptx(binary.code.begin(), binary.code.end());
  CompilerOptions options(binary);  // the link writes to them until it is destroyed
  struct Link {
    CudaLink handle = nullptr;
    ~Link() {
      if (handle) cuda_driver().link_destroy.result(handle);
    }
  } link;
  void* code = nullptr;
  size_t bytes = 0;
  options.explaining([&] {
    cuda_driver().link_create(options.count(), options.options(), options.values(), &link.handle);
    cuda_driver().link_add(link.handle, kCudaPtx, ptx.data(), ptx.size() + 1, binary.entry.c_str(), 0, nullptr, nullptr);
    cuda_driver().link_complete(link.handle, &code, &bytes);
  });
  return {static_cast<char*>(code), static_cast<char*>(code) + bytes};  // the link owns it
}

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(const Binary& binary, CudaContext context, const Grid& grid_limit)
      : context_(context), grid_limit_(grid_limit), binary_(binary) {
    Current current(context_);
    module_ = load_module(binary);
    binary_.code.clear();
    try {
      find_function();
    } catch (...) {
      cuda_driver().module_unload.result(module_);
      throw;
    }
  }
  ~CudaExecutable() override {
    try {
      Current current(context_);
      cuda_driver().module_unload.result(module_);
    } catch (const Error&) {
      // The context is gone, and the module with it.
    }
  }

  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle stream) override {
    check_arguments(binary_, args.size());
    if (count_programs(binary_.entry, grid, grid_limit_) == 0) return;
    Current current(context_);
    void* pointers[kMostCudaArguments];
    if (args.size() > kMostCudaArguments)
      unsupported_error("{}: {} arguments, at most {} are possible", binary_.entry, args.size(), kMostCudaArguments);
    for (size_t k = 0; k < args.size(); ++k) pointers[k] = const_cast<uint64_t*>(&args[k]);
    auto size = [&](int axis) { return static_cast<unsigned>(grid[static_cast<size_t>(axis)]); };
    cuda_driver().launch(function_, size(0), size(1), size(2), static_cast<unsigned>(binary_.threads), 1, 1,
                         static_cast<unsigned>(binary_.scratch_bytes), static_cast<CudaStream>(stream), pointers, nullptr);
  }

 private:
  void find_function() {
    cuda_driver().module_function(&function_, module_, binary_.entry.c_str());
    if (binary_.scratch_bytes > kStaticSharedLimit)
      cuda_driver().function_attribute(function_, kCudaDynamicSharedBytes, static_cast<int>(binary_.scratch_bytes));
  }

  CudaContext context_;
  const Grid grid_limit_;
  CudaModule module_ = nullptr;
  CudaFunction function_ = nullptr;
  Binary binary_;
};

/// A moment on a stream, taken by the device's own clock.
class Event {
 public:
  Event() { cuda_driver().event_create(&event_, kCudaTiming); }
  ~Event() { cuda_driver().event_destroy.result(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(CudaStream stream) const { cuda_driver().event_record(event_, stream); }
  /// Waits until both have passed.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    cuda_driver().event_synchronize(event_);
    cuda_driver().event_elapsed(&milliseconds, start.event_, event_);
    return milliseconds / 1e3;
  }

 private:
  CudaEvent event_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {
    cuda_driver().device_get(&device_, ordinal);
    target_ = target_for(device_);
    cuda_driver().context_retain(&context_, device_);
  }

  std::string name() const override { return fmt::format("cuda:{}", ordinal_); }
  std::string description() const override {
    char name[256] = {};
    size_t bytes = 0;
    int version = 0;
    cuda_driver().device_name(name, sizeof name - 1, device_);
    cuda_driver().device_memory(&bytes, device_);
    cuda_driver().driver_version(&version);
    return fmt::format("{}, {} multiprocessors, {:.1f} GiB, CUDA {}.{}, {}", name, attribute(device_, kCudaMultiprocessors),
                       static_cast<double>(bytes) / (1 << 30), version / 1000, version % 1000 / 10, target_.processor);
  }
  const Target& target() const override { return target_; }

  std::unique_ptr<Executable> load(const Binary& binary) override {
    check_runs(target_, binary);
    return std::make_unique<CudaExecutable>(binary, context_, target_.grid_limit);
  }

  /// Quick code is linked. Fast code stays PTX: linked it is slower (row softmax took 58.6 instead of 43.1 us, driver 13.0).
  Binary finished(Binary binary) override {
    if (!binary.is_quick) return binary;
    Current current(context_);
    binary.code = link(binary);
    return binary;
  }
  std::string driver_version() const override {
    int version = 0;
    cuda_driver().driver_version(&version);
    return fmt::format("{}, compute capability {}.{}", version, attribute(device_, kCudaMajor), attribute(device_, kCudaMinor));
  }

  void* allocate(int64_t bytes) override {
    if (bytes < 0) user_error("{}: allocation of {} bytes", name(), bytes);
    Current current(context_);
    CudaPointer pointer = 0;
    cuda_driver().memory_allocate(&pointer, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
    return reinterpret_cast<void*>(pointer);
  }
  void release(void* memory) noexcept override {
    if (!memory) return;
    try {
      Current current(context_);
      cuda_driver().memory_free.result(reinterpret_cast<CudaPointer>(memory));
    } catch (const Error&) {
      // The context is gone, and its memory with it.
    }
  }

  void copy_in(void* device, const void* host, int64_t bytes, StreamHandle stream) override {
    Current current(context_);
    cuda_driver().copy_to_device(reinterpret_cast<CudaPointer>(device), host, static_cast<size_t>(bytes), cuda(stream));
    cuda_driver().stream_synchronize(cuda(stream));  // memory of the host that is pinned is read later
  }
  void copy_out(void* host, const void* device, int64_t bytes, StreamHandle stream) override {
    Current current(context_);
    cuda_driver().copy_to_host(host, reinterpret_cast<CudaPointer>(device), static_cast<size_t>(bytes), cuda(stream));
    cuda_driver().stream_synchronize(cuda(stream));
  }
  void fill_zero(void* device, int64_t bytes, StreamHandle stream) override {
    Current current(context_);
    cuda_driver().fill_bytes(reinterpret_cast<CudaPointer>(device), 0, static_cast<size_t>(bytes), cuda(stream));
  }
  void synchronize() override {
    Current current(context_);
    cuda_driver().context_synchronize();
  }
  double time(const std::function<void()>& work, StreamHandle stream) override {
    Current current(context_);
    cuda_driver().context_synchronize();
    Event start, end;
    start.record(cuda(stream));
    work();
    end.record(cuda(stream));
    return end.seconds_since(start);
  }

  bool has_streams() const override { return true; }
  StreamHandle make_stream() override {
    Current current(context_);
    CudaStream stream = nullptr;
    cuda_driver().stream_create(&stream, kCudaNonBlocking);
    return stream;
  }
  void end_stream(StreamHandle stream) noexcept override { cuda_driver().stream_destroy.result(cuda(stream)); }

  StreamHandle adopt_stream(void* native) override {
    const auto number = reinterpret_cast<uintptr_t>(native);
    if (number <= kLegacyStream) return nullptr;
    if (number == kPerThreadStream)
      user_error("{}: the per-thread default stream is another one in each thread, expected a stream that was created", name());
    Current current(context_);
    CudaContext context = nullptr;
    cuda_driver().stream_context(static_cast<CudaStream>(native), &context);
    if (context != context_) user_error("{}: the stream is not of the device's primary context", name());
    return native;
  }
  void synchronize_stream(StreamHandle stream) override {
    Current current(context_);
    cuda_driver().stream_synchronize(cuda(stream));
  }
  bool is_idle(StreamHandle stream) override {
    Current current(context_);
    return is_done(cuda_driver().stream_query.result(cuda(stream)), cuda_driver().stream_query.symbol());
  }

  EventHandle record(StreamHandle stream) override {
    Current current(context_);
    CudaEvent event = nullptr;
    cuda_driver().event_create(&event, kCudaNoTiming);
    if (int result = cuda_driver().event_record.result(event, cuda(stream))) {
      end_event(event);
      throw_cuda_error(cuda_driver().event_record.symbol(), result);
    }
    return event;
  }
  void end_event(EventHandle event) noexcept override {
    if (event) cuda_driver().event_destroy.result(static_cast<CudaEvent>(event));
  }
  bool has_passed(EventHandle event) override {
    return !event || is_done(cuda_driver().event_query.result(static_cast<CudaEvent>(event)), cuda_driver().event_query.symbol());
  }
  void wait(StreamHandle stream, EventHandle event) override {
    if (!event) return;
    Current current(context_);
    cuda_driver().stream_wait(cuda(stream), static_cast<CudaEvent>(event), 0);
  }
  void synchronize_event(EventHandle event) override {
    if (event) cuda_driver().event_synchronize(static_cast<CudaEvent>(event));
  }

 private:
  /// Numbers that CUDA gives to handles of the legacy default stream, besides 0, and of the calling thread's default stream.
  static constexpr uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

  static CudaStream cuda(StreamHandle stream) { return static_cast<CudaStream>(stream); }
  static bool is_done(int result, const char* symbol) {
    if (result != 0 && result != kCudaNotReady) throw_cuda_error(symbol, result);
    return result == 0;
  }

  int ordinal_, device_ = 0;
  CudaContext context_ = nullptr;
  Target target_;
};

}  // namespace

int cuda_device_count() noexcept {
  try {
    int count = 0;
    cuda_driver().device_count(&count);
    return count;
  } catch (const Error&) {
    return 0;
  }
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  int count = 0;
  cuda_driver().device_count(&count);
  if (ordinal < 0 || ordinal >= count) user_error("there is no device cuda:{}; the driver shows {}", ordinal, count);
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace strider
