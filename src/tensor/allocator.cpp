// SPDX-License-Identifier: Apache-2.0
#include "tensor/allocator.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "backend/backend.h"
#include "base/error.h"
#include "base/settings.h"
#include "tensor/storage.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace strider {
namespace {

/// AddressSanitizer reports uses of memory that a pool holds, and of what lies between a tensor's end and that of its block.
void forbid([[maybe_unused]] void* memory, [[maybe_unused]] int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(memory, static_cast<size_t>(bytes));
#endif
}
void allow([[maybe_unused]] void* memory, [[maybe_unused]] int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(memory, static_cast<size_t>(bytes));
#endif
}

}  // namespace

MemoryPool::MemoryPool(Device& device, int64_t limit, int64_t least)
    : device_(device), limit_(limit), least_(least), is_host_(is_host(device)) {}

MemoryPool::~MemoryPool() { release_cache(); }

int64_t MemoryPool::size_class(int64_t bytes) {
  constexpr int64_t kFinest = 512, kCoarsest = 2 << 20;
  auto size = static_cast<uint64_t>(std::max<int64_t>(bytes, 1));
  int64_t step = std::clamp(static_cast<int64_t>(std::bit_floor(size) / 8), kFinest, kCoarsest);
  return bytes > INT64_MAX - step ? bytes : (static_cast<int64_t>(size) + step - 1) / step * step;
}

void MemoryPool::count(int64_t bytes) {
  allocations_.fetch_add(1, std::memory_order_relaxed);
  int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void* MemoryPool::allocate(int64_t bytes, int64_t* capacity) {
  bool is_kept = bytes >= least_ && limit_ > 0;
  *capacity = is_kept ? size_class(bytes) : std::max<int64_t>(bytes, 1);
  void* memory = is_kept ? take(*capacity, capacity) : nullptr;
  if (memory) reuses_.fetch_add(1, std::memory_order_relaxed);
  else memory = ask_device(*capacity);
  count(*capacity);
  if (is_host_ && is_kept) {
    allow(memory, bytes);
    forbid(static_cast<char*>(memory) + bytes, *capacity - bytes);
  }
  return memory;
}

void* MemoryPool::ask_device(int64_t bytes) {
  try {
    return device_.allocate(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Driver || release_cache() == 0) throw;
  }
  return device_.allocate(bytes);
}

void* MemoryPool::take(int64_t bytes, int64_t* capacity) {
  std::lock_guard lock(mutex_);
  auto bin = bins_.lower_bound(bytes);
  if (bin == bins_.end() || bin->first > size_class(bytes + 1)) return nullptr;
  Blocks::iterator block = bin->second.back();
  void* memory = block->memory;
  *capacity = block->bytes;
  forget(block);
  return memory;
}

/// Out of the bin and the list; gives the block after it.
MemoryPool::Blocks::iterator MemoryPool::forget(Blocks::iterator block) {
  auto bin = bins_.find(block->bytes);
  std::erase(bin->second, block);
  if (bin->second.empty()) bins_.erase(bin);
  cached_ -= block->bytes;
  return blocks_.erase(block);
}

/// Keeps a block, if it is worth it, and leaves in `gone` those that must make room.
bool MemoryPool::keep(void* memory, int64_t bytes, Blocks* gone) {
  if (bytes < least_ || bytes > limit_) return false;
  std::lock_guard lock(mutex_);
  blocks_.push_front({memory, bytes});
  try {
    bins_[bytes].push_back(blocks_.begin());
  } catch (...) {
    blocks_.pop_front();
    throw;
  }
  cached_ += bytes;
  while (cached_ > limit_) {
    Blocks::iterator last = std::prev(blocks_.end());
    gone->push_front(*last);
    forget(last);
  }
  return true;
}

void MemoryPool::release(void* memory, int64_t capacity) noexcept {
  in_use_.fetch_sub(capacity, std::memory_order_relaxed);
  if (is_host_ && capacity >= least_) forbid(memory, capacity);
  bool is_kept = false;
  Blocks gone;
  try {
    is_kept = keep(memory, capacity, &gone);
  } catch (const std::exception&) {
    // No memory for the books: the block goes back to the device.
  }
  if (!is_kept) gone.push_front({memory, capacity});
  for (const Block& b : gone) {
    if (is_host_) allow(b.memory, b.bytes);
    device_.release(b.memory);
  }
}

int64_t MemoryPool::release_cache() noexcept {
  Blocks gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(blocks_);
    bins_.clear();
    cached_ = 0;
  }
  int64_t bytes = 0;
  for (const Block& b : gone) {
    if (is_host_) allow(b.memory, b.bytes);
    device_.release(b.memory);
    bytes += b.bytes;
  }
  return bytes;
}

MemoryStats MemoryPool::stats() const {
  std::lock_guard lock(mutex_);
  return {in_use_.load(), peak_.load(), cached_, limit_, allocations_.load(), reuses_.load()};
}

// ---- the pools of a process

namespace {

constexpr int64_t kMiB = 1 << 20;

/// What a group of processes may use; INT64_MAX where nothing says so.
int64_t group_limit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t bytes = 0;
    if (std::ifstream(path) >> bytes && bytes > 0) return bytes;
  }
  return INT64_MAX;
}

int64_t default_limit() {
  int64_t machine = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return std::min({machine / 4, group_limit() / 4, 4096 * kMiB});
}

int64_t configured_limit() {
  const char* text = setting("STRIDER_MEMORY_CACHE");
  if (!text) return default_limit();
  char* end = nullptr;
  long long mebibytes = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || mebibytes < 0)
    user_error("the environment variable STRIDER_MEMORY_CACHE is \"{}\", expected a number of MiB, 0 or more", text);
  return std::min<int64_t>(mebibytes, INT64_MAX / kMiB) * kMiB;
}

/// All pools. fork() waits until no thread is at work in any of them, so that a child finds them whole.
class Pools {
 public:
  MemoryPool& of(Device& device) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<MemoryPool>& pool = pools_[&device];
    constexpr int64_t kHostLeast = 64 << 10;  // below, the C library reuses memory as well, and without a lock
    if (!pool) pool = std::make_unique<MemoryPool>(device, configured_limit(), is_host(device) ? kHostLeast : 1);
    return *pool;
  }

  int64_t release_caches() {
    std::lock_guard lock(mutex_);
    int64_t bytes = 0;
    for (auto& [device, pool] : pools_) bytes += pool->release_cache();
    return bytes;
  }

  void lock() {
    mutex_.lock();
    for (auto& [device, pool] : pools_) pool->mutex().lock();
  }
  void unlock() {
    for (auto& [device, pool] : pools_) pool->mutex().unlock();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::map<Device*, std::unique_ptr<MemoryPool>> pools_;
};

/// Never destroyed: tensors may live longer than any static object.
Pools& pools() {
  static Pools& all = *[] {
    auto* made = new Pools;
    pthread_atfork([] { pools().lock(); }, [] { pools().unlock(); }, [] { pools().unlock(); });
    return made;
  }();
  return all;
}

}  // namespace

MemoryPool& memory_pool(Device& device) {
  if (!is_host(device)) return pools().of(device);
  static MemoryPool& host = pools().of(device);
  return host;
}

inline namespace v0 {

int64_t release_cache(std::string_view device) { return memory_pool(device_named(device)).release_cache(); }
int64_t release_cache() { return pools().release_caches(); }
MemoryStats memory_stats(std::string_view device) { return memory_pool(device_named(device)).stats(); }

}  // namespace v0
}  // namespace strider
