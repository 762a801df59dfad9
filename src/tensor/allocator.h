// SPDX-License-Identifier: Apache-2.0
// Memory that tensors gave back is kept for new ones: pages that have been touched need no page fault, and a GPU's driver need
// not be asked (which would wait for all launches).
//
// Sizes are rounded up to classes, at most an eighth apart, so that tensors of about a size share blocks. A request takes the
// block that came back last among those of its class, or of the next one up. What is kept is bounded: the blocks that waited
// longest go first. Memory of a GPU is used in the order of its default stream, so a block may be taken while the kernels
// that used it before still run.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include <strider/memory.h>

namespace strider {

class Device;

/// The store of one device; thread-safe.
class MemoryPool {
 public:
  /// Keeps at most `limit` bytes; requests below `least` bytes go to the device, which serves them better.
  MemoryPool(Device& device, int64_t limit, int64_t least);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// At least `bytes`; `capacity` is what release() wants to know. When the device has no memory left, all that is kept goes back
  /// to it before it is asked again.
  void* allocate(int64_t bytes, int64_t* capacity);
  void release(void* memory, int64_t capacity) noexcept;
  /// Gives back all that is kept: how many bytes that was.
  int64_t release_cache() noexcept;
  MemoryStats stats() const;

  std::mutex& mutex() { return mutex_; }

  /// The least class that holds `bytes`.
  static int64_t size_class(int64_t bytes);

 private:
  struct Block {
    void* memory;
    int64_t bytes;
  };
  using Blocks = std::list<Block>;  // the one that waited longest at the end

  void* take(int64_t bytes, int64_t* capacity);
  bool keep(void* memory, int64_t bytes, Blocks* gone);
  Blocks::iterator forget(Blocks::iterator block);
  void count(int64_t bytes);
  void* ask_device(int64_t bytes);

  Device& device_;
  const int64_t limit_, least_;
  const bool is_host_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  std::map<int64_t, std::vector<Blocks::iterator>> bins_;  // by size, the one that came back last at the end
  int64_t cached_ = 0;
  std::atomic<int64_t> in_use_{0}, peak_{0}, allocations_{0}, reuses_{0};
};

/// The pool of a device, made at its first use; lives to the end of the process.
MemoryPool& memory_pool(Device& device);

}  // namespace strider
