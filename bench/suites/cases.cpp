// SPDX-License-Identifier: Apache-2.0
#include "suites/cases.h"

namespace strider::bench {
namespace {

using testing::Aim;
using testing::Content;

constexpr Aim of_copy(double v) { return {Aim::OfCopy, v}; }
constexpr Aim of_given(double v) { return {Aim::OfReference, v}; }
constexpr Aim times_peer(double v) { return {Aim::TimesPeer, v}; }

template <class F>
constexpr OperatorOf of(const ops::LibraryOperator<F>&) {
  return []() -> const Operator& { return ops::LibraryOperator<F>::get().untyped(); };
}

// An operator that a user would write; it lives as long as the process.
template <class Make>
constexpr OperatorOf own(Make) {
  return []() -> const Operator& {
    static const auto& op = *new auto(Make()());
    return op.untyped();
  };
}

constexpr auto fused = [] {
  return pointwise("fused", [](auto x, auto bias, auto r) { return ops::gelu(x + bias) * 1.5 + r; });
};

constexpr Case kPointwise[] = {
    {"copy", of(ops::copy), {"{t}({n})"}, "{t}({n})", "copy"},
    {"add", of(ops::add), {"{t}({n})", "{t}({n})"}, "{t}({n})", "add", of_copy(0.95)},
    {"mul", of(ops::mul), {"{t}({n})", "{t}({n})"}, "{t}({n})", "mul", of_copy(0.95)},
    {"abs", of(ops::abs), {"{t}({n})"}, "{t}({n})", "abs", of_copy(0.95)},
    {"clamp", of(ops::clamp), {"{t}({n})", "-0.5", "0.5"}, "{t}({n})", "clamp", of_copy(0.95)},
    {"where", of(ops::where), {"bool({n})", "{t}({n})", "{t}({n})"}, "{t}({n})", "where", of_copy(0.95)},
    {"add with alpha", of(ops::add_scaled), {"{t}({n})", "{t}({n})", "0.3"}, "{t}({n})", "add_alpha", of_copy(0.95)},
    {"add", of(ops::add), {"f16({n})", "f16({n})"}, "f16({n})", "add", of_copy(0.85)},
    {"add", of(ops::add), {"bf16({n})", "bf16({n})"}, "bf16({n})", "add", of_copy(0.85)},
    {"f32 + f16", of(ops::add), {"f32({n})", "f16({n})"}, "f32({n})", "add", of_copy(0.85)},
    {"add, allocating", of(ops::add), {"{t}({n})", "{t}({n})"}, "{t}({n})", "new_add", of_given(0.85), Content::Normal, true},
};

constexpr Case kLayouts[] = {
    {"(N,1) + (N,M)", of(ops::add), {"{t}({r},1)", "{t}({r},{c})"}, "{t}({r},{c})", "add", of_copy(0.9)},
    {"(1,M) + (N,M)", of(ops::add), {"{t}(1,{c})", "{t}({r},{c})"}, "{t}({r},{c})", "add", of_copy(0.9)},
    {"(N,1) + (1,M)", of(ops::add), {"{t}({r},1)", "{t}(1,{c})"}, "{t}({r},{c})", "add", of_copy(0.9)},
    {"(N,M) + ()", of(ops::add), {"{t}({r},{c})", "{t}()"}, "{t}({r},{c})", "add", of_copy(0.9)},
    {"a + b.T", of(ops::add), {"{t}({r},{c})", "{t}({c},{r}):t"}, "{t}({r},{c})", "add", of_copy(0.5)},
    {"a + b.T, 4000^2", of(ops::add), {"{t}(4000,4000)", "{t}(4000,4000):t"}, "{t}(4000,4000)", "add", of_copy(0.5)},
    {"rank 5, permuted + contiguous", of(ops::add), {"{t}(64,32,{h},32,16):permute(2,4,1,3,0)", "{t}({h},16,32,32,64)"},
     "{t}({h},16,32,32,64)", "add", of_copy(0.5)},
    {"a[::2, ::2] + b[::2, ::2]", of(ops::add), {"{t}({r},{c})[::2, ::2]", "{t}({r},{c})[::2, ::2]"},
     "{t}({r2},{c2})", "add", times_peer(1.2)},
    {"channels last to first", of(ops::copy), {"{t}({r2},{c2},3):permute(2,0,1)"}, "{t}(3,{r2},{c2})", "copy"},
    {"gelu, rows apart", of(ops::gelu), {"{t}({r},{c})[:, 64:]"}, "{t}({r},{c})[:, 64:]", "gelu"},
};

constexpr Case kMaths[] = {
    {"exp", of(ops::exp), {"{t}({n})"}, "{t}({n})", "exp", times_peer(1.2)},
    {"silu", of(ops::silu), {"{t}({n})"}, "{t}({n})", "silu", times_peer(1.2)},
    {"sin", of(ops::sin), {"{t}({n})"}, "{t}({n})", "sin", times_peer(1.2)},
    {"tanh", of(ops::tanh), {"{t}({n})"}, "{t}({n})", "tanh", times_peer(2.5)},
    {"gelu (tanh)", of(ops::gelu_tanh), {"{t}({n})"}, "{t}({n})", "gelu_tanh", times_peer(2.5)},
    {"erf", of(ops::erf), {"{t}({n})"}, "{t}({n})", "erf", times_peer(3)},
    {"pow(x, 2.5)", of(ops::pow), {"{t}({n})", "2.5"}, "{t}({n})", "pow", times_peer(2), Content::Positive},
    {"gelu", of(ops::gelu), {"{t}({n})"}, "{t}({n})", "gelu", times_peer(1.1)},
    {"gelu", of(ops::gelu), {"bf16({n})"}, "bf16({n})", "gelu", times_peer(6)},
    {"gelu(x + b) * 1.5 + r", own(fused), {"{t}({r},{c})", "{t}({c})", "{t}({r},{c})"}, "{t}({r},{c})", "fused", times_peer(8)},
};

}  // namespace

std::span<const Case> pointwise_cases() { return kPointwise; }
std::span<const Case> layout_cases() { return kLayouts; }
std::span<const Case> math_cases() { return kMaths; }

const Case& curve_case() {
  static constexpr Case kCurve{
      "add, curve", of(ops::add), {"{t}({n})", "{t}({n})"}, "{t}({n})", "add", of_copy(0.9)};
  return kCurve;
}

}  // namespace strider::bench
