// SPDX-License-Identifier: Apache-2.0
// The CUDA back end: what it says without a driver, and on a GPU every lane case against the interpreter.
#include <gtest/gtest.h>

#include <functional>

#include "backend/cuda/cuda.h"
#include "backend/lane_cases.h"
#include "base/error.h"
#include "ir/builder.h"

namespace strider::backend_test {
namespace {

using namespace ir;

std::string message_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

TEST(CudaWithoutADriver, SaysThatItCannotBeOpened) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "there is a GPU";
  std::string message = message_of([] { device_named("cuda"); }, ErrorKind::Driver);
  EXPECT_TRUE(says(message, "libcuda.so.1 could not be opened") || says(message, "cuInit: ")) << message;
  EXPECT_EQ(message, message_of([] { device_named("cuda:0"); }, ErrorKind::Driver));
  EXPECT_EQ(available_devices(), std::vector<std::string>{"cpu"});
}

TEST(CudaWithoutADriver, RefusesNamesOfNoDevice) {
  EXPECT_TRUE(says(message_of([] { device_named("tpu"); }, ErrorKind::User), "there is no device tpu; there are cpu"));
  EXPECT_TRUE(says(message_of([] { device_named("cuda:x"); }, ErrorKind::User), "there is no device cuda:x"));
  EXPECT_TRUE(says(message_of([] { device_named("cuda:-1"); }, ErrorKind::User), "there is no device cuda:-1"));
}

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  }
  Device& device() { return device_named("cuda"); }
};

/// Programs on GPUs have a warp of threads at least. With fewer, all of them known to be uniform, ptxas 13.0 and 13.5 take the wrong
/// register for the upper half of a packed i16 in the kernel of all ops (seen on sm_90).
TEST_F(Cuda, AgreesWithTheInterpreter) {
  for (int threads : {32, 128})
    for (const Case& c : lane_cases(threads))
      EXPECT_EQ(difference(c, interpret(c), run(c, device(), device().target())), "") << threads << " threads";
}

TEST_F(Cuda, RunsCodeForOlderGpus) {
  for (const char* name : {"cuda:sm_70", "cuda:sm_80"}) {
    if (target_named(name).processor > device().target().processor) continue;
    for (const Case& c : lane_cases(32))
      EXPECT_EQ(difference(c, interpret(c), run(c, device(), target_named(name))), "") << name;
  }
}

/// Each thread reads what its neighbour wrote to a large array in scratch.
Case large_scratch(int64_t bytes) {
  Builder b("large_scratch");
  Value out = b.param(Type::pointer(DType::I32), {.name = "out"});
  int64_t count = bytes / 4, part = count / 256;
  Value array = b.alloc(Space::Shared, DType::I32, count), first = b.mul(b.thread_id(), b.i32(part));
  Value is_last = b.binary(Op::Eq, b.thread_id(), b.i32(255));
  auto each = [&](const Builder::RegionFn& body) { b.for_loop(b.i32(0), b.i32(part), b.i32(1), {}, body); };
  each([&](std::span<const Value> p) {
    Value place = b.add(first, p[0]);
    b.store(b.ptr_add(array, place), b.mul(place, b.i32(3)));
    return Builder::Values{};
  });
  b.barrier();
  Value next = b.where(is_last, b.i32(0), b.add(first, b.i32(part)));
  each([&](std::span<const Value> p) {
    b.store(b.ptr_add(out, b.add(first, p[0])), b.load(b.ptr_add(array, b.add(next, p[0]))));
    return Builder::Values{};
  });
  Case c{.name = "large_scratch", .lanes = b.finish(), .buffers = {buffer_of(DType::I32, std::vector<uint64_t>(static_cast<size_t>(count)))}, .scalars = {}};
  c.lanes.threads = 256;
  c.lanes.scratch_bytes = bytes;
  return c;
}

TEST_F(Cuda, GivesProgramsAllTheScratchOfTheTarget) {
  for (int64_t bytes : {int64_t{48} << 10, device().target().scratch_limit / 1024 * 1024}) {
    Case c = large_scratch(bytes);
    EXPECT_EQ(difference(c, interpret(c), run(c, device(), device().target())), "") << bytes;
  }
}

TEST_F(Cuda, RefusesGridsBeyondItsLimits) {
  Case c = large_scratch(1 << 10);
  auto executable = device().load(compiler_for(device().target()).compile(c.lanes, device().target()));
  const uint64_t args[] = {0};
  executable->launch({1, 0, 1}, args);  // nothing
  EXPECT_TRUE(says(message_of([&] { executable->launch({1, 65536, 1}, args); }, ErrorKind::User), "65536 programs on axis 1, expected 0 to 65535"));
  EXPECT_TRUE(says(message_of([&] { executable->launch({int64_t{1} << 31, 1, 1}, args); }, ErrorKind::User), "on axis 0, expected 0 to 2147483647"));
}

TEST_F(Cuda, TellsWhatTheDriverSaysOfBadCode) {
  Binary binary{.target = "cuda:sm_70", .entry = "strider_bad", .code = {}, .slots = {}};
  std::string text = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry strider_bad() { not.an.instruction; }\n";
  binary.code.assign(text.begin(), text.end());
  std::string message = message_of([&] { device().load(binary); }, ErrorKind::Driver);
  EXPECT_TRUE(says(message, "strider_bad: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX")) << message;
  EXPECT_TRUE(says(message, "line 4")) << message;
}

TEST_F(Cuda, CopiesFillsAndDescribesItself) {
  std::vector<int32_t> there(1000, 7), back(1000, 1);
  void* memory = device().allocate(4000);
  device().copy_in(memory, there.data(), 4000);
  device().copy_out(back.data(), memory, 4000);
  EXPECT_EQ(back, there);
  device().fill_zero(memory, 2000);
  device().copy_out(back.data(), memory, 4000);
  EXPECT_EQ(back[499], 0);
  EXPECT_EQ(back[500], 7);
  device().release(memory);
  EXPECT_EQ(device().name(), "cuda:0");
  EXPECT_TRUE(says(device().description(), "multiprocessors"));
  EXPECT_TRUE(says(message_of([&] { device().allocate(int64_t{1} << 50); }, ErrorKind::Driver), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): "));
}

}  // namespace
}  // namespace strider::backend_test
