// SPDX-License-Identifier: Apache-2.0
// What the tracing DSL writes down, as text; and the dtypes that operations give.
#include "front/run_kernel.h"
#include "front/trace/scalar.h"
#include "front/trace/trace.h"
#include "ir/promote.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

TEST(Trace, WritesVectorAdd) {
  auto k = kernel("vector_add", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 n, tl::Constexpr B) {
    auto i = tl::program_id(0) * B + tl::arange(0, B);
    tl::store(y + i, tl::load(x + i, i < n) + 1, i < n);
  }, {{"x", "y", "n", "B"}});
  EXPECT_EQ(text_of(k, {{"B", 64}}), R"(kernel vector_add(%x: *f32 divisible=4 read_only, %y: *f32 divisible=4, %n: i32) {
  %0 = arange begin=0 : i32[64]
  %1 = program_id axis=0 : i32
  %2 = const 64 : i32
  %3 = mul %1, %2 : i32
  %4 = broadcast %3 : i32[64]
  %5 = add %4, %0 : i32[64]
  %6 = broadcast %n : i32[64]
  %7 = lt %5, %6 : bool[64]
  %8 = broadcast %x : *f32[64]
  %9 = ptr_add %8, %5 : *f32[64]
  %10 = load %9, %7 : f32[64]
  %11 = const 1.0 : f32
  %12 = const 1.0 : f32[64]
  %13 = add %10, %12 : f32[64]
  %14 = broadcast %y : *f32[64]
  %15 = ptr_add %14, %5 : *f32[64]
  store %15, %13, %7
}
)");
}

TEST(Trace, ReadOnlyMarksPointersThatNothingIsWrittenThrough) {
  auto info = [](auto body) {
    ir::Function f = front::trace_kernel(kernel("k", body), {});
    return std::pair(f.param_info(0).read_only, f.param_info(1).read_only);
  };
  EXPECT_EQ(info([](tl::Ptr<float> x, tl::Ptr<float> y) { tl::store(y + 3, tl::load(x)); }), std::pair(true, false));
  EXPECT_EQ(info([](tl::Ptr<float> x, tl::Ptr<float> y) { tl::atomic_add(x, tl::load(y)); }), std::pair(false, true));
  auto chosen = [](tl::Ptr<float> x, tl::Ptr<float> y) { tl::store(tl::where(tl::program_id(0) > 1, x, y), 1.0); };
  EXPECT_EQ(info(chosen), std::pair(false, false));
}

// --- scalar functions

std::string scalar_text(auto body, std::initializer_list<DType> inputs, DType common) {
  auto op = pointwise("f", body);
  return ir::print(front::trace_scalar(op.untyped().declaration(), {inputs, inputs, common}));
}

TEST(TraceScalar, GeluEndsInYield) {
  auto gelu = [](auto x) {
    auto half = 0.5 * x, e = st::erf(x * 0.25), one_plus = 1.0 + e;
    return half * one_plus;
  };
  EXPECT_EQ(scalar_text(gelu, {f32}, f32), R"(kernel f(%in0: f32) {
  %0 = const 0.5 : f32
  %1 = mul %0, %in0 : f32
  %2 = const 0.25 : f32
  %3 = mul %in0, %2 : f32
  %4 = erf %3 : f32
  %5 = const 1.0 : f32
  %6 = add %5, %4 : f32
  %7 = mul %1, %6 : f32
  yield %7
}
)");
}

TEST(TraceScalar, SeveralOutputsAndPlainNumbers) {
  EXPECT_EQ(scalar_text([](auto x, auto y) { return std::tuple{x < y, y, 3}; }, {i16, i16}, i16),
            "kernel f(%in0: i16, %in1: i16) {\n  %0 = lt %in0, %in1 : bool\n  %1 = const 3 : i16\n  yield %0, %in1, %1\n}\n");
  EXPECT_EQ(scalar_text([](auto) { return 0.5; }, {i16}, i16), "kernel f(%in0: i16) {\n  %0 = const 0.5 : f32\n  yield %0\n}\n");
}

TEST(TraceScalar, LiteralsFoldInDoubleBeforeTheyMeetATensor) {
  std::string text = scalar_text([](auto x) {
    st::Value third = 1.0;
    third /= 3;
    return x + third * 3 + st::exp(1.0);
  }, {f32}, f32);
  EXPECT_HAS(text, "%0 = const 1.0 : f32");  // (1 / 3 in double) * 3
  EXPECT_HAS(text, "const 2.7182817 : f32");
  EXPECT_EQ(text.find("exp"), std::string::npos);
}

TEST(TraceScalar, TrueDivisionOfIntegersGivesFloats) {
  EXPECT_HAS(scalar_text([](auto x, auto y) { return x / y; }, {i32, i64}, i64), "div %0, %1 : f32");
  EXPECT_HAS(scalar_text([](auto x, auto y) { return x / y; }, {i32, i64}, f64), "div %0, %1 : f64");
  EXPECT_HAS(scalar_text([](auto x) { return x / 2; }, {u8}, u8), "const 2.0 : f32");
  EXPECT_HAS(scalar_text([](auto x) { return x * (st::Value(1) / 2); }, {f32}, f32), "const 0.5 : f32");
}

TEST(TraceScalar, LiteralsOnTheirOwnHaveTheOperatorsDtype) {
  auto step = [](auto x) { return st::where(x > 0, 0.1, 2); };
  EXPECT_HAS(scalar_text(step, {f64}, f64), "const 0.1 : f64");
  EXPECT_HAS(scalar_text(step, {f32}, f32), "const 0.1 : f32");
  auto count = [](auto x) { return st::where(x > 0, 1, 0); };
  EXPECT_HAS(scalar_text(count, {i16}, i16), "const 1 : i16");
  EXPECT_HAS(scalar_text(count, {f32}, f32), "const 1 : i64");
}

TEST(TraceScalar, IntegersOfDifferentSignednessMeetAsInPyTorch) {
  EXPECT_HAS(scalar_text([](auto x, auto y) { return x + y; }, {u8, i8}, i16), "add %0, %1 : i16");
}

TEST(TraceScalar, ArgumentsAreRoundedBeforeTheyAreWidened) {
  auto op = pointwise("f", [](auto x, auto y) { return x + y; });
  std::string text = ir::print(front::trace_scalar(op.untyped().declaration(), {{f16, f16}, {f32, f32}, f32, {f16}}));
  EXPECT_EQ(text, "kernel f(%in0: f16, %in1: f16) {\n  %0 = cast %in0 : f32\n  %1 = cast %in1 : f32\n  %2 = add %0, %1 : f32\n"
                  "  %3 = cast %2 : f16\n  yield %3\n}\n");
}

TEST(TraceScalar, RefusesWhatIsNoScalarMath) {
  std::string text = error_of([] { scalar_text([](auto x) { return x + tl::sum(tl::arange(0, 4)); }, {i32}, i32); });
  EXPECT_HAS(text, "operator f (");
  EXPECT_HAS(text, "trace_test.cpp:");
  EXPECT_HAS(text, "may not contain `arange`");
}

// --- dtypes

TEST(Typing, PromoteInKernels) {
  struct Case {
    DType a, b, result;
  };
  constexpr Case kCases[] = {
      {i32, i64, i64},     {i8, i16, i16},     {boolean, i8, i8},   {boolean, f16, f16}, {i64, f16, f16},    {f16, f32, f32},
      {f16, bf16, f32},    {bf16, f64, f64},   {u8, i8, u8},        {u8, i16, i16},      {u32, i32, u32},    {u64, i64, u64},
      {u32, i64, i64},     {u16, u32, u32},    {boolean, boolean, boolean}, {i64, bf16, bf16}, {f32, f32, f32},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ir::promote_tile(c.a, c.b), c.result) << name_of(c.a) << ' ' << name_of(c.b);
    EXPECT_EQ(ir::promote_tile(c.b, c.a), c.result) << name_of(c.b) << ' ' << name_of(c.a);
  }
}

TEST(Typing, WidensOnlyWhereNothingIsLost) {
  EXPECT_TRUE(ir::widens(i8, i16) && ir::widens(u8, i16) && ir::widens(boolean, f16) && ir::widens(i8, f16) &&
              ir::widens(f16, f32) && ir::widens(i32, f64) && ir::widens(u16, u16));
  EXPECT_FALSE(ir::widens(i8, u16) || ir::widens(u16, i16) || ir::widens(i32, f32) || ir::widens(f16, bf16) ||
               ir::widens(f32, i64) || ir::widens(i8, boolean) || ir::widens(f64, f32) || ir::widens(i16, bf16));
}

/// The dtype that `f` gives on a value of dtype `t`.
DType dtype_of_result(DType t, auto f) {
  front::Trace trace("kernel", "k");
  Value v = trace.wrap(trace.b.param(ir::Type::scalar(t), {.name = "x"}));
  DType result = f(v).dtype();
  trace.finish();
  return result;
}

TEST(Typing, LiteralsAreWeak) {
  auto plus = [](auto literal) { return [literal](Value x) { return x + literal; }; };
  EXPECT_EQ(dtype_of_result(f16, plus(0.5)), f16);
  EXPECT_EQ(dtype_of_result(f16, plus(3)), f16);
  EXPECT_EQ(dtype_of_result(u8, plus(3)), u8);
  EXPECT_EQ(dtype_of_result(u8, plus(0.5)), f32);
  EXPECT_EQ(dtype_of_result(i64, plus(0.5f)), f32);
  EXPECT_EQ(dtype_of_result(boolean, plus(1)), i32);
  EXPECT_EQ(dtype_of_result(boolean, plus(int64_t{1} << 40)), i64);
  EXPECT_EQ(dtype_of_result(i8, plus(true)), i8);
  EXPECT_EQ(dtype_of_result(f64, plus(0.5f)), f64);
  EXPECT_EQ(dtype_of_result(i8, [](Value x) { return x < 3; }), boolean);
  EXPECT_EQ(dtype_of_result(f16, [](Value x) { return st::where(x < 1, x, 0.0); }), f16);
  EXPECT_EQ(dtype_of_result(f16, [](Value x) { return st::where(x < 1, 1.0, 0.0); }), f32);
  EXPECT_EQ(dtype_of_result(i32, [](Value x) { return x.to(f64); }), f64);
}

TEST(Typing, ChosenByWhatWasAskedWhileTracing) {
  auto widened = [](Value x) { return x.dtype() == i8 ? x.to(i32) : x; };
  EXPECT_EQ(dtype_of_result(i8, widened), i32);
  EXPECT_EQ(dtype_of_result(i64, widened), i64);
}

// --- the same functions on plain numbers

TEST(Numbers, FunctionsComputePlainly) {
  EXPECT_EQ(st::abs(-2.5), 2.5);
  EXPECT_EQ(st::erf(0.5), std::erf(0.5));
  EXPECT_EQ(st::round(2.5), 2.0);
  EXPECT_EQ(st::sign(-3.0), -1.0);
  EXPECT_TRUE(std::isnan(st::maximum(1.0, NAN)));
  EXPECT_EQ(st::clamp(5.0, 0.0, 3), 3.0);
  EXPECT_EQ(st::where(false, 1, 2.5), 2.5);
  EXPECT_EQ(st::cast(0.1, f32), static_cast<double>(0.1f));
  EXPECT_EQ(st::cast(300.7, u8), 44.0);
  EXPECT_EQ(st::fma(2.0, 3.0, 4.0), 10.0);
  EXPECT_EQ(st::cdiv(-36, 5), -7);
  EXPECT_EQ(st::cdiv(36, 5), 8);
}

TEST(Numbers, AnOperatorIsItsOwnReference) {
  auto gelu = st::pointwise("gelu", [](auto x) { return 0.5 * x * (1.0 + st::erf(x * M_SQRT1_2)); });
  EXPECT_EQ(gelu(0.0), 0.0);
  EXPECT_NEAR(gelu(1.0), 0.8413447460685429, 1e-15);
}

}  // namespace
}  // namespace strider::test
