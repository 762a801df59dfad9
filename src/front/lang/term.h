// SPDX-License-Identifier: Apache-2.0
// What operations of the language work on.
#pragma once

#include <string>

#include <strider/dtype.h>

#include "ir/function.h"

namespace strider::front {

/// A number as the user wrote it: weak, it takes the dtype of what it meets.
struct Literal {
  enum Kind : uint8_t { Bool, Int, Unsigned, Float };  // Unsigned: an integer above the range of i64
  Kind kind = Bool;
  uint64_t bits = 0;  // of a bool, an i64, a u64 or an f64

  static Literal of(bool value) { return {Bool, value}; }
  static Literal of(int64_t value) { return {Int, static_cast<uint64_t>(value)}; }
  static Literal of(uint64_t value) { return {value > INT64_MAX ? Unsigned : Int, value}; }
  static Literal of(double value);

  bool is_integer() const { return kind == Int || kind == Unsigned; }
  /// As an f64: integers rounded.
  double as_double() const;
  /// Whether it may become a constant of this dtype: integers must be in its range, as bools they ask for != 0, and no float
  /// becomes an integer or a bool.
  bool fits(DType dtype) const;
  /// Its bits in a dtype that it fits, rounded once.
  uint64_t bits_in(DType dtype) const;
};
/// "true", "-3", "0.1".
std::string to_string(const Literal& literal);

/// An operand: a node, a literal, or nothing where an argument is left out.
class Term {
 public:
  Term() = default;
  Term(ir::Value node) : kind_(Node), node_(node) {}
  Term(const Literal& literal) : kind_(Number), literal_(literal) {}

  bool is_empty() const { return kind_ == Empty; }
  bool is_literal() const { return kind_ == Number; }
  bool is_node() const { return kind_ == Node; }
  ir::Value node() const { return node_; }
  const Literal& literal() const { return literal_; }

 private:
  enum Kind : uint8_t { Empty, Node, Number } kind_ = Empty;
  ir::Value node_;
  Literal literal_;
};

}  // namespace strider::front
