// SPDX-License-Identifier: Apache-2.0
#include "pass/contract.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/semantics.h"
#include "pass/simplify.h"
#include "support/scalar_program.h"

namespace strider {
namespace {

using namespace ir;
using support::count_op;
using support::scalar_program;

using Args = std::span<const Value>;

struct Case {
  const char* rule;
  double (*meaning)(double a, double b, double c);
  Value (*write)(Builder&, Args);
};

const Case kCases[] = {
    {"a * b + c", [](double a, double b, double c) { return std::fma(a, b, c); }, [](Builder& b, Args x) { return b.add(b.mul(x[0], x[1]), x[2]); }},
    {"c + a * b", [](double a, double b, double c) { return std::fma(a, b, c); }, [](Builder& b, Args x) { return b.add(x[2], b.mul(x[0], x[1])); }},
    {"a * b - c", [](double a, double b, double c) { return std::fma(a, b, -c); }, [](Builder& b, Args x) { return b.sub(b.mul(x[0], x[1]), x[2]); }},
    {"c - a * b", [](double a, double b, double c) { return std::fma(-a, b, c); }, [](Builder& b, Args x) { return b.sub(x[2], b.mul(x[0], x[1])); }},
    {"a * b + b * c", [](double a, double b, double c) { return std::fma(a, b, b * c); }, [](Builder& b, Args x) { return b.add(b.mul(x[0], x[1]), b.mul(x[1], x[2])); }},
};

TEST(Contract, FusesEachFormIntoOneRounding) {
  const double third = 1.0 / 3, tenth = 0.1;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.rule);
    Function f = pass::contract(scalar_program({DType::F64, DType::F64, DType::F64}, c.write));
    EXPECT_EQ(count_op(f, Op::Fma), 1);
    for (double z : {-third * tenth, 7.7, 0.0, -0.0, double{INFINITY}}) {
      uint64_t args[3];
      for (int k = 0; k < 3; ++k) args[k] = bits_of_double(DType::F64, k == 0 ? third : k == 1 ? tenth : z);
      EXPECT_EQ(support::stored_bits(f, args), bits_of_double(DType::F64, c.meaning(third, tenth, z)));
    }
  }
}

TEST(Contract, OnlyF32AndF64) {
  auto fused = [](DType dtype) { return count_op(pass::contract(scalar_program({dtype, dtype, dtype}, kCases[0].write)), Op::Fma); };
  EXPECT_EQ(fused(DType::F32), 1);
  EXPECT_EQ(fused(DType::F64), 1);
  for (DType dtype : {DType::F16, DType::BF16, DType::I32, DType::U64}) EXPECT_EQ(fused(dtype), 0) << name_of(dtype);
}

TEST(Contract, ProductThatIsUsedTwiceIsRounded) {
  Function f = pass::contract(scalar_program({DType::F32, DType::F32}, [](Builder& b, Args x) {
    Value product = b.mul(x[0], x[1]);
    return b.mul(b.add(product, x[0]), product);
  }));
  EXPECT_EQ(count_op(f, Op::Fma), 0);
}

TEST(Contract, NotAcrossACast) {
  Function f = pass::contract(scalar_program({DType::F32, DType::F32, DType::F64}, [](Builder& b, Args x) {
    return b.add(b.cast(b.mul(x[0], x[1]), DType::F64), x[2]);
  }));
  EXPECT_EQ(count_op(f, Op::Fma), 0);
}

/// x + y * s over a tile, where y is a tile or the broadcast of a scalar.
Function scaled_sum(bool broadcast) {
  Builder b("scaled_sum");
  Value p = b.param(Type::pointer(DType::F32), {.name = "p"});
  Value s = b.param(Type::scalar(DType::F32), {.name = "s"});
  Value pointers = b.ptr_add(b.broadcast(p, {8}), b.arange(DType::I32, 0, 8));
  Value x = b.load(pointers), scale = b.broadcast(s, {8});
  Value y = broadcast ? b.broadcast(b.load(p), {8}) : b.load(pointers);
  b.store(pointers, b.add(x, b.mul(y, scale)));
  return pass::contract(pass::simplify(b.finish()));
}

TEST(Contract, ABroadcastOperandIsFusedLikeAFullOne) {
  EXPECT_EQ(count_op(scaled_sum(false), Op::Fma), 1);
  EXPECT_EQ(count_op(scaled_sum(true), Op::Fma), 1);
}

TEST(Contract, InsideReductionsAndLoops) {
  Builder b("dot");
  Value p = b.param(Type::pointer(DType::F32), {.name = "p"});
  Value zero = b.i32(0), sum = b.constant(Type::scalar(DType::F32), 0);
  sum = b.for_loop(zero, b.i32(10), b.i32(1), {{sum}}, [&](Args x) {
    Value v = b.load(b.ptr_add(p, x[0]));
    return Builder::Values{b.add(x[1], b.mul(v, v))};
  })[0];
  b.store(p, sum);
  EXPECT_EQ(count_op(pass::contract(b.finish()), Op::Fma), 1);
}

}  // namespace
}  // namespace strider
