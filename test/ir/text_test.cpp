// SPDX-License-Identifier: Apache-2.0
// Printer and parser: what one writes the other reads, and bad text is told where it is bad.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <locale>
#include <numeric>
#include <random>
#include <string>

#include "support/paths.h"
#include "base/error.h"
#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/samples.h"
#include "ir/semantics.h"
#include "ir/verify.h"

namespace strider::ir {
namespace {

/// Node by node, regions in parallel: operands, numbers, flags, types, tables.
class Same {
 public:
  Same(const Function& a, const Function& b) : a_(a), b_(b), partner_(a.size()) {}
  void check() {
    EXPECT_EQ(a_.name, b_.name);
    EXPECT_EQ(a_.threads, b_.threads);
    EXPECT_EQ(a_.scratch_bytes, b_.scratch_bytes);
    ASSERT_EQ(a_.params().size(), b_.params().size());
    for (size_t k = 0; k < a_.params().size(); ++k)
      EXPECT_EQ(a_.param_info(static_cast<int>(k)), b_.param_info(static_cast<int>(k)));
    region(a_.body(), b_.body());
  }

 private:
  void region(const Region& x, const Region& y) {
    ASSERT_EQ(x.params.size(), y.params.size());
    ASSERT_EQ(x.body.size(), y.body.size());
    for (size_t k = 0; k < x.params.size(); ++k) node(x.params[k], y.params[k]);
    for (size_t k = 0; k < x.body.size(); ++k) node(x.body[k], y.body[k]);
  }
  void node(Value x, Value y) {
    partner_[x.id] = y;
    ASSERT_EQ(a_[x].op, b_[y].op);
    EXPECT_EQ(a_[x].imm, b_[y].imm);
    EXPECT_EQ(a_[x].flags, b_[y].flags);
    EXPECT_EQ(a_[x].type, b_[y].type);
    ASSERT_EQ(a_[x].operand_count, b_[y].operand_count);
    for (int k = 0; k < a_[x].operand_count; ++k) EXPECT_EQ(partner_[a_.operand(x, k).id], b_.operand(y, k));
    EXPECT_TRUE(a_[x].op != Op::Alloc || a_[x].aux == b_[y].aux);
    bool table = a_[x].op == Op::Vector || a_[x].op == Op::Shuffle;
    EXPECT_TRUE(!table || std::ranges::equal(a_.table(x), b_.table(y)));
    ASSERT_EQ(a_[x].region_count, b_[y].region_count);
    for (int k = 0; k < a_[x].region_count; ++k) region(a_.region(x, k), b_.region(y, k));
  }

  const Function &a_, &b_;
  std::vector<Value> partner_;
};

void expect_round_trip(const Function& f, Form form) {
  verify(f, form);
  std::string text = print(f);
  Function again = parse(text);
  verify(again, form);
  EXPECT_EQ(print(again), text);
  Same(f, again).check();
}

TEST(Text, KernelsOfAllFormsRoundTrip) {
  expect_round_trip(samples::tile_kernel(), Form::Tile);
  expect_round_trip(samples::scheduled_kernel(), Form::Scheduled);
  expect_round_trip(samples::lane_kernel(), Form::Lanes);
}

TEST(Text, RandomProgramsRoundTrip) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(samples::random_tile_program(seed, 20), Form::Tile);
    if (HasFailure()) return;
  }
}

TEST(Text, LooksAsDocumented) {
  EXPECT_EQ(print(samples::scheduled_kernel()), R"(kernel scaled(%x: *f32) {
  nest [64] {
    %0 = arange begin=0 inline : i32[64]
    %1 = broadcast %x : *f32[64]
    %2 = ptr_add %1, %0 inline : *f32[64]
    %3 = load %2 keep private keep shared : f32[64]
    %4 keep shared = reduce %3 axis=0 : f32 (%5: f32, %6: f32) {
      %7 = add %5, %6 : f32
      yield %7
    }
  }
  %8 = const 0 : i32
  %9 = const 2 : i32
  %10 = const 1 : i32
  %11 keep private = for %8, %9, %10, %3 : f32[64] (%12: i32, %13: f32[64] keep private) {
    nest [64] {
      %14 = broadcast %4 : f32[64]
      %15 = mul %13, %14 keep private : f32[64]
    }
    yield %15
  }
  nest [64] {
    store %2, %11
  }
  nest [] {
  }
}
)");
}

TEST(Text, ResultsThatAreNotThereKeepTheirPlace) {
  const char* text = R"(kernel pick(%a: f32, %c: bool) {
  _, %0 = if %c : _, f32 {
    %1 = const 1 : i32
    yield %1, %a
  } else {
    %2 = const 2 : i32
    yield %2, %a
  }
  if %c {
    yield %0
  } else {
    yield %a
  }
}
)";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, EveryFlagRoundTrips) {
  Builder b("flags");
  Value x = b.param(Type::scalar(DType::I32), {.name = "x"});
  Value y = b.add(x, x);
  for (unsigned flags = 0; flags < 32; ++flags) {
    b.set_flags(x, static_cast<uint8_t>(flags));
    b.set_flags(y, static_cast<uint8_t>(31 - flags));
    Function f = parse(print(b.function()));
    EXPECT_EQ(f[f.params()[0]].flags, flags);
    EXPECT_EQ(f[f.body().body[0]].flags, 31 - flags);
  }
}

TEST(Text, CommentsBlanksAndOwnNamesAreRead) {
  Function f = parse("// first\n\nkernel  k(%a : f32 ,%b:f32)\tthreads = 4 {\n\n"
                     "  %sum = add %a , %b : f32 // why\n\n\n}\n// end");
  EXPECT_EQ(print(f), "kernel k(%a: f32, %b: f32) threads=4 {\n  %0 = add %a, %b : f32\n}\n");
}

// --- the page

std::string page() {
  std::ifstream file(kSourceDir + "/docs/ir.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TextPage, ListsEveryOp) {
  std::string table = page();
  table.erase(0, table.find("## The ops"));
  for (const OpInfo& op : kOps)
    EXPECT_NE(table.find("`" + std::string(op.text) + "`"), std::string::npos) << op.text;
}

TEST(TextPage, ShowsAKernelThatRoundTrips) {
  std::string text = page();
  text.erase(0, text.find("kernel l1_norm"));
  text.erase(text.find("```"));
  Function f = parse(text);
  verify(f, Form::Tile);
  EXPECT_EQ(print(f), text);
}

// --- constants

std::string literal_round_trip(DType t, uint64_t bits) {
  Builder b("c");
  b.constant_bits(Type::scalar(t), bits);
  Function f = parse(print(b.finish()));
  Value v = f.body().body[0];
  EXPECT_EQ(static_cast<uint64_t>(f[v].imm), bits) << name_of(t) << " " << print_element(t, bits);
  return print_element(t, bits);
}

/// All of them in one vector.
void expect_vector_round_trip(DType t, std::vector<int64_t> bits) {
  Builder b("v");
  b.vector(t, bits);
  Function f = parse(print(b.finish()));
  EXPECT_TRUE(std::ranges::equal(f.table(f.body().body[0]), bits)) << name_of(t);
}

TEST(Literals, EverySixteenBitPatternRoundTrips) {
  std::vector<int64_t> all(0x10000);
  std::iota(all.begin(), all.end(), 0);
  for (DType t : {DType::F16, DType::BF16, DType::I16, DType::U16}) expect_vector_round_trip(t, all);
}

TEST(Literals, RandomWidePatternsRoundTrip) {
  std::mt19937_64 random(5);
  for (DType t : {DType::F32, DType::F64, DType::I32, DType::U32, DType::I64, DType::U64}) {
    std::vector<int64_t> some(20000);
    for (int64_t& x : some) x = static_cast<int64_t>(bits_of(t) == 64 ? random() : random() & 0xffffffff);
    expect_vector_round_trip(t, some);
  }
}

TEST(Literals, AreShortAndPlain) {
  struct Case {
    DType dtype;
    double value;
    const char* text;
  };
  const Case cases[] = {
      {DType::F32, 0.1, "0.1"},     {DType::F64, 0.1, "0.1"},       {DType::F16, 0.1, "0.1"},        {DType::F32, -0.0, "-0.0"},
      {DType::F32, 1000, "1000.0"}, {DType::F32, INFINITY, "inf"},  {DType::BF16, -INFINITY, "-inf"}, {DType::F64, NAN, "nan"},
      {DType::F64, 1e300, "1e+300"}, {DType::F64, 5e-324, "5e-324"}, {DType::F16, 65504, "65500.0"},
      {DType::F32, 3.4028235e38, "3.4028235e+38"},
      {DType::I8, -128, "-128"},    {DType::Bool, 1, "true"},       {DType::U64, 0x1p63, "9223372036854775808"},
  };
  for (const Case& c : cases) EXPECT_EQ(literal_round_trip(c.dtype, bits_of_double(c.dtype, c.value)), c.text);
  EXPECT_EQ(literal_round_trip(DType::F32, 0x7f800001), "nan(0x7f800001)");
  EXPECT_EQ(literal_round_trip(DType::F16, 0xfe00), "nan(0xfe00)");
}

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Literals, DoNotDependOnTheLocale) {
  std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  EXPECT_EQ(literal_round_trip(DType::F64, bits_of_double(DType::F64, 1234567.5)), "1234567.5");
  EXPECT_EQ(literal_round_trip(DType::I32, 1234567), "1234567");
  std::locale::global(before);
}

// --- bad text

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User) << text;
    return e.what();
  }
  return "no error";
}

TEST(ParseErrors, ShowTheLineAndThePlace) {
  EXPECT_EQ(error_of("kernel k(%a: f32) {\n  %1 = adn %a, %a : f32\n}\n"),
            "line 2, column 8: unknown op 'adn'\n    %1 = adn %a, %a : f32\n         ^");
}

TEST(ParseErrors, NameWhatIsWrong) {
  struct Case {
    const char* body;
    const char* message;
  };
  const Case cases[] = {
      {"%1 = add %a, %b : f32", "column 14: %b is not defined here"},
      {"%1 = add %a : f32", "add: got 1 operands, expected 2 to 2"},
      {"%1 = add %a, %n : f32", "add: operands (f32, i32) do not fit"},
      {"%1 = add %a, %a : f64", "the result is f32, not f64"},
      {"%1 = add %a, %a", "add gives one value, 0 types stand at the end"},
      {"add %a, %a : f32", "add gives one value, 0 named"},
      {"%1 = store %p, %a", "store gives no value, 1 named"},
      {"%a = neg %a : f32", "%a is defined already"},
      {"%1 = param : f32", "unknown op 'param'"},
      {"%1 = neg %a axis=1 : f32", "neg has no attribute 'axis'"},
      {"%1 = program_id axis=3 : i32", "program_id: 3 is outside 0 to 2"},
      {"%1 = program_id axis=0 : i64", "program_id: the result is i64, expected i32"},
      {"%1 = const 300 : u8", "'300' is no u8"},
      {"%1 = const -1 : u64", "'-1' is no u64"},
      {"%1 = const 99999999999999999999 : i64", "'99999999999999999999' is no i64"},
      {"%1 = const 1e999 : f64", "'1e999' is no f64"},
      {"%1 = const 1e10 : f16", "'1e10' is no f16"},
      {"%1 = const 1.5x : f32", "'1.5x' is no f32"},
      {"%1 = const nan(0x3f800000) : f32", "no bits of a f32 nan"},
      {"%1 = const nan(0x1ffc00000) : f32", "no bits of a f32 nan"},
      {"%1 = const 2 : bool", "'2' is no bool"},
      {"%1 = const true : i32", "'true' is no i32"},
      {"%1 = const 1 : f31", "unknown dtype 'f31'"},
      {"%1 = const 1 : f32[0]", "'0' is no integer from 1 to 1048576"},
      {"%1 = const 1 : f32[1024, 1024, 1024, 1024]", "a tile of more than 1048576 elements"},
      {"%1 = const 1 : f32[1, 1, 1, 1, 1, 1, 1]", "a tile of more than 6 axes"},
      {"%1 = const 1 : f32[99999999999999999999]", "is no integer from 1"},
      {"%1 = arange begin=120 : i8[16]", "arange: 16 numbers from 120 on do not fit i8"},
      {"%1 = arange begin=9223372036854775807 : i64[2]", "do not fit i64"},
      {"%1 = trans %a (0) : f32", "1 axes listed for f32"},
      {"%1 = trans %a (0, 7) : f32[1, 1]", "no such axis"},
      {"%0 = const 0 : i8[2, 3]\n%1 = trans %0 (1, 1) : i8[3, 3]", "trans: the axes are no permutation of 2"},
      {"%0 = const 0 : i8[2, 3]\n%1 = trans %0 (1, 0) : i8[2, 3]", "trans: the result is i8[2, 3], expected i8[3, 2]"},
      {"%0 = const 0 : i32[2, 3]\n%1 = gather %0, %0 axis=2 : i32[2, 3]", "gather: axis 2 is out of range for a tile of shape [2, 3]"},
      {"%0 = const 0 : f32[2, 3]\n%1 = gather %0, %0 axis=0 : f32[2, 3]", "expected a tile, and i32 indices of its shape but for the axis"},
      {"%0 = const 0 : i32[2, 3]\n%1 = const 0 : i32[4, 4]\n%2 = gather %0, %1 axis=0 : i32[4, 4]", "i32 indices of its shape but for the axis"},
      {"%0 = const 0 : f32[2, 3]\n%1 = dot %0, %0, %0 : f32[2, 3]", "expected tiles [m, n] of 32 or 64 bits, [m, k] and [k, n]"},
      {"%0 = const 0 : f32[2, 2]\n%1 = const 0 : f64[2, 2]\n%2 = dot %0, %1, %1 : f32[2, 2]", "of one dtype that it holds"},
      {"%0 = const 0 : f32[4]\n%1 = histogram %0 : i32[3]", "histogram: operands (f32[4]) do not fit, expected an i32 tile"},
      {"%1 = expand_dims %a axis=1 : f32[1]", "expand_dims: 1 is outside 0 to 0"},
      {"%1 = vector (1, 2) : i32[4]", "vector: 2 lanes listed for i32[4]"},
      {"%1 = load %p align=3 : f32", "3 is no power of two"},
      {"%1 = load_block %p : f64[4]", "*f32 does not point to the elements of f64[4]"},
      {"%1 = load_block %p : f32", "load_block: f32 is no vector"},
      {"%1 = alloc count=0 : *shared f32", "alloc: 0 is outside"},
      {"%1 = alloc count=4 : *f32", "alloc: *f32 is no pointer to shared or local memory"},
      {"%1 = extract %a lane=0 : f32", "extract: f32 is no vector"},
      {"%1 = neg %a keep cool : f32", "found 'cool', expected 'private' or 'shared'"},
      {"if %n {\n} else {\n}", "the condition is i32, expected a scalar bool"},
      {"if %c {\n}", "found the end of the line, expected 'else'"},
      {"if %c {\nyield %a\n} else {\n}", "the values of the two branches are (), expected (f32)"},
      {"%1, %2 = if %c : f32 {\n} else {\n}", "2 results named, 1 types"},
      {"%1 = if %c : f32 {\n} else {\n}", "result: this if has none"},
      {"%1 = if %c : i32 {\nyield %a\n} else {\nyield %a\n}", "result: the result is i32, expected f32"},
      {"if %c {\n%1 = neg %a : f32\n} else {\n%2 = neg %1 : f32\n}", "%1 is not defined here"},
      {"if %c {\nyield\n%1 = neg %a : f32\n} else {\n}", "a statement after the yield"},
      {"nest [4] {\nyield\n}", "a nest yields nothing"},
      {"for %n, %n, %n (%i: i64) {\n}", "for: region 0 takes 1 parameters of other types"},
      {"for %a, %a, %a (%i: f32) {\n}", "bounds are f32, expected integer scalars"},
      {"%1 = reduce %a axis=0 : f32 (%x: f32, %y: f32) {\nyield %x\n}", "axis 0 is out of range"},
      {"while {\n} do {\n}", "the condition's values are (), expected (bool)"},
      {"%1 = neg %a : f32 : f32", "found ':', expected the end of the statement"},
      {"%1 = neg % : f32", "a name is missing after %"},
      {"%1 = neg \"a : f32", "a string without an end"},
  };
  for (const Case& c : cases) {
    std::string text = std::string("kernel k(%a: f32, %n: i32, %p: *f32, %c: bool) {\n") + c.body + "\n}\n";
    EXPECT_NE(error_of(text).find(c.message), std::string::npos) << c.body << "\n" << error_of(text);
  }
}

TEST(ParseErrors, OfTheHeader) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "found the end of the text, expected 'kernel'"},
      {"kernel", "expected a name"},
      {"kernel k(%a: f32[4]) {\n}", "a parameter is a scalar or a pointer, not f32[4]"},
      {"kernel k(%a: f32, %a: f32) {\n}", "%a is defined already"},
      {"kernel k(%a: f32 big) {\n}", "a parameter has no attribute 'big'"},
      {"kernel k(%a: *f32 divisible=3) {\n}", "3 is no power of two"},
      {"kernel k() threads=5000 {\n}", "'5000' is no integer from 0 to 1024"},
      {"kernel k() cores=4 {\n}", "a kernel has no attribute 'cores'"},
      {"kernel k() {", "found the end of the text, expected an op"},
      {"kernel k() {\n}\n}", "found '}' after the kernel"},
      {"kernel \"\\q\"() {\n}", "an unknown escape"},
  };
  for (auto [text, message] : cases) EXPECT_NE(error_of(text).find(message), std::string::npos) << text << "\n" << error_of(text);
}

/// Reads it, or throws a user error; nothing else may happen.
void read_or_refuse(std::string_view text) {
  try {
    print(parse(text));
  } catch (const Error& e) {
    ASSERT_EQ(e.kind(), ErrorKind::User) << e.what() << "\n" << text;
  }
}

TEST(ParseErrors, EveryPrefixOfAKernelIsRefusedPolitely) {
  for (const Function& f : {samples::tile_kernel(), samples::scheduled_kernel(), samples::lane_kernel()}) {
    std::string text = print(f);
    for (size_t size = 0; size + 2 < text.size(); ++size) EXPECT_NE(error_of(text.substr(0, size)), "no error");
  }
}

TEST(ParseErrors, DamagedKernelsAreReadOrRefused) {
  std::mt19937 random(1);
  const std::string pieces[] = {
      "%0", "%x", "f32", "[", "]", "(", ")", "{", "}", ",", "=", ":", "yield", "nest [4] {", "-", "\n", "\"", "//",
      "nan", "if", "keep", "imm=5", "lane=-1", "\xff", "9999999999999999999999", "const", "axis=7", std::string(1, 0)};
  for (const Function& f : {samples::tile_kernel(), samples::scheduled_kernel(), samples::lane_kernel()}) {
    const std::string text = print(f);
    for (int k = 0; k < 1500; ++k) {
      std::string bad = text;
      for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
        size_t at = random() % bad.size(), length = std::min<size_t>(random() % 6, bad.size() - at);
        std::string piece = random() % 2 ? pieces[random() % std::size(pieces)] : bad.substr(random() % bad.size(), 8);
        bad.replace(at, length, piece);
      }
      read_or_refuse(bad);
    }
  }
}

TEST(ParseErrors, DeepNestingAndLongLinesAreRefused) {
  std::string deep = "kernel k(%c: bool) {\n";
  for (int k = 0; k < 100000; ++k) deep += "if %c {\n";
  EXPECT_NE(error_of(deep).find("more than 100 regions inside one another"), std::string::npos);
  std::string wide = "kernel k(%c: bool) {\nyield %c";
  for (int k = 0; k < 70000; ++k) wide += ", %c";
  EXPECT_NE(error_of(wide + "\n}").find("yield: got 70001 operands"), std::string::npos);
  EXPECT_LT(error_of(wide + "\n}").size(), 400u);
  EXPECT_LT(error_of("kernel " + std::string(100000, '(')).size(), 400u);
}

}  // namespace
}  // namespace strider::ir
