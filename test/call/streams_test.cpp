// SPDX-License-Identifier: Apache-2.0
// Streams: where launches, copies and memory go, who waits for whom, and when memory is handed out again. On a device whose queues
// a test works off by hand.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <strider/device.h>
#include <strider/dlpack.h>
#include <strider/kernel.h>
#include <strider/memory.h>
#include <strider/pointwise.h>
#include <strider/stream.h>

#include "support/errors.h"
#include "support/queue_device.h"
#include "tensor/allocator.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace strider::test {
namespace {

using support::error_of;

/// Tensors may outlive a test: so do the devices, which this list holds to the end of the process.
QueueDevice& new_device(const std::string& name = "queues") {
  static auto& devices = *new std::vector<std::unique_ptr<QueueDevice>>;
  return *devices.emplace_back(std::make_unique<QueueDevice>(name));
}

Tensor tensor_on(Device& device, int64_t count, float value) {
  Tensor t = empty_on(device, {count}, {1}, f32);
  const std::vector<float> values(static_cast<size_t>(count), value);
  device.copy_in(t.data(), values.data(), count * 4, current_handle(device));
  return t;
}

/// What lies there now, whatever waits on the streams.
float now(const Tensor& t) { return *static_cast<const float*>(t.data()); }

auto add_operator() {
  return pointwise("add", [](auto x, auto y) { return x + y; });
}

auto double_kernel() {
  return kernel("twice", [](tl::Ptr<float> x, tl::Constexpr n) {
    auto i = tl::arange(0, n);
    tl::store(x + i, tl::load(x + i) * 2.0f);
  });
}

TEST(Streams, TheCpuHasOneThatIsAlwaysDone) {
  Stream one = Stream::make("cpu"), other = Stream::default_of("cpu");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one, Stream::current("cpu"));
  EXPECT_TRUE(one.is_default());
  EXPECT_EQ(one.native(), nullptr);
  EXPECT_EQ(one.device(), "cpu");
  EXPECT_TRUE(one.is_idle());
  one.synchronize();
  one.wait(other);
  one.wait(other.record());
  EXPECT_TRUE(one.record().has_passed());
  EXPECT_EQ(Stream::adopt("cpu", nullptr), one);
  int there = 0;
  EXPECT_EQ(error_of([&] { Stream::adopt("cpu", &there); }), "cpu has no streams but its default one, whose handle is null");
  EXPECT_NE(error_of([] { Stream::make("abacus"); }), "");
  Tensor x = full({3}, 2);
  EXPECT_EQ(add_operator().on(one)(x, x).to_vector<float>(), (std::vector<float>{4, 4, 4}));
}

TEST(Streams, OperatorsKernelsAndPreparedCallsGoWhereTheyAreSent) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device), t = stream_on(device);
  auto add = add_operator();
  auto twice = double_kernel();
  Tensor x = tensor_on(device, 64, 1), out = tensor_on(device, 64, 0);
  add.on(s)(x, x, strider::out(out));
  EXPECT_EQ(now(out), 0);
  device.finish(nullptr);
  device.finish(handle_of(t));
  EXPECT_EQ(now(out), 0);
  device.finish(handle_of(s));
  EXPECT_EQ(now(out), 2);

  twice[1].on(t)(out, 64);
  device.finish(handle_of(s));
  EXPECT_EQ(now(out), 2);
  device.finish(handle_of(t));
  EXPECT_EQ(now(out), 4);

  PreparedCall call = twice[1].prepare(out, 64);
  call(s);
  call();
  device.finish(nullptr);
  EXPECT_EQ(now(out), 8);
  device.finish(handle_of(s));
  EXPECT_EQ(now(out), 16);
}

TEST(Streams, AScopeHoldsForItsThreadAndItsDevice) {
  QueueDevice &device = new_device(), &other = new_device("others");
  Stream s = stream_on(device), t = stream_on(other);
  StreamScope outer(s);
  {
    StreamScope inner(t);
    EXPECT_EQ(current_stream(device), s);
    EXPECT_EQ(current_stream(other), t);
    std::thread([&] { EXPECT_TRUE(current_stream(device).is_default()); }).join();
  }
  EXPECT_TRUE(current_stream(other).is_default());
  EXPECT_EQ(current_stream(device), s);
}

TEST(Streams, ScopesMayEndInAnyOrderAndOnAnyThread) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device), t = stream_on(device);
  auto first = std::make_optional<StreamScope>(s);
  auto second = std::make_unique<StreamScope>(t);
  first.reset();
  EXPECT_EQ(current_stream(device), t);
  std::thread([&] { second.reset(); }).join();
  EXPECT_TRUE(current_stream(device).is_default());
  auto interpreted = std::make_optional<Interpreted>();
  Interpreted inner({.most = 3});
  interpreted.reset();
}

TEST(Streams, CopiesComeAfterWhatIsOnTheirStream) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device);
  auto add = add_operator();
  Tensor x = tensor_on(device, 10, 3);
  StreamScope here(s);
  EXPECT_EQ(add(x, x).to_vector<float>(), std::vector<float>(10, 6));
  EXPECT_EQ(add(x, x).to_host().to_vector<float>(), std::vector<float>(10, 6));
  Tensor y = tensor_on(device, 10, 0);
  y.copy_from(x);
  EXPECT_EQ(now(y), 0);
  s.synchronize();
  EXPECT_EQ(now(y), 3);
  EXPECT_TRUE(s.is_idle());
}

TEST(Streams, OneWaitsForAnother) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device), t = stream_on(device);
  auto twice = double_kernel();
  Tensor x = tensor_on(device, 8, 1);
  auto add = add_operator();
  twice[1].on(s)(x, 8);
  Event event = s.record();
  EXPECT_FALSE(event.has_passed());
  t.wait(event);
  twice[1].on(s)(x, 8);  // after the event: t does not wait for it
  Tensor y = add.on(t)(x, x);
  device.finish(handle_of(t));
  EXPECT_EQ(now(y), 4);
  EXPECT_TRUE(event.has_passed());
  EXPECT_FALSE(s.is_idle());
  event.synchronize();
}

// ---- memory

struct Pool : ::testing::Test {
  static constexpr int64_t kBytes = 1 << 20;
  QueueDevice device;
  Stream s = stream_on(device), t = stream_on(device);
  MemoryPool pool{device, 100 * kBytes, 1};

  MemoryPool::Loan get(const Stream& home, int64_t bytes = kBytes) { return pool.allocate(bytes, home.state()); }
  void work_on(const Stream& stream) {
    device.put(handle_of(stream), [] {});
  }
};

TEST_F(Pool, AStreamGetsItsOwnBlockAtOnceAndOthersWhenItIsLeft) {
  for (const Stream& home : {Stream(device, nullptr), s}) {
    MemoryPool::Loan a = get(home);
    void* memory = a.memory();
    work_on(home);
    pool.release(std::move(a));
    MemoryPool::Loan b = get(t);
    EXPECT_NE(b.memory(), memory);  // in flight
    MemoryPool::Loan c = get(home);
    EXPECT_EQ(c.memory(), memory);
    pool.release(std::move(c));
    device.finish(handle_of(home));
    MemoryPool::Loan d = get(t);
    EXPECT_EQ(d.memory(), memory);
    work_on(t);
    pool.release(std::move(d));
    MemoryPool::Loan e = get(home);
    EXPECT_NE(e.memory(), memory);  // its home is another now
    pool.release(std::move(e));
    pool.release(std::move(b));
    device.synchronize();
    pool.release_cache();
  }
  EXPECT_EQ(device.events, 0);
  EXPECT_TRUE(device.held.empty());
}

TEST_F(Pool, ABlockWaitsForAllThatUsedIt) {
  MemoryPool::Loan a = get(s);
  void* memory = a.memory();
  a.add_use(t.state());
  a.add_use(t.state());
  a.add_use(nullptr);
  a.add_use(s.state());
  EXPECT_EQ(a.uses().size(), 2u);
  work_on(t);
  work_on(Stream(device, nullptr));
  pool.release(std::move(a));
  MemoryPool::Loan b = get(s);
  EXPECT_NE(b.memory(), memory);
  device.finish(handle_of(t));
  MemoryPool::Loan c = get(s);
  EXPECT_NE(c.memory(), memory);
  device.finish(nullptr);
  MemoryPool::Loan d = get(s);
  EXPECT_EQ(d.memory(), memory);
  for (auto* loan : {&b, &c, &d}) pool.release(std::move(*loan));
}

TEST_F(Pool, WithOneStreamNoEventIsRecorded) {
  MemoryPool::Loan a = get(Stream(device, nullptr));
  pool.release(std::move(a));
  a = get(Stream(device, nullptr));
  pool.release(std::move(a));
  EXPECT_EQ(device.events, 0);
  EXPECT_EQ(pool.stats().reuses, 1);
}

TEST_F(Pool, WhatGoesBackToTheDeviceIsNotInUse) {
  MemoryPool::Loan a = get(s);
  a.add_use(t.state());
  work_on(s);
  work_on(t);
  pool.release(std::move(a));
  EXPECT_EQ(pool.release_cache(), kBytes);
  EXPECT_TRUE(s.is_idle());
  EXPECT_TRUE(t.is_idle());
  EXPECT_EQ(device.events, 0);
  MemoryPool none(device, 0, 1);
  MemoryPool::Loan b = none.allocate(kBytes, s.state());
  b.add_use(t.state());
  work_on(t);
  none.release(std::move(b));
  EXPECT_TRUE(t.is_idle());
  EXPECT_TRUE(device.held.empty());
}

TEST_F(Pool, AStreamLivesAsLongAsItsMemoryWaits) {
  Stream short_lived = stream_on(device);
  StreamHandle handle = handle_of(short_lived);
  MemoryPool::Loan a = get(short_lived);
  pool.release(std::move(a));
  a = {};
  short_lived = s;
  EXPECT_EQ(device.ended.count(handle), 0u);
  pool.release_cache();
  EXPECT_EQ(device.ended.count(handle), 1u);
}

TEST(StreamMemory, OfATensorInFlightIsNotHandedOut) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device), t = stream_on(device);
  auto add = add_operator();
  const int64_t n = 100000;
  Tensor x = tensor_on(device, n, 1);
  void* first = nullptr;
  {
    Tensor y = add.on(s)(x, x);
    first = y.data();
  }
  Tensor z = add.on(t)(x, x);
  EXPECT_NE(z.data(), first);
  EXPECT_EQ(add.on(s)(x, x).data(), first);
  device.synchronize();
  EXPECT_EQ(now(z), 2);
}

/// A tensor of the default stream that another stream reads: calls say so themselves, and so can users.
TEST(StreamMemory, OfWhatAnotherStreamReadsIsKept) {
  QueueDevice& device = new_device();
  Stream s = stream_on(device);
  auto add = add_operator();
  const int64_t n = 100000;
  std::optional<Tensor> x = tensor_on(device, n, 1);
  void* first = x->data();
  Tensor y = add.on(s)(*x, *x);
  x.reset();
  Tensor other = tensor_on(device, n, 9);  // would overwrite what waits to be read
  EXPECT_NE(other.data(), first);
  s.synchronize();
  EXPECT_EQ(now(y), 2);
  Tensor again = tensor_on(device, n, 5);
  EXPECT_EQ(again.data(), first);

  Tensor told = tensor_on(device, 2 * n, 1);
  first = told.data();
  device.put(handle_of(s), [] {});
  told.used_on(s);
  told = again;
  EXPECT_NE(tensor_on(device, 2 * n, 1).data(), first);
}

// ---- other libraries

TEST(StreamMemory, OfAnotherLibraryIsGivenBackInItsOrder) {
  QueueDevice& device = new_device();
  Stream theirs = stream_on(device), s = stream_on(device);
  std::vector<float> memory(8, 1);
  bool gone = false;
  auto twice = double_kernel();
  {
    Tensor x(TensorView(memory.data(), f32, {8}, {1}, device),
             std::make_shared<Tensor::Storage>(memory.data(), 32, theirs, [&] { gone = true; }));
    twice[1].on(s)(x, 8);
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(memory[0], 1);
  device.finish(handle_of(theirs));  // whatever they put there now comes after our work
  EXPECT_EQ(memory[0], 2);
}

TEST(DLPackStreams, TheConsumersStreamWaitsForOurs) {
  QueueDevice& device = new_device("cuda:0");
  Stream s = stream_on(device), consumer = stream_on(device);
  auto add = add_operator();
  const int64_t n = 100000;
  Tensor x = tensor_on(device, n, 1);
  StreamScope here(s);
  std::optional<Tensor> y = add(x, x);
  void* memory = y->data();
  auto* exported = to_dlpack(*y, dlpack::number_of(consumer));
  y.reset();
  device.finish(handle_of(consumer));
  EXPECT_EQ(*static_cast<float*>(memory), 2);
  device.put(handle_of(consumer), [] {});  // the consumer's work
  exported->deleter(exported);
  EXPECT_NE(add(x, x).data(), memory);
  device.synchronize();

  y = add(x, x);
  exported = to_dlpack(*y, dlpack::kNoSync);
  EXPECT_TRUE(consumer.is_idle());
  exported->deleter(exported);
  auto* old = to_dlpack_unversioned(*y);  // the default stream waits
  EXPECT_FALSE(device.is_idle(nullptr));
  old->deleter(old);
  EXPECT_EQ(error_of([&] { to_dlpack(*y, 0); }), "cuda:0 has no stream of number 0 in DLPack");
  device.synchronize();
}

TEST(DLPackStreams, TheCpuHasNone) {
  Tensor x = arange(3);
  EXPECT_EQ(dlpack::number_of(Stream::default_of("cpu")), dlpack::kLegacyStream);
  auto* exported = to_dlpack(x, dlpack::kNoSync);
  EXPECT_EQ(error_of([&] { from_dlpack(exported, 7); }), "cpu has no stream of number 7 in DLPack");
  EXPECT_EQ(from_dlpack(exported, dlpack::kNoSync).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(error_of([&] { to_dlpack(x, 2); }), "cpu has no stream of number 2 in DLPack");
}

}  // namespace
}  // namespace strider::test
