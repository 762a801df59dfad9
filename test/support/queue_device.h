// SPDX-License-Identifier: Apache-2.0
// A device whose streams do nothing before a test says so: the CPU behind queues, for what no GPU is needed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "backend/backend.h"
#include "tensor/stream.h"

namespace strider::test {

/// Not for many threads at a time. It must live as long as the process when tensors are made on it.
class QueueDevice final : public Device {
 public:
  /// Work of one stream, and how many pieces of it were put there and are done.
  struct Queue {
    std::deque<std::function<void()>> work;
    int64_t put = 0, done = 0;
  };

  explicit QueueDevice(std::string name = "queues") : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::string description() const override { return "the CPU behind queues"; }
  const Target& target() const override { return cpu_.target(); }
  std::unique_ptr<Executable> load(const Binary& binary) override { return std::make_unique<Queued>(*this, cpu_.load(binary)); }

  void* allocate(int64_t bytes) override {
    void* memory = cpu_.allocate(bytes);
    held.insert(memory);
    return memory;
  }
  void release(void* memory) noexcept override {
    held.erase(memory);
    cpu_.release(memory);
  }
  void copy_in(void* device, const void* host, int64_t bytes, StreamHandle stream) override {
    finish(stream);
    cpu_.copy_in(device, host, bytes);
  }
  void copy_out(void* host, const void* device, int64_t bytes, StreamHandle stream) override {
    finish(stream);
    cpu_.copy_out(host, device, bytes);
  }
  void fill_zero(void* device, int64_t bytes, StreamHandle stream) override {
    put(stream, [=, this] { cpu_.fill_zero(device, bytes); });
  }
  void synchronize() override {
    for (auto& [stream, queue] : queues) finish(stream);
  }

  bool has_streams() const override { return true; }
  StreamHandle make_stream() override { return reinterpret_cast<StreamHandle>(next_ += 16); }
  void end_stream(StreamHandle stream) noexcept override { ended.insert(stream); }
  StreamHandle adopt_stream(void* native) override { return native; }
  void synchronize_stream(StreamHandle stream) override { finish(stream); }
  bool is_idle(StreamHandle stream) override { return queues[stream].work.empty(); }

  EventHandle record(StreamHandle stream) override {
    ++events;
    return new Moment{stream, queues[stream].put};
  }
  void end_event(EventHandle event) noexcept override {
    if (event) --events;
    delete static_cast<Moment*>(event);
  }
  bool has_passed(EventHandle event) override {
    auto* moment = static_cast<Moment*>(event);
    return !moment || queues[moment->stream].done >= moment->put;
  }
  void wait(StreamHandle stream, EventHandle event) override {
    put(stream, [this, moment = *static_cast<Moment*>(event)] { finish(moment.stream, moment.put); });
  }
  void synchronize_event(EventHandle event) override {
    if (auto* moment = static_cast<Moment*>(event)) finish(moment->stream, moment->put);
  }

  /// Does what is on a stream, up to a moment.
  void finish(StreamHandle stream, int64_t until = INT64_MAX) {
    Queue& queue = queues[stream];
    while (!queue.work.empty() && queue.done < until) {
      auto work = std::move(queue.work.front());
      queue.work.pop_front();
      work();
      ++queue.done;
    }
  }
  void put(StreamHandle stream, std::function<void()> work) {
    queues[stream].work.push_back(std::move(work));
    ++queues[stream].put;
  }

  std::map<StreamHandle, Queue> queues;
  std::set<void*> held;
  std::set<StreamHandle> ended;
  int events = 0;  // that live

 private:
  struct Moment {
    StreamHandle stream;
    int64_t put;
  };
  class Queued final : public Executable {
   public:
    Queued(QueueDevice& device, std::unique_ptr<Executable> code) : device_(device), code_(std::move(code)) {}
    void launch(const Grid& grid, std::span<const uint64_t> args, StreamHandle stream) override {
      device_.put(stream, [code = code_, grid, copy = std::vector<uint64_t>(args.begin(), args.end())] { code->launch(grid, copy); });
    }

   private:
    QueueDevice& device_;
    std::shared_ptr<Executable> code_;  // what is queued may outlive it
  };

  Device& cpu_ = device_named("cpu");
  std::string name_;
  uintptr_t next_ = 0x1000;
};

/// A new stream of such a device.
inline Stream stream_on(Device& device) {
  return Stream(device, std::make_shared<detail::StreamState>(device, device.make_stream(), true));
}

}  // namespace strider::test
