// SPDX-License-Identifier: Apache-2.0
// The CPU back end: every lane case against the interpreter, on every level of processor that this machine has, and what a
// launch promises.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <fstream>
#include <iterator>
#include <thread>

#include "backend/lane_cases.h"
#include "base/error.h"
#include "ir/builder.h"

namespace strider::backend_test {
namespace {

using namespace ir;

std::vector<Target> runnable_targets() {
  std::vector<Target> all;
  for (const std::string& name : known_targets())
    if (Target t = target_named(name); host_target().runs(t)) all.push_back(t);
  return all;
}

TEST(Cpu, AgreesWithTheInterpreter) {
  for (const Case& c : lane_cases(1)) {
    std::vector<Buffer> wanted = interpret(c);
    for (const Target& target : runnable_targets())
      EXPECT_EQ(difference(c, wanted, run(c, device_named("cpu"), target)), "") << target.name;
  }
}

/// y[i] = x[i] + 1 for the i below n, blocks of `lanes` elements under a mask.
Function add_one(DType dtype, int lanes, int log2_align = 0) {
  Builder b("add_one");
  Value x = b.param(Type::pointer(dtype), {.name = "x", .read_only = true});
  Value y = b.param(Type::pointer(dtype), {.name = "y"}), n = b.param(Type::scalar(DType::I64), {.name = "n"});
  Value first = b.mul(b.cast(b.program_id(0), DType::I64), b.i64(lanes));
  Value place = b.add(b.broadcast(first, {lanes}), b.arange(DType::I64, 0, lanes));
  Value mask = b.binary(Op::Lt, place, b.broadcast(n, {lanes}));
  Value value = b.load_block(b.ptr_add(x, first), dtype, lanes, log2_align, mask);
  Value sum = b.add(value, b.constant_int(b.type(value), 1));
  b.store_block(b.ptr_add(y, first), sum, log2_align, mask);
  Function f = b.finish();
  f.threads = 1;
  return f;
}

std::unique_ptr<Executable> load(const Function& f) {
  return device_named("cpu").load(compiler_for(host_target()).compile(f, host_target()));
}

/// Two pages of which the second may not be touched.
class GuardedPage {
 public:
  GuardedPage() {
    memory_ = static_cast<char*>(mmap(nullptr, static_cast<size_t>(2 * page_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, static_cast<size_t>(page_), PROT_NONE);
  }
  ~GuardedPage() { munmap(memory_, static_cast<size_t>(2 * page_)); }
  char* before_end(int64_t bytes) const { return memory_ + page_ - bytes; }

 private:
  long page_ = sysconf(_SC_PAGESIZE);
  char* memory_;
};

TEST(Cpu, MaskedBlocksTouchNothingBeyondTheirLanes) {
  GuardedPage x, y;
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64})
    for (int lanes : {4, 16, 64}) {
      auto executable = load(add_one(dtype, lanes));
      for (int64_t n = 0; n <= lanes; ++n) {
        int64_t bytes = n * size_of(dtype);
        std::memset(x.before_end(bytes), 0, static_cast<size_t>(bytes));
        const uint64_t args[] = {reinterpret_cast<uint64_t>(x.before_end(bytes)), reinterpret_cast<uint64_t>(y.before_end(bytes)), static_cast<uint64_t>(n)};
        executable->launch({1, 1, 1}, args);
      }
    }
}

TEST(Cpu, ZeroProgramsLaunchNothing) {
  auto executable = load(add_one(DType::I32, 8));
  const uint64_t args[] = {0, 0, 8};
  executable->launch({0, 1, 1}, args);
  executable->launch({1, 0, 5}, args);
}

std::string message_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

TEST(Cpu, RefusesGridsAndArgumentsThatDoNotFit) {
  auto executable = load(add_one(DType::I32, 8));
  const uint64_t args[] = {0, 0, 8};
  EXPECT_EQ(message_of([&] { executable->launch({-1, 1, 1}, args); }, ErrorKind::User),
            "strider_add_one: the grid has -1 programs on axis 0, expected 0 to 2147483647");
  EXPECT_EQ(message_of([&] { executable->launch({INT32_MAX, INT32_MAX, INT32_MAX}, args); }, ErrorKind::User),
            "strider_add_one: the grid of 2147483647 x 2147483647 x 2147483647 has too many programs");
  EXPECT_EQ(message_of([&] { executable->launch({1, 1, 1}, std::span(args).first(2)); }, ErrorKind::User),
            "strider_add_one: 2 arguments, expected 3");
}

TEST(Cpu, RefusesCodeForOtherMachines) {
  Target gpu = target_named("cuda:sm_80");
  Binary binary = compiler_for(gpu).compile(add_one(DType::I32, 4), gpu);
  EXPECT_NE(message_of([&] { device_named("cpu").load(binary); }, ErrorKind::User).find("compiled for cuda:sm_80"), std::string::npos);
}

TEST(Cpu, RefusesDamagedCode) {
  Binary binary = compiler_for(host_target()).compile(add_one(DType::I32, 8), host_target());
  binary.code.resize(binary.code.size() / 2);
  EXPECT_NE(message_of([&] { device_named("cpu").load(binary); }, ErrorKind::Internal).find("loading code"), std::string::npos);
  binary = compiler_for(host_target()).compile(add_one(DType::I32, 8), host_target());
  binary.entry = "strider_other";
  EXPECT_NE(message_of([&] { device_named("cpu").load(binary); }, ErrorKind::Internal).find("strider_other"), std::string::npos);
}

TEST(Cpu, RunsLargeGridsOnAllThreads) {
  constexpr int64_t kCount = 1 << 20;
  auto executable = load(add_one(DType::I32, 8));
  std::vector<int32_t> x(kCount), y(kCount);
  for (int64_t k = 0; k < kCount; ++k) x[static_cast<size_t>(k)] = static_cast<int32_t>(k);
  for (int repeat = 0; repeat < 4; ++repeat) {  // the pace changes how programs are shared out
    std::fill(y.begin(), y.end(), 0);
    const uint64_t args[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()), kCount - 3};
    executable->launch({512, 16, 16}, args);
    executable->launch({kCount / 8, 1, 1}, args);
    int64_t wrong = 0;
    for (int64_t k = 0; k < kCount; ++k) wrong += y[static_cast<size_t>(k)] != (k < kCount - 3 ? k + 1 : 0);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Cpu, CompilesLoadsAndLaunchesFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        auto executable = load(add_one(DType::F32, 8));
        std::vector<float> x(64, 1), y(64, 0);
        const uint64_t args[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()), 64};
        executable->launch({8, 1, 1}, args);
        EXPECT_EQ(y, std::vector<float>(64, 2));
      }
    });
  for (std::thread& t : threads) t.join();
}

int64_t resident_bytes() {
  long pages = 0, resident = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Cpu, FreesTheCodeOfExecutablesThatAreGone) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps freed memory for a while";
#endif
  Binary binary = compiler_for(host_target()).compile(add_one(DType::F32, 64), host_target());
  auto load_many = [&](int count) {
    for (int k = 0; k < count; ++k) device_named("cpu").load(binary);
  };
  load_many(100);
  int64_t before = resident_bytes();
  load_many(1000);
  EXPECT_LT(resident_bytes() - before, 2 << 20);  // one page each would be twice that
}

int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

bool is_writable_and_executable(const std::string& line) { return line.find(" rwx") != std::string::npos; }

/// The system allows 65,530 mappings, so that two of each kernel would end at 32,000 of them.
TEST(Cpu, ManyKernelsShareMappings) {
  constexpr int kKernels = 3000;
  Binary binary = compiler_for(host_target()).compile(add_one(DType::I32, 8), host_target());
  std::vector<std::unique_ptr<Executable>> loaded;
  const int64_t before = mappings();
  for (int k = 0; k < kKernels; ++k) loaded.push_back(device_named("cpu").load(binary));
  EXPECT_LE(mappings() - before, 20);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_FALSE(is_writable_and_executable(line)) << line;

  auto runs = [&](int k) {
    int32_t x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8] = {};
    const uint64_t args[] = {reinterpret_cast<uint64_t>(x), reinterpret_cast<uint64_t>(y), 8};
    loaded[static_cast<size_t>(k)]->launch({1, 1, 1}, args);
    return y[7] == 8;
  };
  for (int k : {0, 1, kKernels / 2, kKernels - 1}) EXPECT_TRUE(runs(k));
  for (int k = 0; k < kKernels; k += 2) loaded[static_cast<size_t>(k)].reset();  // every second one
  for (int k = 0; k < kKernels; k += 2) loaded[static_cast<size_t>(k)] = device_named("cpu").load(binary);
  EXPECT_LE(mappings() - before, 20) << "freed pages are used again";
  for (int k : {0, 1, kKernels / 2, kKernels - 1}) EXPECT_TRUE(runs(k));
  loaded.clear();
  EXPECT_LE(mappings() - before, 4);
}

/// In a process that may have little more memory than now, kernels are loaded until the system refuses; then all go, and one loads.
TEST(Cpu, RefusesKernelsForWhichThereIsNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  Binary binary = compiler_for(host_target()).compile(add_one(DType::I32, 8), host_target());
  device_named("cpu").load(binary);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    std::vector<std::unique_ptr<Executable>> loaded;
    loaded.reserve(100'000);
    const auto room = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + (24 << 20));
    const rlimit limit{room, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    std::string text;
    try {
      while (loaded.size() < 100'000) loaded.push_back(device_named("cpu").load(binary));
    } catch (const Error& e) {
      text = e.kind() == ErrorKind::Driver ? e.what() : "";
    }
    if (text.find("gives no memory for") == std::string::npos) ::_exit(2);
    if (loaded.size() < 500) ::_exit(3);
    loaded.clear();
    ::_exit(device_named("cpu").load(binary) ? 0 : 4);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Rounding upwards in the host must not change what is computed, nor what is folded at compile time.
TEST(Cpu, IgnoresTheHostsRoundingMode) {
  Builder b("third");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), y = b.param(Type::pointer(DType::F32), {.name = "y"});
  b.store(y, b.binary(Op::Div, b.constant(Type::scalar(DType::F32), 1), b.load(x)));
  Function f = b.finish();
  f.threads = 1;
  std::fesetround(FE_UPWARD);
  auto executable = load(f);
  float in = 3, out = 0;
  const uint64_t args[] = {reinterpret_cast<uint64_t>(&in), reinterpret_cast<uint64_t>(&out)};
  executable->launch({1, 1, 1}, args);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(out, 1.0f / 3.0f);
}

TEST(Cpu, DescribesItself) {
  Device& device = device_named("cpu");
  EXPECT_EQ(device.name(), "cpu");
  EXPECT_NE(device.description().find("threads"), std::string::npos);
  EXPECT_EQ(&device, &device_named("cpu:0"));
  EXPECT_EQ(available_devices().front(), "cpu");
}

TEST(Cpu, AllocatesAlignedMemoryOfAnySize) {
  Device& device = device_named("cpu");
  for (int64_t bytes : {0, 1, 63, 64, 65, 1 << 20}) {
    void* memory = device.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    device.fill_zero(memory, bytes);
    device.release(memory);
  }
  EXPECT_NE(message_of([&] { device.allocate(-1); }, ErrorKind::User), "no error");
  EXPECT_NE(message_of([&] { device.allocate(int64_t{1} << 60); }, ErrorKind::Driver), "no error");
}

}  // namespace
}  // namespace strider::backend_test
