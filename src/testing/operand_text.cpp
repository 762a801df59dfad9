// SPDX-License-Identifier: Apache-2.0
#include "testing/operand_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

#include "backend/backend.h"
#include "base/error.h"
#include "tensor/shape.h"

namespace strider {
namespace {

/// Where a view can be tried without memory.
void* const kNowhere = reinterpret_cast<void*>(uintptr_t{1} << 50);

int axis(const Dims& numbers, int k) {
  if (numbers[k] < -kMaxDims || numbers[k] >= kMaxDims)
    user_error("axis {} is out of range: a tensor has at most {} axes", numbers[k], kMaxDims);
  return static_cast<int>(numbers[k]);
}

struct ViewWord {
  std::string_view name;
  int least, most;  // numbers in its parentheses
  TensorView (*apply)(const TensorView&, const Dims&);
};

constexpr ViewWord kViews[] = {
    {"t", 0, 0, [](const TensorView& x, const Dims&) { return x.t(); }},
    {"transpose", 2, 2, [](const TensorView& x, const Dims& n) { return x.transpose(axis(n, 0), axis(n, 1)); }},
    {"permute", 0, kMaxDims, [](const TensorView& x, const Dims& n) { return x.permute(n); }},
    {"flip", 1, 1, [](const TensorView& x, const Dims& n) { return x.flip(axis(n, 0)); }},
    {"expand", 0, kMaxDims, [](const TensorView& x, const Dims& n) { return x.expand(n); }},
    {"squeeze", 1, 1, [](const TensorView& x, const Dims& n) { return x.squeeze(axis(n, 0)); }},
    {"unsqueeze", 1, 1, [](const TensorView& x, const Dims& n) { return x.unsqueeze(axis(n, 0)); }},
    {"reshape", 0, kMaxDims, [](const TensorView& x, const Dims& n) { return x.reshape(n); }},
};

/// One part of a subscript: an index, which removes its axis, or a slice.
struct Subscript {
  std::optional<int64_t> begin, end, step;
  bool is_index = false;
};

TensorView subscripted(TensorView x, const std::vector<Subscript>& parts) {
  if (parts.size() > static_cast<size_t>(x.rank()))
    user_error("a subscript of {} parts, the tensor has shape {}", parts.size(), to_string(x.shape()));
  int at = 0;
  for (const Subscript& s : parts) {
    int64_t size = x.size(at), step = s.step.value_or(1);
    if (s.is_index) {
      int64_t index = *s.begin < 0 ? *s.begin + size : *s.begin;
      if (index < 0 || index >= size) user_error("index {} of an axis of size {}", *s.begin, size);
      x = x.slice(at, index, index + 1).squeeze(at);
    } else {
      // Below the first element there is none: what NumPy writes as nothing.
      int64_t begin = s.begin.value_or(step > 0 ? 0 : size - 1), end = s.end.value_or(step > 0 ? size : -size - 1);
      x = x.slice(at++, begin, end, step);
    }
  }
  return x;
}

}  // namespace

/// Reads from left to right; every function leaves the rest of the text.
class OperandParser {
 public:
  explicit OperandParser(std::string_view text) : text_(text), rest_(text) {}

  void parse(OperandText& operand) {
    skip_spaces();
    if (parse_number(operand)) return;
    parse_tensor(operand);
    for (skip_spaces(); !rest_.empty(); skip_spaces()) parse_view(operand);
    operand.in(kNowhere, device_named("cpu"));  // what is wrong with sizes and views shows here
  }

  [[noreturn]] void wrong(std::string_view expected) const {
    std::string found = rest_.empty() ? "the end" : fmt::format("\"{}\"", rest_);
    user_error("operand \"{}\": expected {}, found {}", text_, expected, found);
  }

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  bool take(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }

  void need(char c) {
    if (!take(c)) wrong(fmt::format("{}", c));
  }

  std::string_view word() {
    size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_')) ++length;
    std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  std::optional<int64_t> maybe_integer() {
    skip_spaces();
    int64_t value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    skip_spaces();
    return value;
  }

  int64_t integer() {
    auto value = maybe_integer();
    if (!value) wrong("an integer");
    return *value;
  }

  /// "(1,2)", with a comma at the end if one likes.
  Dims integers() {
    need('(');
    Dims list;
    while (!take(')')) {
      list.push_back(integer());
      if (!take(',') && !rest_.starts_with(')')) wrong(", or )");
    }
    return list;
  }

  bool parse_number(OperandText& operand) {
    std::string_view all = rest_;
    while (!all.empty() && all.back() == ' ') all.remove_suffix(1);
    if (all == "true" || all == "false") {
      operand.number_ = Argument(all == "true");
      return true;
    }
    const char* last = all.data() + all.size();
    int64_t integer = 0;
    if (auto [end, error] = std::from_chars(all.data(), last, integer); error == std::errc() && end == last) {
      operand.number_ = Argument(integer);
      return true;
    }
    double number = 0;
    if (auto [end, error] = std::from_chars(all.data(), last, number); error == std::errc() && end == last) {
      operand.number_ = Argument(number);
      return true;
    }
    return false;
  }

  void parse_tensor(OperandText& operand) {
    std::string_view at = rest_;
    auto dtype = dtype_named(word());
    if (!dtype) {
      rest_ = at;
      wrong(fmt::format("a number, or a dtype ({}) with a shape", fmt::join(dtypes(), " ")));
    }
    operand.dtype_ = *dtype;
    operand.shape_ = integers();
    count_elements(operand.shape_, operand.dtype_);
    operand.strides_ = contiguous_strides(operand.shape_);
  }

  static std::vector<std::string_view> dtypes() {
    std::vector<std::string_view> names;
    for (int i = 0; i < kDTypeCount; ++i) names.push_back(name_of(dtype_at(i)));
    return names;
  }

  void parse_view(OperandText& operand) {
    if (take('[')) return parse_subscript(operand);
    if (!take(':')) wrong("a view: [...] or :t, :permute(...)");
    std::string_view at = rest_, name = word();
    if (name == "strides") return parse_strides(operand);
    for (const ViewWord& view : kViews) {
      if (view.name != name) continue;
      Dims numbers = view.most > 0 ? integers() : Dims();
      if (numbers.rank() < view.least || numbers.rank() > view.most)
        user_error("operand \"{}\": {} takes {} numbers, {} given", text_, name, view.least, numbers.rank());
      operand.views_.push_back([apply = view.apply, numbers](const TensorView& x) { return apply(x, numbers); });
      return;
    }
    rest_ = at;
    std::vector<std::string_view> names{"strides"};
    for (const ViewWord& view : kViews) names.push_back(view.name);
    wrong(fmt::format("a view ({})", fmt::join(names, " ")));
  }

  void parse_strides(OperandText& operand) {
    Dims strides = integers();
    if (strides.rank() != operand.shape_.rank() || !operand.views_.empty())
      user_error("operand \"{}\": strides stand before other views, one for each axis of {}", text_, to_string(operand.shape_));
    operand.strides_ = strides;
  }

  void parse_subscript(OperandText& operand) {
    std::vector<Subscript> parts;
    do {
      parts.push_back(subscript());
    } while (take(','));
    need(']');
    operand.views_.push_back([parts](const TensorView& x) { return subscripted(x, parts); });
  }

  Subscript subscript() {
    Subscript s;
    s.begin = maybe_integer();
    s.is_index = !take(':');
    if (s.is_index && !s.begin) wrong("an index or a slice such as ::2");
    if (s.is_index) return s;
    s.end = maybe_integer();
    if (take(':')) s.step = maybe_integer();
    return s;
  }

  std::string_view text_, rest_;
};

OperandText::OperandText(std::string_view text) { OperandParser(text).parse(*this); }

int64_t OperandText::elements() const { return extent(shape_, strides_).elements(); }

TensorView OperandText::in(void* memory, Device& device) const {
  char* first = static_cast<char*>(memory) - extent(shape_, strides_).low * size_of(dtype_);
  TensorView view(first, dtype_, shape_, strides_, device);
  for (const View& next : views_) view = next(view);
  return view;
}

}  // namespace strider
