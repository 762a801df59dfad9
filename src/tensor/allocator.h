// SPDX-License-Identifier: Apache-2.0
// Memory that tensors gave back is kept for new ones: pages that have been touched need no page fault, and a GPU's driver need
// not be asked (which would wait for all launches).
//
// Sizes are rounded up to classes, at most an eighth apart, so that tensors of about a size share blocks. A request takes the
// block that came back last among those of its class, or of the next one up. What is kept is bounded: the blocks that waited
// longest go first.
//
// A block has a home, the stream that it was asked for, whose work is done in order: it gets the block again at once, while the
// kernels that used it before still run. Another stream gets it when an event on its home has passed that was recorded after it
// came back. Streams that used it besides its home must have passed such an event in any case.
//
// The books are kept in nodes that are made with a block and move with it, so that giving back needs no memory and cannot fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <strider/memory.h>

#include "tensor/stream.h"

namespace strider {

/// The store of one device; thread-safe.
class MemoryPool {
 public:
  using Home = std::shared_ptr<detail::StreamState>;  // null: the default stream

  /// A stream that used a block, and the moment when it was done.
  struct Use {
    Home stream;
    EventHandle done = nullptr;
  };

 private:
  struct Block;
  using Blocks = std::list<Block>;                           // the one that waited longest at the end
  using Place = std::pair<detail::StreamState*, int64_t>;    // home and size
  using Bins = std::multimap<Place, Blocks::iterator>;       // of one place, the one that came back last at the end
  struct Block {
    void* memory = nullptr;
    int64_t bytes = 0;
    Home home = nullptr;
    EventHandle left = nullptr;  // when its home was done with it
    bool has_left = false;       // `left` was recorded
    std::vector<Use> uses = {};  // by others
    Bins::iterator bin = {};
  };

 public:
  /// Memory that was handed out.
  class Loan {
   public:
    Loan() = default;
    /// Memory of somebody else, of which only the uses are kept here.
    explicit Loan(const Home& home) : home_(home) {}

    void* memory() const { return memory_; }
    int64_t capacity() const { return bytes_; }
    const Home& home() const { return home_; }
    const std::vector<Use>& uses() const { return uses_; }
    /// Says that work of that stream uses the memory. The strong guarantee.
    void add_use(const Home& stream);

   private:
    friend class MemoryPool;
    void* memory_ = nullptr;
    int64_t bytes_ = 0;
    Home home_;
    std::vector<Use> uses_;
    Blocks block_;         // for when it comes back; none if it will not be kept
    Bins::node_type bin_;
  };

  /// Keeps at most `limit` bytes; requests below `least` bytes go to the device, which serves them better.
  MemoryPool(Device& device, int64_t limit, int64_t least);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// At least `bytes`, for work of the stream `home`. When the device has no memory left, all that is kept goes back to it before it
  /// is asked again.
  Loan allocate(int64_t bytes, const Home& home = nullptr);
  void release(Loan loan) noexcept;
  /// Gives back all that is kept, when the work that uses it is done: how many bytes that was.
  int64_t release_cache() noexcept;
  MemoryStats stats() const;

  std::mutex& mutex() { return mutex_; }

  /// The least class that holds `bytes`.
  static int64_t size_class(int64_t bytes);

 private:
  bool take(int64_t bytes, const Home& home, Loan* loan);
  Blocks::iterator find_own(int64_t bytes, detail::StreamState* home);
  Blocks::iterator find_of_others(int64_t bytes, detail::StreamState* home);
  bool is_left(Block& block);
  bool are_done(std::vector<Use>& uses);
  void mark(Loan& loan);
  void drop_events(Block& block) noexcept;
  void give_back(Blocks& blocks) noexcept;
  void count(int64_t bytes);
  void* ask_device(int64_t bytes);

  Device& device_;
  const int64_t limit_, least_;
  const bool is_host_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  Bins bins_;
  int64_t cached_ = 0;
  std::atomic<int64_t> in_use_{0}, peak_{0}, allocations_{0}, reuses_{0};
};

/// The pool of a device, made at its first use; lives to the end of the process.
MemoryPool& memory_pool(Device& device);

}  // namespace strider
