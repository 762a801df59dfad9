// SPDX-License-Identifier: Apache-2.0
// What objects set for their thread as long as they live: the innermost one counts. They may end in any order and on any thread,
// and their stack needs no destructor, so that it serves code which runs after thread_local objects are gone.
#pragma once

#include <atomic>

namespace strider {

/// What a scope and its thread's stack share; whichever lets go last deletes it.
struct ScopeEntry {
  ScopeEntry* outer = nullptr;
  std::atomic<int> owners{2};
  std::atomic<bool> has_ended{false};
};

/// One for each thread: `constinit thread_local ScopeStack<Entry> scopes;`, Entry being derived from ScopeEntry.
template <class Entry>
class ScopeStack {
 public:
  /// Takes a new entry, which end() is called for once.
  Entry* begin(Entry* entry) {
    drop_ended();
    entry->outer = top_;
    top_ = entry;
    return entry;
  }
  /// On any thread.
  void end(Entry* entry) {
    entry->has_ended.store(true, std::memory_order_release);
    let_go(entry);
    drop_ended();
  }

  /// The innermost entry that `wanted` takes, or null.
  template <class Wanted>
  const Entry* find(Wanted&& wanted) {
    if (!top_) return nullptr;
    drop_ended();
    for (ScopeEntry* e = top_; e; e = e->outer)
      if (!e->has_ended.load(std::memory_order_acquire) && wanted(static_cast<const Entry&>(*e))) return static_cast<Entry*>(e);
    return nullptr;
  }
  const Entry* innermost() {
    return find([](const Entry&) { return true; });
  }

 private:
  static void let_go(ScopeEntry* entry) {
    if (entry->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete static_cast<Entry*>(entry);
  }
  void drop_ended() {
    while (top_ && top_->has_ended.load(std::memory_order_acquire)) {
      ScopeEntry* ended = top_;
      top_ = ended->outer;
      let_go(ended);
    }
  }

  ScopeEntry* top_ = nullptr;
};

}  // namespace strider
