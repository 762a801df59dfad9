// SPDX-License-Identifier: Apache-2.0
// Streams of a GPU: order, memory in flight, and streams, contexts and tensors of others.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <strider/device.h>
#include <strider/dlpack.h>
#include <strider/kernel.h>
#include <strider/memory.h>
#include <strider/pointwise.h>
#include <strider/stream.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/driver.h"
#include "support/errors.h"

namespace strider::backend_test {
namespace {

using support::error_of;

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

class CudaStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  }
};

constexpr int kSlow = 1 << 27;  // some tenths of a second

int after_slow(int x) {
  auto v = static_cast<uint32_t>(x);
  for (int k = 0; k < kSlow; ++k) v = v * 1664525 + 1013904223;
  return static_cast<int>(v);
}

/// Keeps a stream busy, then writes after_slow(x[0]) there.
const Kernel& slow() {
  static const Kernel& made = *new Kernel(kernel("slow", [](tl::Ptr<int> x, tl::i32 n) {
    tl::store(x, tl::range(0, n, 1, tl::load(x), [](auto, auto v) { return v * 1664525 + 1013904223; }));
  }));
  return made;
}

Tensor on_gpu(int value, int64_t count = 1) { return full({count}, value, {i32, "cuda"}); }

TEST_F(CudaStreams, StreamsOverlapAndWaitForEachOther) {
  Stream s = Stream::make("cuda"), t = Stream::make("cuda");
  EXPECT_FALSE(s == t);
  Tensor x = on_gpu(1), y = on_gpu(2);
  slow()[1](y, 1);  // compiled
  synchronize("cuda");
  slow()[1].on(s)(x, kSlow);
  slow()[1].on(t)(y, 1);
  t.synchronize();
  EXPECT_FALSE(s.is_idle());
  t.wait(s);
  auto add = pointwise("add", [](auto a, auto b) { return a + b; });
  Tensor sum = add.on(t)(x, on_gpu(0));
  StreamScope here(t);
  EXPECT_EQ(sum.to_vector<int>()[0], after_slow(1));
  EXPECT_TRUE(s.is_idle());
}

TEST_F(CudaStreams, MemoryInFlightIsNotGivenToAnotherStream) {
  release_cache();
  Stream s = Stream::make("cuda"), t = Stream::make("cuda");
  const int64_t n = 1 << 20;
  auto copy = pointwise("copy", [](auto a) { return a + 0; });
  Tensor busy = on_gpu(1), x = on_gpu(7, n);
  slow()[1](busy, 1);
  copy(x);
  synchronize("cuda");
  release_cache();
  slow()[1].on(s)(busy, kSlow);
  void* first = copy.on(s)(x).data();
  std::vector<Tensor> held;
  for (int k = 0; k < 3; ++k) held.push_back(copy.on(t)(x));
  for (const Tensor& h : held) EXPECT_NE(h.data(), first);
  EXPECT_EQ(copy.on(s)(x).data(), first);
  EXPECT_FALSE(s.is_idle());
  s.synchronize();
  held.push_back(copy.on(t)(x));
  EXPECT_EQ(held.back().data(), first);
}

TEST_F(CudaStreams, ForeignStreamsOfThePrimaryContextAreAdopted) {
  const CudaDriver& cuda = cuda_driver();
  int number = 0;
  CudaContext primary = nullptr, other = nullptr, now = nullptr;
  CudaStream foreign = nullptr, stranger = nullptr;
  cuda.device_get(&number, 0);
  cuda.context_retain(&primary, number);
  cuda.context_set(primary);
  cuda.stream_create(&foreign, kCudaNonBlocking);
  {
    Stream s = Stream::adopt("cuda", foreign);
    EXPECT_EQ(s.native(), foreign);
    Tensor x = on_gpu(1);
    slow()[1](x, 0);
    synchronize("cuda");
    slow()[1].on(s)(x, kSlow);
    EXPECT_EQ(cuda.stream_query.result(foreign), kCudaNotReady);
    cuda.stream_synchronize(foreign);
    EXPECT_EQ(x.to_vector<int>()[0], after_slow(1));
  }
  release_cache();
  cuda.stream_synchronize(foreign);  // it is still theirs
  cuda.stream_destroy(foreign);

  // A thread whose context is another one: calls work and leave it as it is, and its streams are refused.
  auto create = reinterpret_cast<int (*)(CudaContext*, unsigned, int)>(cuda.library.get("cuCtxCreate_v2"));
  auto destroy = reinterpret_cast<int (*)(CudaContext)>(cuda.library.get("cuCtxDestroy_v2"));
  ASSERT_EQ(create(&other, 0, number), 0);
  cuda.stream_create(&stranger, kCudaNonBlocking);
  EXPECT_TRUE(says(error_of([&] { Stream::adopt("cuda", stranger); }), "not of the device's primary context"));
  Tensor x = on_gpu(3);
  slow()[1](x, 0);
  EXPECT_EQ(x.to_vector<int>()[0], 3);
  cuda.context_get(&now);
  EXPECT_EQ(now, other);
  cuda.stream_destroy(stranger);
  destroy(other);
  cuda.context_set(nullptr);
  EXPECT_EQ(Stream::adopt("cuda", reinterpret_cast<void*>(1)), Stream::default_of("cuda"));
  EXPECT_TRUE(says(error_of([] { Stream::adopt("cuda", reinterpret_cast<void*>(2)); }), "per-thread default stream"));
}

TEST_F(CudaStreams, DLPackOrdersStreams) {
  Stream producer = Stream::make("cuda"), s = Stream::make("cuda");
  Tensor x = on_gpu(1);
  slow()[1](x, 0);
  synchronize("cuda");
  slow()[1].on(producer)(x, kSlow);
  StreamScope here(s);
  Tensor y = from_dlpack(to_dlpack(x, dlpack::kNoSync), dlpack::number_of(producer));
  EXPECT_EQ(y.to_vector<int>()[0], after_slow(1));
  EXPECT_TRUE(producer.is_idle());
}

}  // namespace
}  // namespace strider::backend_test
