// SPDX-License-Identifier: Apache-2.0
// Work that neither the end of the process nor a fork may cut in two.
#pragma once

#include <mutex>

namespace strider {

/// Stands around work in libraries with locks and static objects of their own: LLVM's compiler and linker. fork() waits until no
/// other thread is inside. So does exit(), where the library is linked statically and LLVM's objects are destroyed: once it has come
/// this far, another thread that would enter sleeps until the process is gone. It may stand inside of another one, and must not wait
/// for other threads.
class Undisturbed {
 public:
  Undisturbed();
  ~Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
};

/// std::atexit, which in libstrider.so is another one. What waits for such work calls watch_for_exit() before, to run earlier than it.
int at_exit(void (*function)());
void watch_for_exit();

/// A user error if exit() has ended such work.
void check_compiler_lives();
/// Whether it has, and this is the thread that called exit(): others will not come back from what they are at.
bool is_thread_that_exits();

/// The lock of all that is seldom changed. A child of fork() finds it free and what it guards whole. It is never held while a
/// user's function runs or anything is compiled, and no other lock is taken under it.
std::unique_lock<std::mutex> lock_of_tables();

}  // namespace strider
