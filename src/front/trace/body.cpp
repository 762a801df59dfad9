// SPDX-License-Identifier: Apache-2.0
#include "front/trace/body.h"

namespace strider::front {

using detail::Body;
using detail::Values;
using ir::Builder;

Builder::Values nodes(Trace& trace, const Values& values) {
  Builder::Values result;
  for (const Value& v : values) result.push_back(trace.node(v));
  return result;
}

Values wrapped(Trace& trace, std::span<const ir::Value> nodes) {
  Values result;
  for (ir::Value v : nodes) result.push_back(trace.wrap(v));
  return result;
}

std::vector<ir::Type> types_of(Trace& trace, std::span<const ir::Value> values) {
  std::vector<ir::Type> result;
  for (ir::Value v : values) result.push_back(trace.b.type(v));
  return result;
}

Builder::RegionFn region(Trace& trace, const Body& body, Convert convert) {
  return [&trace, &body, convert = std::move(convert)](std::span<const ir::Value> params) {
    trace.enter();
    Builder::Values results = convert(body(wrapped(trace, params)));
    trace.leave();
    return results;
  };
}

Builder::Values next_carried(Trace& trace, const Values& values, std::span<const ir::Type> carried) {
  if (values.size() != carried.size())
    user_error("the body returns {} values for {} carried ones", values.size(), carried.size());
  Builder::Values result;
  for (size_t k = 0; k < carried.size(); ++k) {
    const ir::Type& wanted = carried[k];
    ir::Value v = values[k].is_literal() ? trace.constant(values[k], wanted.dtype) : trace.node(values[k]);
    ir::Type found = trace.b.type(v);
    if (found.shape.rank() == 0 && !found.is_pointer()) v = trace.b.broadcast(v, wanted.shape);
    found = trace.b.type(v);
    if (found != wanted)
      user_error(
          "carried value {} is {} before the loop and {} after an iteration; they must agree: convert with .to(), or start "
          "from tl::zeros or tl::full",
          k, to_string(wanted), to_string(found));
    result.push_back(v);
  }
  return result;
}

}  // namespace strider::front
