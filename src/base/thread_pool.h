// SPDX-License-Identifier: Apache-2.0
//
// The pool of worker threads that runs every parallel loop of the library.
//
// A call splits its items into chunks that threads take from one atomic counter; the calling thread takes part,
// so a call makes progress even when no worker is free.  Calls from several threads share the workers.
// Calls made from within a range run inline, and so does a call of no more than `grain` items.
// Every range runs in the default floating-point environment, whatever the host has set.
//
// A child made by fork() finds no pool and starts its own at the first call.  Forking from within a range is
// sound only if the child goes on to exec or _exit.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/kit.h"

namespace strider {

// Processes the items [begin, end); `worker` lies in [0, worker_count()) and is unique among the threads of a call.
// Two calls made at the same time both have a worker 0: scratch that outlives a call belongs in thread_local storage.
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end, int worker);

// Calls `function` on ranges that together cover [0, count) once, each of which begins at a multiple of `grain`,
// and returns when all are done; throws the first exception that a range threw, after which ranges may be left out.
STRIDER_KIT void parallel_for(int64_t count, int64_t grain, RangeFunction function, void* context);

// Calls `body(begin, end, worker)` likewise:
//   parallel_for(n, 1024, [&](int64_t begin, int64_t end, int) { fill(begin, end); });
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  using Bare = std::remove_reference_t<Body>;
  const auto call = [](void* context, int64_t begin, int64_t end, int worker) {
    (*static_cast<Bare*>(context))(begin, end, worker);
  };
  parallel_for(count, grain, call, const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

// Returns how many threads a call can use: STRIDER_THREADS if set, else the processors this process may run on.
STRIDER_KIT int worker_count();

// Calls from now on use up to so many threads, whatever the settings say: for measurements. No call may be running.
STRIDER_KIT void set_worker_count(int threads);

}  // namespace strider
