// SPDX-License-Identifier: Apache-2.0
#include "ir/lex.h"

#include <algorithm>

#include "base/error.h"
#include "ir/text.h"

namespace strider::ir::text {
namespace {

constexpr size_t kShown = 100;  // bytes of a source line in a message

bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_number(char c) { return is_word(c) || c == '.'; }

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

std::string describe(const Token& token) {
  if (token.kind == Kind::End) return "the end of the text";
  if (token.kind == Kind::NewLine) return "the end of the line";
  return fmt::format("'{}{}'", token.kind == Kind::Value ? "%" : "", printable(token.text.substr(0, kShown)));
}

void Lexer::error_at(const Token& token, std::string_view message) const {
  std::string_view before = text_.substr(0, token.offset);
  size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  size_t column = token.offset - start;
  std::string_view line = text_.substr(start, text_.find('\n', start) - start);
  size_t first = column < kShown / 2 ? 0 : column - kShown / 2;
  user_error("line {}, column {}: {}\n  {}\n  {:>{}}", std::count(before.begin(), before.end(), '\n') + 1, column + 1, message,
             printable(line.substr(first, kShown)), "^", column - first + 1);
}

Token Lexer::take() {
  Token token = token_;
  advance();
  return token;
}

bool Lexer::at(std::string_view word) const {
  return (token_.kind == Kind::Identifier || token_.kind == Kind::Sign) && token_.text == word;
}

bool Lexer::accept(std::string_view word) {
  bool found = at(word);
  if (found) advance();
  return found;
}

Token Lexer::expect(Kind kind, std::string_view what) {
  if (token_.kind != kind) error(token_, "found {}, expected {}", describe(token_), what);
  return take();
}

void Lexer::expect(std::string_view word) {
  if (!accept(word)) error(token_, "found {}, expected '{}'", describe(token_), word);
}

void Lexer::skip_lines() {
  while (token_.kind == Kind::NewLine) advance();
}

void Lexer::skip_blanks() {
  while (end_ < text_.size()) {
    if (text_.substr(end_).starts_with("//")) end_ = std::min(text_.find('\n', end_), text_.size());
    else if (text_[end_] == ' ' || text_[end_] == '\t' || text_[end_] == '\r') ++end_;
    else return;
  }
}

void Lexer::take_while(bool (*belongs)(char)) {
  while (end_ < text_.size() && belongs(text_[end_])) ++end_;
}

/// Digits, letters and points; a sign after an e belongs to it, except in a hexadecimal number.
void Lexer::number() {
  size_t start = end_;
  if (text_[end_] == '-') ++end_;
  bool decimal = !text_.substr(end_).starts_with("0x");
  take_while(is_number);
  bool exponent = decimal && end_ > start && (text_[end_ - 1] == 'e' || text_[end_ - 1] == 'E');
  if (!exponent || end_ >= text_.size() || (text_[end_] != '-' && text_[end_] != '+')) return;
  ++end_;
  take_while(is_digit);
}

void Lexer::string() {
  size_t start = end_++;
  while (end_ < text_.size() && text_[end_] != '"' && text_[end_] != '\n') end_ += text_[end_] == '\\' ? 2 : 1;
  if (end_ >= text_.size() || text_[end_] != '"') error({Kind::String, text_.substr(start, 1), start}, "a string without an end");
  ++end_;
}

void Lexer::advance() {
  skip_blanks();
  size_t start = end_;
  token_ = {Kind::End, {}, start};
  if (start >= text_.size()) return;
  char c = text_[start];
  if (c == '\n') {
    token_.kind = Kind::NewLine;
    for (; end_ < text_.size() && text_[end_] == '\n'; skip_blanks()) ++end_;
  } else if (is_letter(c)) {
    token_.kind = Kind::Identifier;
    take_while(is_word);
  } else if (is_digit(c) || c == '-') {
    token_.kind = Kind::Number;
    number();
  } else if (c == '%') {
    token_.kind = Kind::Value;
    ++end_;
    take_while(is_word);
  } else if (c == '"') {
    token_.kind = Kind::String;
    string();
  } else {
    token_.kind = Kind::Sign;
    ++end_;
  }
  token_.text = text_.substr(start, end_ - start);
  if (token_.kind == Kind::Value) token_.text.remove_prefix(1);
  if (token_.kind == Kind::Value && token_.text.empty()) error(token_, "a name is missing after %");
}

}  // namespace strider::ir::text
