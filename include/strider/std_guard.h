// SPDX-License-Identifier: Apache-2.0
// To include where one wants it; no other header does. std::exp and the like of a Value never compile; with this header the
// compiler says what to write instead. For that, templates have to stand beside the standard functions in namespace std; they
// take Values only and cannot be instantiated.
#pragma once

#include <algorithm>
#include <cmath>

#include <strider/value.h>

namespace strider::inline v0::detail {
template <class... A>
concept AnyValue = (std::derived_from<std::remove_cvref_t<A>, Value> || ...);
}

#define STRIDER_NOT_STD(name, right)                                                     \
  template <class... A>                                                                  \
    requires strider::detail::AnyValue<A...>                                             \
  strider::Value name(const A&...) {                                                     \
    static_assert(strider::detail::never<A...>, "std::" #name " does not take values: use " right); \
    return {};                                                                           \
  }

namespace std {
STRIDER_NOT_STD(abs, "st::abs")
STRIDER_NOT_STD(fabs, "st::abs")
STRIDER_NOT_STD(sqrt, "st::sqrt")
STRIDER_NOT_STD(exp, "st::exp")
STRIDER_NOT_STD(exp2, "st::exp2")
STRIDER_NOT_STD(expm1, "st::expm1")
STRIDER_NOT_STD(log, "st::log")
STRIDER_NOT_STD(log2, "st::log2")
STRIDER_NOT_STD(log10, "st::log10")
STRIDER_NOT_STD(cbrt, "st::cbrt")
STRIDER_NOT_STD(sin, "st::sin")
STRIDER_NOT_STD(cos, "st::cos")
STRIDER_NOT_STD(tan, "st::tan")
STRIDER_NOT_STD(asin, "st::asin")
STRIDER_NOT_STD(acos, "st::acos")
STRIDER_NOT_STD(atan, "st::atan")
STRIDER_NOT_STD(atan2, "st::atan2")
STRIDER_NOT_STD(sinh, "st::sinh")
STRIDER_NOT_STD(cosh, "st::cosh")
STRIDER_NOT_STD(asinh, "st::asinh")
STRIDER_NOT_STD(acosh, "st::acosh")
STRIDER_NOT_STD(atanh, "st::atanh")
STRIDER_NOT_STD(erfc, "st::erfc")
STRIDER_NOT_STD(lgamma, "st::lgamma")
STRIDER_NOT_STD(tgamma, "st::tgamma")
STRIDER_NOT_STD(pow, "st::pow")
STRIDER_NOT_STD(hypot, "st::hypot")
STRIDER_NOT_STD(copysign, "st::copysign")
STRIDER_NOT_STD(nextafter, "st::nextafter")
STRIDER_NOT_STD(ldexp, "st::ldexp")
STRIDER_NOT_STD(fmod, "st::fmod")
STRIDER_NOT_STD(isnan, "st::isnan")
STRIDER_NOT_STD(isinf, "st::isinf")
STRIDER_NOT_STD(isfinite, "st::isfinite")
STRIDER_NOT_STD(signbit, "st::signbit")
STRIDER_NOT_STD(rint, "st::rint")
STRIDER_NOT_STD(log1p, "st::log1p")
STRIDER_NOT_STD(tanh, "st::tanh")
STRIDER_NOT_STD(erf, "st::erf")
STRIDER_NOT_STD(floor, "st::floor")
STRIDER_NOT_STD(ceil, "st::ceil")
STRIDER_NOT_STD(trunc, "st::trunc")
STRIDER_NOT_STD(round, "st::round, which rounds half to even")
STRIDER_NOT_STD(remainder, "st::remainder, which has the divisor's sign")
STRIDER_NOT_STD(fma, "st::fma")
STRIDER_NOT_STD(fmin, "st::fmin")
STRIDER_NOT_STD(fmax, "st::fmax")
STRIDER_NOT_STD(clamp, "st::clamp")
// These exist as templates for any type, so ours must be the more special ones.
template <std::derived_from<strider::Value> V>
const V& max(const V& a, const V&) {
  static_assert(strider::detail::never<V>, "std::max does not take values: use st::maximum");
  return a;
}
template <std::derived_from<strider::Value> V>
const V& min(const V& a, const V&) {
  static_assert(strider::detail::never<V>, "std::min does not take values: use st::minimum");
  return a;
}
template <std::derived_from<strider::Value> V>
const V& clamp(const V& x, const V&, const V&) {
  static_assert(strider::detail::never<V>, "std::clamp does not take values: use st::clamp");
  return x;
}
STRIDER_NOT_STD(max, "st::maximum")
STRIDER_NOT_STD(min, "st::minimum")
}  // namespace std

#undef STRIDER_NOT_STD
