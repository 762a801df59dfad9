// SPDX-License-Identifier: Apache-2.0
// Streams as the library uses them.
#pragma once

#include <strider/stream.h>

#include "backend/backend.h"
#include "base/kit.h"

namespace strider {
inline namespace v0 {
namespace detail {

/// A stream that is not its device's default one.
struct StreamState {
  Device& device;
  StreamHandle handle;
  bool is_ours;  // to end

  StreamState(Device& d, StreamHandle h, bool ours) : device(d), handle(h), is_ours(ours) {}
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  ~StreamState() {
    if (is_ours) device.end_stream(handle);
  }
};

struct EventState {
  Device& device;
  EventHandle handle;

  EventState(Device& d, EventHandle h) : device(d), handle(h) {}
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  ~EventState() { device.end_event(handle); }
};

}  // namespace detail
}  // namespace v0

inline StreamHandle handle_of(const Stream& stream) { return stream.state() ? stream.state()->handle : nullptr; }

/// Where this thread's work on the device goes: the innermost StreamScope of the device says so, or it is the default stream.
STRIDER_KIT Stream current_stream(Device& device);
STRIDER_KIT StreamHandle current_handle(Device& device);

}  // namespace strider
