// SPDX-License-Identifier: Apache-2.0
#include "tensor/allocator.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <memory>

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

void MemoryPool::Loan::add_use(const Home& stream) {
  if (stream == home_) return;
  for (const Use& use : uses_)
    if (use.stream == stream) return;
  uses_.push_back({stream});
}

MemoryPool::Loan MemoryPool::allocate(int64_t bytes, const Home& home) {
  bool is_kept = bytes >= least_ && limit_ > 0;
  Loan loan;
  if (is_kept && take(size_class(bytes), home, &loan)) {
    reuses_.fetch_add(1, std::memory_order_relaxed);
  } else {
    int64_t capacity = is_kept ? size_class(bytes) : std::max<int64_t>(bytes, 1);
    if (is_kept && capacity <= limit_) {
      loan.block_.emplace_back();
      Bins bins;
      loan.bin_ = bins.extract(bins.emplace(Place(), loan.block_.begin()));
    }
    loan.home_ = home;
    loan.memory_ = ask_device(capacity);
    loan.bytes_ = capacity;
  }
  count(loan.bytes_);
  if (is_host_ && is_kept) {
    allow(loan.memory_, bytes);
    forbid(static_cast<char*>(loan.memory_) + bytes, loan.bytes_ - bytes);
  }
  return loan;
}

void* MemoryPool::ask_device(int64_t bytes) {
  try {
    return device_.allocate(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Driver || release_cache() == 0) throw;
  }
  return device_.allocate(bytes);
}

/// A block out of the store for `home`, whose it becomes.
bool MemoryPool::take(int64_t bytes, const Home& home, Loan* loan) {
  Home before;  // ends, if it does, when the lock is open
  std::lock_guard lock(mutex_);
  auto block = find_own(bytes, home.get());
  if (block == blocks_.end()) block = find_of_others(bytes, home.get());
  if (block == blocks_.end()) return false;
  drop_events(*block);
  before = std::move(block->home);
  loan->memory_ = block->memory;
  loan->bytes_ = block->bytes;
  loan->home_ = home;
  loan->bin_ = bins_.extract(block->bin);
  loan->block_.splice(loan->block_.begin(), blocks_, block);
  cached_ -= loan->bytes_;
  return true;
}

/// The block of a stream that came back to it last, among the first few that no other stream still uses.
MemoryPool::Blocks::iterator MemoryPool::find_own(int64_t bytes, detail::StreamState* home) {
  int tries = 8;
  const auto end = bins_.upper_bound({home, size_class(bytes + 1)});
  for (auto bin = bins_.lower_bound({home, bytes}); bin != end;) {
    const auto next = bins_.upper_bound(bin->first);
    for (auto last = next; last != bin && tries > 0; --tries)
      if (are_done((--last)->second->uses)) return last->second;
    bin = next;
  }
  return blocks_.end();
}

/// Of each other stream the block that came back to it first, which its work leaves first.
MemoryPool::Blocks::iterator MemoryPool::find_of_others(int64_t bytes, detail::StreamState* home) {
  for (auto bin = bins_.begin(); bin != bins_.end(); bin = bins_.upper_bound({bin->first.first, INT64_MAX})) {
    detail::StreamState* theirs = bin->first.first;
    if (theirs == home) continue;
    const auto first = bins_.lower_bound({theirs, bytes});
    if (first == bins_.end() || first->first > Place(theirs, size_class(bytes + 1))) continue;
    if (is_left(*first->second) && are_done(first->second->uses)) return first->second;
  }
  return blocks_.end();
}

/// Blocks of the default stream get their event when another stream first asks for them: with one stream, none is needed.
bool MemoryPool::is_left(Block& block) {
  if (!block.has_left) {
    block.left = device_.record(block.home ? block.home->handle : nullptr);
    block.has_left = true;
  }
  return device_.has_passed(block.left);
}

bool MemoryPool::are_done(std::vector<Use>& uses) {
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return device_.has_passed(use.done); });
}

/// Records when the streams that used a block are done with it.
void MemoryPool::mark(Loan& loan) {
  Block& block = loan.block_.front();
  for (Use& use : loan.uses_) use.done = device_.record(use.stream ? use.stream->handle : nullptr);
  if (!loan.home_) return;
  block.left = device_.record(loan.home_->handle);
  block.has_left = true;
}

void MemoryPool::drop_events(Block& block) noexcept {
  for (Use& use : block.uses) device_.end_event(use.done);
  block.uses.clear();
  device_.end_event(block.left);
  block.left = nullptr;
  block.has_left = false;
}

void MemoryPool::give_back(Blocks& blocks) noexcept {
  for (Block& b : blocks) {
    if (is_host_) allow(b.memory, b.bytes);
    try {
      for (const Use& use : b.uses) device_.synchronize_event(use.done);
      device_.synchronize_event(b.left);
    } catch (const std::exception&) {
      // A device that has failed uses nothing.
    }
    drop_events(b);
    device_.release(b.memory);
  }
}

void MemoryPool::release(Loan loan) noexcept {
  in_use_.fetch_sub(loan.bytes_, std::memory_order_relaxed);
  bool is_kept = !loan.block_.empty();
  try {
    if (is_kept) mark(loan);
    else
      for (const Use& use : loan.uses_) device_.synchronize_stream(use.stream ? use.stream->handle : nullptr);
  } catch (const std::exception&) {
    is_kept = false;  // the driver waits when it takes memory back
  }
  if (!is_kept) {
    if (is_host_) allow(loan.memory_, loan.bytes_);
    for (const Use& use : loan.uses_) device_.end_event(use.done);
    return device_.release(loan.memory_);
  }
  if (is_host_) forbid(loan.memory_, loan.bytes_);
  Blocks gone;
  {
    std::lock_guard lock(mutex_);
    Block& block = loan.block_.front();
    block.memory = loan.memory_;
    block.bytes = loan.bytes_;
    block.home = std::move(loan.home_);
    block.uses = std::move(loan.uses_);
    loan.bin_.key() = {block.home.get(), block.bytes};
    loan.bin_.mapped() = loan.block_.begin();
    block.bin = bins_.insert(std::move(loan.bin_));
    blocks_.splice(blocks_.begin(), loan.block_);
    cached_ += block.bytes;
    while (cached_ > limit_) {
      const auto last = std::prev(blocks_.end());
      cached_ -= last->bytes;
      bins_.erase(last->bin);
      gone.splice(gone.begin(), blocks_, last);
    }
  }
  give_back(gone);
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
  for (const Block& b : gone) bytes += b.bytes;
  give_back(gone);
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
    if (auto known = pools_.find(&device); known != pools_.end()) return *known->second;
    constexpr int64_t kHostLeast = 64 << 10;  // below, the C library reuses memory as well, and without a lock
    auto pool = std::make_unique<MemoryPool>(device, configured_limit(), is_host(device) ? kHostLeast : 1);
    return *pools_.emplace(&device, std::move(pool)).first->second;
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
