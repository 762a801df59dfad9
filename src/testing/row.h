// SPDX-License-Identifier: Apache-2.0
// What one measurement leaves, and what it should have reached.
#pragma once

#include <string>

#include "testing/timing.h"

namespace strider::inline v0::testing {

/// What a case must reach. `value` is the least ratio, or for the last two the most.
struct Aim {
  enum Kind : uint8_t {
    None,
    OfCopy,        // its bandwidth by that of the identity kernel
    OfReference,   // the time of the form it is compared with by its own
    TimesPeer,     // the peer's time by its own
    OfPeersTime,   // its time by the peer's
    Milliseconds,
  };
  Kind kind = None;
  double value = 0;
};

struct Row {
  std::string suite = {}, name = {}, dtype = {};
  int threads = 0;  // 0: not a CPU
  int64_t elements = 0;
  int64_t bytes = 0;             // what a call must read and write at least; 0: not counted
  Times times = {};
  Times copy = {};               // the identity kernel moving as many bytes, with the same stores
  double memcpy_gbps = 0;        // the same by memcpy; 0: not measured
  std::string reference_name = {};
  Times reference = {};          // another form of the same
  Times peer = {};               // the same by another library
  Times processor = {};          // what all threads worked, where that says more than the clock
  Aim aim = {};

  bool has_copy() const { return !copy.samples.empty(); }
  bool has_peer() const { return !peer.samples.empty(); }
  double milliseconds() const { return times.median() * 1e3; }
  double gbps() const { return gigabytes_per_second(bytes, times); }
  double copy_gbps() const { return gigabytes_per_second(bytes, copy); }
  // Quotients are medians over rounds, so that what slows a whole round down does not count.
  double fraction() const { return ratio(copy, times); }
  double times_peer() const { return ratio(peer, times); }
  double of_reference() const { return ratio(reference, times); }
};

}  // namespace strider::v0::testing
