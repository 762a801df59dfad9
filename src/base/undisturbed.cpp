// SPDX-License-Identifier: Apache-2.0
#include "base/undisturbed.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <new>

#include "base/cancellation.h"
#include "base/error.h"

namespace strider {
namespace {

thread_local int depth = 0;
thread_local bool is_exiting = false;

/// Of the process, and never destroyed. A child of fork() has none but the forking thread, hence the fresh condition.
class Gate {
 public:
  void enter() {
    const Uncancelled uncancelled;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_closed_ || is_exiting; });
    ++inside_;
  }

  void leave() {
    std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }

  /// For the rest of the process.
  void end() {
    constexpr auto kMost = std::chrono::seconds(20);  // a compile takes much less; a process must end even if one does not
    is_exiting = true;
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.wait_for(lock, kMost, [&] { return is_empty(); });
  }

  void before_fork() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_empty(); });
    lock.release();
    tables.lock();
  }
  void after_fork() {
    tables.unlock();
    mutex_.unlock();
  }
  void in_child() {
    inside_ = own();
    new (&changed_) std::condition_variable;
    after_fork();
  }

  std::mutex tables;

 private:
  static int own() { return depth > 0; }
  bool is_empty() const { return inside_ == own(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;  // threads
  bool is_closed_ = false;
};

Gate& gate() {
  static Gate& only = *[] {
    auto* made = new Gate;
    pthread_atfork([] { gate().before_fork(); }, [] { gate().after_fork(); }, [] { gate().in_child(); });
    return made;
  }();
  return only;
}

}  // namespace

Undisturbed::Undisturbed() {
  watch_for_exit();
  if (depth++ == 0) gate().enter();
}

Undisturbed::~Undisturbed() {
  if (--depth == 0) gate().leave();
}

// In libstrider.so, the linker has every __cxa_atexit of ours and of LLVM call this (CMakeLists.txt): static objects are
// never destroyed, so that threads and destructors of the program can go on calling to the very end.
extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }
extern "C" [[gnu::weak]] int __real___cxa_atexit(void (*)(void*), void*, void*);

int at_exit(void (*function)()) {
  if (!__real___cxa_atexit) return std::atexit(function);
  return __real___cxa_atexit([](void* f) { reinterpret_cast<void (*)()>(f)(); }, reinterpret_cast<void*>(function), nullptr);
}

/// Linked into a program, LLVM's static objects are destroyed as it ends: later than what is registered first.
void watch_for_exit() {
  [[maybe_unused]] static const int registered = __real___cxa_atexit ? 0 : std::atexit([] { gate().end(); });
}

void check_compiler_lives() {
  if (is_exiting) user_error("the process is ending, and the compiler is gone: libstrider.so compiles to the very end, a library that is "
                             "linked statically does not");
}

bool is_thread_that_exits() { return is_exiting; }

std::unique_lock<std::mutex> lock_of_tables() { return std::unique_lock(gate().tables); }

}  // namespace strider
