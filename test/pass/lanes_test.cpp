// SPDX-License-Identifier: Apache-2.0
// What the lanes pass knows about values: divisors, alignments, and arithmetic on vectors with structure, each against plain
// evaluation.
#include "pass/lanes/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backend/interp/lane.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "ir/verify.h"
#include "pass/lanes/lane_value.h"
#include "pass/schedule.h"
#include "support/scalar_program.h"

namespace strider::pass {
namespace {

using namespace ir;

constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64};

template <class T, size_t n>
T any_of(const T (&choices)[n], std::mt19937& random) {
  return choices[random() % n];
}

// --- facts

/// A random integer expression on scalars, with the value of each of its nodes.
class Expression {
 public:
  explicit Expression(uint32_t seed) : random_(seed) {
    for (int k = 0; k < 4; ++k) add_param();
    for (int k = 0; k < 16; ++k) add_op();
  }
  const Function& function() const { return b_.function(); }
  const std::vector<std::pair<Value, uint64_t>>& values() const { return values_; }

 private:
  void add(Value v, uint64_t bits) { values_.push_back({v, bits}); }

  void add_param() {
    DType dtype = any_of(kInts, random_);
    int64_t divisible = int64_t{1} << random_() % 6;
    Value v = b_.param(Type::scalar(dtype), {.name = "n", .divisible = divisible});
    add(v, bits_of_int(dtype, (static_cast<int64_t>(random_() % 4000) - 2000) / divisible * divisible));
    int64_t constant = int64_t{1} << random_() % 7;
    add(b_.constant_int(Type::scalar(dtype), constant), bits_of_int(dtype, constant));
  }

  void add_op() {
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or,  Op::Xor, Op::Minimum, Op::Maximum,
                                  Op::Shl, Op::Shr, Op::Div, Op::Rem, Op::Neg, Op::Not, Op::Cast,    Op::Where};
    auto [a, x] = pick();
    auto [c, y] = pick();
    DType dtype = b_.type(a).dtype;
    auto of_dtype = [&](Value v, uint64_t bits) {
      return std::pair{b_.cast(v, dtype), evaluate(Op::Cast, b_.type(v).dtype, dtype, &bits)};
    };
    std::tie(c, y) = of_dtype(c, y);
    Op op = any_of(kOps, random_);
    if (op == Op::Cast) {
      DType to = random_() % 4 == 0 ? DType::Bool : any_of(kInts, random_);
      Value cast = b_.cast(a, to);
      uint64_t bits = evaluate(Op::Cast, dtype, to, &x);
      DType back = any_of(kInts, random_);
      return add(b_.cast(cast, back), evaluate(Op::Cast, to, back, &bits));
    }
    if (op == Op::Where) return add(b_.where(b_.binary(Op::Lt, a, c), a, c), less(dtype, x, y) ? x : y);
    uint64_t args[] = {x, y};
    bool is_unary = op == Op::Neg || op == Op::Not;
    add(is_unary ? b_.unary(op, a) : b_.binary(op, a, c), evaluate(op, dtype, dtype, args));
  }

  static bool less(DType dtype, uint64_t x, uint64_t y) {
    uint64_t args[] = {x, y};
    return evaluate(Op::Lt, dtype, DType::Bool, args) != 0;
  }
  std::pair<Value, uint64_t> pick() { return values_[random_() % values_.size()]; }

  std::mt19937 random_;
  Builder b_{"expression"};
  std::vector<std::pair<Value, uint64_t>> values_;
};

TEST(Facts, TheDivisorOfAnExpressionDividesItsValue) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Expression e(seed);
    Facts facts(e.function());
    for (auto [v, bits] : e.values()) {
      int64_t divisor = facts.divisor(v), value = int_of_bits(e.function().type(v).dtype, bits);
      ASSERT_GT(divisor, 0);
      ASSERT_EQ(divisor & (divisor - 1), 0);
      ASSERT_EQ(value % divisor, 0) << "seed " << seed << ": " << print_statement(e.function(), v) << " is " << value << "\n"
                                     << print(e.function());
    }
  }
}

TEST(Facts, KnowWhatArgumentsPromiseAndArithmeticKeeps) {
  Builder b("facts");
  Value n = b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 16});
  Value m = b.param(Type::scalar(DType::I32), {.name = "m"});
  Facts facts(b.function());
  auto expect = [&](Value v, int64_t divisor) { EXPECT_EQ(facts.divisor(v), divisor) << print_statement(b.function(), v); };
  expect(n, 16);
  expect(m, 1);
  expect(b.i32(48), 16);
  expect(b.i32(-48), 16);
  expect(b.mul(m, b.i32(128)), 128);
  expect(b.mul(n, b.mul(m, b.i32(4))), 64);
  expect(b.add(n, b.i32(8)), 8);
  expect(b.sub(b.mul(n, m), b.i32(32)), 16);
  expect(b.binary(Op::And, m, b.i32(-32)), 32);
  expect(b.binary(Op::Shl, n, b.i32(2)), 64);
  expect(b.where(b.binary(Op::Lt, m, n), n, b.i32(0)), 16);
  expect(b.cast(n, DType::I64), 16);
  expect(b.binary(Op::Div, n, b.i32(16)), 1);
}

TEST(Facts, ACastToBoolForgetsDivisors) {
  Builder b("facts");
  Value n = b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 16});
  Facts facts(b.function());
  EXPECT_EQ(facts.divisor(b.cast(b.cast(n, DType::Bool), DType::I32)), 1);
}

TEST(Facts, WhatIsToldAboutALoopIndexCounts) {
  Builder b("facts");
  Value n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Facts facts(b.function());
  facts.set_divisor(n, 64);
  EXPECT_EQ(facts.divisor(b.add(n, b.i32(128))), 64);
}

TEST(Facts, AlignmentOfAddresses) {
  Builder b("facts");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x", .divisible = 32});
  Value y = b.param(Type::pointer(DType::F64), {.name = "y"});
  Value n = b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 4});
  Facts facts(b.function());
  EXPECT_EQ(facts.alignment(x), 32);
  EXPECT_EQ(facts.alignment(y), 8);
  EXPECT_EQ(facts.alignment(b.ptr_add(x, n)), 16);
  EXPECT_EQ(facts.alignment(b.ptr_add(x, b.mul(n, b.i32(4)))), 32);
  EXPECT_EQ(facts.alignment(b.ptr_add(b.ptr_add(x, n), b.i32(1))), 4);
  EXPECT_EQ(facts.alignment(b.ptr_add(y, n)), 8);
  EXPECT_EQ(facts.alignment(b.alloc(Space::Shared, DType::F16, 8)), 64);
  EXPECT_EQ(facts.alignment(b.ptr_add(b.alloc(Space::Shared, DType::F16, 8), n)), 8);
}

// --- lane values

/// Random arithmetic on lane values, with what every lane must hold for one choice of the arguments.
class LaneProgramOf {
 public:
  struct Known {
    LaneValue value;
    std::vector<uint64_t> lanes;
  };

  LaneProgramOf(uint32_t seed, int64_t lanes) : random_(seed), facts_(b_.function()), m_(b_, facts_, lanes), lanes_(lanes) {
    out_ = b_.param(Type::pointer(DType::I64), {.name = "out"});
    for (int k = 0; k < 3; ++k) add_index();
    for (int k = 0; k < 12; ++k) add_op();
  }

  /// Runs everything in the lane interpreter; expects every lane of every value.
  void check(uint32_t seed) {
    for (size_t k = 0; k < known_.size(); ++k) store(known_[k], static_cast<int64_t>(k));
    std::vector<int64_t> memory(known_.size() * static_cast<size_t>(lanes_), -77);
    args_[0] = reinterpret_cast<uint64_t>(memory.data());
    Function f = b_.finish();
    f.threads = 1;
    EXPECT_EQ(interp::to_string(interp::interpret_lanes(f, {1, 1, 1}, args_)), "");
    for (size_t k = 0; k < known_.size(); ++k)
      for (size_t lane = 0; lane < known_[k].lanes.size(); ++lane)
        ASSERT_EQ(memory[k * static_cast<size_t>(lanes_) + lane], int_of_bits(dtypes_[k], known_[k].lanes[lane]))
            << "seed " << seed << ", value " << k << ", lane " << lane << "\n" << print(f);
  }

 private:
  void store(const Known& known, int64_t position) {
    dtypes_.push_back(m_.dtype(known.value));
    Value wide = b_.cast(m_.materialize(known.value), DType::I64), place = b_.ptr_add(out_, b_.i64(position * lanes_));
    if (lanes_ == 1) b_.store(place, wide);
    else b_.store_block(place, wide, 3);
  }

  /// An argument plus a lane's number times a small factor.
  void add_index() {
    DType dtype = any_of(kInts, random_);
    int64_t divisible = int64_t{1} << random_() % 9, factor = 1 + static_cast<int64_t>(random_() % 4);
    int64_t start = (static_cast<int64_t>(random_() % 4096) - 2048) / divisible * divisible;
    Value n = b_.param(Type::scalar(dtype), {.name = "n" + std::to_string(args_.size()), .divisible = divisible});
    args_.push_back(bits_of_int(dtype, start));
    std::vector<int64_t> offsets;
    std::vector<uint64_t> lanes;
    for (int64_t l = 0; l < lanes_; ++l) {
      offsets.push_back(l * factor - 2 * (l % factor));
      lanes.push_back(bits_of_int(dtype, start + offsets.back()));
    }
    known_.push_back({m_.affine(n, offsets), lanes});
    known_.push_back({m_.uniform(n), std::vector<uint64_t>(static_cast<size_t>(lanes_), bits_of_int(dtype, start))});
  }

  void add_op() {
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Shl, Op::Shr, Op::Div, Op::Rem, Op::And,
                                  Op::Lt,  Op::Gt,  Op::Le,  Op::Xor, Op::Minimum, Op::Cast, Op::Where};
    Known a = known_[random_() % known_.size()], c = known_[random_() % known_.size()];
    DType dtype = m_.dtype(a.value);
    Op op = any_of(kOps, random_);
    if (op == Op::Cast) return add_cast(a, any_of(kInts, random_));
    if (op == Op::Div || op == Op::Rem) a = without_sign(a);
    bool by_constant = op == Op::Shl || op == Op::Shr || op == Op::Div || op == Op::Rem || op == Op::And || random_() % 3 == 0;
    if (by_constant) c = constant(op, dtype);
    else c = converted(c, dtype);
    if (op == Op::Where) return add_where(a, c);
    bool compares = op == Op::Lt || op == Op::Gt || op == Op::Le;
    DType result = compares ? DType::Bool : dtype;
    Known r{m_.apply(op, result, {{a.value, c.value}}), {}};
    for (size_t l = 0; l < a.lanes.size(); ++l) {
      uint64_t args[] = {a.lanes[l], c.lanes[l]};
      r.lanes.push_back(evaluate(op, dtype, result, args));
    }
    known_.push_back(compares ? converted(r, DType::I32) : r);
  }

  /// Quotients of structured values are for numbers that are never negative; whoever divides must know.
  Known without_sign(const Known& a) {
    DType dtype = m_.dtype(a.value);
    bool is_negative = std::any_of(a.lanes.begin(), a.lanes.end(), [&](uint64_t bits) { return int_of_bits(dtype, bits) < 0; });
    return is_negative && dtype != DType::U64 ? known_vector(a) : a;
  }
  Known known_vector(const Known& a) { return {m_.vector(m_.materialize(a.value)), a.lanes}; }

  Known constant(Op op, DType dtype) {
    bool shifts = op == Op::Shl || op == Op::Shr;
    int64_t power = random_() % 7, number = shifts ? power : op == Op::And ? (int64_t{1} << power) - 1 : int64_t{1} << power;
    return {m_.constant(dtype, number), std::vector<uint64_t>(static_cast<size_t>(lanes_), bits_of_int(dtype, number))};
  }

  Known converted(const Known& a, DType to) {
    Known r{m_.cast(a.value, to), {}};
    for (uint64_t bits : a.lanes) r.lanes.push_back(evaluate(Op::Cast, m_.dtype(a.value), to, &bits));
    return r;
  }
  void add_cast(const Known& a, DType to) { known_.push_back(converted(a, to)); }

  /// Chosen by an argument, so that both sides may keep their structure.
  void add_where(const Known& a, const Known& c) {
    Value n = b_.param(Type::scalar(DType::Bool), {.name = "c" + std::to_string(args_.size())});
    bool yes = random_() % 2 == 0;
    args_.push_back(yes);
    LaneValue condition = m_.uniform(n);
    known_.push_back({m_.apply(Op::Where, m_.dtype(a.value), {{condition, a.value, c.value}}), yes ? a.lanes : c.lanes});
  }

  std::mt19937 random_;
  Builder b_{"lanes"};
  Facts facts_;
  LaneMath m_;
  int64_t lanes_;
  Value out_;
  std::vector<uint64_t> args_{0};
  std::vector<Known> known_;
  std::vector<DType> dtypes_;
};

class LaneArithmetic : public ::testing::TestWithParam<int64_t> {};

TEST_P(LaneArithmetic, EveryLaneHoldsWhatPlainEvaluationGives) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) LaneProgramOf(seed, GetParam()).check(seed);
}

INSTANTIATE_TEST_SUITE_P(Lanes, LaneArithmetic, ::testing::Values(1, 2, 8, 32), ::testing::PrintToStringParamName());

/// Eight lanes n + 0, n + 1, ... where 16 divides n.
struct Eight {
  Builder b{"eight"};
  Facts facts{b.function()};
  LaneMath m{b, facts, 8};
  Value n = b.param(Type::scalar(DType::I32), {.name = "n", .divisible = 16});
  LaneValue index = m.affine(n, {0, 1, 2, 3, 4, 5, 6, 7});
};

TEST(LaneValue, SumsDifferencesAndProductsWithConstantsKeepTheirStructure) {
  Eight t;
  LaneValue shifted = t.m.add(t.index, t.m.uniform(t.b.mul(t.n, t.n)));
  EXPECT_EQ(shifted.offsets, t.index.offsets);
  EXPECT_EQ(t.m.mul(t.index, 3).offsets, (std::vector<int64_t>{0, 3, 6, 9, 12, 15, 18, 21}));
  EXPECT_EQ(t.m.apply(Op::Sub, {t.m.constant(DType::I32, 100), t.index}).offsets, (std::vector<int64_t>{7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_TRUE(t.m.apply(Op::Sub, {t.index, t.index}).is_uniform());
  EXPECT_TRUE(t.m.apply(Op::Xor, {t.index, t.m.uniform(t.n)}).is_vector);
}

TEST(LaneValue, ARemainderByWhatLanesDoNotCrossIsTheirNumber) {
  Eight t;
  LaneValue rest = t.m.apply(Op::And, {t.index, t.m.constant(DType::I32, 15)});
  std::vector<int64_t> lanes;
  ASSERT_TRUE(t.m.constants(rest, &lanes));
  EXPECT_EQ(lanes, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(t.m.apply(Op::Shr, {t.index, t.m.constant(DType::I32, 4)}).is_uniform());
}

TEST(LaneValue, AddressesStayContiguousThroughWidening) {
  Eight t;
  Value x = t.b.param(Type::pointer(DType::F32), {.name = "x"});
  LaneValue address = t.m.apply(Op::PtrAdd, {t.m.uniform(x), t.index});
  EXPECT_FALSE(address.is_vector);
  EXPECT_EQ(address.offsets, t.index.offsets);
}

TEST(LaneValue, AnIndexThatMayWrapInALaneIsNotWidenedAsAWhole) {
  Eight t;
  Value m = t.b.param(Type::scalar(DType::I32), {.name = "m"});
  EXPECT_TRUE(t.m.cast(t.m.affine(m, t.index.offsets), DType::I64).is_vector);
}

TEST(LaneValue, ABoundThatAllLanesPassIsAConstant) {
  Eight t;
  LaneValue numbers = t.m.affine(t.b.i32(0), {0, 1, 2, 3, 4, 5, 6, 7});
  LaneValue less = t.m.less(numbers, 8);
  EXPECT_TRUE(less.is_uniform());
  EXPECT_TRUE(t.b.function().is_constant(less.base));
  EXPECT_TRUE(t.m.less(numbers, 5).is_vector);
}

TEST(LaneValue, AMaskThatIsMissingMeansAllLanes) {
  Eight t;
  LaneValue less = t.m.less(t.index, 5);
  EXPECT_EQ(t.m.both({}, less).base, less.base);
  EXPECT_EQ(t.m.both(less, {}).base, less.base);
  EXPECT_FALSE(t.m.both({}, {}).base.valid());
}

// --- programs

Function lowered(std::string_view text, int threads, int lanes) {
  Target target = target_named("cuda:sm_80");
  Function f = lower_to_lanes(schedule(parse(text)), target, threads, lanes);
  verify(f, Form::Lanes);
  EXPECT_EQ(f.threads, threads);
  return f;
}

int count(const Function& f, Op op) { return support::count_op(f, op); }

/// y[i] = x[i * step] for 32 numbers, step times as far apart on the way in.
std::string copy_text(int step) {
  return R"(kernel copy(%x: *f32 divisible=16 no_alias, %y: *f32 divisible=16) {
  %a = arange begin=0 : i32[32]
  %c = const )" + std::to_string(step) + R"( : i32[32]
  %i = mul %a, %c : i32[32]
  %xs = broadcast %x : *f32[32]
  %ys = broadcast %y : *f32[32]
  %p = ptr_add %xs, %i : *f32[32]
  %q = ptr_add %ys, %a : *f32[32]
  %v = load %p : f32[32]
  store %q, %v
}
)";
}

TEST(LowerToLanes, ConsecutiveElementsAreBlocks) {
  Function f = lowered(copy_text(1), 1, 4);
  EXPECT_EQ(count(f, Op::LoadBlock), 8) << print(f);
  EXPECT_EQ(count(f, Op::StoreBlock), 8);
  EXPECT_EQ(count(f, Op::Load) + count(f, Op::Store), 0);
}

TEST(LowerToLanes, ElementsApartAreGathered) {
  Function f = lowered(copy_text(3), 1, 4);
  EXPECT_EQ(count(f, Op::Load), 8) << print(f);
  EXPECT_EQ(count(f, Op::StoreBlock), 8);
}

TEST(LowerToLanes, ThreadsShareTheSlots) {
  Function f = lowered(copy_text(1), 4, 4);
  EXPECT_EQ(count(f, Op::LoadBlock), 2) << print(f);
  EXPECT_EQ(count(f, Op::If), 0);
}

TEST(LowerToLanes, MoreThreadsThanElementsStoreOnce) {
  Function f = lowered(copy_text(1), 32, 4);
  EXPECT_EQ(count(f, Op::LoadBlock), 1) << print(f);
  EXPECT_EQ(count(f, Op::If), 1);
}

constexpr const char* kScalar = R"(kernel scalar(%x: *i32) {
  %v = load %x : i32
  %w = add %v, %v : i32
  store %x, %w
}
)";

TEST(LowerToLanes, OneThreadNeedsNoPhases) {
  Function f = lowered(kScalar, 1, 4);
  EXPECT_EQ(count(f, Op::Phase) + count(f, Op::If) + count(f, Op::Alloc), 0) << print(f);
}

TEST(LowerToLanes, ScalarAccessesAreDoneByOneThreadAndHandedOver) {
  Function f = lowered(kScalar, 32, 4);
  EXPECT_EQ(count(f, Op::If), 2) << print(f);
  EXPECT_EQ(count(f, Op::Alloc), 1);
  EXPECT_GT(count(f, Op::Phase), 0);
}

}  // namespace
}  // namespace strider::pass
