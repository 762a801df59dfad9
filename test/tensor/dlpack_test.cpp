// SPDX-License-Identifier: Apache-2.0
// DLPack in both directions: no copy, the deleter once, and errors for what cannot be taken.
#include <strider/dlpack.h>  // first: it needs no other header

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include <strider/device.h>
#include <strider/error.h>

#include "support/errors.h"

namespace strider::test {
namespace {

using namespace dlpack;

/// Memory of another library, with a count of the calls of its deleter.
template <class Managed>
struct Foreign {
  explicit Foreign(DLDataType dtype = {kDLFloat, 32, 1}) {
    managed.dl_tensor = {memory, {kDLCPU, 0}, 2, dtype, shape, strides, 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
    for (int k = 0; k < 16; ++k) memory[k] = static_cast<float>(k);
  }

  alignas(64) float memory[16];
  int64_t shape[2] = {2, 3}, strides[2] = {1, 4};
  Managed managed{};
  int deleted = 0;
};

using Versioned = Foreign<DLManagedTensorVersioned>;
using Old = Foreign<DLManagedTensor>;
using Numbers = std::vector<double>;

using support::error_of;

template <class F>
void check_import() {
  F foreign;
  {
    Tensor x = from_dlpack(&foreign.managed);
    EXPECT_EQ(x.data(), foreign.memory);
    EXPECT_EQ(x.shape(), (Dims{2, 3}));
    EXPECT_EQ(x.strides(), (Dims{1, 4}));
    EXPECT_EQ(x.dtype(), f32);
    EXPECT_EQ(x.device(), "cpu");
    EXPECT_FALSE(x.is_read_only());
    EXPECT_EQ(x.to_doubles(), (Numbers{0, 4, 8, 1, 5, 9}));
    Tensor view = x.t().select(0, 2);
    x = arange(3);
    EXPECT_EQ(foreign.deleted, 0);
    view.copy_from(full({}, -1));
    EXPECT_EQ(foreign.memory[8], -1);
    EXPECT_EQ(foreign.memory[9], -1);
    EXPECT_EQ(foreign.memory[10], 10);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, ImportSharesMemoryAndDeletesOnce) {
  check_import<Versioned>();
  check_import<Old>();
}

TEST(DLPack, TheLastTensorMayEndInAnyThread) {
  Versioned foreign;
  Tensor x = from_dlpack(&foreign.managed);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([copy = x.slice(0, 0, 1)]() mutable { copy = copy.t(); });
  x = arange(1);
  for (std::thread& t : threads) t.join();
  threads.clear();
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, NullStridesOffsetsAndNullDeleters) {
  Old foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  foreign.managed.dl_tensor.byte_offset = 8;
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).to_doubles(), (Numbers{2, 3, 4, 5, 6, 7}));
  foreign.managed.dl_tensor.ndim = 0;
  foreign.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).item(), 2);
  Old reversed;
  reversed.strides[0] = -4;
  reversed.strides[1] = 1;
  reversed.managed.dl_tensor.byte_offset = 16;
  Tensor x = from_dlpack(&reversed.managed);
  EXPECT_EQ(x.to_doubles(), (Numbers{4, 5, 6, 0, 1, 2}));
  EXPECT_EQ(x.offset(), 4);
  EXPECT_EQ(x.as_strided({7}, {1}).to_doubles().back(), 6);
  EXPECT_NE(error_of(ErrorKind::User, [&] { x.as_strided({8}, {1}); }), "");
  Old none;
  none.shape[1] = 0;
  none.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(&none.managed).shape(), (Dims{2, 0}));
}

TEST(DLPack, ReadOnlyMemoryGivesAReadOnlyTensor) {
  Versioned foreign;
  foreign.managed.flags = kReadOnly;
  Tensor x = from_dlpack(&foreign.managed);
  EXPECT_TRUE(x.t().is_read_only());
  EXPECT_NE(error_of(ErrorKind::User, [&] { x.copy_from(full({}, 1)); }).find("read-only"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { out(x); }).find("read-only"), std::string::npos);
  EXPECT_EQ(foreign.memory[1], 1);
  DLManagedTensorVersioned* again = to_dlpack(x);
  EXPECT_EQ(again->flags, kReadOnly);
  again->deleter(again);
  EXPECT_NE(error_of(ErrorKind::User, [&] { to_dlpack_unversioned(x); }).find("read-only"), std::string::npos);
}

TEST(DLPack, EveryDType) {
  struct {
    DLDataType dlpack;
    DType dtype;
  } const rows[] = {{{kDLBool, 8, 1}, boolean},  {{kDLInt, 8, 1}, i8},     {{kDLInt, 16, 1}, i16},    {{kDLInt, 32, 1}, i32},
                    {{kDLInt, 64, 1}, i64},      {{kDLUInt, 8, 1}, u8},    {{kDLUInt, 16, 1}, u16},   {{kDLUInt, 32, 1}, u32},
                    {{kDLUInt, 64, 1}, u64},     {{kDLFloat, 16, 1}, f16}, {{kDLBfloat, 16, 1}, bf16}, {{kDLFloat, 32, 1}, f32},
                    {{kDLFloat, 64, 1}, f64}};
  for (const auto& row : rows) {
    Old foreign(row.dlpack);
    EXPECT_EQ(from_dlpack(&foreign.managed).dtype(), row.dtype);
    DLManagedTensorVersioned* out = to_dlpack(zeros({2}, {row.dtype, "cpu"}));
    EXPECT_EQ(out->dl_tensor.dtype.code, row.dlpack.code) << name_of(row.dtype);
    EXPECT_EQ(out->dl_tensor.dtype.bits, row.dlpack.bits) << name_of(row.dtype);
    EXPECT_EQ(out->dl_tensor.dtype.lanes, 1);
    out->deleter(out);
  }
}

/// A change to a good tensor, and a part of the message that it causes.
struct Broken {
  ErrorKind kind;
  const char* message;
  void (*change)(Versioned&);
};

const Broken kBroken[] = {
    {ErrorKind::Unsupported, "version 2.3", [](Versioned& f) { f.managed.version = {2, 3}; }},
    {ErrorKind::Unsupported, "float of 32 bits in 4 lanes", [](Versioned& f) { f.managed.dl_tensor.dtype.lanes = 4; }},
    {ErrorKind::Unsupported, "in 0 lanes", [](Versioned& f) { f.managed.dl_tensor.dtype.lanes = 0; }},
    {ErrorKind::Unsupported, "complex of 64 bits", [](Versioned& f) { f.managed.dl_tensor.dtype = {5, 64, 1}; }},
    {ErrorKind::Unsupported, "int of 4 bits", [](Versioned& f) { f.managed.dl_tensor.dtype = {kDLInt, 4, 1}; }},
    {ErrorKind::Unsupported, "code 10 of 8 bits", [](Versioned& f) { f.managed.dl_tensor.dtype = {10, 8, 1}; }},
    {ErrorKind::Unsupported, "device type 8", [](Versioned& f) { f.managed.dl_tensor.device = {8, 0}; }},
    {ErrorKind::User, "33 axes", [](Versioned& f) { f.managed.dl_tensor.ndim = 33; }},
    {ErrorKind::User, "-1 axes", [](Versioned& f) { f.managed.dl_tensor.ndim = -1; }},
    {ErrorKind::User, "the shape of a tensor of 2 axes is null", [](Versioned& f) { f.managed.dl_tensor.shape = nullptr; }},
    {ErrorKind::User, "negative size", [](Versioned& f) { f.shape[0] = -2; }},
    {ErrorKind::User, "2^63", [](Versioned& f) { f.shape[0] = f.shape[1] = INT64_MAX; }},
    {ErrorKind::User, "2^59", [](Versioned& f) { f.strides[0] = INT64_MAX; }},
    {ErrorKind::User, "its pointer is null", [](Versioned& f) { f.managed.dl_tensor.data = nullptr; }},
    {ErrorKind::User, "no multiple of 4 bytes", [](Versioned& f) { f.managed.dl_tensor.byte_offset = 2; }},
};

TEST(DLPack, WhatCannotBeTakenStaysTheCallers) {
  for (const Broken& broken : kBroken) {
    Versioned foreign;
    broken.change(foreign);
    std::string message = error_of(broken.kind, [&] { from_dlpack(&foreign.managed); });
    EXPECT_NE(message.find(broken.message), std::string::npos) << message;
    EXPECT_EQ(foreign.deleted, 0) << broken.message;
  }
  EXPECT_NE(error_of(ErrorKind::User, [] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }), "");
  EXPECT_NE(error_of(ErrorKind::User, [] { from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)); }), "");
}

template <class F>
void check_export(F to) {
  auto* managed = to(arange(12).reshape({3, 4}).slice(1, 3, -5, -2));
  const DLTensor& t = managed->dl_tensor;  // all tensors are gone
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ((Dims{t.shape[0], t.shape[1]}), (Dims{3, 2}));
  EXPECT_EQ((Dims{t.strides[0], t.strides[1]}), (Dims{4, -2}));
  EXPECT_EQ(t.byte_offset, 0u);
  EXPECT_EQ(t.device.device_type, kDLCPU);
  EXPECT_EQ(static_cast<float*>(t.data)[0], 3);
  EXPECT_EQ(static_cast<float*>(t.data)[4 * 2 - 2], 9);
  managed->deleter(managed);
}

TEST(DLPack, ExportKeepsTheMemoryAlive) {
  check_export([](const Tensor& t) { return to_dlpack(t); });
  check_export([](const Tensor& t) { return to_dlpack_unversioned(t); });
  DLManagedTensorVersioned* m = to_dlpack(arange(2));
  EXPECT_EQ(m->version.major, 1u);
  EXPECT_EQ(m->flags, 0u);
  auto* deleter = m->deleter;
  deleter(m);
  deleter(nullptr);
}

class DLPackOnDevice : public ::testing::TestWithParam<std::string> {};

TEST_P(DLPackOnDevice, ThereAndBack) {
  Tensor x = arange(6, {f16, GetParam()}).reshape({2, 3}).t();
  Tensor y = from_dlpack(to_dlpack(x));
  EXPECT_EQ(y.data(), x.data());
  EXPECT_EQ(y.device(), GetParam());
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ(y.dtype(), f16);
  Tensor z = from_dlpack(to_dlpack_unversioned(full({}, 7, {f32, GetParam()})));
  EXPECT_EQ(z.item(), 7);
}

INSTANTIATE_TEST_SUITE_P(All, DLPackOnDevice, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

/// The declarations of another header, which has the same names in its own namespace.
namespace other {
struct Tensor {
  void* data;
  struct { int device_type; int device_id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};
}  // namespace other

TEST(DLPack, StructuresOfAnotherHeader) {
  float memory[2] = {1, 2};
  int64_t shape[1] = {2};
  other::ManagedTensor m{{memory, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, nullptr, nullptr};
  EXPECT_EQ(from_dlpack(&m).to_doubles(), (Numbers{1, 2}));
}

TEST(DLPack, PinnedMemoryOfAGpuIsMemoryOfTheHost) {
  Old foreign;
  foreign.managed.dl_tensor.device = {kDLCUDAHost, 0};
  EXPECT_EQ(from_dlpack(&foreign.managed).device(), "cpu");
}

TEST(DLPack, AnOffsetThatLeavesTheAddressSpaceIsRefused) {
  Versioned foreign;
  foreign.managed.dl_tensor.byte_offset = ~uint64_t{0} - 3;
  EXPECT_NE(error_of([&] { from_dlpack(&foreign.managed); }).find("leave the address space"), std::string::npos);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, ADeleterThatThrowsEndsNothing) {
  Versioned foreign;
  foreign.managed.deleter = [](DLManagedTensorVersioned* self) {
    ++static_cast<Versioned*>(self->manager_ctx)->deleted;
    throw std::runtime_error("not today");
  };
  testing::internal::CaptureStderr();
  { Tensor x = from_dlpack(&foreign.managed); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "strider: memory of another library was not given back: not today\n");
  EXPECT_EQ(foreign.deleted, 1);
}

}  // namespace
}  // namespace strider::test
