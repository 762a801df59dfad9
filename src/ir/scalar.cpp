// SPDX-License-Identifier: Apache-2.0
#include "ir/scalar.h"

#include <algorithm>

#include "base/error.h"

namespace strider::ir {
namespace {

std::string place_of(const Function& f, Value v) {
  std::string place = to_string(f.span(v));
  return place.empty() ? "" : " (" + place + ")";
}

/// The least shape that all operands broadcast to; a scalar as long as all are.
Shape common_shape(const Builder& b, std::span<const Value> values) {
  Shape shape;
  for (Value v : values) {
    const Shape& s = b.type(v).shape;
    if (shape.rank() == 0) shape = s;
    for (int a = 0; a < s.rank(); ++a) shape[a] = std::max(shape[a], s[a]);
  }
  return shape;
}

}  // namespace

void check_scalar(std::string_view what, const Function& f) {
  for (Value p : f.params())
    if (!f.type(p).is_scalar() || f.type(p).is_pointer())
      user_error("{}: its maths take {}, expected scalars", what, to_string(f.type(p)));
  std::span<const Value> body = f.body().body;
  for (Value v : body) {
    const Node& node = f[v];
    bool is_last = v == body.back();
    bool fine = is_pointwise(node.op) || node.op == Op::Constant || (node.op == Op::Yield && is_last);
    if (fine && node.op != Op::PtrAdd && node.type.is_scalar()) continue;
    user_error("{}{}: its maths may not contain `{}`; it computes single elements: choose with where, loop with C++'s for", what,
               place_of(f, v), name_of(node.op, node.imm));
  }
  if (body.empty() || f[body.back()].op != Op::Yield || f.operands(body.back()).empty())
    user_error("{}: its maths do not end in a yield of its outputs", what);
}

std::vector<Value> call_scalar(Builder& b, const Function& scalar, std::span<const Value> arguments) {
  std::vector<Value> map(scalar.size());
  for (size_t k = 0; k < arguments.size(); ++k) map[scalar.params()[k].id] = arguments[k];
  std::vector<Value> operands;
  for (Value v : scalar.body().body) {
    const Node& node = scalar[v];
    operands.clear();
    for (Value o : scalar.operands(v)) operands.push_back(map[o.id]);
    if (node.op == Op::Yield) return operands;
    if (scalar.span(v).line > 0) b.set_span(scalar.span(v));
    Shape shape = common_shape(b, operands);
    for (Value& o : operands) o = b.broadcast(o, shape);
    Type type = node.type.with_shape(shape);
    map[v.id] = b.emit(node.op, operands, node.imm, &type);
  }
  internal_error("the scalar function {} does not yield", scalar.name);
}

}  // namespace strider::ir
