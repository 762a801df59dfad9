// SPDX-License-Identifier: Apache-2.0
#include <strider/effects.h>

#include "front/lang/say.h"
#include "front/trace/trace.h"

namespace strider {
inline namespace v0 {

using front::Trace;
using front::write;
using front::Writer;

namespace detail {

std::string describe(const Value& value) {
  if (value.is_empty()) return "nothing";
  Trace& trace = Trace::current();
  return front::describe(trace, trace.term(value));
}

void trace_compile_print(std::source_location where, const std::vector<std::string>& texts) {
  write(where, front::compile_print, texts);
}

void trace_print(const Words& prefix, const std::vector<Value>& values) {
  auto print = [&](Writer& w) {
    std::vector<front::Term> terms;
    for (const Value& v : values) terms.push_back(Trace::current().term(v));
    front::print(w, prefix.text, terms);
  };
  write(prefix.where, print);
}

}  // namespace detail

namespace tl {

void compile_assert(const Operand& condition, std::string_view message) {
  write(condition.where, front::compile_assert, condition, message);
}
void device_assert(const Operand& condition, std::string_view message, const Value& mask) {
  write(condition.where, front::device_assert, condition, message, mask);
}
void tap(std::string_view name, const Operand& value, const Value& mask) { write(value.where, front::tap, name, value, mask); }

}  // namespace tl
}  // namespace v0
}  // namespace strider
