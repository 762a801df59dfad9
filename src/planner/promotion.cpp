// SPDX-License-Identifier: Apache-2.0
#include "planner/promotion.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "ir/promote.h"

namespace strider::planner {

using ir::Category;
using ir::category_of;
using ir::is_half;

namespace {

constexpr DType kDefaultFloat = DType::F32;
constexpr DType kDefaultInt = DType::I64;

/// Categories as PyTorch ranks what supplies the dtype: among arguments of the highest category, those of one source.
std::optional<DType> common_of(std::span<const ArgumentType> arguments, std::span<const int> which, Source source, Category category) {
  std::optional<DType> common;
  for (int k : which) {
    const ArgumentType& a = arguments[static_cast<size_t>(k)];
    if (a.source != source || category_of(a.dtype) != category) continue;
    common = common ? ir::promote_operator(*common, a.dtype) : a.dtype;
  }
  return common;
}

Category highest_category(std::span<const ArgumentType> arguments, std::span<const int> which) {
  Category highest = Category::Bool;
  for (int k : which) highest = std::max(highest, category_of(arguments[static_cast<size_t>(k)].dtype));
  return highest;
}

DType default_of(Category category) {
  switch (category) {
    case Category::Bool: return DType::Bool;
    case Category::Int: return kDefaultInt;
    default: return kDefaultFloat;
  }
}

DType widened(DType t) { return is_half(t) ? DType::F32 : t; }

struct Rule {
  DType common, computed, result;
};

Rule rule_of(Promotion kind, DType common) {
  bool is_whole = category_of(common) != Category::Float;
  switch (kind) {
    case Promotion::Default:
    case Promotion::ComplexToFloat: break;
    case Promotion::NoOpmath: return {common, common, common};
    case Promotion::IntToFloat: common = is_whole ? kDefaultFloat : common; break;
    case Promotion::AlwaysBool: return {common, widened(common), DType::Bool};
    case Promotion::BoolToLong: common = common == DType::Bool ? kDefaultInt : common; break;
  }
  return {common, widened(common), common};
}

bool is_number(const ArgumentType& a) { return a.source == Source::Number; }

/// How a number reaches the kernel, so that numbers of all kinds share one kernel.
DType passed_dtype(const ArgumentType& a, DType rounded) {
  if (!is_number(a)) return a.dtype;
  if (is_float(rounded)) return DType::F64;
  if (rounded == DType::Bool) return DType::Bool;
  return is_unsigned_int(rounded) ? DType::U64 : DType::I64;
}

ArgumentTyping typing_in(const ArgumentType& a, DType rounded, DType computed) {
  return {passed_dtype(a, rounded), rounded, computed};
}

/// As the maths have it, without a rounding to 16 bits before.
ArgumentTyping typing_exact(const ArgumentType& a, const Rule& rule) {
  return typing_in(a, a.dtype == rule.common ? rule.common : rule.computed, rule.computed);
}

ArgumentTyping typing_by(NumberRule numbers, const ArgumentType& a, const Rule& rule) {
  if (numbers == NumberRule::Exact && a.source != Source::Tensor) return typing_exact(a, rule);
  ArgumentTyping t = typing_in(a, rule.common, rule.computed);
  t.is_natural = numbers == NumberRule::Natural && is_number(a) && is_int(rule.common);
  return t;
}

void check_takes(const Schema& schema, const PromotionRule& rule, size_t k, const ArgumentType& a) {
  if (!rule.takes_bool && a.dtype == DType::Bool)
    user_error("argument {} is bool, expected integers or floats; differences of bool are bitwise_xor", schema.name_of(k));
}

/// Of an argument that no rule names: a tensor keeps its dtype; a number takes that of the maths unless its category is higher.
ArgumentTyping typing_alone(const ArgumentType& a, DType computed) {
  if (!is_number(a) || a.dtype == DType::Bool) return typing_in(a, a.dtype, widened(a.dtype));
  DType own = category_of(a.dtype) <= category_of(computed) ? computed : default_of(category_of(a.dtype));
  return typing_in(a, own, own);
}

bool may_be_tensor(const Schema& schema, size_t argument) { return schema.is_tensor.empty() || schema.is_tensor[argument]; }

Typing type_without_rules(const Schema& schema, size_t outputs, std::span<const ArgumentType> arguments) {
  std::vector<int> which;
  for (size_t k = 0; k < arguments.size(); ++k)
    if (may_be_tensor(schema, k)) which.push_back(static_cast<int>(k));
  Rule rule = rule_of(Promotion::Default, common_dtype(arguments, which));
  Typing t{{}, std::vector<DType>(outputs, rule.result), rule.common, rule.computed, false};
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ArgumentType& a = arguments[k];
    // A number does not bring a dtype of its own into the maths, nor does a tensor without axes in its category; a condition stays one.
    bool has_no_dtype = is_number(a) || (a.source == Source::ZeroDim && category_of(a.dtype) == category_of(rule.common));
    bool is_weak = has_no_dtype && a.dtype != DType::Bool && may_be_tensor(schema, k);
    t.arguments.push_back(is_weak ? typing_exact(a, rule) : typing_alone(a, rule.computed));
  }
  return t;
}

Typing type_by_rules(const Schema& schema, std::span<const ArgumentType> arguments) {
  Typing t{{}, {}, DType::Bool, DType::Bool, true};
  std::vector<std::optional<ArgumentTyping>> named(arguments.size());
  for (const PromotionRule& r : schema.promotion) {
    Rule rule = rule_of(r.kind, common_dtype(arguments, r.arguments));
    if (t.results.empty()) t.common = rule.common, t.computed = rule.computed;
    t.results.push_back(rule.result);
    for (size_t place = 0; place < r.arguments.size(); ++place) {
      auto k = static_cast<size_t>(r.arguments[place]);
      check_takes(schema, r, k, arguments[k]);
      if (!named[k]) named[k] = typing_by(number_rule(r, place), arguments[k], rule);
    }
  }
  for (size_t k = 0; k < arguments.size(); ++k)
    t.arguments.push_back(named[k] ? *named[k] : typing_alone(arguments[k], t.computed));
  return t;
}

}  // namespace

NumberRule number_rule(const PromotionRule& rule, size_t place) {
  return rule.numbers.empty() ? NumberRule::Rounded : rule.numbers[place];
}

DType common_dtype(std::span<const ArgumentType> arguments, std::span<const int> which) {
  Category category = highest_category(arguments, which);
  for (Source source : {Source::Tensor, Source::ZeroDim})
    if (std::optional<DType> common = common_of(arguments, which, source, category)) return *common;
  return default_of(category);
}

Typing type_arguments(const Schema& schema, size_t outputs, std::span<const ArgumentType> arguments) {
  return schema.promotion.empty() ? type_without_rules(schema, outputs, arguments) : type_by_rules(schema, arguments);
}

DType inferred_result(DType traced, DType common) { return is_half(common) && traced == DType::F32 ? common : traced; }

bool can_write(DType from, DType to) { return category_of(from) <= category_of(to); }

}  // namespace strider::planner
