// SPDX-License-Identifier: Apache-2.0
// Copies and conversions, by operators: one for each dtype that something is converted to. Equal dtypes are copied as unsigned
// integers, so that every bit arrives, those of NaN included.
#include <bit>

#include <fmt/format.h>

#include "backend/backend.h"
#include "base/error.h"
#include "planner/overlap.h"
#include "planner/plan.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

#include <strider/pointwise.h>

namespace strider {
namespace {

using planner::Answer;

Operator make_converter(DType to) {
  return Operator({.name = fmt::format("to_{}", name_of(to)),
                           .schema = {},
                           .arguments = 1,
                           .outputs = 1,
                           .body = [to](std::span<const Value> x) { return detail::Values{x[0].to(to)}; }});
}

/// Made at the first use and never destroyed.
const Operator& converter(DType to) {
  static const auto& all = *[] {
    auto* list = new std::vector<Operator>;
    for (int k = 0; k < kDTypeCount; ++k) list->push_back(make_converter(dtype_at(k)));
    return list;
  }();
  return all[static_cast<size_t>(row_of(to))];
}

TensorView as_bits(const TensorView& v) {
  constexpr DType kWords[] = {DType::U8, DType::U16, DType::U32, DType::U64};
  DType word = kWords[std::countr_zero(static_cast<unsigned>(size_of(v.dtype())))];
  return TensorView(v.data(), word, v.shape(), v.strides(), v.device_object());
}

void convert(const TensorView& from, const TensorView& to) {
  if (to.elements() == 0) return;
  bool is_copy = from.dtype() == to.dtype();
  TensorView source = is_copy ? as_bits(from) : from, target = is_copy ? as_bits(to) : to;
  const Argument arguments[] = {Argument(source), Argument(Out{&target})};
  converter(target.dtype()).run(arguments);
}

Tensor converted(const TensorView& v, DType dtype, const Dims& strides) {
  Tensor result = empty_on(v.device_object(), v.shape(), strides, dtype);
  convert(v, result);
  return result;
}

planner::Region region(const TensorView& v) {
  return {reinterpret_cast<uint64_t>(v.data()), size_of(v.dtype()), v.shape(), v.strides()};
}

void check_target(const TensorView& to) {
  if (to.is_read_only())
    user_error("copy_from: the tensor of {} of shape {} is read-only", name_of(to.dtype()), to_string(to.shape()));
  if (planner::overlaps_itself(to.shape(), to.strides()) != Answer::No)
    user_error("copy_from: the tensor of shape {} overlaps itself by its strides {}", to_string(to.shape()),
               to_string(to.strides()));
}

}  // namespace

inline namespace v0 {

Tensor TensorView::to(DType dtype) const { return converted(*this, dtype, planner::kept_strides(shape(), strides())); }
Tensor TensorView::clone() const { return to(dtype()); }
Tensor TensorView::contiguous() const { return converted(*this, dtype(), contiguous_strides(shape())); }

Tensor TensorView::to(DType dtype, std::string_view device) const {
  Tensor result = to(dtype);
  return result.to(device);
}

Tensor Tensor::to(DType dtype) const { return dtype == TensorView::dtype() ? *this : TensorView::to(dtype); }
Tensor Tensor::to(DType dtype, std::string_view device) const { return to(dtype).to(device); }
Tensor Tensor::contiguous() const { return is_contiguous() ? *this : TensorView::contiguous(); }

void TensorView::copy_from(const TensorView& source) const {
  check_target(*this);
  TensorView from = source.expand(shape());
  if (elements() == 0) return;
  if (&from.device_object() != &device_object()) return convert(source.to(dtype(), device()).expand(shape()), *this);
  if (from.data() == data() && from.dtype() == dtype() && from.strides() == strides()) return;
  if (planner::overlap(region(from), region(*this)) == Answer::No) convert(from, *this);
  else convert(source.clone().expand(shape()), *this);
}

}  // namespace v0
}  // namespace strider
