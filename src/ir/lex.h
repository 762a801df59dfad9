// SPDX-License-Identifier: Apache-2.0
// The words of the text form, and errors that point at them.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace strider::ir::text {

enum class Kind : uint8_t { End, NewLine, Identifier, Value, Number, String, Sign };

struct Token {
  Kind kind = Kind::End;
  std::string_view text;  // of a value without %, of a string with its quotes
  size_t offset = 0;
};

/// Gives the tokens of a text, one ahead. Several line ends in a row are one token; // starts a comment.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take();
  bool at(std::string_view sign_or_word) const;
  bool accept(std::string_view sign_or_word);
  Token expect(Kind kind, std::string_view what);
  void expect(std::string_view sign_or_word);
  void skip_lines();

  /// Throws a user error that shows the place of `token`.
  template <class... Args>
  [[noreturn]] void error(const Token& token, fmt::format_string<Args...> format, Args&&... args) const {
    error_at(token, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void error_at(const Token& token, std::string_view message) const;

 private:
  void advance();
  void skip_blanks();
  void take_while(bool (*belongs)(char));
  void number();
  void string();

  std::string_view text_;
  size_t end_ = 0;  // of the token ahead
  Token token_;
};

/// A token in words, for messages.
std::string describe(const Token& token);

}  // namespace strider::ir::text
