// SPDX-License-Identifier: Apache-2.0
#include "call/prepared.h"

#include <algorithm>

#include "base/error.h"
#include "call/launch_stream.h"
#include "call/naming.h"
#include "tensor/number.h"

namespace strider {
inline namespace v0 {
namespace detail {

std::vector<Tensor> owning_tensors(std::span<const Argument> arguments, Argument::Kind kind) {
  std::vector<Tensor> found;
  for (const Argument& a : arguments)
    if (a.kind() == kind && a.is_owner()) found.push_back(static_cast<const Tensor&>(a.view()));
  return found;
}

namespace {

int category(Argument::Kind kind) { return kind == Argument::Bool ? 0 : kind == Argument::Float ? 2 : 1; }

std::string_view word(Argument::Kind kind) {
  constexpr std::string_view kWords[] = {"a bool", "an integer", "a float"};
  return kWords[category(kind)];
}

/// Integers above the range of i64, and below 0, do not pass as the other kind of 64 bits.
bool passes(const Argument& value, DType passed) {
  if (passed == DType::I64) return value.kind() != Argument::Unsigned;
  return passed != DType::U64 || value.kind() != Argument::Int || value.as_int() >= 0;
}

uint64_t checked_bits(const PreparedNumber& n, const Argument& value) {
  if (!value.is_number()) user_error("argument {} is set to what is no number", n.name);
  if (category(value.kind()) > category(n.kind))
    user_error("argument {} is set to {}, {}, and was prepared for {}: prepare another call", n.name, text_of(value),
               word(value.kind()), word(n.kind));
  if (!fits(value, n.rounded) || !passes(value, n.passed))
    user_error("argument {} is set to {}, which does not fit {}", n.name, text_of(value), name_of(n.rounded));
  if (n.is_natural) check_natural(value, n.name);
  if (n.divisible_by_16 && value.as_int() % 16 != 0)
    user_error("argument {} is set to {}, and was prepared for multiples of 16: prepare another call", n.name, text_of(value));
  return passed_bits(value, n.rounded, n.passed);
}

}  // namespace
}  // namespace detail

struct PreparedCall::Shared {
  detail::PreparedParts parts;
};

PreparedCall::PreparedCall(detail::PreparedParts&& parts) {
  slots_ = std::move(parts.slots);
  outputs_ = parts.outputs;
  shared_ = std::make_shared<Shared>(Shared{std::move(parts)});
}

void PreparedCall::operator()() const {
  const detail::PreparedParts& p = shared_->parts;
  if (!p.executable) return;
  naming(p.what, p.name, [&] {
    launch_stream(*p.device, outputs_);
    p.executable->launch(p.grid, slots_, launch_stream(*p.device, p.tensors));
  });
}

void PreparedCall::operator()(const Stream& stream) const {
  StreamScope scope(stream);
  (*this)();
}

void PreparedCall::set(size_t number, const Argument& value) {
  const detail::PreparedNumber& n = shared_->parts.numbers[number];
  uint64_t bits = detail::checked_bits(n, value);
  if (n.slot != detail::PreparedNumber::kNoSlot) slots_[n.slot] = bits;
}

void PreparedCall::set_number(size_t argument, const Argument& value) {
  const detail::PreparedParts& p = shared_->parts;
  naming(p.what, p.name, [&] {
    for (size_t k = 0; k < p.numbers.size(); ++k)
      if (p.numbers[k].argument == argument) return set(k, value);
    user_error("argument {} of the prepared call is no number", argument);
  });
}

void PreparedCall::set_number(std::string_view name, const Argument& value) {
  const detail::PreparedParts& p = shared_->parts;
  naming(p.what, p.name, [&] {
    std::string known;
    for (size_t k = 0; k < p.numbers.size(); ++k) {
      if (p.numbers[k].name == name) return set(k, value);
      known += (known.empty() ? "" : ", ") + p.numbers[k].name;
    }
    user_error("no number of the prepared call is called {}; its numbers: {}", name, known.empty() ? "none" : known);
  });
}

}  // namespace v0
}  // namespace strider
