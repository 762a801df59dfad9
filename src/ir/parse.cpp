// SPDX-License-Identifier: Apache-2.0
// Recursive descent, one function per rule of the grammar. Nodes are written as they are read.
#include "ir/parse.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/infer.h"
#include "ir/lex.h"
#include "ir/semantics.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace strider::ir {
namespace {

using text::Kind;
using text::Lexer;
using text::Token;

constexpr int kMaxDepth = 100;  // of nested regions

/// A literal as it stands, until its type is known.
struct Literal {
  Token token;
  std::optional<Token> payload;  // of nan(...)
};

/// A name on the left of a statement, or a region's parameter.
struct Name {
  Token token;
  uint8_t flags = 0;
  bool skipped = false;  // _: a result that the function does not have
};

struct Statement {
  std::vector<Name> names;
  Token op_token;
  Op op = Op::Yield;
  std::vector<Value> operands;
  std::vector<Literal> literals;
  Shape space;  // of a nest
  int64_t imm = 0;
  uint32_t offset = 0;
  uint8_t flags = 0;
  std::vector<std::optional<Type>> types;
};

class Parser {
 public:
  Parser(Lexer& lex, const std::string& name, Helpers helpers) : lex_(lex), builder_(name) {
    builder_.set_literal(true);
    builder_.set_helpers(std::move(helpers));
  }
  Function run();

 private:
  void param();
  void body(std::optional<Op> owner);
  void statement();
  void left(Statement& s);
  void operands(Statement& s);
  void literals(Statement& s);
  Literal literal();
  void attributes(Statement& s);
  void attribute(Statement& s);
  void hint(Statement& s, const Token& word);
  void types(Statement& s);
  void simple(Statement& s);
  void with_regions(Statement& s);
  void region(Value owner, Op op, int index);
  void results(Value owner, const Statement& s);

  Type type();
  Shape shape();
  bool at_flag();
  uint8_t flags();
  int64_t integer(int64_t least, int64_t most);
  int64_t power_of_two(int64_t most);
  uint64_t element(const Type& type, const Literal& literal);
  uint64_t float_element(DType dtype, const Literal& literal);
  int64_t imm_of(const Statement& s);
  std::vector<int64_t> table_of(const Statement& s);

  void define(const Token& name, Value v);
  Value lookup(const Token& name);
  /// Runs `check`; its errors get the place of `token`.
  template <class Fn>
  auto located(const Token& token, Fn check);

  Lexer& lex_;
  Builder builder_;
  std::unordered_map<std::string, Value> values_;
  std::vector<std::string> defined_;
  int depth_ = 0;
};

// --- small parts

template <class Fn>
auto Parser::located(const Token& token, Fn check) {
  try {
    return check();
  } catch (const Error& e) {
    lex_.error_at(token, e.what());
  }
}

void Parser::define(const Token& name, Value v) {
  if (!values_.emplace(name.text, v).second) lex_.error(name, "%{} is defined already", name.text);
  defined_.emplace_back(name.text);
}

Value Parser::lookup(const Token& name) {
  auto found = values_.find(std::string(name.text));
  if (found == values_.end()) lex_.error(name, "%{} is not defined here", name.text);
  return found->second;
}

template <class T>
bool read_number(std::string_view text, T* value, int base) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_hex(std::string_view text, uint64_t* value) { return text.starts_with("0x") && read_number(text.substr(2), value, 16); }

int64_t Parser::integer(int64_t least, int64_t most) {
  Token token = lex_.expect(Kind::Number, "an integer");
  int64_t value = 0;
  if (!read_number(token.text, &value, 10) || value < least || value > most)
    lex_.error(token, "{} is no integer from {} to {}", describe(token), least, most);
  return value;
}

int64_t Parser::power_of_two(int64_t most) {
  Token token = lex_.peek();
  int64_t value = integer(1, most);
  if (!std::has_single_bit(static_cast<uint64_t>(value))) lex_.error(token, "{} is no power of two", value);
  return value;
}

Shape Parser::shape() {
  Token start = lex_.peek();
  std::vector<int64_t> dims;
  int64_t elements = 1;
  lex_.expect("[");
  while (!lex_.at("]")) {
    if (!dims.empty()) lex_.expect(",");
    dims.push_back(integer(1, kMaxElements));
    elements *= dims.back();
    if (elements > kMaxElements) lex_.error(start, "a tile of more than {} elements", kMaxElements);
    if (dims.size() > kMaxRank) lex_.error(start, "a tile of more than {} axes", kMaxRank);
  }
  lex_.expect("]");
  return Shape(dims);
}

Type Parser::type() {
  Type type;
  if (lex_.accept("*")) type.space = lex_.accept("shared") ? Space::Shared : lex_.accept("local") ? Space::Local : Space::Global;
  Token token = lex_.expect(Kind::Identifier, "a type");
  std::optional<DType> dtype = dtype_named(token.text);
  if (!dtype) lex_.error(token, "unknown dtype {}", describe(token));
  type.dtype = *dtype;
  if (lex_.at("[")) type.shape = shape();
  return type;
}

bool Parser::at_flag() {
  if (lex_.at("keep")) return true;
  for (const text::FlagName& flag : text::kFlagNames)
    if (!flag.keep && lex_.at(flag.word)) return true;
  return false;
}

uint8_t Parser::flags() {
  uint8_t flags = 0;
  while (at_flag()) {
    bool keep = lex_.accept("keep");
    Token word = lex_.expect(Kind::Identifier, "'private' or 'shared'");
    uint8_t bit = 0;
    for (const text::FlagName& flag : text::kFlagNames)
      if (flag.keep == keep && flag.word == word.text) bit = flag.bit;
    if (!bit) lex_.error(word, "found {}, expected 'private' or 'shared'", describe(word));
    flags |= bit;
  }
  return flags;
}

// --- literals

Literal Parser::literal() {
  Token token = lex_.peek();
  if (token.kind != Kind::Number && token.kind != Kind::Identifier)
    lex_.error(token, "found {}, expected a literal", describe(token));
  Literal literal{lex_.take(), {}};
  if (literal.token.text != "nan" || !lex_.accept("(")) return literal;
  literal.payload = lex_.expect(Kind::Number, "the bits of a nan");
  lex_.expect(")");
  return literal;
}

uint64_t Parser::float_element(DType dtype, const Literal& literal) {
  const Token& token = literal.token;
  uint64_t bits = 0;
  if (literal.payload) {
    bool fits = read_hex(literal.payload->text, &bits) && (bits_of(dtype) == 64 || bits >> bits_of(dtype) == 0);
    if (!fits || !std::isnan(double_of_bits(dtype, bits))) lex_.error(*literal.payload, "no bits of a {} nan", name_of(dtype));
    return bits;
  }
  if (token.text == "nan") return bits_of_double(dtype, NAN);
  if (token.text == "inf" || token.text == "-inf") return bits_of_double(dtype, token.text == "inf" ? INFINITY : -INFINITY);
  double value = 0;
  auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  bool whole = error == std::errc{} && end == token.text.data() + token.text.size() && token.kind == Kind::Number;
  bits = whole ? bits_of_double(dtype, value) : 0;
  if (!whole || std::isinf(double_of_bits(dtype, bits))) lex_.error(token, "{} is no {}", describe(token), name_of(dtype));
  return bits;
}

uint64_t Parser::element(const Type& type, const Literal& literal) {
  const Token& token = literal.token;
  uint64_t bits = 0;
  if (type.is_pointer()) {
    if (read_hex(token.text, &bits)) return bits;
  } else if (is_float(type.dtype)) {
    return float_element(type.dtype, literal);
  } else if (type.dtype == DType::Bool) {
    if (token.text == "true" || token.text == "false") return token.text == "true";
  } else if (type.dtype == DType::U64) {
    if (read_number(token.text, &bits, 10)) return bits;
  } else {
    int64_t value = 0;
    bool whole = read_number(token.text, &value, 10);
    bits = bits_of_int(type.dtype, value);
    if (whole && int_of_bits(type.dtype, bits) == value) return bits;
  }
  lex_.error(token, "{} is no {}", describe(token), to_string(type.with_shape({})));
}

// --- statements

void Parser::left(Statement& s) {
  if (lex_.peek().kind != Kind::Value && !lex_.at("_")) return;
  do {
    Name name{lex_.peek(), 0, lex_.accept("_")};
    if (!name.skipped) {
      name.token = lex_.expect(Kind::Value, "a name");
      name.flags = flags();
    }
    s.names.push_back(name);
  } while (lex_.accept(","));
  lex_.expect("=");
}

void Parser::operands(Statement& s) {
  if (lex_.peek().kind != Kind::Value) return;
  do s.operands.push_back(lookup(lex_.expect(Kind::Value, "a value")));
  while (lex_.accept(","));
}

void Parser::literals(Statement& s) {
  if (s.op == Op::Nest) s.space = shape();
  if (s.op == Op::Constant) s.literals.push_back(literal());
  if (s.op != Op::Vector && s.op != Op::Shuffle && s.op != Op::Trans) return;
  lex_.expect("(");
  while (!lex_.at(")")) {
    if (!s.literals.empty()) lex_.expect(",");
    s.literals.push_back(literal());
  }
  lex_.expect(")");
}

void Parser::attribute(Statement& s) {
  Token word = lex_.take();
  bool access = has(s.op, Reads | Writes) && s.op != Op::Atomic;
  if (s.op == Op::Hint) return hint(s, word);
  if (access && word.text == "streaming") {
    s.imm |= kStreaming;
  } else if (access && word.text == "align") {
    lex_.expect("=");
    s.imm |= std::countr_zero(static_cast<uint64_t>(power_of_two(int64_t{1} << 30))) << kAlignShift;
  } else if (s.op == Op::Alloc && word.text == "offset") {
    lex_.expect("=");
    s.offset = static_cast<uint32_t>(integer(0, kMaxScratch));
  } else if (word.text == text::imm_name(s.op)) {
    lex_.expect("=");
    s.imm = integer(INT64_MIN, INT64_MAX);
  } else {
    lex_.error(word, "{} has no attribute {}", name_of(s.op), describe(word));
  }
}

/// What a hint says, and the axis of which it says it.
void Parser::hint(Statement& s, const Token& word) {
  HintFact fact = HintFact::of(s.imm);
  lex_.expect("=");
  if (word.text == "axis") {
    fact.axis = static_cast<int>(integer(0, kMaxRank - 1));
  } else {
    int kind = 0;
    while (kind < kHintKinds && kHintNames[kind] != word.text) ++kind;
    if (kind == kHintKinds) lex_.error(word, "{} has no attribute {}", name_of(s.op), describe(word));
    fact.kind = static_cast<HintKind>(kind);
    fact.number = integer(1, INT64_MAX >> 8);
  }
  s.imm = fact.imm();
}

void Parser::attributes(Statement& s) {
  while (lex_.peek().kind == Kind::Identifier) {
    if (at_flag()) s.flags |= flags();
    else attribute(s);
  }
}

void Parser::types(Statement& s) {
  if (!lex_.accept(":")) return;
  do {
    if (lex_.accept("_")) s.types.emplace_back();
    else s.types.emplace_back(type());
  } while (lex_.accept(","));
}

int64_t Parser::imm_of(const Statement& s) {
  if (s.op == Op::Constant) return static_cast<int64_t>(element(*s.types[0], s.literals[0]));
  if (s.op != Op::Trans) return s.imm;
  int64_t imm = 0;
  if (static_cast<int>(s.literals.size()) != s.types[0]->shape.rank())
    lex_.error(s.op_token, "{} axes listed for {}", s.literals.size(), to_string(*s.types[0]));
  for (size_t k = 0; k < s.literals.size(); ++k) {
    uint64_t axis = element(Type::scalar(DType::U64), s.literals[k]);
    if (axis >= kMaxRank) lex_.error(s.literals[k].token, "no such axis");
    imm |= static_cast<int64_t>(axis << (4 * k));
  }
  return imm;
}

std::vector<int64_t> Parser::table_of(const Statement& s) {
  if (s.op == Op::Trans || s.op == Op::Constant) return {};
  Type type = s.op == Op::Vector ? *s.types[0] : Type::scalar(DType::U64);
  std::vector<int64_t> table;
  for (const Literal& l : s.literals) table.push_back(static_cast<int64_t>(element(type, l)));
  return table;
}

void Parser::simple(Statement& s) {
  bool has_value = info(s.op).result != ResultRule::None;
  std::string_view given = has_value ? "one value" : "no value";
  if (s.names.size() != has_value || (has_value && s.names[0].skipped))
    lex_.error(s.op_token, "{} gives {}, {} named", name_of(s.op), given, s.names.size());
  if (s.types.size() != has_value || (has_value && !s.types[0]))
    lex_.error(s.op_token, "{} gives {}, {} types stand at the end", name_of(s.op), given, s.types.size());
  const Type* type = has_value ? &*s.types[0] : nullptr;
  int64_t imm = imm_of(s);
  std::vector<int64_t> table = table_of(s);
  Value v = located(s.op_token, [&] {
    Value v = builder_.emit(s.op, s.operands, imm, type, table);
    if (type && builder_.type(v) != *type)
      user_error("{}: the result is {}, not {}", name_of(s.op), to_string(builder_.type(v)), to_string(*type));
    check_node(builder_.function(), v);
    return v;
  });
  builder_.set_flags(v, s.flags);
  if (s.op == Op::Alloc) builder_.set_aux(v, s.offset);
  if (has_value) define(s.names[0].token, v);
}

void Parser::region(Value owner, Op op, int index) {
  std::vector<Name> names;
  std::vector<Type> types;
  if (lex_.accept("(")) {
    do {
      names.push_back({lex_.expect(Kind::Value, "a parameter"), 0, false});
      lex_.expect(":");
      types.push_back(type());
      names.back().flags = flags();
    } while (lex_.accept(","));
    lex_.expect(")");
  }
  size_t mark = defined_.size();
  builder_.begin_region(owner, index, types);
  for (size_t k = 0; k < names.size(); ++k) {
    define(names[k].token, builder_.region_params()[k]);
    builder_.set_flags(builder_.region_params()[k], names[k].flags);
  }
  body(op);
  builder_.end_region();
  if (op == Op::Nest) return;
  for (size_t k = mark; k < defined_.size(); ++k) values_.erase(defined_[k]);
  defined_.resize(mark);
}

void Parser::results(Value owner, const Statement& s) {
  for (size_t k = 0; k < s.names.size(); ++k) {
    if (s.names[k].skipped) continue;
    if (!s.types[k]) lex_.error(s.names[k].token, "a type is missing");
    Value r = builder_.result(owner, static_cast<int>(k), *s.types[k]);
    located(s.names[k].token, [&] { check_node(builder_.function(), r); });
    builder_.set_flags(r, s.names[k].flags);
    define(s.names[k].token, r);
  }
}

void Parser::with_regions(Statement& s) {
  if (s.names.size() != s.types.size())
    lex_.error(s.op_token, "{} results named, {} types stand at the end", s.names.size(), s.types.size());
  Type type = Type::none().with_shape(s.space);
  located(s.op_token, [&] {
    std::vector<Type> operands;
    for (Value v : s.operands) operands.push_back(builder_.type(v));
    infer(s.op, operands, s.imm, &type);
  });
  Value owner = builder_.open(s.op, s.operands, s.imm, type, region_count(s.op));
  builder_.set_flags(owner, s.flags);
  if (++depth_ > kMaxDepth) lex_.error(s.op_token, "more than {} regions inside one another", kMaxDepth);
  for (int k = 0; k < region_count(s.op); ++k) {
    if (k > 0) lex_.expect(text::separator(s.op));
    region(owner, s.op, k);
  }
  --depth_;
  located(s.op_token, [&] { check_node(builder_.function(), owner); });
  results(owner, s);
}

void Parser::statement() {
  Statement s;
  left(s);
  s.op_token = lex_.expect(Kind::Identifier, "an op");
  const std::optional<Op> op = op_named(s.op_token.text);
  const auto kind = std::ranges::find(kAtomicNames, s.op_token.text) - kAtomicNames;
  bool is_written_so = op && *op != Op::Param && *op != Op::Result && *op != Op::Atomic;
  if (!is_written_so && kind == kAtomicKinds) lex_.error(s.op_token, "unknown op {}", describe(s.op_token));
  s.op = is_written_so ? *op : Op::Atomic;  // of which the name says the kind
  if (s.op == Op::Atomic) s.imm = kind;
  operands(s);
  literals(s);
  attributes(s);
  types(s);
  if (has(s.op, Regions)) with_regions(s);
  else simple(s);
  if (!lex_.at("}")) lex_.expect(Kind::NewLine, "the end of the statement");
}

/// Statements between braces. A region that must yield and does not say so yields nothing.
void Parser::body(std::optional<Op> owner) {
  bool yielded = false;
  lex_.expect("{");
  for (lex_.skip_lines(); !lex_.at("}"); lex_.skip_lines()) {
    if (yielded) lex_.error(lex_.peek(), "a statement after the yield");
    yielded = lex_.at("yield");
    if (yielded && owner == Op::Nest) lex_.error(lex_.peek(), "a nest yields nothing");
    statement();
  }
  lex_.expect("}");
  if (!yielded && owner && owner != Op::Nest) builder_.yield({});
}

// --- the function

std::string unquoted(const Lexer& lex, const Token& token) {
  std::string_view in = token.text.substr(1, token.text.size() - 2);
  std::string out;
  for (size_t k = 0; k < in.size(); ++k) {
    unsigned code = 0;
    if (in[k] != '\\') {
      out += in[k];
    } else if (in.substr(k + 1, 1) == "x" && k + 3 < in.size() && read_number(in.substr(k + 2, 2), &code, 16)) {
      out += static_cast<char>(code);
      k += 3;
    } else if (k + 1 < in.size() && (in[k + 1] == '"' || in[k + 1] == '\\')) {
      out += in[++k];
    } else {
      lex.error(token, "an unknown escape in a string");
    }
  }
  return out;
}

std::string function_name(Lexer& lex) {
  if (lex.peek().kind == Kind::String) return unquoted(lex, lex.take());
  return std::string(lex.expect(Kind::Identifier, "a name").text);
}

void Parser::param() {
  Token name = lex_.expect(Kind::Value, "a parameter");
  ParamInfo info;
  if (text::is_identifier(name.text)) info.name = name.text;
  lex_.expect(":");
  Token at = lex_.peek();
  Type t = type();
  if (!t.is_scalar()) lex_.error(at, "a parameter is a scalar or a pointer, not {}", to_string(t));
  uint8_t bits = flags();
  while (lex_.peek().kind == Kind::Identifier) {
    Token word = lex_.take();
    if (word.text == "read_only") info.read_only = true;
    else if (word.text == "no_alias") info.no_alias = true;
    else if (word.text == "divisible" && lex_.accept("=")) info.divisible = power_of_two(int64_t{1} << 62);
    else if (word.text == "name" && lex_.accept("=")) info.name = unquoted(lex_, lex_.expect(Kind::String, "a string"));
    else lex_.error(word, "a parameter has no attribute {}", describe(word));
    bits |= flags();
  }
  Value v = builder_.param(t, info);
  builder_.set_flags(v, bits);
  define(name, v);
}

Function Parser::run() {
  lex_.expect("(");
  while (!lex_.at(")")) {
    if (!builder_.function().params().empty()) lex_.expect(",");
    param();
  }
  lex_.expect(")");
  int64_t threads = 0, scratch = 0;
  while (lex_.peek().kind == Kind::Identifier) {
    Token word = lex_.take();
    if (word.text != "threads" && word.text != "scratch") lex_.error(word, "a kernel has no attribute {}", describe(word));
    lex_.expect("=");
    if (word.text == "threads") threads = integer(0, kMaxThreads);
    else scratch = integer(0, kMaxScratch);
  }
  body({});
  lex_.skip_lines();
  Function f = builder_.finish();
  f.threads = static_cast<int>(threads);
  f.scratch_bytes = scratch;
  return f;
}

}  // namespace

Function parse(std::string_view source) {
  Lexer lex(source);
  Helpers helpers;
  lex.skip_lines();
  while (lex.accept(text::kHelper)) {
    std::string name = function_name(lex);
    Token at = lex.peek();
    Function helper = Parser(lex, name, {}).run();
    try {
      check_helper(helper);
    } catch (const Error& e) {
      lex.error_at(at, e.what());
    }
    helpers.push_back(std::make_shared<const Function>(std::move(helper)));
  }
  lex.expect(text::kKernel);
  std::string name = function_name(lex);
  Function kernel = Parser(lex, name, std::move(helpers)).run();
  if (lex.peek().kind != Kind::End) lex.error(lex.peek(), "found {} after the kernel", describe(lex.peek()));
  return kernel;
}

}  // namespace strider::ir
