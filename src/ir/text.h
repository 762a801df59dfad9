// SPDX-License-Identifier: Apache-2.0
// Words of the text form that printer and parser share. docs/ir.md has the grammar.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace strider::ir::text {

/// What begins a program, and before it each function that it calls.
inline constexpr std::string_view kKernel = "kernel", kHelper = "helper";

/// Ops whose `imm` is one number, and what the number is called.
struct ImmName {
  Op op;
  std::string_view name;
};
inline constexpr ImmName kImmNames[] = {
    {Op::ProgramId, "axis"}, {Op::NumPrograms, "axis"}, {Op::ExpandDims, "axis"}, {Op::Reduce, "axis"}, {Op::Scan, "axis"},
    {Op::Gather, "axis"},    {Op::Arange, "begin"},   {Op::Alloc, "count"},      {Op::Extract, "lane"},    {Op::Exchange, "xor"},
    {Op::Call, "helper"},
};

constexpr std::string_view imm_name(Op op) {
  for (const ImmName& n : kImmNames)
    if (n.op == op) return n.name;
  return "imm";
}

constexpr std::string_view hint_name(HintKind kind) {
  auto index = static_cast<size_t>(kind);
  return index < static_cast<size_t>(kHintKinds) ? kHintNames[index] : "imm";
}

/// A bit of Node::flags; `keep` says whether the word `keep` stands before it.
struct FlagName {
  uint8_t bit;
  bool keep;
  std::string_view word;
};
inline constexpr FlagName kFlagNames[] = {
    {kKeepPrivate, true, "private"},
    {kKeepShared, true, "shared"},
    {kInline, false, "inline"},
    {kNoWrap, false, "no_wrap"},
    {kStaged, false, "staged"},
    {kLikely, false, "likely"},
    {kMayWrap, false, "may_wrap"},
};

/// What stands before region k of an op with two of them.
constexpr std::string_view separator(Op op) { return op == Op::If ? "else" : "do"; }

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_identifier(std::string_view s) {
  if (s.empty() || !is_letter(s[0])) return false;
  for (char c : s)
    if (!is_letter(c) && !is_digit(c)) return false;
  return s != "_";
}

}  // namespace strider::ir::text
