// SPDX-License-Identifier: Apache-2.0
#include "front/trace/body.h"

#include "ir/promote.h"

namespace strider::front {

using detail::Values;
using ir::Builder;

Builder::Values nodes(Trace& trace, const Values& values) {
  Builder::Values result;
  for (const Value& v : values) result.push_back(trace.node(v));
  return result;
}

std::vector<Term> terms(const Trace& trace, const Values& values) {
  std::vector<Term> result;
  for (const Value& v : values) result.push_back(trace.term(v));
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

Builder::Values next_carried(Trace& trace, const Values& values, std::span<const ir::Type> carried) {
  if (values.size() != carried.size())
    user_error("the body returns {} values for {} carried ones", values.size(), carried.size());
  Builder::Values result;
  for (size_t k = 0; k < carried.size(); ++k) {
    result.push_back(trace.node_for(trace.term(values[k]), carried[k]));
    const ir::Type found = trace.b.type(result[k]);
    if (found != carried[k])
      user_error(
          "carried value {} is {} before the loop and {} after an iteration; they must agree: convert it with .to(st::{}), or "
          "start from tl::zeros or tl::full",
          k, to_string(carried[k]), to_string(found), ir::constant_of(carried[k].dtype));
  }
  return result;
}

}  // namespace strider::front
