// SPDX-License-Identifier: Apache-2.0
#include "base/making.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>
#include <optional>
#include <vector>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/undisturbed.h"

namespace strider {

namespace {
thread_local Making* innermost = nullptr;
}

/// All of them, guarded by lock_of_tables().
class Makings {
 public:
  /// Never destroyed. A child of fork() keeps what its one thread makes.
  static Makings& all() {
    static Makings& only = *[] {
      pthread_atfork(nullptr, nullptr, [] { all().forget_other_threads(); });
      return new Makings;
    }();
    return only;
  }

  void add(Making* making) { list_.push_back(making); }

  void remove(const Making* making) {
    std::erase(list_, making);
    changed_.notify_all();
  }

  const Making* find(const void* cache, std::string_view key) const {
    auto found = std::find_if(list_.begin(), list_.end(), [&](const Making* m) { return m->cache_ == cache && m->key_ == key; });
    return found == list_.end() ? nullptr : *found;
  }

  /// Until it is gone.
  void wait(std::unique_lock<std::mutex>& lock, const Making& awaited) {
    check_cycle(awaited);
    waits_.push_back({pthread_self(), &awaited});
    struct Leave {
      std::vector<Wait>& waits;
      ~Leave() {
        std::erase_if(waits, [](const Wait& w) { return pthread_equal(w.thread, pthread_self()); });
      }
    } leave{waits_};
    Watch watch(awaited);
    while (is_there(awaited)) {
      constexpr auto kLook = std::chrono::milliseconds(100);
      if (changed_.wait_for(lock, kLook) == std::cv_status::no_timeout || !is_there(awaited)) continue;
      if (watch.has_slept_too_long(wait_of(awaited.thread_) != nullptr))
        user_error("another thread makes it, and sleeps in the function that was given: a body must not wait for a thread that calls "
                   "its own kernel or operator ({})", awaited.what_);
    }
  }

 private:
  struct Wait {
    pthread_t thread;
    const Making* awaited;
  };

  /// Counts the looks at which a thread had done nothing since the last one, in a user's function and not in wait().
  class Watch {
   public:
    explicit Watch(const Making& making) : making_(making), time_(time()) {}
    bool has_slept_too_long(bool it_waits) {
      constexpr int kMost = 30;
      constexpr int64_t kAwake = 100'000;  // nanoseconds
      std::optional<int64_t> now = time();
      bool slept = !it_waits && making_.is_in_body_ && now && time_ && *now - *time_ < kAwake;
      looks_ = slept ? looks_ + 1 : 0;
      time_ = now;
      return looks_ > kMost;
    }

   private:
    std::optional<int64_t> time() const {
      clockid_t clock;
      timespec t;
      if (pthread_getcpuclockid(making_.thread_, &clock) != 0 || clock_gettime(clock, &t) != 0) return std::nullopt;
      return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
    }
    const Making& making_;
    std::optional<int64_t> time_;
    int looks_ = 0;
  };

  bool is_there(const Making& m) const { return std::find(list_.begin(), list_.end(), &m) != list_.end(); }

  const Making* wait_of(pthread_t thread) const {
    for (const Wait& w : waits_)
      if (pthread_equal(w.thread, thread)) return w.awaited;
    return nullptr;
  }

  /// What the maker of `from` makes, from there to the innermost; nested ones were added later.
  void add_names(const Making& from, std::vector<std::string_view>& names) const {
    auto begin = std::find(list_.begin(), list_.end(), &from);
    for (auto it = begin; it != list_.end(); ++it)
      if (pthread_equal((*it)->thread_, from.thread_) && (names.empty() || names.back() != (*it)->what_)) names.push_back((*it)->what_);
  }

  /// A user error if the maker of `awaited` waits for this thread, or is this thread.
  void check_cycle(const Making& awaited) const {
    std::vector<const Making*> others;
    const Making* last = &awaited;
    for (; last && !pthread_equal(last->thread_, pthread_self()); last = wait_of(last->thread_)) others.push_back(last);
    if (!last) return;
    std::vector<std::string_view> names;
    add_names(*last, names);
    for (const Making* m : others) add_names(*m, names);
    std::string text;
    for (std::string_view name : names) text += std::string(name) + " -> ";
    user_error("it is needed to make itself: {}{}{}", text, last->what_, others.empty() ? "" : " (in several threads)");
  }

  void forget_other_threads() {
    std::erase_if(list_, [](const Making* m) { return !pthread_equal(m->thread_, pthread_self()); });
    waits_.clear();
    new (&changed_) std::condition_variable;
  }

  std::vector<Making*> list_;  // in the order in which they began
  std::vector<Wait> waits_;
  std::condition_variable changed_;
};

Making::Making(std::unique_lock<std::mutex>& lock, const void* cache, std::string_view key, const std::string& what)
    : lock_(lock), cache_(cache), key_(key), what_(what), outer_(innermost) {
  Makings::all().add(this);
  innermost = this;
  lock_.unlock();
}

Making::~Making() {
  innermost = outer_;
  lock_.lock();
  Makings::all().remove(this);
}

void Making::wait_for_others(std::unique_lock<std::mutex>& lock, const void* cache, std::string_view key) {
  const Uncancelled uncancelled;
  while (const Making* other = Makings::all().find(cache, key)) {
    if (is_thread_that_exits() && !pthread_equal(other->thread_, pthread_self())) return;
    Makings::all().wait(lock, *other);
  }
}

Making::Body::Body() : making_(innermost), before_(making_ && making_->is_in_body_.exchange(true)) {}
Making::Body::~Body() {
  if (making_) making_->is_in_body_ = before_;
}

}  // namespace strider
