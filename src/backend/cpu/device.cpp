// SPDX-License-Identifier: Apache-2.0
// Memory is the process's own; programs run on the thread pool, each worker with a scratch arena that it keeps.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include <pthread.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/cpu.h"
#include "backend/cpu/jit.h"
#include "backend/slots.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace strider {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHugePage = 2 << 20;  // large memory asks for such pages: fewer faults, fewer misses of address translation

void* allocate_aligned(int64_t bytes) {
  auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  size_t align = size >= 2 * kHugePage ? kHugePage : kAlign;
  size_t rounded = (size + align - 1) / align * align;
  void* memory = std::aligned_alloc(align, rounded);
#ifdef MADV_HUGEPAGE
  if (memory && align == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);  // advice: a refusal changes nothing
#endif
  return memory;
}

/// Memory of one thread, which grows and is used by one launch after the other. A kernel may run in a destructor of a thread_local
/// object or after main: the arena itself needs no destructor, and a thread's key frees its memory after all of them, as often as
/// there is some again. The first thread's stays until the process ends.
struct Arena {
  char* memory = nullptr;
  int64_t size = 0;

  char* reserve_scratch(int64_t bytes) {
    if (bytes <= size) return memory;
    free();
    memory = static_cast<char*>(allocate_aligned(bytes));
    if (!memory) driver_error("cpu: {} bytes of scratch cannot be allocated", bytes);
    size = bytes;
    pthread_setspecific(key(), this);
    return memory;
  }
  void free() {
    std::free(memory);
    memory = nullptr;
    size = 0;
  }

 private:
  static pthread_key_t key() {
    static const pthread_key_t made = [] {
      pthread_key_t k;
      if (pthread_key_create(&k, [](void* arena) { static_cast<Arena*>(arena)->free(); }) != 0)
        driver_error("cpu: the system has no more keys for threads");
      return k;
    }();
    return made;
  }
};

constinit thread_local Arena arena;

char* scratch(int64_t bytes) { return bytes > 0 ? arena.reserve_scratch(bytes) : nullptr; }

/// How long a program takes, as earlier launches saw it; decides how many a thread takes at once.
class Pace {
 public:
  int64_t grain() const {
    constexpr int64_t kWorthwhileNanoseconds = 10'000;  // waking a thread must pay
    return std::max<int64_t>(kWorthwhileNanoseconds / std::max<int64_t>(nanoseconds_.load(std::memory_order_relaxed), 1), 1);
  }
  void saw(int64_t programs, std::chrono::nanoseconds time) {
    int64_t seen = time.count() / programs, before = nanoseconds_.load(std::memory_order_relaxed);
    nanoseconds_.store(before == kUnknown ? seen : (3 * before + seen) / 4, std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> nanoseconds_{kUnknown};
};

/// Streaming stores overtake ordinary ones, and so the word that this thread is done.
void finish_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const Binary& binary, const Grid& grid_limit)
      : code_(binary.code, binary.entry), grid_limit_(grid_limit), binary_(binary) {
    binary_.code.clear();
    entry_ = reinterpret_cast<Entry*>(code_.entry());
  }

  void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle) override {
    check_arguments(binary_, args.size());
    int64_t count = count_programs(binary_.entry, grid, grid_limit_);
    // A single program says nothing about how to share out many, and looking at the clock takes as long as a short one.
    if (count == 1) parallel_for(1, 1, [&](int64_t begin, int64_t end, int) { run(grid, args, begin, end); });
    else parallel_for(count, pace_.grain(), [&](int64_t begin, int64_t end, int) { run_timed(grid, args, begin, end); });
  }

 private:
  using Entry = void(const uint64_t* args, const int64_t* grid, int32_t x, int32_t y, int32_t z, char* scratch);
  using Clock = std::chrono::steady_clock;

  /// The programs [begin, end), axis 0 counting fastest.
  void run(const Grid& grid, std::span<const uint64_t> args, int64_t begin, int64_t end) {
    char* memory = scratch(binary_.scratch_bytes);
    int64_t x = begin % grid[0], y = begin / grid[0] % grid[1], z = begin / grid[0] / grid[1];
    for (int64_t k = begin; k < end; ++k) {
      entry_(args.data(), grid.data(), static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z), memory);
      if (++x < grid[0]) continue;
      x = 0;
      if (++y < grid[1]) continue;
      y = 0;
      ++z;
    }
    finish_streaming();
  }

  void run_timed(const Grid& grid, std::span<const uint64_t> args, int64_t begin, int64_t end) {
    Clock::time_point start = Clock::now();
    run(grid, args, begin, end);
    pace_.saw(end - begin, Clock::now() - start);
  }

  cpu::LoadedCode code_;
  const Grid grid_limit_;
  Binary binary_;
  Entry* entry_;
  Pace pace_;
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

class CpuDevice final : public Device {
 public:
  std::string name() const override { return "cpu"; }
  std::string description() const override {
    return fmt::format("{}, {} threads, {}", processor_name(), worker_count(), target_.processor);
  }
  const Target& target() const override { return target_; }

  std::unique_ptr<Executable> load(const Binary& binary) override {
    check_runs(target_, binary);
    return std::make_unique<CpuExecutable>(binary, target_.grid_limit);
  }

  void* allocate(int64_t bytes) override {
    if (bytes < 0) user_error("cpu: allocation of {} bytes", bytes);
    void* memory = allocate_aligned(bytes);
    if (!memory) driver_error("cpu: {} bytes cannot be allocated", bytes);
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void copy_in(void* device, const void* host, int64_t bytes, StreamHandle) override {
    std::memmove(device, host, static_cast<size_t>(bytes));
  }
  void copy_out(void* host, const void* device, int64_t bytes, StreamHandle) override {
    std::memmove(host, device, static_cast<size_t>(bytes));
  }
  void fill_zero(void* device, int64_t bytes, StreamHandle) override { std::memset(device, 0, static_cast<size_t>(bytes)); }
  void synchronize() override {}

 private:
  Target target_ = cpu_targets().front();
};

}  // namespace

std::unique_ptr<Device> open_cpu_device(int ordinal) {
  if (ordinal != 0) user_error("there is no device cpu:{}; there is one, cpu", ordinal);
  return std::make_unique<CpuDevice>();
}

}  // namespace strider
