// SPDX-License-Identifier: Apache-2.0
#include "tensor/npy_header.h"

#include <bit>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"

namespace strider::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// NumPy's name of each dtype: kind and bytes.
struct Row {
  DType dtype;
  std::string_view text;
};
constexpr Row kRows[] = {
    {DType::Bool, "b1"}, {DType::I8, "i1"},  {DType::I16, "i2"}, {DType::I32, "i4"}, {DType::I64, "i8"},
    {DType::U8, "u1"},   {DType::U16, "u2"}, {DType::U32, "u4"}, {DType::U64, "u8"}, {DType::F16, "f2"},
    {DType::BF16, "V2"}, {DType::F32, "f4"}, {DType::F64, "f8"},
};
static_assert(std::size(kRows) == kDTypeCount);

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t k = bytes.size(); k-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[k]);
  return value;
}

/// Reads the dict that NumPy writes, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, its keys in any order.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Header parse() {
    expect("{");
    while (!accept("}")) {
      parse_item();
      if (!accept(",") && !looking_at("}")) fail("expected ',' or '}'");
    }
    skip_spaces();
    if (!rest_.empty()) fail("expected the end");
    require(has_descr_, "descr");
    require(has_order_, "fortran_order");
    require(has_shape_, "shape");
    return header_;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    constexpr size_t kMost = 40;
    user_error("its header is damaged: {} at \"{}\"", what, printable(rest_.substr(0, kMost)));
  }
  static std::string printable(std::string_view text) {
    std::string result;
    for (char c : text) result += c >= ' ' && c <= '~' ? c : '?';
    return result;
  }
  static void require(bool present, std::string_view key) {
    if (!present) user_error("its header is damaged: there is no '{}'", key);
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }
  bool looking_at(std::string_view token) {
    skip_spaces();
    return rest_.starts_with(token);
  }
  bool accept(std::string_view token) {
    if (!looking_at(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  void once(bool* seen, std::string_view key) {
    if (*seen) fail(fmt::format("a second '{}'", key));
    *seen = true;
  }

  void parse_item() {
    std::string_view key = string();
    expect(":");
    if (key == "descr") {
      once(&has_descr_, key);
      parse_descr();
    } else if (key == "fortran_order") {
      once(&has_order_, key);
      header_.is_fortran = boolean();
    } else if (key == "shape") {
      once(&has_shape_, key);
      parse_shape();
    } else {
      fail(fmt::format("the unknown key '{}'", printable(key)));
    }
  }

  std::string_view string() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) fail("expected a string");
    size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) fail("a string that does not end");
    std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) fail("expected True or False");
    return false;
  }

  void parse_descr() {
    if (looking_at("[")) unsupported_error("it holds records; arrays of numbers can be read");
    std::string_view descr = string(), kind = descr;
    char order = kind.empty() ? '|' : kind[0];
    if (std::string_view("<>|=").find(order) != std::string_view::npos) kind.remove_prefix(std::min<size_t>(kind.size(), 1));
    for (const Row& row : kRows) {
      if (row.text != kind) continue;
      header_.dtype = row.dtype;
      bool has_order = row.text[0] != 'V';  // plain bytes have none, whatever the text says
      header_.is_big_endian = has_order && size_of(row.dtype) > 1 && order == '>';
      return;
    }
    unsupported_error("its dtype '{}' has no counterpart; bool, integers up to 64 bits, f16, f32 and f64 have, and 'V2' is bf16",
                      printable(descr));
  }

  void parse_shape() {
    expect("(");
    while (!accept(")")) {
      header_.shape.push_back(size());
      bool has_comma = accept(",");
      if (!has_comma && !looking_at(")")) fail("expected ',' or ')'");
      if (!has_comma && header_.shape.rank() == 1) fail("a shape of one axis without a comma");  // Python's for a number
    }
  }

  int64_t size() {
    skip_spaces();
    if (rest_.size() > 1 && rest_[0] == '0' && rest_[1] >= '0' && rest_[1] <= '9') fail("a size that begins with 0");
    int64_t value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a size beyond 64 bits");
    if (error != std::errc()) fail("expected a size");
    if (value < 0) fail("a negative size");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  std::string_view rest_;
  Header header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

TextRange text_range(std::string_view prefix) {
  if (!prefix.starts_with(kMagic)) user_error("it does not begin as a .npy file does");
  if (prefix.size() < 10) user_error("it ends within its header");
  int major = prefix[6], minor = prefix[7];
  if (major < 1 || major > 3 || minor != 0)
    unsupported_error("its version is {}.{}; 1.0, 2.0 and 3.0 can be read", static_cast<uint8_t>(major),
                      static_cast<uint8_t>(minor));
  size_t bytes = major == 1 ? 2 : 4;
  if (prefix.size() < 8 + bytes) user_error("it ends within its header");
  auto begin = static_cast<int64_t>(8 + bytes);
  return {begin, begin + little_endian(prefix.substr(8, bytes))};
}

Header parse_header(std::string_view text) { return Parser(text).parse(); }

std::string print_header(const Header& header) {
  constexpr size_t kMultiple = 64, kBefore = 10;  // the data begin at a multiple
  std::string shape;
  for (int64_t size : header.shape) shape += fmt::format("{}{}", shape.empty() ? "" : " ", size) + ",";
  if (header.shape.rank() > 1) shape.pop_back();
  std::string_view name;
  for (const Row& row : kRows)
    if (row.dtype == header.dtype) name = row.text;
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                                 size_of(header.dtype) > 1 ? '<' : '|', name, header.is_fortran ? "True" : "False", shape);
  text.append(kMultiple - 1 - (kBefore + text.size()) % kMultiple, ' ');
  text += '\n';
  std::string whole(kMagic);
  whole += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return whole + text;
}

}  // namespace strider::npy
