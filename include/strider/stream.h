// SPDX-License-Identifier: Apache-2.0
// Streams: queues of a GPU. What is put on one stream is done in order, what is on two may be done at the same time. docs/streams.md
//
//   st::Stream mine = st::Stream::make("cuda");
//   add.on(mine)(a, b);                        // one call
//   l1[grid].on(mine)(x, out, n);
//   {
//     st::StreamScope here(mine);              // all that this thread does on the stream's device: launches, copies, new tensors
//     st::Tensor y = add(a, b).to_host();
//   }
//   other.wait(mine);                          // what `other` gets from now on is done after what `mine` has now
//
// Without a word, work is put on the default stream of the device (CUDA's legacy default stream). Devices without queues, such as
// the CPU, do everything at once: all of their streams are the default one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <strider/export.h>

namespace strider {

class Device;  // of the implementation

inline namespace v0 {

class Event;
namespace detail {
struct StreamState;
struct EventState;
}  // namespace detail

/// A stream of a device. Copies are the same stream; one that was made here ends with the last copy and the last memory that
/// waits to be used again on it, after its work is done.
class Stream {
 public:
  /// The stream that is used when none is named. A user error for a device that is not there.
  STRIDER_API static Stream default_of(std::string_view device);
  /// A new stream, which waits for no other one, the default one included.
  STRIDER_API static Stream make(std::string_view device);
  /// A stream of somebody else by the driver's handle (CUstream, cudaStream_t), which stays theirs and must outlive the copies of
  /// this object and the tensors that were made on it. Null is the default stream. User errors: a stream of another context than
  /// the device's primary one, which CUDA's runtime uses as well; the per-thread default stream; any but null without queues.
  STRIDER_API static Stream adopt(std::string_view device, void* native);
  /// Where this thread's work on the device goes now.
  STRIDER_API static Stream current(std::string_view device);

  STRIDER_API std::string device() const;
  /// The driver's handle; null for the default stream.
  STRIDER_API void* native() const;
  bool is_default() const { return !state_; }

  /// Returns when all that is on the stream is done. Throws the first driver error of any of it.
  STRIDER_API void synchronize() const;
  STRIDER_API bool is_idle() const;
  /// The moment when what is on the stream now is done.
  STRIDER_API Event record() const;
  /// What is put on this stream from now on is done after the event, or after what `other` has now. The caller does not wait. The
  /// streams may be of two devices of one kind.
  STRIDER_API void wait(const Event& event) const;
  STRIDER_API void wait(const Stream& other) const;

  bool operator==(const Stream&) const = default;

  // For the implementation.
  Stream(Device& device, std::shared_ptr<detail::StreamState> state) : device_(&device), state_(std::move(state)) {}
  Device& device_object() const { return *device_; }
  const std::shared_ptr<detail::StreamState>& state() const { return state_; }

 private:
  Device* device_;
  std::shared_ptr<detail::StreamState> state_;  // null: the default stream
};

/// A moment in a stream's work.
class Event {
 public:
  explicit Event(std::shared_ptr<detail::EventState> state) : state_(std::move(state)) {}
  STRIDER_API bool has_passed() const;
  /// Returns when it has.
  STRIDER_API void synchronize() const;

 private:
  friend class Stream;
  std::shared_ptr<detail::EventState> state_;
};

/// While one lives, what its thread does on the stream's device goes onto that stream: launches, copies, fills and the memory of new
/// tensors. The innermost one of a device counts. They may end in any order.
class StreamScope {
 public:
  STRIDER_API explicit StreamScope(const Stream& stream);
  STRIDER_API ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

  struct Entry;

 private:
  Entry* entry_;
};

}  // namespace v0
}  // namespace strider
