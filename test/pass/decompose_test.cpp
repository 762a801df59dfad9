// SPDX-License-Identifier: Apache-2.0
// What decompose writes instead of an op has the bits that ir/semantics.h gives the op.
#include "pass/decompose.h"

#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strider/error.h>

#include "backend/backend.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "ir/verify.h"
#include "pass/pipeline.h"
#include "support/bits.h"
#include "support/scalar_program.h"

namespace strider {
namespace {

using namespace ir;
using support::count_op;
using support::scalar_program;

using Args = std::span<const Value>;

bool is_approximate(Op op, DType dtype) { return has(op, Approx) && is_float(dtype); }
bool has_type_rule(Op op) { return info(op).result == ResultRule::Same || info(op).result == ResultRule::Bool; }

/// `op` of as many arguments of this dtype, if the op takes it.
bool write_op(Op op, DType dtype, Function* program) {
  std::vector<DType> arguments(static_cast<size_t>(info(op).least), dtype);
  try {
    *program = scalar_program(arguments, [op](Builder& b, Args x) { return b.emit(op, x); });
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <class Fn>
void for_each_op(const Fn& fn) {
  for (int k = 0; k < kOpCount; ++k)
    for (int t = 0; t < kDTypeCount; ++t) {
      Op op = op_at(k);
      Function program;
      if (!is_pointwise(op) || !has_type_rule(op) || op == Op::PtrAdd || !write_op(op, dtype_at(t), &program)) continue;
      SCOPED_TRACE(std::string(name_of(op)) + " on " + std::string(name_of(dtype_at(t))));
      fn(op, dtype_at(t), program);
      if (::testing::Test::HasFailure()) return;
    }
}

TEST(Decompose, EveryOpOnEveryDTypeKeepsItsBits) {
  int tried = 0;
  for_each_op([&](Op op, DType dtype, const Function& program) {
    if (is_approximate(op, dtype)) return;
    support::expect_same_answers(program, pass::decompose(program), std::vector<DType>(static_cast<size_t>(info(op).least), dtype));
    ++tried;
  });
  EXPECT_GT(tried, 300);
}

TEST(Decompose, PrepareKeepsTheBitsOfEveryOp) {
  for_each_op([&](Op op, DType dtype, const Function& program) {
    if (is_approximate(op, dtype)) return;
    support::expect_same_answers(program, pass::prepare(program, host_target()), std::vector<DType>(static_cast<size_t>(info(op).least), dtype));
  });
}

// --- calls

/// op(op(...op(x))), `count` times; the other operand, if there is one, is always the second argument.
Function chain(Op op, DType dtype, int count) {
  return scalar_program({dtype, dtype}, [&](Builder& b, Args x) {
    Value v = x[0];
    for (int k = 0; k < count; ++k) v = info(op).least == 1 ? b.unary(op, v) : b.binary(op, v, x[1]);
    return v;
  });
}

TEST(Decompose, ManyFunctionsAreCalledWithTheSameBits) {
  constexpr int kCount = 40;
  constexpr std::pair<Op, DType> kCases[] = {
      {Op::Sin, DType::F32}, {Op::Pow, DType::F32}, {Op::Tanh, DType::F64}, {Op::Lgamma, DType::F16}};
  for (auto [op, dtype] : kCases) {
    SCOPED_TRACE(std::string(name_of(op)));
    Function many = pass::prepare(chain(op, dtype, kCount), host_target()), one = pass::prepare(chain(op, dtype, 1), host_target());
    verify(many, Form::Tile);
    EXPECT_EQ(count_op(many, Op::Call), kCount);
    EXPECT_EQ(count_op(one, Op::Call), 0);
    ASSERT_EQ(many.helpers.size(), 1u);
    std::mt19937_64 random(1);
    for (int i = 0; i < 200; ++i) {
      uint64_t args[] = {support::random_bits(dtype, random), support::random_bits(dtype, random)}, step[] = {args[0], args[1]};
      for (int k = 0; k < kCount; ++k) step[0] = support::stored_bits(one, step);
      EXPECT_TRUE(support::same_answer(dtype, step[0], support::stored_bits(many, args)));
    }
  }
}

TEST(Decompose, WhatIsShortIsNotCalled) {
  EXPECT_EQ(count_op(pass::prepare(chain(Op::Sin, DType::F32, 3), host_target()), Op::Call), 0);
  EXPECT_EQ(count_op(pass::prepare(chain(Op::Add, DType::F16, 1000), host_target()), Op::Call), 0);
  EXPECT_EQ(count_op(pass::prepare(scalar_program({DType::F32}, [](Builder& b, Args x) {
              Value v = x[0];
              for (int k = 0; k < 1000; ++k) v = b.add(b.binary(Op::Pow, v, b.constant(b.type(v), 2)), x[0]);
              return v;
            }), host_target()), Op::Call), 0) << "powers that are products";
}

TEST(Decompose, CallsAreWrittenAndRead) {
  Function f = pass::prepare(chain(Op::Sin, DType::F32, 40), host_target());
  std::string text = print(f);
  EXPECT_TRUE(text.starts_with("helper sin_f32(")) << text.substr(0, 80);
  EXPECT_NE(text.find(" = call %"), std::string::npos);
  EXPECT_EQ(print(parse(text)), text);
}

bool is_allowed_on_narrow(Op op) { return op == Op::Cast || op == Op::Bitcast || op == Op::Where; }

TEST(Decompose, LeavesNoFunctionsAndNoArithmeticOnNarrowFloats) {
  for_each_op([&](Op, DType, const Function& program) {
    Function f = pass::decompose(program);
    for (Value v : f.body().body) {
      EXPECT_FALSE(has(f[v].op, Composed | Approx)) << name_of(f[v].op);
      if (!is_pointwise(f[v].op) || is_allowed_on_narrow(f[v].op)) continue;
      for (Value x : f.operands(v)) EXPECT_FALSE(f.type(x).dtype == DType::F16 || f.type(x).dtype == DType::BF16);
    }
  });
}

// --- functions: the templates of maths.h have tests of their own; here they must be wired to the right op and dtype

double tolerance(DType dtype) {
  return dtype == DType::F64 ? 1e-15 : dtype == DType::F32 ? 5e-7 : dtype == DType::F16 ? 0x1p-10 : 0x1p-7;
}

/// The library's answer, in double.
double reference(Op op, DType dtype, std::span<const uint64_t> args) {
  uint64_t wide[2] = {};
  for (size_t k = 0; k < args.size(); ++k) wide[k] = bits_of_double(DType::F64, double_of_bits(dtype, args[k]));
  return double_of_bits(DType::F64, evaluate(op, DType::F64, DType::F64, wide));
}

void expect_near(Op op, DType dtype, const Function& f, std::span<const uint64_t> args) {
  double wanted = reference(op, dtype, args), found = double_of_bits(dtype, support::stored_bits(f, args));
  double rounded = double_of_bits(dtype, bits_of_double(dtype, wanted));  // it may be out of range
  std::string text = support::show_bits(dtype, args[0]) + " " + support::show_bits(dtype, args.back());
  if (std::isnan(wanted)) EXPECT_TRUE(std::isnan(found)) << text;
  else if (std::isinf(rounded) || rounded == 0) EXPECT_EQ(found, rounded) << text;
  else EXPECT_NEAR(found, rounded, tolerance(dtype) * std::fabs(rounded)) << text;
}

TEST(Decompose, FunctionsAreTheirExpansions) {
  const double kArguments[] = {0.0, 0.25, 0.7, 1.0, 1.9, 5.0, -0.3, -0.9, -4.0, double{INFINITY}, -double{INFINITY}, double{NAN}};
  for_each_op([&](Op op, DType dtype, const Function& program) {
    if (!is_approximate(op, dtype)) return;
    Function f = pass::decompose(program);
    for (double x : kArguments)
      for (double y : kArguments) {
        const uint64_t args[] = {bits_of_double(dtype, x), bits_of_double(dtype, y)};
        expect_near(op, dtype, f, std::span(args).first(static_cast<size_t>(info(op).least)));
      }
  });
}

// --- special values, by C's Annex F

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

struct Special {
  Op op;
  std::vector<double> cases;  // x, wanted, or x, y, wanted
};

const Special kSpecials[] = {
    {Op::Rsqrt, {0, kInf, -0.0, -kInf, kInf, 0, -1, kNaN, 4, 0.5}},
    {Op::Cbrt, {0, 0, -0.0, -0.0, kInf, kInf, -kInf, -kInf, -8, -2}},
    {Op::Exp, {0, 1, -0.0, 1, kInf, kInf, -kInf, 0}},
    {Op::Exp2, {0, 1, kInf, kInf, -kInf, 0, 5, 32, -1, 0.5}},
    {Op::Expm1, {0, 0, -0.0, -0.0, kInf, kInf, -kInf, -1}},
    {Op::Log, {1, 0, 0, -kInf, -0.0, -kInf, -1, kNaN, -kInf, kNaN, kInf, kInf}},
    {Op::Log2, {1, 0, 0, -kInf, -0.0, -kInf, -1, kNaN, kInf, kInf, 8, 3}},
    {Op::Log10, {1, 0, 0, -kInf, -0.0, -kInf, -1, kNaN, kInf, kInf, 1000, 3}},
    {Op::Log1p, {0, 0, -0.0, -0.0, -1, -kInf, -2, kNaN, kInf, kInf}},
    {Op::Sin, {0, 0, -0.0, -0.0, kInf, kNaN, -kInf, kNaN}},
    {Op::Cos, {0, 1, -0.0, 1, kInf, kNaN, -kInf, kNaN}},
    {Op::Tan, {0, 0, -0.0, -0.0, kInf, kNaN, -kInf, kNaN}},
    {Op::Asin, {0, 0, -0.0, -0.0, 1.5, kNaN, -kInf, kNaN}},
    {Op::Acos, {1, 0, 1.5, kNaN, -1.5, kNaN, kInf, kNaN}},
    {Op::Atan, {0, 0, -0.0, -0.0, kInf, M_PI_2, -kInf, -M_PI_2}},
    {Op::Sinh, {0, 0, -0.0, -0.0, kInf, kInf, -kInf, -kInf}},
    {Op::Cosh, {0, 1, -0.0, 1, kInf, kInf, -kInf, kInf}},
    {Op::Tanh, {0, 0, -0.0, -0.0, kInf, 1, -kInf, -1}},
    {Op::Asinh, {0, 0, -0.0, -0.0, kInf, kInf, -kInf, -kInf}},
    {Op::Acosh, {1, 0, 0.5, kNaN, -kInf, kNaN, kInf, kInf}},
    {Op::Atanh, {0, 0, -0.0, -0.0, 1, kInf, -1, -kInf, 2, kNaN, kInf, kNaN}},
    {Op::Erf, {0, 0, -0.0, -0.0, kInf, 1, -kInf, -1}},
    {Op::Erfc, {0, 1, kInf, 0, -kInf, 2}},
    {Op::Lgamma, {1, 0, 2, 0, 0, kInf, -0.0, kInf, -3, kInf, kInf, kInf, -kInf, kInf}},
    {Op::Tgamma, {1, 1, 5, 24, 0, kInf, -0.0, -kInf, -3, kNaN, kInf, kInf, -kInf, kNaN}},
    {Op::Sigmoid, {0, 0.5, -0.0, 0.5, kInf, 1, -kInf, 0}},
    {Op::Hypot, {kInf, kNaN, kInf, kNaN, -kInf, kInf, 3, -4, 5, 0, -0.0, 0, -0.0, 2, 2}},
    {Op::Atan2, {0, 0, 0, -0.0, 0, -0.0, 0, -0.0, M_PI, -0.0, -0.0, -M_PI, 0, -1, M_PI, -0.0, 1, -0.0, 1, 0, M_PI_2, -1, -0.0, -M_PI_2,
                 1, kInf, 0, -1, -kInf, -M_PI, kInf, 5, M_PI_2, -kInf, 5, -M_PI_2}},
    {Op::Pow, {0, 0.5, 0, -0.0, 3, -0.0, 0, -1, kInf, -0.0, -1, -kInf, 1, kNaN, 1, kNaN, 0, 1, -8, 1.0 / 3, kNaN, -8, 3, -512, -1, kInf, 1,
               0, kNaN, kNaN, -0.0, -2, kInf, -0.0, 2, 0, kInf, 0, 1, -kInf, 3, -kInf, -kInf, 2, kInf, -kInf, -3, -0.0, kInf, -1, 0,
               0.5, kInf, 0, 0.5, -kInf, kInf, 2, kInf, kInf, 2, -kInf, 0, -1, -kInf, 1, 0, kInf, 0, -0.0, -kInf, kInf, -0.0, 0.5, 0}},
};

void expect_special(Op op, DType dtype, const Function& f, std::span<const double> c) {
  std::vector<uint64_t> args;
  for (double x : c.first(c.size() - 1)) args.push_back(bits_of_double(dtype, x));
  uint64_t found = support::stored_bits(f, args);
  EXPECT_TRUE(support::same_answer(dtype, found, bits_of_double(dtype, c.back())))
      << name_of(op) << " " << name_of(dtype) << " of " << c[0] << (c.size() > 2 ? fmt::format(", {}", c[1]) : "") << " is "
      << support::show_bits(dtype, found) << ", expected " << c.back();
}

TEST(Decompose, SpecialValuesAreThoseOfAnnexF) {
  for (const Special& special : kSpecials)
    for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      Function f;
      ASSERT_TRUE(write_op(special.op, dtype, &f));
      f = pass::decompose(f);
      size_t each = static_cast<size_t>(info(special.op).least) + 1;
      for (size_t k = 0; k + each <= special.cases.size(); k += each)
        expect_special(special.op, dtype, f, std::span(special.cases).subspan(k, each));
      std::vector<double> nans(each, kNaN);
      expect_special(special.op, dtype, f, nans);
    }
}

TEST(Decompose, PowersByConstantsAreProducts) {
  for (auto [exponent, products] : {std::pair(2.0, 1), std::pair(3.0, 2)}) {
    Function f = pass::decompose(scalar_program({DType::F32}, [&](Builder& b, Args x) {
      return b.binary(Op::Pow, x[0], b.constant(b.type(x[0]), exponent));
    }));
    EXPECT_EQ(count_op(f, Op::Mul), products);
    EXPECT_EQ(support::count_pointwise(f), products);
  }
}

/// All pairs of small numbers, against 64-bit arithmetic.
TEST(Decompose, PowersOfIntegersWrap) {
  for (DType dtype : {DType::I8, DType::U8}) {
    Function f;
    ASSERT_TRUE(write_op(Op::Pow, dtype, &f));
    f = pass::decompose(f);
    for (uint64_t x = 0; x < 256; ++x)
      for (uint64_t y = 0; y < 256; ++y) {
        int64_t base = int_of_bits(dtype, x), exponent = int_of_bits(dtype, y);
        uint64_t wanted = exponent < 0 ? (base == 1 ? 1 : base == -1 ? (exponent % 2 ? 255 : 1) : 0) : 1;
        for (int64_t k = 0; k < exponent; ++k) wanted = wanted * static_cast<uint64_t>(base) & 255;
        const uint64_t args[] = {x, y};
        ASSERT_EQ(support::stored_bits(f, args), wanted) << base << " to the " << exponent;
      }
  }
}

// --- rounding: one op in f32, rounded to 16 bits, against the exact answer rounded once

uint64_t random_narrow(DType dtype, std::mt19937_64& random) {
  return dtype == DType::F16 || random() % 4 == 0 ? random() & 0xffff : support::random_bits(dtype, random);
}

TEST(Decompose, NarrowArithmeticIsCorrectlyRounded) {
  std::mt19937_64 random(7);
  for (DType dtype : {DType::F16, DType::BF16})
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div}) {
      Function program;
      ASSERT_TRUE(write_op(op, dtype, &program));
      program = pass::decompose(program);
      for (int i = 0; i < 20000 && !HasFailure(); ++i) {
        uint64_t args[] = {random_narrow(dtype, random), random_narrow(dtype, random)};
        double x = double_of_bits(dtype, args[0]), y = double_of_bits(dtype, args[1]);
        double exact = op == Op::Add ? x + y : op == Op::Sub ? x - y : op == Op::Mul ? x * y : x / y;
        uint64_t wanted = bits_of_double(dtype, exact), found = support::stored_bits(program, args);
        EXPECT_TRUE(support::same_answer(dtype, found, wanted))
            << name_of(op) << " of " << support::show_bits(dtype, args[0]) << " and " << support::show_bits(dtype, args[1]) << " is "
            << support::show_bits(dtype, found) << ", expected " << support::show_bits(dtype, wanted);
      }
    }
}

/// a * b is half way between two bf16 numbers, and c is far below the last place of a double: its sign decides.
TEST(Decompose, NarrowFmaSeesAddendsBelowTheLastPlace) {
  Function program;
  ASSERT_TRUE(write_op(Op::Fma, DType::BF16, &program));
  program = pass::decompose(program);
  auto fma = [&](double a, double b, double c) {
    uint64_t args[] = {bits_of_double(DType::BF16, a), bits_of_double(DType::BF16, b), bits_of_double(DType::BF16, c)};
    return double_of_bits(DType::BF16, support::stored_bits(program, args));
  };
  const double a = 129.0, b = 3.0;  // 387 lies between 386 and 388
  EXPECT_EQ(fma(a, b, 0x1p-100), 388.0);
  EXPECT_EQ(fma(a, b, -0x1p-100), 386.0);
  EXPECT_EQ(fma(-a, b, 0x1p-100), -386.0);
  EXPECT_EQ(fma(a, b, 0), 388.0);
}

TEST(Decompose, NarrowFmaMatchesItsMeaningOnRandomBits) {
  std::mt19937_64 random(11);
  for (DType dtype : {DType::F16, DType::BF16}) {
    Function program;
    ASSERT_TRUE(write_op(Op::Fma, dtype, &program));
    Function expanded = pass::decompose(program);
    for (int i = 0; i < 50000 && !HasFailure(); ++i) {
      uint64_t args[] = {random() & 0xffff, random() & 0xffff, random() & 0xffff};
      EXPECT_TRUE(support::same_answer(dtype, support::stored_bits(expanded, args), support::stored_bits(program, args)))
          << std::hex << args[0] << " " << args[1] << " " << args[2];
    }
  }
}

TEST(Decompose, RemainderOfAnyTwoFloatsIsExact) {
  std::mt19937_64 random(13);
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    Function program;
    ASSERT_TRUE(write_op(Op::Rem, dtype, &program));
    program = pass::decompose(program);
    uint64_t mask = dtype == DType::F64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(dtype)) - 1;
    for (int i = 0; i < 2000 && !HasFailure(); ++i) {
      uint64_t args[] = {random() & mask, random() & mask};
      double wanted = std::fmod(double_of_bits(dtype, args[0]), double_of_bits(dtype, args[1]));
      uint64_t found = support::stored_bits(program, args);
      EXPECT_TRUE(support::same_answer(dtype, found, bits_of_double(dtype, wanted)))
          << support::show_bits(dtype, args[0]) << " rem " << support::show_bits(dtype, args[1]) << " is " << support::show_bits(dtype, found);
    }
  }
}

TEST(Decompose, CombineRegionsOfNarrowReductionsRoundEachStep) {
  Builder b("sum");
  Value p = b.param(Type::pointer(DType::F16), {.name = "p"});
  Value tile = b.load(b.ptr_add(b.broadcast(p, {8}), b.arange(DType::I32, 0, 8)));
  b.store(p, b.reduce(tile, 0, Op::Add));
  Function f = pass::decompose(b.finish());
  EXPECT_EQ(count_op(f, Op::Cast), 3);
  EXPECT_EQ(count_op(f, Op::Add), 1);
}

}  // namespace
}  // namespace strider
