// SPDX-License-Identifier: Apache-2.0
#include "planner/instantiate.h"

#include <algorithm>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/scalar.h"

namespace strider::planner {
namespace {

using ir::Builder;
using ir::Op;
using ir::Shape;
using ir::Type;
using ir::Value;

class Instance {
 public:
  Instance(const ir::Function& scalar, const Key& key)
      : scalar_(scalar), key_(key), b_(scalar.name), index_(key.wide ? DType::I64 : DType::I32) {}

  ir::Function run() {
    for_each_parameter(key_, [&](const Parameter& p) { declare(p); });
    for (int k = 0; k < key_.operands; ++k) share_output(k);
    // The planner chose an index type that holds every offset, those of the lanes past the edges included.
    b_.set_no_wrap(true);
    write_indices();
    for (int k = 0; k < key_.operands; ++k)
      if (key_.access[k].role != Role::Scalar) address_[k] = address(k);
    b_.set_no_wrap(false);
    read_inputs();
    std::vector<Value> results = ir::call_scalar(b_, scalar_, inputs_);
    for (int k = 0; k < key_.operands && key_.access[k].role == Role::Output; ++k) write_output(k, results[static_cast<size_t>(k)]);
    return b_.finish();
  }

 private:
  int axis_n() const { return key_.rank - 1; }
  int axis_m() const { return key_.rank - 2; }
  bool is_two_d() const { return key_.rank > 1; }
  bool is_broadcast(int k, int axis) const { return key_.access[k].broadcast >> axis & 1; }
  bool moves_along_n(int k) const { return !is_broadcast(k, axis_n()); }
  bool moves_along_m(int k) const { return is_two_d() && !is_broadcast(k, axis_m()); }

  // --- parameters

  int outputs() const {
    int n = 0;
    while (n < key_.operands && key_.access[n].role == Role::Output) ++n;
    return n;
  }

  std::string operand_name(int k) const {
    int first_input = outputs();
    if (k >= first_input) return scalar_.param_info(k - first_input).name;
    return first_input == 1 ? "out" : fmt::format("out{}", k);
  }

  std::string parameter_name(const Parameter& p) const {
    std::string axis = p.axis == axis_n() ? "n" : p.axis == axis_m() ? "m" : std::to_string(p.axis);
    switch (p.kind) {
      case Parameter::Pointer:
      case Parameter::Scalar: return operand_name(p.operand);
      case Parameter::Size: return "size_" + axis;
      case Parameter::TilesN: return "tiles_n";
      case Parameter::TilesM: return "tiles_m";
      case Parameter::Stride: return fmt::format("{}_stride_{}", operand_name(p.operand), axis);
    }
    internal_error("no kind of parameter {}", static_cast<int>(p.kind));
  }

  std::string unused_name(std::string name) {
    while (std::find(names_.begin(), names_.end(), name) != names_.end()) name += '_';
    names_.push_back(name);
    return name;
  }

  /// Bytes that are known to divide where rows of a contiguous operand begin.
  int64_t alignment(int k) const {
    const Access& access = key_.access[k];
    int log2 = access.unit == Unit::None || access.unit == Unit::Second ? 0 : access.role == Role::Output ? key_.align_out : key_.align_in;
    return std::max<int64_t>(size_of(access.dtype), int64_t{1} << log2);
  }

  void declare(const Parameter& p) {
    ir::ParamInfo info{.name = unused_name(parameter_name(p))};
    const Access& access = key_.access[p.operand];
    switch (p.kind) {
      case Parameter::Pointer:
        info.divisible = alignment(p.operand);
        info.read_only = access.role == Role::Input;
        info.no_alias = access.role == Role::Output;
        argument_[p.operand] = b_.param(Type::pointer(access.dtype), info);
        return;
      case Parameter::Scalar: argument_[p.operand] = b_.param(Type::scalar(access.dtype), info); return;
      case Parameter::Size: size_[p.axis] = b_.param(Type::scalar(index_), info); return;
      case Parameter::TilesN: tiles_n_ = b_.param(Type::scalar(index_), info); return;
      case Parameter::TilesM: tiles_m_ = b_.param(Type::scalar(index_), info); return;
      case Parameter::Stride:
        info.divisible = alignment(p.operand) / size_of(access.dtype);
        stride_[p.operand][static_cast<size_t>(p.axis)] = b_.param(Type::scalar(index_), info);
        return;
    }
  }

  /// An input that is an output has no parameters of its own.
  void share_output(int k) {
    if (key_.access[k].same_as == 0) return;
    int output = key_.access[k].same_as - 1;
    argument_[k] = argument_[output];
    stride_[k] = stride_[output];
  }

  // --- indices

  /// Splits the lowest digit of a mixed-radix number off.
  Value take_digit(Value& number, Value radix) {
    Value digit = b_.binary(Op::Rem, number, radix);
    number = b_.binary(Op::Div, number, radix);
    return digit;
  }

  Value block_index(Value block, int32_t size) {
    Value first = b_.mul(block, b_.constant_int(Type::scalar(index_), size));
    return b_.add(b_.broadcast(first, {size}), b_.arange(index_, 0, size));
  }

  Value below(Value index, int axis) { return b_.binary(Op::Lt, index, b_.broadcast(size_[axis], b_.type(index).shape)); }

  void write_indices() {
    Value program = b_.cast(b_.program_id(0), index_);
    Value block_n = is_two_d() ? take_digit(program, tiles_n_) : program;
    n_ = block_index(block_n, key_.block_n);
    mask_n_ = below(n_, axis_n());
    if (!is_two_d()) return;
    Value block_m = key_.rank > 2 ? take_digit(program, tiles_m_) : program;
    m_ = block_index(block_m, key_.block_m);
    mask_m_ = b_.expand_dims(below(m_, axis_m()), 1);
    m_ = b_.expand_dims(m_, 1);
    mask_n_ = b_.expand_dims(mask_n_, 0);
    n_ = b_.expand_dims(n_, 0);
    for (int a = axis_m() - 1; a > 0; --a) outer_[a] = take_digit(program, size_[a]);
    if (key_.rank > 2) outer_[0] = program;
  }

  // --- addresses

  Shape tile_shape() const { return is_two_d() ? Shape{key_.block_m, key_.block_n} : Shape{key_.block_n}; }

  /// The part of the tile that an operand has elements for: axes along which it is broadcast have size 1.
  Shape shape_of(int k) const {
    Shape shape = tile_shape();
    if (is_two_d() && !moves_along_m(k)) shape[0] = 1;
    if (!moves_along_n(k)) shape[shape.rank() - 1] = 1;
    return shape;
  }

  Value scaled(Value index, int k, int axis) {
    Value stride = stride_[k][static_cast<size_t>(axis)];
    if (axis == axis_n() && key_.access[k].unit == Unit::Second) stride = b_.constant_int(Type::scalar(index_), 2);
    return stride.valid() ? b_.mul(index, b_.broadcast(stride, b_.type(index).shape)) : index;
  }

  /// Sum, or the one that exists.
  Value sum(Value a, Value b, const Shape& shape) {
    if (!a.valid() || !b.valid()) return b_.broadcast(a.valid() ? a : b, shape);
    return b_.add(b_.broadcast(a, shape), b_.broadcast(b, shape));
  }

  Value outer_offset(int k) {
    Value offset;
    for (int a = 0; a < axis_m(); ++a)
      if (!is_broadcast(k, a)) offset = sum(offset, scaled(outer_[a], k, a), {});
    return offset;
  }

  Value address(int k) {
    Value pointer = argument_[k];
    if (Value offset = outer_offset(k); offset.valid()) pointer = b_.ptr_add(pointer, offset);
    Value along_n = moves_along_n(k) ? scaled(n_, k, axis_n()) : Value{};
    Value along_m = moves_along_m(k) ? scaled(m_, k, axis_m()) : Value{};
    if (!along_n.valid() && !along_m.valid()) return pointer;
    Shape shape = shape_of(k);
    return b_.ptr_add(b_.broadcast(pointer, shape), sum(along_m, along_n, shape));
  }

  Value mask(int k) {
    Value along_n = moves_along_n(k) ? mask_n_ : Value{}, along_m = moves_along_m(k) ? mask_m_ : Value{};
    if (!along_n.valid() || !along_m.valid()) return along_n.valid() ? along_n : along_m;
    Shape shape = shape_of(k);
    return b_.binary(Op::And, b_.broadcast(along_m, shape), b_.broadcast(along_n, shape));
  }

  // --- statements

  void read_inputs() {
    int first = outputs();
    for (int k = first; k < key_.operands; ++k) {
      Value v = key_.access[k].role == Role::Scalar ? argument_[k] : b_.load(address_[k], mask(k));
      Value param = scalar_.params()[static_cast<size_t>(k - first)];
      inputs_.push_back(b_.cast(v, scalar_.type(param).dtype));
    }
  }

  void write_output(int k, Value v) {
    v = b_.broadcast(b_.cast(v, key_.access[k].dtype), tile_shape());
    b_.store(address_[k], v, mask(k), key_.streaming ? int64_t{ir::kStreaming} : 0);
  }

  const ir::Function& scalar_;
  const Key& key_;
  Builder b_;
  DType index_;
  std::vector<Value> inputs_;  // what the scalar function takes
  std::vector<std::string> names_;
  Value argument_[kMaxOperands], address_[kMaxOperands], size_[kMaxAxes], outer_[kMaxAxes];
  std::array<Value, kMaxAxes> stride_[kMaxOperands];
  Value tiles_n_, tiles_m_, n_, m_, mask_n_, mask_m_;
};

}  // namespace

ir::Function instantiate(const ir::Function& scalar, const Key& key) { return Instance(scalar, key).run(); }

size_t slot_of_scalar(const Key& key, int operand) {
  size_t next = 0, slot = 0;
  for_each_parameter(key, [&](const Parameter& p) {
    if (p.kind == Parameter::Scalar && p.operand == operand) slot = next;
    ++next;
  });
  return slot;
}

size_t write_arguments(const Plan& plan, const uint64_t* scalars, uint64_t* slots) {
  size_t count = 0;
  uint64_t index_bits = plan.key.wide ? UINT64_MAX : UINT32_MAX;
  for_each_parameter(plan.key, [&](const Parameter& p) {
    uint64_t& slot = slots[count++];
    switch (p.kind) {
      case Parameter::Pointer: slot = reinterpret_cast<uint64_t>(plan.data[p.operand]); return;
      case Parameter::Scalar: slot = scalars[p.operand]; return;
      case Parameter::Size: slot = static_cast<uint64_t>(plan.sizes[p.axis]); return;
      case Parameter::TilesN: slot = static_cast<uint64_t>(plan.tiles_n); return;
      case Parameter::TilesM: slot = static_cast<uint64_t>(plan.tiles_m); return;
      case Parameter::Stride: slot = static_cast<uint64_t>(plan.strides[p.operand][p.axis]) & index_bits; return;
    }
  });
  return count;
}

}  // namespace strider::planner
