// SPDX-License-Identifier: Apache-2.0
#include "tensor/stream.h"

#include "base/out_of_memory.h"
#include "base/scopes.h"
#include "tensor/storage.h"

namespace strider {
inline namespace v0 {

struct StreamScope::Entry : ScopeEntry {
  explicit Entry(const Stream& s) : stream(s) {}
  Stream stream;
};

namespace {

constinit thread_local ScopeStack<StreamScope::Entry> scopes;

const Stream* scoped_stream(const Device& device) {
  const StreamScope::Entry* entry = scopes.find([&](const StreamScope::Entry& e) { return &e.stream.device_object() == &device; });
  return entry ? &entry->stream : nullptr;
}

}  // namespace

StreamScope::StreamScope(const Stream& stream) : entry_(out_of_memory_is_an_error([&] { return scopes.begin(new Entry(stream)); })) {}
StreamScope::~StreamScope() { scopes.end(entry_); }

Stream Stream::default_of(std::string_view device) { return Stream(device_of(device), nullptr); }

Stream Stream::make(std::string_view name) {
  return out_of_memory_is_an_error([&] {
    Device& device = device_of(name);
    auto state = std::make_shared<detail::StreamState>(device, nullptr, false);
    state->handle = device.make_stream();
    state->is_ours = state->handle != nullptr;
    return Stream(device, state->is_ours ? std::move(state) : nullptr);
  });
}

Stream Stream::adopt(std::string_view name, void* native) {
  return out_of_memory_is_an_error([&] {
    Device& device = device_of(name);
    StreamHandle handle = device.adopt_stream(native);
    return Stream(device, handle ? std::make_shared<detail::StreamState>(device, handle, false) : nullptr);
  });
}

Stream Stream::current(std::string_view device) { return current_stream(device_of(device)); }

std::string Stream::device() const { return device_->name(); }
void* Stream::native() const { return handle_of(*this); }
void Stream::synchronize() const { device_->synchronize_stream(handle_of(*this)); }
bool Stream::is_idle() const { return device_->is_idle(handle_of(*this)); }

Event Stream::record() const {
  return out_of_memory_is_an_error([&] {
    auto state = std::make_shared<detail::EventState>(*device_, nullptr);
    state->handle = device_->record(handle_of(*this));
    return Event(std::move(state));
  });
}

void Stream::wait(const Event& event) const {
  if (device_->has_streams() && !event.has_passed()) device_->wait(handle_of(*this), event.state_->handle);
  else event.synchronize();
}

void Stream::wait(const Stream& other) const {
  if (!(*this == other)) wait(other.record());
}

bool Event::has_passed() const { return state_->device.has_passed(state_->handle); }
void Event::synchronize() const { state_->device.synchronize_event(state_->handle); }

}  // namespace v0

Stream current_stream(Device& device) {
  const Stream* scoped = scoped_stream(device);
  return scoped ? *scoped : Stream(device, nullptr);
}

StreamHandle current_handle(Device& device) {
  const Stream* scoped = scoped_stream(device);
  return scoped ? handle_of(*scoped) : nullptr;
}

}  // namespace strider
