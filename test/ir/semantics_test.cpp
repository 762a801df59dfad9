// SPDX-License-Identifier: Apache-2.0
#include "ir/semantics.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "ir/infer.h"

namespace strider::ir {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

/// a * b + c modulo 2^128.
Wide multiply_add(Wide a, Wide b, Wide c) {
  return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b) + static_cast<UnsignedWide>(c));
}

constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64};
constexpr DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};

Wide value_of(DType t, uint64_t bits) {
  Wide v = static_cast<Wide>(bits);
  return is_signed_int(t) && (bits >> (bits_of(t) - 1) & 1) ? v - (Wide{1} << bits_of(t)) : v;
}
uint64_t wrap(DType t, Wide value) {
  return static_cast<uint64_t>(value) & (bits_of(t) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(t)) - 1);
}
std::string text(DType t, Op op, uint64_t a, uint64_t b) {
  return std::string(name_of(op)) + " " + std::string(name_of(t)) + " " + std::to_string(a) + " " + std::to_string(b);
}

// --- integers, against 128-bit arithmetic

struct Binary {
  Op op;
  std::function<Wide(DType, Wide, Wide)> meaning;
};
Wide floor_quotient(Wide a, Wide b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Wide floor_remainder(Wide a, Wide b) { return b == 0 ? 0 : a - floor_quotient(a, b) * b; }
/// Modulo 2^128; b times, by halves.
Wide power(Wide a, Wide b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  if (b == 0) return 1;
  Wide half = power(a, b / 2), square = multiply_add(half, half, 0);
  return b % 2 ? multiply_add(square, a, 0) : square;
}
Wide shift_left(DType t, Wide a, Wide b) { return b < 0 || b >= bits_of(t) ? 0 : a << static_cast<int>(b); }
Wide shift_right(DType t, Wide a, Wide b) { return a >> static_cast<int>(b < 0 || b >= bits_of(t) ? Wide{100} : b); }

const Binary kBinaries[] = {
    {Op::Add, [](DType, Wide a, Wide b) { return a + b; }},
    {Op::Sub, [](DType, Wide a, Wide b) { return a - b; }},
    {Op::Mul, [](DType, Wide a, Wide b) { return multiply_add(a, b, 0); }},
    {Op::Div, [](DType, Wide a, Wide b) { return b == 0 ? 0 : a / b; }},
    {Op::Rem, [](DType, Wide a, Wide b) { return b == 0 ? 0 : a % b; }},
    {Op::FloorDiv, [](DType, Wide a, Wide b) { return floor_quotient(a, b); }},
    {Op::Remainder, [](DType, Wide a, Wide b) { return floor_remainder(a, b); }},
    {Op::Pow, [](DType, Wide a, Wide b) { return power(a, b); }},
    {Op::FMin, [](DType, Wide a, Wide b) { return a < b ? a : b; }},
    {Op::FMax, [](DType, Wide a, Wide b) { return a < b ? b : a; }},
    {Op::Minimum, [](DType, Wide a, Wide b) { return a < b ? a : b; }},
    {Op::Maximum, [](DType, Wide a, Wide b) { return a < b ? b : a; }},
    {Op::And, [](DType, Wide a, Wide b) { return a & b; }},
    {Op::Or, [](DType, Wide a, Wide b) { return a | b; }},
    {Op::Xor, [](DType, Wide a, Wide b) { return a ^ b; }},
    {Op::Shl, [](DType t, Wide a, Wide b) { return shift_left(t, a, b); }},
    {Op::Shr, [](DType t, Wide a, Wide b) { return shift_right(t, a, b); }},
    {Op::Eq, [](DType, Wide a, Wide b) { return Wide{a == b}; }},
    {Op::Ne, [](DType, Wide a, Wide b) { return Wide{a != b}; }},
    {Op::Lt, [](DType, Wide a, Wide b) { return Wide{a < b}; }},
    {Op::Le, [](DType, Wide a, Wide b) { return Wide{a <= b}; }},
    {Op::Gt, [](DType, Wide a, Wide b) { return Wide{a > b}; }},
    {Op::Ge, [](DType, Wide a, Wide b) { return Wide{a >= b}; }},
};

struct Unary {
  Op op;
  std::function<Wide(Wide)> meaning;
};
const Unary kUnaries[] = {
    {Op::Neg, [](Wide a) { return -a; }},
    {Op::Abs, [](Wide a) { return a < 0 ? -a : a; }},
    {Op::Sign, [](Wide a) { return Wide{(a > 0) - (a < 0)}; }},
    {Op::Not, [](Wide a) { return ~a; }},
    {Op::SignBit, [](Wide a) { return Wide{a < 0}; }},
    {Op::IsNan, [](Wide) { return Wide{0}; }},
    {Op::IsInf, [](Wide) { return Wide{0}; }},
    {Op::IsFinite, [](Wide) { return Wide{1}; }},
};

std::vector<uint64_t> samples(DType t) {
  std::vector<uint64_t> all;
  if (bits_of(t) == 8) {
    for (uint64_t x = 0; x < 256; ++x) all.push_back(x);
    return all;
  }
  uint64_t half = uint64_t{1} << (bits_of(t) - 1);
  for (uint64_t centre : {uint64_t{0}, half, uint64_t(bits_of(t)), half >> 1, uint64_t{1} << (bits_of(t) / 2)})
    for (int64_t d = -3; d <= 3; ++d) all.push_back(wrap(t, static_cast<Wide>(centre) + d));
  return all;
}

TEST(IntegerSemantics, BinaryOpsAgreeWithWideArithmetic) {
  for (DType t : kInts)
    for (const Binary& c : kBinaries) {
      DType result = info(c.op).result == ResultRule::Bool ? DType::Bool : t;
      for (uint64_t a : samples(t))
        for (uint64_t b : samples(t)) {
          uint64_t args[] = {a, b};
          uint64_t wanted = wrap(result, c.meaning(t, value_of(t, a), value_of(t, b)));
          ASSERT_EQ(evaluate(c.op, t, result, args), wanted) << text(t, c.op, a, b);
        }
    }
}

TEST(IntegerSemantics, UnaryOpsAgreeWithWideArithmetic) {
  for (DType t : kInts)
    for (const Unary& c : kUnaries)
      for (uint64_t a : samples(t)) {
        DType result = info(c.op).result == ResultRule::Bool ? DType::Bool : t;
        ASSERT_EQ(evaluate(c.op, t, result, &a), wrap(t, c.meaning(value_of(t, a)))) << text(t, c.op, a, 0);
      }
}

TEST(IntegerSemantics, FmaWraps) {
  for (DType t : kInts)
    for (uint64_t a : samples(t))
      for (uint64_t b : samples(t)) {
        uint64_t args[] = {a, b, 5};
        ASSERT_EQ(evaluate(Op::Fma, t, t, args), wrap(t, multiply_add(value_of(t, a), value_of(t, b), 5)));
      }
}

TEST(IntegerSemantics, CastsBetweenIntegersWrap) {
  for (DType from : kInts)
    for (DType to : kInts)
      for (uint64_t a : samples(from)) ASSERT_EQ(evaluate(Op::Cast, from, to, &a), wrap(to, value_of(from, a)));
}

TEST(BoolSemantics, LogicComparesAndExtremes) {
  struct Case {
    Op op;
    std::vector<uint64_t> wanted;  // of (0, 0), (0, 1), (1, 0), (1, 1)
  };
  const Case cases[] = {
      {Op::And, {0, 0, 0, 1}},     {Op::Or, {0, 1, 1, 1}}, {Op::Xor, {0, 1, 1, 0}}, {Op::Minimum, {0, 0, 0, 1}},
      {Op::Maximum, {0, 1, 1, 1}}, {Op::Eq, {1, 0, 0, 1}}, {Op::Ne, {0, 1, 1, 0}},  {Op::Lt, {0, 1, 0, 0}},
      {Op::Le, {1, 1, 0, 1}},      {Op::Gt, {0, 0, 1, 0}}, {Op::Ge, {1, 0, 1, 1}},
  };
  for (const Case& c : cases)
    for (uint64_t k = 0; k < 4; ++k) {
      uint64_t args[] = {k >> 1, k & 1};
      EXPECT_EQ(evaluate(c.op, DType::Bool, DType::Bool, args), c.wanted[k]) << name_of(c.op) << k;
    }
  for (uint64_t a : {0, 1}) EXPECT_EQ(evaluate(Op::Not, DType::Bool, DType::Bool, &a), 1 - a);
}

TEST(BoolSemantics, CastsCompareWithZero) {
  uint64_t nan = bits_of_double(DType::F32, NAN), minus_zero = bits_of_double(DType::F32, -0.0), two = 2, zero = 0, one = 1;
  EXPECT_EQ(evaluate(Op::Cast, DType::F32, DType::Bool, &nan), 1u);
  EXPECT_EQ(evaluate(Op::Cast, DType::F32, DType::Bool, &minus_zero), 0u);
  EXPECT_EQ(evaluate(Op::Cast, DType::I32, DType::Bool, &two), 1u);
  EXPECT_EQ(evaluate(Op::Cast, DType::I32, DType::Bool, &zero), 0u);
  for (DType t : kFloats) EXPECT_EQ(double_of_bits(t, evaluate(Op::Cast, DType::Bool, t, &one)), 1.0);
  for (DType t : kInts) EXPECT_EQ(evaluate(Op::Cast, DType::Bool, t, &one), 1u);
}

// --- floats

double unary(Op op, DType t, double x) {
  uint64_t bits = bits_of_double(t, x);
  return double_of_bits(t, evaluate(op, t, t, &bits));
}
double binary(Op op, DType t, double x, double y) {
  uint64_t args[] = {bits_of_double(t, x), bits_of_double(t, y)};
  return double_of_bits(t, evaluate(op, t, t, args));
}
bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

const double kInf = INFINITY;

TEST(FloatSemantics, ExtremesCarryNanAndOrderZeros) {
  struct Case {
    double a, b, smaller, larger;
  };
  const Case cases[] = {{1, 2, 1, 2},        {-0.0, 0.0, -0.0, 0.0}, {0.0, -0.0, -0.0, 0.0},     {-0.0, -0.0, -0.0, -0.0},
                        {NAN, 1, NAN, NAN},  {1, NAN, NAN, NAN},     {kInf, -kInf, -kInf, kInf}, {NAN, NAN, NAN, NAN},
                        {-1, 0.0, -1, 0.0},  {kInf, NAN, NAN, NAN}};
  for (DType t : kFloats)
    for (const Case& c : cases) {
      EXPECT_TRUE(same(binary(Op::Minimum, t, c.a, c.b), c.smaller)) << name_of(t) << " " << c.a << " " << c.b;
      EXPECT_TRUE(same(binary(Op::Maximum, t, c.a, c.b), c.larger)) << name_of(t) << " " << c.a << " " << c.b;
    }
}

TEST(FloatSemantics, UnaryOps) {
  struct Case {
    Op op;
    double x, wanted;
  };
  const Case cases[] = {
      {Op::Round, 0.5, 0.0},      {Op::Round, 1.5, 2.0},      {Op::Round, 2.5, 2.0},      {Op::Round, -0.5, -0.0},
      {Op::Round, -1.5, -2.0},    {Op::Round, 0.25, 0.0},     {Op::Round, -0.75, -1.0},   {Op::Round, -0.0, -0.0},
      {Op::Round, kInf, kInf},    {Op::Round, NAN, NAN},      {Op::Floor, -0.5, -1.0},    {Op::Floor, 1.75, 1.0},
      {Op::Floor, -0.0, -0.0},    {Op::Ceil, -0.5, -0.0},     {Op::Ceil, 1.25, 2.0},      {Op::Trunc, -1.75, -1.0},
      {Op::Trunc, -0.5, -0.0},    {Op::Trunc, -kInf, -kInf},  {Op::Sign, -3.0, -1.0},     {Op::Sign, 0.5, 1.0},
      {Op::Sign, -0.0, 0.0},      {Op::Sign, 0.0, 0.0},       {Op::Sign, NAN, 0.0},       {Op::Sign, -kInf, -1.0},
      {Op::Abs, -0.0, 0.0},       {Op::Abs, -kInf, kInf},     {Op::Neg, 0.0, -0.0},       {Op::Neg, -2.0, 2.0},
      {Op::Sqrt, 4.0, 2.0},       {Op::Sqrt, -0.0, -0.0},     {Op::Sqrt, -1.0, NAN},      {Op::Exp, 0.0, 1.0},
      {Op::Exp, -kInf, 0.0},      {Op::Exp2, 3.0, 8.0},       {Op::Expm1, -0.0, -0.0},    {Op::Log, 1.0, 0.0},
      {Op::Log, 0.0, -kInf},      {Op::Log2, 8.0, 3.0},       {Op::Log1p, -0.0, -0.0},    {Op::Log1p, -1.0, -kInf},
      {Op::Tanh, kInf, 1.0},      {Op::Tanh, -0.0, -0.0},     {Op::Erf, -kInf, -1.0},     {Op::Sigmoid, 0.0, 0.5},
      {Op::Sigmoid, -kInf, 0.0},  {Op::Log, -1.0, NAN},       {Op::Sigmoid, kInf, 1.0},
  };
  for (DType t : kFloats)
    for (const Case& c : cases) {
      double found = unary(c.op, t, c.x);
      EXPECT_TRUE(same(found, c.wanted)) << name_of(c.op) << " " << name_of(t) << " " << c.x << ": " << found;
    }
}

TEST(FloatSemantics, RoundAgreesWithTheDefaultEnvironmentOnEveryHalf) {
  for (uint64_t bits = 0; bits < 0x10000; ++bits) {
    double x = double_of_bits(DType::F16, bits);
    ASSERT_TRUE(same(double_of_bits(DType::F16, evaluate(Op::Round, DType::F16, DType::F16, &bits)), std::nearbyint(x))) << x;
  }
}

TEST(FloatSemantics, NegAndAbsTouchTheSignBitOnly) {
  for (DType t : kFloats) {
    uint64_t sign = uint64_t{1} << (bits_of(t) - 1);
    uint64_t signalling = (bits_of_double(t, kInf) | 1) | sign;
    EXPECT_EQ(evaluate(Op::Neg, t, t, &signalling), signalling ^ sign);
    EXPECT_EQ(evaluate(Op::Abs, t, t, &signalling), signalling ^ sign);
    uint64_t pick[] = {1, signalling, 0};
    EXPECT_EQ(evaluate(Op::Where, t, t, pick), signalling);
  }
}

TEST(FloatSemantics, DivisionAndRemainder) {
  for (DType t : kFloats) {
    EXPECT_TRUE(same(binary(Op::Div, t, 1, -0.0), -kInf));
    EXPECT_TRUE(same(binary(Op::Div, t, 0, 0), NAN));
    EXPECT_TRUE(same(binary(Op::Rem, t, -7, 2), -1.0));
    EXPECT_TRUE(same(binary(Op::Rem, t, -4, 2), -0.0));
    EXPECT_TRUE(same(binary(Op::Rem, t, 5, kInf), 5.0));
    EXPECT_TRUE(same(binary(Op::Rem, t, 5, 0), NAN));
  }
}

TEST(FloatSemantics, NanIsUnordered) {
  for (DType t : kFloats) {
    uint64_t args[] = {bits_of_double(t, NAN), bits_of_double(t, 1)};
    for (Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge}) EXPECT_EQ(evaluate(op, t, DType::Bool, args), 0u);
    EXPECT_EQ(evaluate(Op::Ne, t, DType::Bool, args), 1u);
    uint64_t zeros[] = {bits_of_double(t, -0.0), bits_of_double(t, 0.0)};
    EXPECT_EQ(evaluate(Op::Eq, t, DType::Bool, zeros), 1u);
    EXPECT_EQ(evaluate(Op::Lt, t, DType::Bool, zeros), 0u);
  }
}

TEST(FloatSemantics, SixteenBitArithmeticIsThatOfFloatRoundedOnce) {
  std::mt19937 random(3);
  for (DType t : {DType::F16, DType::BF16})
    for (int k = 0; k < 20000; ++k) {
      uint64_t args[] = {random() & 0xffff, random() & 0xffff};
      float a = static_cast<float>(double_of_bits(t, args[0])), b = static_cast<float>(double_of_bits(t, args[1]));
      const std::pair<Op, float> cases[] = {{Op::Add, a + b}, {Op::Sub, a - b}, {Op::Mul, a * b}, {Op::Div, a / b}};
      for (auto [op, wanted] : cases) {
        double found = double_of_bits(t, evaluate(op, t, t, args));
        ASSERT_TRUE(same(found, double_of_bits(t, bits_of_double(t, wanted)))) << text(t, op, args[0], args[1]);
      }
    }
}

/// a * b + c with all its bits; 16-bit floats need no more than 600.
class Exact {
 public:
  Exact(double a, double b, double c) {
    mpfr_inits2(1200, value_, term_, nullptr);
    mpfr_set_d(value_, a, MPFR_RNDN);
    mpfr_mul_d(value_, value_, b, MPFR_RNDN);
    mpfr_add_d(value_, value_, c, MPFR_RNDN);
  }
  ~Exact() { mpfr_clears(value_, term_, nullptr); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  int compare(double x) const { return mpfr_cmp_d(value_, x); }
  /// -1, 0 or 1: how |value - x| compares with |value - y|.
  int nearer(double x, double y) {
    mpfr_sub_d(term_, value_, x, MPFR_RNDN);
    mpfr_t other;
    mpfr_init2(other, 1200);
    mpfr_sub_d(other, value_, y, MPFR_RNDN);
    int order = mpfr_cmpabs(term_, other);
    mpfr_clear(other);
    return order;
  }

 private:
  mpfr_t value_, term_;
};

/// The neighbours of a finite 16-bit float of the same sign, by its bits; past the largest value the grid goes on.
double grid(DType t, uint64_t bits) {
  uint64_t infinity = bits_of_double(t, kInf);
  if ((bits & 0x7fff) < infinity) return double_of_bits(t, bits);
  double largest = double_of_bits(t, infinity - 1), below = double_of_bits(t, infinity - 2);
  return (bits & 0x8000 ? -1 : 1) * (largest + (largest - below));
}

void expect_nearest(DType t, const uint64_t* args) {
  double a = double_of_bits(t, args[0]), b = double_of_bits(t, args[1]), c = double_of_bits(t, args[2]);
  uint64_t found = evaluate(Op::Fma, t, t, args);
  if (!std::isfinite(a * b + c)) {
    EXPECT_TRUE(same(double_of_bits(t, found), a * b + c)) << a << " " << b << " " << c;
    return;
  }
  Exact exact(a, b, c);
  uint64_t magnitude = found & 0x7fff, sign = found & 0x8000;
  auto check = [&](uint64_t other) {
    int order = exact.nearer(grid(t, found), grid(t, other));
    EXPECT_TRUE(order < 0 || (order == 0 && found % 2 == 0))
        << name_of(t) << " " << a << " * " << b << " + " << c << " -> " << grid(t, found);
  };
  if (magnitude < bits_of_double(t, kInf)) check(sign | (magnitude + 1));
  check(magnitude ? sign | (magnitude - 1) : (sign ^ 0x8000) | 1);
}

TEST(FloatSemantics, FmaOfSixteenBitFloatsRoundsOnce) {
  std::mt19937 random(11);
  for (DType t : {DType::F16, DType::BF16})
    for (int k = 0; k < 30000; ++k) {
      uint64_t args[] = {random() & 0xffff, random() & 0xffff, random() & 0xffff};
      expect_nearest(t, args);
      // The product is a tie; a tiny third term decides.
      uint64_t odd = bits_of_double(t, 1 + std::ldexp(1.0, t == DType::F16 ? -6 : -4));
      uint64_t tie[] = {odd, odd, bits_of_double(t, std::ldexp(k % 2 ? 1 : -1, -20 - k % 100))};
      expect_nearest(t, tie);
    }
}

/// Cases B1, B3 and B5 of real reports among them.
TEST(FloatSemantics, FloorDivisionAndRemainder) {
  struct Case {
    double a, b, quotient, remainder;
  };
  const Case cases[] = {
      {7, 2, 3, 1},        {-7, 2, -4, 1},      {7, -2, -4, -1},        {-7, -2, 3, -1},     {5.5, kInf, 0, 5.5}, {-5.5, kInf, -1, kInf},
      {5.5, -kInf, -1, -kInf}, {-5.5, -kInf, 0, -5.5}, {NAN, 1, NAN, NAN}, {kInf, 1, NAN, NAN}, {-kInf, 1, NAN, NAN}, {1, 0, kInf, NAN},
      {-1, 0, -kInf, NAN}, {0, 0, NAN, NAN},    {-0.0, 1, -0.0, -0.0},  {0, 5, 0, 0},        {2, 3, 0, 2},        {8, 3, 2, 2},
      {0, -5, -0.0, 0},    {kInf, kInf, NAN, NAN}, {1, NAN, NAN, NAN},  {-6, 3, -2, -0.0}};
  for (DType t : kFloats)
    for (const Case& c : cases) {
      EXPECT_TRUE(same(binary(Op::FloorDiv, t, c.a, c.b), c.quotient)) << name_of(t) << " " << c.a << " // " << c.b;
      EXPECT_TRUE(same(binary(Op::Remainder, t, c.a, c.b), c.remainder)) << name_of(t) << " " << c.a << " % " << c.b;
    }
  EXPECT_EQ(binary(Op::Remainder, DType::F32, 1e20, 3), 2);
  EXPECT_EQ(binary(Op::Remainder, DType::F32, 2147483648.0, 3), 2);
  EXPECT_EQ(binary(Op::FloorDiv, DType::F64, -2.3, kInf), -1);
  EXPECT_EQ(binary(Op::FloorDiv, DType::F32, 1, 0x1.99999ap-4), 9) << "the float above 1/10 goes 9 times into 1";
}

/// What fits into the dtype's integers is the floor of the exact quotient.
TEST(FloatSemantics, FloorDivisionIsExact) {
  std::mt19937_64 random(17);
  for (DType t : {DType::F32, DType::F64})
    for (int k = 0; k < 50000; ++k) {
      double b = double_of_bits(t, bits_of_double(t, static_cast<double>(random() % 1000 + 1) / 7));
      double a = double_of_bits(t, bits_of_double(t, b * static_cast<double>(random() % 5000)));  // often just beside a multiple
      if (k % 2) a = -a;
      Exact rest(binary(Op::FloorDiv, t, a, b), -b, a);  // must lie in [0, b)
      EXPECT_TRUE(rest.compare(0) >= 0 && rest.compare(b) < 0) << a << " // " << b;
      if (HasFailure()) return;
    }
}

TEST(FloatSemantics, ExtremesThatDropNan) {
  struct Case {
    double a, b, smaller, larger;
  };
  const Case cases[] = {{NAN, 1, 1, 1}, {1, NAN, 1, 1}, {NAN, NAN, NAN, NAN}, {-0.0, 0.0, -0.0, 0.0}, {0.0, -0.0, -0.0, 0.0}, {2, -kInf, -kInf, 2}};
  for (DType t : kFloats)
    for (const Case& c : cases) {
      EXPECT_TRUE(same(binary(Op::FMin, t, c.a, c.b), c.smaller)) << name_of(t) << " " << c.a << " " << c.b;
      EXPECT_TRUE(same(binary(Op::FMax, t, c.a, c.b), c.larger)) << name_of(t) << " " << c.a << " " << c.b;
    }
}

TEST(FloatSemantics, KindsOfNumbers) {
  struct Case {
    double x;
    bool nan, inf, finite, negative;
  };
  const Case cases[] = {{NAN, true, false, false, false}, {kInf, false, true, false, false}, {-kInf, false, true, false, true},
                        {1, false, false, true, false},   {-0.0, false, false, true, true},  {0, false, false, true, false}};
  for (DType t : kFloats)
    for (const Case& c : cases) {
      uint64_t bits = bits_of_double(t, c.x);
      auto ask = [&](Op op) { return evaluate(op, t, DType::Bool, &bits) == 1; };
      EXPECT_EQ(ask(Op::IsNan), c.nan);
      EXPECT_EQ(ask(Op::IsInf), c.inf);
      EXPECT_EQ(ask(Op::IsFinite), c.finite);
      EXPECT_EQ(ask(Op::SignBit), c.negative) << c.x;
    }
}

/// Every 16-bit float and its neighbours, which are its bits' neighbours.
TEST(FloatSemantics, NextAfterStepsOverEveryHalf) {
  for (DType t : {DType::F16, DType::BF16}) {
    uint64_t infinity = bits_of_double(t, kInf);
    for (uint64_t bits = 0; bits < infinity; ++bits) {
      uint64_t up[] = {bits, infinity}, back[] = {bits + 1, 0}, negative[] = {bits | 0x8000, infinity | 0x8000};
      ASSERT_EQ(evaluate(Op::NextAfter, t, t, up), bits + 1);
      ASSERT_EQ(evaluate(Op::NextAfter, t, t, back), bits);
      ASSERT_EQ(evaluate(Op::NextAfter, t, t, negative), (bits | 0x8000) + 1);
    }
    EXPECT_TRUE(same(binary(Op::NextAfter, t, NAN, 1), NAN));
    EXPECT_TRUE(same(binary(Op::NextAfter, t, 0, -0.0), -0.0));
    uint64_t below[] = {0, bits_of_double(t, -1)};
    EXPECT_EQ(evaluate(Op::NextAfter, t, t, below), 0x8001u);
  }
  EXPECT_EQ(binary(Op::NextAfter, DType::F64, 1, 2), std::nextafter(1.0, 2.0));
  EXPECT_EQ(binary(Op::NextAfter, DType::F32, -1, 2), static_cast<double>(std::nextafter(-1.0f, 2.0f)));
}

TEST(FloatSemantics, ScalingRoundsOnce) {
  EXPECT_EQ(binary(Op::Ldexp, DType::F32, 1.5, 10.9), 1536);
  EXPECT_EQ(binary(Op::Ldexp, DType::F32, 0x1.000002p0, -149), 0x1p-149);
  EXPECT_EQ(binary(Op::Ldexp, DType::F32, 0x1p-149, 276), 0x1p127);
  EXPECT_EQ(binary(Op::Ldexp, DType::F64, 0x1.8p0, -1074), 0x1p-1073);
  EXPECT_TRUE(same(binary(Op::Ldexp, DType::F64, -3, -kInf), -0.0));
  EXPECT_TRUE(same(binary(Op::Ldexp, DType::F64, -3, kInf), -kInf));
  EXPECT_TRUE(same(binary(Op::Ldexp, DType::F64, 1, NAN), NAN));
  EXPECT_TRUE(same(binary(Op::CopySign, DType::BF16, 3, -0.0), -3));
}

TEST(FloatSemantics, FmaOfWideFloatsIsTheLibrarys) {
  auto square_less_one = [](DType t, double x) {
    uint64_t args[] = {bits_of_double(t, x), bits_of_double(t, x), bits_of_double(t, -1)};
    return double_of_bits(t, evaluate(Op::Fma, t, t, args));
  };
  EXPECT_EQ(square_less_one(DType::F32, 1 + 0x1p-12), 0x1p-11 + 0x1p-24);
  EXPECT_EQ(square_less_one(DType::F64, 1 + 0x1p-27), 0x1p-26 + 0x1p-54);
}

// --- casts and conversions

struct FloatCast {
  double from;
  DType to;
  int64_t wanted;
};
const FloatCast kFloatCasts[] = {
    {1.9, DType::I32, 1},
    {-1.9, DType::I32, -1},
    {NAN, DType::I32, INT32_MIN},
    {kInf, DType::I32, INT32_MIN},
    {-kInf, DType::I32, INT32_MIN},
    {0x1p31, DType::I32, INT32_MIN},
    {-0x1p31, DType::I32, INT32_MIN},
    {0x1p62, DType::I64, int64_t{1} << 62},
    {0x1p63, DType::I64, INT64_MIN},
    {-0x1p63, DType::I64, INT64_MIN},
    {NAN, DType::I64, INT64_MIN},
    {300.0, DType::I8, 44},
    {-200.0, DType::I8, 56},
    {0x1p40, DType::I8, 0},
    {NAN, DType::I16, 0},
    {65536.0 + 5, DType::I16, 5},
    {-1.0, DType::U8, 255},
    {-1.0, DType::U16, 65535},
    {-1.0, DType::U32, 4294967295},
    {0x1p32 + 0x1p31, DType::U32, int64_t{1} << 31},
    {0x1p63, DType::U32, 0},
    {-1.0, DType::U64, -1},
    {0x1p63, DType::U64, INT64_MIN},
    {0x1p63 + 0x1p40, DType::U64, INT64_MIN + (int64_t{1} << 40)},
    {0x1p64, DType::U64, INT64_MIN},
    {-0x1p70, DType::U64, INT64_MIN},
    {NAN, DType::U64, INT64_MIN},
};

TEST(CastSemantics, FloatsToIntegers) {
  for (DType from : {DType::F32, DType::F64})
    for (const FloatCast& c : kFloatCasts) {
      uint64_t bits = bits_of_double(from, c.from);
      if (!same(double_of_bits(from, bits), c.from) && c.from != 1.9 && c.from != -1.9) continue;
      EXPECT_EQ(evaluate(Op::Cast, from, c.to, &bits), wrap(c.to, c.wanted)) << c.from << " to " << name_of(c.to);
    }
}

TEST(CastSemantics, NearTheLimitsOfI32InDouble) {
  const std::pair<double, int64_t> cases[] = {{2147483647.5, INT32_MAX}, {-2147483648.5, INT32_MIN}, {2147483648.0, INT32_MIN}};
  for (auto [from, wanted] : cases) {
    uint64_t bits = bits_of_double(DType::F64, from);
    EXPECT_EQ(evaluate(Op::Cast, DType::F64, DType::I32, &bits), wrap(DType::I32, wanted)) << from;
  }
}

TEST(CastSemantics, EveryHalfToEveryInteger) {
  for (DType from : {DType::F16, DType::BF16})
    for (DType to : kInts)
      for (uint64_t bits = 0; bits < 0x10000; ++bits) {
        uint64_t single = bits_of_double(DType::F32, double_of_bits(from, bits));
        ASSERT_EQ(evaluate(Op::Cast, from, to, &bits), evaluate(Op::Cast, DType::F32, to, &single));
      }
}

TEST(CastSemantics, BetweenFloatsRoundsOnce) {
  uint64_t x = bits_of_double(DType::F64, 1.0 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(evaluate(Op::Cast, DType::F64, DType::BF16, &x), 0x3f81u);
  uint64_t y = bits_of_double(DType::F64, 1.0 + 0x1p-11 + 0x1p-40);
  EXPECT_EQ(evaluate(Op::Cast, DType::F64, DType::F16, &y), 0x3c01u);
  uint64_t big = bits_of_double(DType::F64, 1e300);
  EXPECT_EQ(evaluate(Op::Cast, DType::F64, DType::F32, &big), bits_of_double(DType::F32, kInf));
  for (DType t : kFloats) {
    uint64_t signalling = bits_of_double(t, kInf) | 1;
    EXPECT_EQ(evaluate(Op::Cast, t, t, &signalling), signalling);
  }
}

TEST(CastSemantics, IntegersToFloatsRoundOnce) {
  uint64_t x = (uint64_t{1} << 60) + (uint64_t{1} << 52) + 1;
  EXPECT_EQ(double_of_bits(DType::BF16, evaluate(Op::Cast, DType::I64, DType::BF16, &x)), 0x1p60 + 0x1p53);
  EXPECT_EQ(double_of_bits(DType::BF16, evaluate(Op::Cast, DType::U64, DType::BF16, &x)), 0x1p60 + 0x1p53);
  uint64_t most = UINT64_MAX;
  EXPECT_EQ(double_of_bits(DType::F32, evaluate(Op::Cast, DType::U64, DType::F32, &most)), 0x1p64);
  EXPECT_EQ(double_of_bits(DType::F32, evaluate(Op::Cast, DType::I64, DType::F32, &most)), -1.0);
  uint64_t odd = (1u << 24) + 1;
  EXPECT_EQ(double_of_bits(DType::F32, evaluate(Op::Cast, DType::I32, DType::F32, &odd)), 0x1p24);
}

TEST(Conversions, OfDoubles) {
  EXPECT_EQ(bits_of_double(DType::I8, 300.9), 44u);
  EXPECT_EQ(bits_of_double(DType::I8, -1.9), 255u);
  EXPECT_EQ(bits_of_double(DType::U64, 0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(bits_of_double(DType::U64, 0x1p64 + 0x1p13), uint64_t{1} << 13);
  EXPECT_EQ(bits_of_double(DType::I64, -0x1p64), 0u);
  EXPECT_EQ(bits_of_double(DType::I32, NAN), 0u);
  EXPECT_EQ(bits_of_double(DType::I32, kInf), 0u);
  EXPECT_EQ(bits_of_double(DType::Bool, 0.25), 1u);
  EXPECT_EQ(bits_of_double(DType::Bool, NAN), 1u);
  EXPECT_EQ(bits_of_double(DType::F32, 0.1), std::bit_cast<uint32_t>(0.1f));
}

TEST(Conversions, OfIntegers) {
  EXPECT_EQ(bits_of_int(DType::I8, -1), 255u);
  EXPECT_EQ(bits_of_int(DType::U64, -1), UINT64_MAX);
  EXPECT_EQ(bits_of_int(DType::Bool, 256), 1u);
  EXPECT_EQ(bits_of_int(DType::F64, INT64_MIN), std::bit_cast<uint64_t>(-0x1p63));
  EXPECT_EQ(bits_of_int(DType::F16, 70000), 0x7c00u);
  EXPECT_EQ(int_of_bits(DType::I8, 255), -1);
  EXPECT_EQ(int_of_bits(DType::U8, 255), 255);
  EXPECT_EQ(int_of_bits(DType::F64, bits_of_double(DType::F64, 1e300)), INT64_MAX);
  EXPECT_EQ(int_of_bits(DType::F64, bits_of_double(DType::F64, -1e300)), INT64_MIN);
  EXPECT_EQ(int_of_bits(DType::F32, bits_of_double(DType::F32, NAN)), 0);
  EXPECT_EQ(int_of_bits(DType::BF16, bits_of_double(DType::BF16, -2.5)), -2);
  EXPECT_EQ(double_of_bits(DType::I16, 0x8000), -32768.0);
  EXPECT_EQ(double_of_bits(DType::U64, UINT64_MAX), 0x1p64);
}

// --- all of the table

/// The operands that `op` takes on dtype t, or none if inference refuses them.
std::vector<Type> operands_on(Op op, DType t) {
  std::vector<Type> types(static_cast<size_t>(info(op).least), Type::scalar(t));
  if (op == Op::Where) types[0] = Type::scalar(DType::Bool);
  try {
    infer(op, types, 0, &types.back());
    return types;
  } catch (const Error&) {
    return {};
  }
}

TEST(SemanticsTable, EveryPointwiseOpMeansSomethingWhereInferenceAcceptsIt) {
  int found = 0;
  for (int k = 0; k < kOpCount; ++k)
    for (int d = 0; d < kDTypeCount; ++d) {
      Op op = op_at(k);
      if (!is_pointwise(op) || op == Op::PtrAdd || op == Op::Call || operands_on(op, dtype_at(d)).empty()) continue;
      uint64_t ones[] = {1, 1, 1};
      DType result = info(op).result == ResultRule::Bool ? DType::Bool : dtype_at(d);
      EXPECT_NO_THROW(evaluate(op, dtype_at(d), result, ones)) << name_of(op) << " " << name_of(dtype_at(d));
      ++found;
    }
  EXPECT_GT(found, 300);
}

TEST(SemanticsTable, RefusesWhatHasNoMeaning) {
  uint64_t args[] = {0, 0};
  const std::pair<Op, DType> cases[] = {{Op::Exp, DType::I32}, {Op::Add, DType::Bool}, {Op::And, DType::F32},
                                        {Op::Load, DType::F32}, {Op::PtrAdd, DType::F32}};
  for (auto [op, t] : cases)
    EXPECT_THROW(evaluate(op, t, t, args), Error) << name_of(op);
}

TEST(SemanticsTable, LanesStepByTheirStrides) {
  const std::vector<uint64_t> a = {1, 2, 3, 4, 5};
  const uint64_t one = 10;
  const uint64_t* args[] = {a.data(), &one};
  const int strides[] = {1, 0};
  std::vector<uint64_t> out(5);
  evaluate_lanes(Op::Sub, DType::I16, DType::I16, args, strides, out.data(), 5);
  EXPECT_EQ(out, (std::vector<uint64_t>{0xfff7, 0xfff8, 0xfff9, 0xfffa, 0xfffb}));
  evaluate_lanes(Op::Lt, DType::I16, DType::Bool, args, strides, out.data(), 0);
  EXPECT_EQ(out[0], 0xfff7u);
  evaluate_lanes(Op::Cast, DType::I16, DType::F64, args, strides, out.data(), 5);
  EXPECT_EQ(out[4], std::bit_cast<uint64_t>(5.0));
}

}  // namespace
}  // namespace strider::ir
