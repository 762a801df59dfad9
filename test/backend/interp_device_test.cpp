// SPDX-License-Identifier: Apache-2.0
// The interpreters as devices: what they run, and how a faulty launch fails.
#include <gtest/gtest.h>

#include <strider/error.h>

#include "backend/interp/interp.h"
#include "backend/interp_launch.h"

namespace strider::interp {
namespace {

using ir::Builder;
using ir::Function;
using ir::Value;

/// x[i] += 1 for i < 8, in tile form or by two threads in lane form.
Function increment(bool tiles) {
  Builder b("increment");
  Value x = pointer_param(b, "x", DType::I32);
  if (tiles) {
    Value pointers = at(b, x, b.arange(DType::I32, 0, 8));
    Value loaded = b.load(pointers);
    b.store(pointers, b.add(loaded, splat(b, loaded, 1)));
    return b.finish();
  }
  Value pointer = b.ptr_add(x, b.mul(b.thread_id(), b.i32(4)));
  Value loaded = b.load_block(pointer, DType::I32, 4, 4);
  b.store_block(pointer, b.add(loaded, splat(b, loaded, 1)), 4);
  return in_lane_form(b, 2);
}

/// Runs `f` on x = 0, 1, ... with room for `count` numbers, and gives what is there then.
std::vector<int32_t> run_on(Device& device, const Function& f, int64_t count) {
  std::vector<int32_t> host = iota<int32_t>(count);
  const int64_t bytes = count * 4;
  struct Release {
    Device& device;
    void operator()(void* p) const { device.release(p); }
  };
  std::unique_ptr<void, Release> x(device.allocate(bytes), Release{device});
  device.copy_in(x.get(), host.data(), bytes);
  const uint64_t args[] = {reinterpret_cast<uint64_t>(x.get())};
  device.load(interp_compiler().compile(f, device.target()))->launch({1, 1, 1}, args);
  device.copy_out(host.data(), x.get(), bytes);
  return host;
}

TEST(InterpDevice, RunsTheFormOfItsTarget) {
  for (bool tiles : {true, false}) {
    auto device = open_interp_device(tiles ? 0 : 1);
    EXPECT_EQ(run_on(*device, increment(tiles), 8), iota<int32_t>(8, 1));
  }
}

template <class Call>
std::string error_of(ErrorKind kind, Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind);
    return e.what();
  }
  return "no error";
}

TEST(InterpDevice, FaultyLaunchFailsWithItsReports) {
  for (bool tiles : {true, false}) {
    auto device = open_interp_device(tiles ? 0 : 1);
    const std::string text = error_of(ErrorKind::User, [&] { run_on(*device, increment(tiles), 6); });
    EXPECT_TRUE(says(text, "element x + 6 is out of bounds, x reaches elements 0 to 5;"));
    EXPECT_TRUE(says(text, "\nkernel increment: `store"));
  }
}

TEST(InterpDevice, MemoryThatIsNotTheDevicesIsOutOfReach) {
  auto device = open_interp_device(0);
  std::vector<int32_t> elsewhere(8);
  const uint64_t args[] = {reinterpret_cast<uint64_t>(elsewhere.data())};
  auto executable = device->load(interp_compiler().compile(increment(true), device->target()));
  const std::string text = error_of(ErrorKind::User, [&] { executable->launch({1, 1, 1}, args); });
  EXPECT_TRUE(says(text, "element x + 0 is out of bounds, x points to no memory of the launch;"));
  EXPECT_EQ(elsewhere, std::vector<int32_t>(8));
}

TEST(InterpDevice, ErrorsNameFormsAndTargets) {
  auto tiles = open_interp_device(0), lanes = open_interp_device(1);
  EXPECT_EQ(error_of(ErrorKind::User, [&] { interp_compiler().compile(increment(true), lanes->target()); }),
            "increment is in tile form, which interp:lanes does not run");
  const Binary binary = interp_compiler().compile(increment(true), tiles->target());
  EXPECT_EQ(error_of(ErrorKind::User, [&] { lanes->load(binary); }),
            "increment: compiled for interp:tile, which interp:lanes (interpreter) does not run");
  EXPECT_EQ(error_of(ErrorKind::User, [&] { open_interp_device(2); }),
            "there is no interpreter number 2; there are interp:tile and interp:lanes");
  EXPECT_EQ(error_of(ErrorKind::Unsupported, [&] { interp_compiler().text(increment(true), tiles->target(), "llvm"); }),
            "there is no stage llvm for interp:tile: it runs the IR itself");
}

}  // namespace
}  // namespace strider::interp
