// SPDX-License-Identifier: Apache-2.0
// Generated tile kernels, run in the tile interpreter against plain loops over all layouts.
#include <random>

#include "ir/print.h"
#include "planner/run_operator.h"

#include <strider/error.h>

namespace st = strider;

namespace strider::test {
namespace {

const auto& add_operator() {
  static const auto op =
      pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; }, {{true, true, false}, {"x", "y", "alpha"}});
  return op;
}

double first_values(int64_t i) { return static_cast<double>(i % 97) - 40; }
double second_values(int64_t i) { return static_cast<double>(i % 89) * 2 - 30; }

/// x + y * 3 on these layouts must equal the plain loop, in every element.
planner::Plan expect_add(Strided x, Strided y, Strided out, const Target& target = small_target()) {
  x.fill(first_values);
  y.fill(second_values);
  out.fill([](int64_t) { return -1; });
  Planned p = run_interpreted(add_operator().untyped(), {&out}, {x, y, 3}, target);
  std::vector<double> a = expanded(x, out.shape()), b = expanded(y, out.shape()), found = out.values();
  EXPECT_EQ(found.size(), a.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (found[i] != a[i] + b[i] * 3) {
      ADD_FAILURE() << "element " << i << ": " << found[i] << ", expected " << a[i] + b[i] * 3 << "\n" << ir::print(p.tile);
      break;
    }
  return p.plan;
}

struct LayoutCase {
  const char* name;
  Dims x, x_strides, y, y_strides, out, out_strides;
};

Dims row_major(const Dims& shape) { return contiguous_strides(shape); }

class Layouts : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(Layouts, EqualThePlainLoop) {
  const LayoutCase& c = GetParam();
  for (int threads : {1, 128})
    expect_add({f32, c.x, c.x_strides}, {f32, c.y, c.y_strides}, {f32, c.out, c.out_strides}, small_target(threads));
}

INSTANTIATE_TEST_SUITE_P(All, Layouts, ::testing::Values(
    LayoutCase{"contiguous", {5, 7}, {7, 1}, {5, 7}, {7, 1}, {5, 7}, {7, 1}},
    LayoutCase{"zero_d", {}, {}, {}, {}, {}, {}},
    LayoutCase{"zero_d_with_vector", {9}, {1}, {}, {}, {9}, {1}},
    LayoutCase{"row", {1, 33}, {33, 1}, {20, 33}, {33, 1}, {20, 33}, {33, 1}},
    LayoutCase{"column", {20, 1}, {1, 1}, {20, 33}, {33, 1}, {20, 33}, {33, 1}},
    LayoutCase{"outer_product", {20, 1}, {1, 1}, {1, 33}, {1, 1}, {20, 33}, {33, 1}},
    LayoutCase{"missing_leading_axes", {33}, {1}, {3, 4, 33}, {132, 33, 1}, {3, 4, 33}, {132, 33, 1}},
    LayoutCase{"middle_broadcast", {3, 1, 5}, {5, 5, 1}, {3, 4, 5}, {20, 5, 1}, {3, 4, 5}, {20, 5, 1}},
    LayoutCase{"every_second", {21}, {2}, {21}, {1}, {21}, {1}},
    LayoutCase{"reversed", {21}, {-1}, {21}, {1}, {21}, {1}},
    LayoutCase{"reversed_output", {21}, {1}, {21}, {-1}, {21}, {-1}},
    LayoutCase{"strided_output", {21}, {1}, {21}, {-3}, {21}, {2}},
    LayoutCase{"second_rows_and_columns", {6, 10}, {40, 2}, {6, 10}, {-20, 2}, {6, 10}, {10, 1}},
    LayoutCase{"transposed", {40, 30}, {30, 1}, {40, 30}, {1, 40}, {40, 30}, {30, 1}},
    LayoutCase{"transposed_output", {40, 30}, {30, 1}, {40, 30}, {30, 1}, {40, 30}, {1, 40}},
    LayoutCase{"transposed_and_reversed", {40, 30}, {-1, -40}, {40, 30}, {30, 1}, {40, 30}, {-30, 1}},
    LayoutCase{"rotated_axes", {6, 7, 8}, {56, 8, 1}, {6, 7, 8}, {1, 48, 6}, {6, 7, 8}, {56, 8, 1}},
    LayoutCase{"permuted_rank_5", {2, 3, 4, 5, 6}, {1, 240, 2, 8, 40}, {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1},
               {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}},
    LayoutCase{"padded_rows", {6, 10}, {13, 1}, {6, 10}, {10, 1}, {6, 10}, {17, 1}},
    LayoutCase{"same_element_everywhere", {6, 10}, {0, 0}, {6, 10}, {0, 1}, {6, 10}, {10, 1}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Instantiate, HighRankWithReversedAxes) {
  Dims shape = Dims::filled(14, 2), backward = shape;
  for (int k = 0; k < 14; ++k) backward[k] = int64_t{1} << k;
  expect_add({f32, shape, row_major(shape)}, {f32, shape, backward}, {f32, shape, row_major(shape)});
}

TEST(Instantiate, RaggedSizesAroundBlocks) {
  for (int64_t n : {1, 2, 63, 64, 65, 16383, 16384, 16385, 40000}) expect_add({f32, {n}, {1}}, {f32, {n}, {1}}, {f32, {n}, {1}});
  for (int64_t m : {1, 4, 5, 129})
    for (int64_t n : {2, 8, 9, 63, 65, 129}) {
      expect_add({f32, {m, n}, {n, 1}}, {f32, {n}, {1}}, {f32, {m, n}, {n, 1}});
      expect_add({f32, {m, n}, {1, m}}, {f32, {m, n}, {n, 1}}, {f32, {m, n}, {n, 1}}, small_target(128));
    }
}

TEST(Instantiate, WideOffsets) {
  // The elements lie far apart, so only the kernel is looked at.
  Dims shape{3}, far{(int64_t{1} << 30) + 1}, near{1};
  auto copy = pointwise("copy", [](auto x) { return x; });
  planner::Operand operands[] = {{planner::Role::Output, u8, reinterpret_cast<void*>(4096), &shape, &near},
                                   {planner::Role::Input, u8, reinterpret_cast<void*>(8192), &shape, &far}};
  planner::Plan p = planner::plan(operands, small_target());
  std::vector<planner::ArgumentType> types{{planner::Source::Tensor, u8}};
  std::string text = ir::print(generate(copy.untyped().declaration(), type_operator(copy.untyped().declaration(), types), p.key));
  EXPECT_NE(text.find("%in0_stride_n: i64"), std::string::npos) << text;
  EXPECT_NE(text.find("%size_n: i64"), std::string::npos) << text;
}

TEST(Instantiate, InPlaceUsesOnePointer) {
  Strided x(f32, {50}, {1});
  x.fill(first_values);
  std::vector<double> before = x.values();
  Planned p = run_interpreted(add_operator().untyped(), {&x}, {x, x, 2.0});
  EXPECT_EQ(ir::print(p.tile).find("%x:"), std::string::npos) << ir::print(p.tile);
  std::vector<double> after = x.values();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 3 * before[i]);
}

TEST(Instantiate, InPlaceOnAnyLayout) {
  for (const Dims& strides : {Dims{8, 2}, Dims{1, 3}, Dims{-40, 9}, Dims{4, 1}}) {
    Strided x(i32, {3, 4}, strides), row(i32, {4}, {2});
    x.fill(first_values);
    row.fill(second_values);
    std::vector<double> before = x.values(), added = expanded(row, {3, 4});
    run_interpreted(add_operator().untyped(), {&x}, {x, row, 2});
    std::vector<double> after = x.values();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] + 2 * added[i]) << to_string(strides);
  }
}

TEST(Instantiate, InPlaceThroughReversedViews) {
  // base[::-1] += 2 * x[::-1] on zeros, x = 0..5
  Strided base(f32, {6}, {-1}), x(f32, {6}, {-1});
  base.fill([](int64_t) { return 0; });
  x.fill([](int64_t i) { return static_cast<double>(5 - i); });
  run_interpreted(add_operator().untyped(), {&base}, {base, x, 2});
  EXPECT_EQ(base.values(), (std::vector<double>{10, 8, 6, 4, 2, 0}));
}

TEST(Instantiate, SeveralOutputsOfDifferentDtypesAndLayouts) {
  auto op = pointwise("both", [](auto x, auto y) { return std::tuple{x < y, x * y}; });
  Strided x(i16, {7, 5}, {5, 1}), y(i32, {5}, {1}), less(boolean, {7, 5}, {1, 7}), product(i32, {7, 5}, {5, 1});
  x.fill(first_values);
  y.fill(second_values);
  run_interpreted(op.untyped(), {&less, &product}, {x, y});
  std::vector<double> a = expanded(x, {7, 5}), b = expanded(y, {7, 5}), l = less.values(), p = product.values();
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(l[i], a[i] < b[i]);
    EXPECT_EQ(p[i], a[i] * b[i]);
  }
}

TEST(Instantiate, HalvesRoundOnce) {
  Strided x(f16, {3}, {1}), y(f16, {3}, {1}), out(f16, {3}, {1});
  x.fill([](int64_t) { return 1.0; });
  y.fill([](int64_t i) { return i == 0 ? 0x1p-11 : i == 1 ? 0x1.004p-1 : 3.0; });
  run_interpreted(add_operator().untyped(), {&out}, {x, y, 1.001});
  std::vector<double> b = y.values(), found = out.values();
  for (size_t i = 0; i < 3; ++i) {
    float exact = 1.0f + static_cast<float>(b[i]) * 1.001f;
    EXPECT_EQ(found[i], ir::double_of_bits(f16, ir::bits_of_double(f16, exact)));
  }
}

TEST(Instantiate, BoolConditionsStayBool) {
  auto op = pointwise("where", [](auto c, auto x, auto y) { return st::where(c, x, y); });
  Strided c(boolean, {10}, {1}), x(f64, {10}, {1}), out(f64, {10}, {1});
  c.fill([](int64_t i) { return static_cast<double>(i % 3 == 0); });
  x.fill(first_values);
  run_interpreted(op.untyped(), {&out}, {c, x, 7});
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(out.values()[i], i % 3 == 0 ? x.values()[i] : 7);
}

TEST(Instantiate, ZeroSizeMakesNoKernel) {
  Strided x(f32, {0, 3}, {3, 1}), y(f32, {1, 3}, {3, 1}), out(f32, {0, 3}, {3, 1});
  Planned p = run_interpreted(add_operator().untyped(), {&out}, {x, y, 1});
  EXPECT_TRUE(p.plan.empty);
  EXPECT_EQ(p.tile.size(), 0u);
}

TEST(Instantiate, WorkThatDependsOnABroadcastOperandAloneIsDoneOnce) {
  auto op = pointwise("op", [](auto x, auto y) { return st::exp(x) + y; });
  Strided x(f32, {20, 1}, {1, 1}), y(f32, {20, 64}, {64, 1}), out(f32, {20, 64}, {64, 1});
  x.fill([](int64_t) { return 0; });
  y.fill(first_values);
  std::string text = ir::print(run_interpreted(op.untyped(), {&out}, {x, y}).tile);
  EXPECT_NE(text.find("= exp"), std::string::npos);
  size_t line = text.find("= exp");
  EXPECT_NE(text.substr(line, text.find('\n', line) - line).find(", 1]"), std::string::npos) << text;
}

TEST(Instantiate, SourceSpellsOutIndicesAndStrides) {
  Strided x(f32, {1, 128}, {128, 1}), y(f32, {64, 128}, {384, 3}), out(f32, {64, 128}, {128, 1});
  x.fill(first_values), y.fill(first_values);
  std::string text = ir::print(run_interpreted(add_operator().untyped(), {&out}, {x, y, 0.5}).tile);
  for (const char* part : {"program_id axis=0", "%tiles_n: i32", "%size_m: i32", "%size_n: i32", "%out_stride_m: i32",
                           "%y_stride_m: i32", "%y_stride_n: i32", "%alpha: f64", "load", "store"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("x_stride"), std::string::npos) << text;    // broadcast along m, contiguous along n
  EXPECT_EQ(text.find("out_stride_n"), std::string::npos) << text;
}

// --- random layouts

class RandomLayouts : public ::testing::TestWithParam<int> {};

/// A random view of a dense box: permuted, reversed and stepped axes, some of them broadcast.
Strided random_view(std::mt19937& random, const Dims& shape, DType dtype, bool may_broadcast) {
  auto chance = [&](int of) { return std::uniform_int_distribution<int>(0, of - 1)(random) == 0; };
  std::vector<int> order;
  for (int k = 0; k < shape.rank(); ++k) order.push_back(k);
  if (chance(2)) std::shuffle(order.begin(), order.end(), random);
  Dims own = shape, strides = shape;
  int64_t stride = chance(4) ? 2 : 1;
  for (int k = shape.rank(); k-- > 0;) {
    int axis = order[static_cast<size_t>(k)];
    if (may_broadcast && chance(4)) own[axis] = 1;
    strides[axis] = chance(5) ? -stride : stride;
    stride *= std::max<int64_t>(own[axis], 1) + (chance(5) ? 3 : 0);
  }
  while (may_broadcast && own.rank() > 0 && own[0] == 1 && chance(2)) {
    own.erase(0);
    strides.erase(0);
  }
  return {dtype, own, strides};
}

TEST_P(RandomLayouts, EqualThePlainLoop) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int i = 0; i < 25; ++i) {
    Dims shape;
    for (int rank = std::uniform_int_distribution<int>(0, 5)(random); rank > 0; --rank)
      shape.push_back(std::uniform_int_distribution<int>(1, rank > 3 ? 4 : 9)(random));
    Strided x = random_view(random, shape, f32, true), y = random_view(random, shape, i16, true);
    Strided out = random_view(random, shape, f32, false);
    Dims broadcast = Dims::filled(std::max(x.shape().rank(), y.shape().rank()), 1);
    for (const Strided* s : {&x, &y})
      for (int k = 1; k <= s->shape().rank(); ++k)
        broadcast[broadcast.rank() - k] = std::max(broadcast[broadcast.rank() - k], s->shape()[s->shape().rank() - k]);
    if (broadcast != shape) continue;
    expect_add(x, y, out, small_target(i % 2 ? 128 : 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayouts, ::testing::Range(0, 8));

}  // namespace
}  // namespace strider::test
