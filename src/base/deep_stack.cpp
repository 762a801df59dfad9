// SPDX-License-Identifier: Apache-2.0
#include "base/deep_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/float_environment.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace strider {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
constexpr size_t kRoom = size_t{256} << 10;  // what one operation of a body, or the report of an error, is sure to find

// ---- memory

/// Memory for one stack, whose lowest page cannot be touched.
class StackMemory {
 public:
  StackMemory() {
    constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, kHow, -1, 0);
    if (memory == MAP_FAILED)
      driver_error("a stack of {} MiB cannot be had: {}; raise the limits of memory and of address space (ulimit -v)", kStackBytes >> 20,
                   std::strerror(errno));
    lowest_ = static_cast<char*>(memory);
    ::mprotect(lowest_, static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
#ifdef MADV_NOHUGEPAGE
    ::madvise(memory, kStackBytes, MADV_NOHUGEPAGE);  // most use a few pages
#endif
  }
  ~StackMemory() {
    if (!lowest_) return;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(lowest_, kStackBytes);
#endif
    ::munmap(lowest_, kStackBytes);
  }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  char* lowest() const { return lowest_; }
  bool holds(const char* address) const { return address >= lowest_ && address < lowest_ + kStackBytes; }
  /// Lost frames may be pointed to from anywhere.
  void keep_for_ever() { lowest_ = nullptr; }

 private:
  char* lowest_ = nullptr;
};

// ---- what sanitizers must be told of a change of stacks

#if defined(__SANITIZE_ADDRESS__)
class Switch {
 public:
  void enter(const StackMemory& stack) { __sanitizer_start_switch_fiber(&fake_, stack.lowest(), kStackBytes); }
  void entered() { __sanitizer_finish_switch_fiber(nullptr, &bottom_, &size_); }
  void leave() { __sanitizer_start_switch_fiber(nullptr, bottom_, size_); }
  void left() { __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr); }

 private:
  void* fake_ = nullptr;
  const void* bottom_ = nullptr;
  size_t size_ = 0;
};
#elif defined(__SANITIZE_THREAD__)
class Switch {
 public:
  void enter(const StackMemory&) { __tsan_switch_to_fiber(own_, 0); }
  void entered() {}
  void leave() { __tsan_switch_to_fiber(callers_, 0); }
  void left() { __tsan_destroy_fiber(own_); }

 private:
  void* callers_ = __tsan_get_current_fiber();
  void* own_ = __tsan_create_fiber(0);
};
#else
struct Switch {
  void enter(const StackMemory&) {}
  void entered() {}
  void leave() {}
  void left() {}
};
#endif

// ---- visits

/// One run on a stack of its own.
struct Visit {
  void (*function)(void*);
  void* context;
  bool is_expendable;
  Visit* outer;
  std::exception_ptr error = nullptr;
  StackMemory stack{};
  Switch change{};
  ucontext_t caller{}, own{};
};

thread_local Visit* innermost = nullptr;

bool is_on_stack_of(const Visit* visit) {
  return visit && visit->stack.holds(static_cast<const char*>(__builtin_frame_address(0)));
}

[[noreturn]] void leave(Visit& visit) {
  visit.change.leave();
  ::setcontext(&visit.caller);
  std::terminate();  // a saved context can be gone back to
}

void begin_visit() {
  Visit& visit = *innermost;
  visit.change.entered();
  try {
    visit.function(visit.context);
  } catch (...) {
    visit.error = std::current_exception();
  }
  leave(visit);
}

/// Apart, so that little of the caller's stack is used: a context is large.
[[gnu::noinline]] void visit(void (*function)(void*), void* context, bool is_expendable) {
  const Uncancelled uncancelled;
  const DefaultFloatEnvironment environment;
  auto visit = std::make_unique<Visit>(function, context, is_expendable, innermost);
  ::getcontext(&visit->own);
  visit->own.uc_stack.ss_sp = visit->stack.lowest();
  visit->own.uc_stack.ss_size = kStackBytes;
  visit->own.uc_link = nullptr;
  ::makecontext(&visit->own, begin_visit, 0);
  innermost = visit.get();
  visit->change.enter(visit->stack);
  ::swapcontext(&visit->caller, &visit->own);
  visit->change.left();
  innermost = visit->outer;
  if (visit->error) std::rethrow_exception(std::move(visit->error));
}

}  // namespace

void run_on_deep_stack(void (*function)(void*), void* context) {
  if (is_on_stack_of(innermost)) return function(context);
  visit(function, context, false);
}

void run_on_expendable_stack(void (*function)(void*), void* context) { visit(function, context, true); }

void abandon_stack(std::exception_ptr error) {
  Visit* visit = innermost;
  if (!visit || !visit->is_expendable || !is_on_stack_of(visit)) return;
  visit->error = std::move(error);
  visit->stack.keep_for_ever();
  leave(*visit);
}

bool is_deep_stack_short() {
  return is_on_stack_of(innermost) && static_cast<const char*>(__builtin_frame_address(0)) < innermost->stack.lowest() + kRoom;
}

// ---- the thread's own stack

namespace {

struct Bounds {
  const char *lowest = nullptr, *end = nullptr;
};

Bounds bounds_of_thread() {
  if (::gettid() == ::getpid()) return {};
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  return {static_cast<const char*>(begin), static_cast<const char*>(begin) + size};
}

}  // namespace

bool is_stack_short() {
  constexpr ptrdiff_t kOfACall = 64 << 10;
  static thread_local const Bounds bounds = bounds_of_thread();
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return here < bounds.end && here >= bounds.lowest && here - bounds.lowest < kOfACall;
}

}  // namespace strider
