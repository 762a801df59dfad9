// SPDX-License-Identifier: Apache-2.0
// What threads are making for caches, and who waits for whom: one list of the process, since a cycle may lead through any caches.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace strider {

/// One value that this thread makes while others may wait for it. `lock` is lock_of_tables(), free as long as the object lives.
class Making {
 public:
  /// `what` is told in errors: "kernel softmax".
  Making(std::unique_lock<std::mutex>& lock, const void* cache, std::string_view key, const std::string& what);
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  /// Waits until nobody makes the value of this key for this cache. User errors: it is made by this thread, further out, or by one
  /// that waits for this thread, by way of others perhaps, and the error names them all; or the function of the user's that
  /// makes it sleeps, for this thread as it seems.
  static void wait_for_others(std::unique_lock<std::mutex>& lock, const void* cache, std::string_view key);

  /// While it lives, what this thread makes last is in the hands of a user's function.
  class Body {
   public:
    Body();
    ~Body();
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

   private:
    Making* making_;
    bool before_;
  };

 private:
  friend class Makings;
  std::unique_lock<std::mutex>& lock_;
  const void* cache_;
  std::string_view key_;
  const std::string& what_;
  pthread_t thread_ = pthread_self();
  std::atomic<bool> is_in_body_{false};
  Making* outer_;  // of this thread
};

}  // namespace strider
