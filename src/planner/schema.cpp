// SPDX-License-Identifier: Apache-2.0
#include "planner/schema.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace strider::planner {
namespace {

void check_names(const std::vector<std::string>& names, size_t arguments) {
  if (!names.empty() && names.size() != arguments)
    user_error(".names has {} names, the operator takes {}: one for each, \"\" where there is none", names.size(), arguments);
  for (auto name = names.begin(); name != names.end(); ++name)
    if (!name->empty() && std::find(names.begin(), name, *name) != name) user_error("two arguments are called {}", *name);
}

void check_defaults(const Schema& schema) {
  for (const auto& [name, number] : schema.defaults) {
    index_of(schema, name);
    if (!number.is_number()) user_error("the default of argument {} is no number", name);
  }
}

void check_rules(const std::vector<PromotionRule>& rules, size_t arguments, size_t outputs) {
  if (!rules.empty() && rules.size() != outputs)
    user_error("there are {} promotion rules, expected one for each of its {} outputs", rules.size(), outputs);
  for (size_t k = 0; k < rules.size(); ++k) {
    if (rules[k].arguments.empty()) user_error("the promotion rule of output {} names no arguments", k);
    size_t numbers = rules[k].numbers.size(), named = rules[k].arguments.size();
    if (numbers != 0 && numbers != named)
      user_error("the promotion rule of output {} names {} arguments and {} rules for numbers", k, named, numbers);
    for (int argument : rules[k].arguments)
      if (argument < 0 || static_cast<size_t>(argument) >= arguments)
        user_error("the promotion rule of output {} names argument {}, of {}", k, argument, arguments);
  }
}

}  // namespace

void check_schema(const Schema& schema, size_t arguments, size_t outputs) {
  size_t named = schema.is_tensor.size();
  if (named != 0 && named != arguments) user_error("is_tensor names {} arguments, the operator takes {}", named, arguments);
  check_names(schema.names, arguments);
  check_defaults(schema);
  check_rules(schema.promotion, arguments, outputs);
}

size_t index_of(const Schema& schema, std::string_view name) {
  auto found = std::find(schema.names.begin(), schema.names.end(), name);
  if (found == schema.names.end())
    user_error("there is no argument {}; {}", name,
               schema.names.empty() ? "its arguments have no names: the schema gives them by .names"
                                    : fmt::format("the arguments: {}", fmt::join(schema.names, ", ")));
  return static_cast<size_t>(found - schema.names.begin());
}

const Argument& default_of(const Schema& schema, size_t argument) {
  for (const auto& [name, number] : schema.defaults)
    if (argument < schema.names.size() && schema.names[argument] == name) return number;
  user_error("argument {} is missing", schema.name_of(argument));
}

}  // namespace strider::planner
