// SPDX-License-Identifier: Apache-2.0
// Overlap of strided tensors, against a look at every byte.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "planner/overlap.h"
#include "tensor/shape.h"

namespace strider::planner {
namespace {

constexpr uint64_t kBase = 1 << 20;

struct View {
  int64_t first;  // in bytes after kBase
  int bytes;
  Dims shape, strides;
};

std::multiset<int64_t> bytes_of(const View& v) {
  std::multiset<int64_t> all;
  for_each_offset(v.shape, v.strides, [&](int64_t offset) {
    for (int b = 0; b < v.bytes; ++b) all.insert(v.first + offset * v.bytes + b);
  });
  return all;
}

bool touch(const View& a, const View& b) {
  auto bytes = bytes_of(a);
  for (int64_t x : bytes_of(b))
    if (bytes.count(x)) return true;
  return false;
}

bool repeats(const View& v) {
  auto bytes = bytes_of(v);
  return std::set<int64_t>(bytes.begin(), bytes.end()).size() != bytes.size();
}

Region region(const View& v) { return {kBase + static_cast<uint64_t>(v.first), v.bytes, v.shape, v.strides}; }
Answer yes(bool b) { return b ? Answer::Yes : Answer::No; }

TEST(Overlap, KnownCases) {
  View even{0, 4, {5}, {2}}, odd{4, 4, {5}, {2}}, whole{0, 4, {10}, {1}}, after{40, 4, {10}, {1}}, half{2, 4, {5}, {2}};
  View back{36, 4, {10}, {-1}}, matrix{0, 4, {3, 4}, {4, 1}}, column{4, 4, {3}, {4}}, right{8, 4, {3, 2}, {4, 1}},
      left{0, 4, {3, 2}, {4, 1}}, none{0, 4, {0, 3}, {3, 1}};
  EXPECT_EQ(overlap(region(even), region(odd)), Answer::No);  // x[::2] += x[1::2]
  EXPECT_EQ(overlap(region(even), region(half)), Answer::Yes);
  EXPECT_EQ(overlap(region(even), region(whole)), Answer::Yes);
  EXPECT_EQ(overlap(region(whole), region(after)), Answer::No);
  EXPECT_EQ(overlap(region(back), region(after)), Answer::No);
  EXPECT_EQ(overlap(region(back), region(whole)), Answer::Yes);
  EXPECT_EQ(overlap(region(matrix), region(column)), Answer::Yes);
  EXPECT_EQ(overlap(region(left), region(right)), Answer::No);
  EXPECT_EQ(overlap(region(none), region(whole)), Answer::No);
}

TEST(Overlap, ItselfInKnownCases) {
  EXPECT_EQ(overlaps_itself({3, 4}, {4, 1}), Answer::No);
  EXPECT_EQ(overlaps_itself({4, 3}, {1, 4}), Answer::No);
  EXPECT_EQ(overlaps_itself({3}, {0}), Answer::Yes);
  EXPECT_EQ(overlaps_itself({1, 5}, {0, 1}), Answer::No);
  EXPECT_EQ(overlaps_itself({4, 4}, {1, 1}), Answer::Yes);
  EXPECT_EQ(overlaps_itself({2, 3}, {3, 2}), Answer::No);  // 0 2 4 3 5 7: interleaved, but apart
  EXPECT_EQ(overlaps_itself({3, 4}, {3, 2}), Answer::Yes);  // 3 * 2 = 2 * 3
  EXPECT_EQ(overlaps_itself({}, {}), Answer::No);
  EXPECT_EQ(overlaps_itself({0, 3}, {0, 0}), Answer::No);
}

class RandomViews : public ::testing::TestWithParam<int> {};

TEST_P(RandomViews, AgreeWithEveryByte) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  auto view = [&] {
    View v{number(0, 40), 1 << number(0, 2), {}, {}};
    for (int rank = number(0, 3); rank > 0; --rank) {
      v.shape.push_back(number(1, 4));
      v.strides.push_back(number(-7, 7));
    }
    return v;
  };
  for (int i = 0; i < 400; ++i) {
    View a = view(), b = view();
    EXPECT_EQ(overlap(region(a), region(b)), yes(touch(a, b)))
        << a.first << to_string(a.shape) << to_string(a.strides) << b.first << to_string(b.shape) << to_string(b.strides);
    EXPECT_EQ(overlaps_itself(a.shape, a.strides), yes(repeats(a))) << to_string(a.shape) << to_string(a.strides);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomViews, ::testing::Range(0, 5));

TEST(Overlap, TheSearchIsBounded) {
  // Coefficients without a common divisor, of which no small combination hits the target.
  std::vector<Term> terms;
  for (int64_t k = 0; k < 24; ++k) terms.push_back({1'000'003 + 2 * 77'773 * k, 100});
  EXPECT_EQ(has_solution(terms, 1'234'567'891, 1000), Answer::Undecided);
  std::vector<Term> small{{6, 100}, {10, 100}, {15, 100}};
  EXPECT_EQ(has_solution(small, 29, 1000), Answer::No);
  EXPECT_EQ(has_solution(small, 31, 1000), Answer::Yes);
}

}  // namespace
}  // namespace strider::planner
