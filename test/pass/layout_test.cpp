// SPDX-License-Identifier: Apache-2.0
// The canonical layout: who owns what, over many shapes, vectors and programs.
#include "pass/lanes/layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace strider::pass {
namespace {

using ir::Shape;
using Index = std::vector<int64_t>;

const Shape kSpaces[] = {{},      {2},       {3},       {8},        {17},      {128},    {300},
                         {2, 2},  {3, 5},    {16, 16},  {5, 33},    {33, 5},   {256, 2}, {2, 300},
                         {7, 64}, {2, 3, 5}, {4, 4, 4}, {3, 16, 2}, {9, 2, 17}};
constexpr int64_t kLanes[] = {1, 4, 64};
constexpr int64_t kThreads[] = {1, 4, 128};

/// A place in the layout.
struct Place {
  Index slot;  // along each axis
  int64_t thread, lane;
};

Index index_at(const Layout& l, const Place& p) {
  Index index;
  for (int d = 0; d < l.rank(); ++d) {
    int64_t inside = (p.thread * l.lanes + p.lane) / l.stride[d] & (l.padded[d] - 1);
    index.push_back(p.slot[static_cast<size_t>(d)] * l.unit[d] + inside);
  }
  return index;
}

/// The element by the formula that layout.h states.
Index index_by_formula(const Layout& l, const Place& p) {
  int64_t slot = 0;
  for (int d = 0; d < l.rank(); ++d) slot = slot * (l.padded[d] / l.unit[d]) + p.slot[static_cast<size_t>(d)];
  int64_t element = (slot * l.threads + p.thread) * l.lanes + p.lane;
  Index index;
  for (int d = 0; d < l.rank(); ++d) index.push_back(element / l.stride[d] & (l.padded[d] - 1));
  return index;
}

bool is_inside(const Layout& l, const Index& index) {
  for (int d = 0; d < l.rank(); ++d)
    if (index[static_cast<size_t>(d)] >= l.space[d]) return false;
  return true;
}

void for_each_slot(const Layout& l, const std::function<void(const Index&)>& visit) {
  Index slot(static_cast<size_t>(l.rank()), 0);
  for (int64_t n = 0; n < l.slot_count(); ++n) {
    visit(slot);
    for (int d = l.rank() - 1; d >= 0 && ++slot[static_cast<size_t>(d)] == l.slots[d]; --d) slot[static_cast<size_t>(d)] = 0;
  }
}

void for_each_place(const Layout& l, const Index& slot, const std::function<void(const Place&)>& visit) {
  for (int64_t thread = 0; thread < l.threads; ++thread)
    for (int64_t lane = 0; lane < l.lanes; ++lane) visit({slot, thread, lane});
}

void for_each_layout(const std::function<void(const Layout&)>& check) {
  for (const Shape& space : kSpaces)
    for (int64_t lanes : kLanes)
      for (int64_t threads : kThreads) {
        SCOPED_TRACE(fmt::format("{} by {} threads of {} lanes", to_string(space), threads, lanes));
        check(make_layout(space, lanes, threads));
        if (::testing::Test::HasFailure()) return;
      }
}

TEST(Layout, EveryElementHasOneOwner) {
  for_each_layout([](const Layout& l) {
    std::map<Index, int> owners;
    for_each_slot(l, [&](const Index& slot) {
      for_each_place(l, slot, [&](const Place& p) {
        if (Index index = index_at(l, p); is_inside(l, index)) ++owners[index];
      });
    });
    EXPECT_EQ(static_cast<int64_t>(owners.size()), l.space.elements());
    for (const auto& [index, count] : owners) EXPECT_EQ(count, 1);
  });
}

TEST(Layout, SlotsWithoutElementsAreNotVisited) {
  for_each_layout([](const Layout& l) {
    for_each_slot(l, [&](const Index& slot) {
      bool any = false;
      for_each_place(l, slot, [&](const Place& p) { any |= is_inside(l, index_at(l, p)); });
      EXPECT_TRUE(any);
    });
  });
}

TEST(Layout, CountsElementsInRowMajorOrderOfThePaddedSpace) {
  for_each_layout([](const Layout& l) {
    for_each_slot(l, [&](const Index& slot) {
      for_each_place(l, slot, [&](const Place& p) { EXPECT_EQ(index_at(l, p), index_by_formula(l, p)); });
    });
  });
}

TEST(Layout, AxesAreRaggedWhereSlotsReachBeyondThem) {
  for_each_layout([](const Layout& l) {
    bool any = false;
    for (int d = 0; d < l.rank(); ++d) {
      bool reaches_beyond = l.slots[d] * l.unit[d] > l.space[d];
      EXPECT_EQ(l.is_ragged(d), reaches_beyond) << d;
      any |= reaches_beyond;
    }
    EXPECT_EQ(l.is_ragged(), any);
  });
}

TEST(Layout, NeverHasMoreLanesAndThreadsThanThePaddedSpaceHasElements) {
  for_each_layout([](const Layout& l) {
    int64_t elements = 1;
    for (int d = 0; d < l.rank(); ++d) elements *= l.padded[d];
    EXPECT_LE(l.lanes * l.threads, elements);
    EXPECT_EQ(l.kept_elements(), l.slot_count() * l.lanes);
  });
}

TEST(Layout, LanesAndThreadsRunAlongTheLastAxisFirst) {
  Layout l = make_layout({4, 64}, 8, 4);
  EXPECT_EQ(l.unit[0], 1);
  EXPECT_EQ(l.unit[1], 32);
  EXPECT_EQ(l.slots[0], 4);
  EXPECT_EQ(l.slots[1], 2);
}

TEST(Layout, PowersOfTwo) {
  EXPECT_EQ(round_up_to_power(1), 1);
  EXPECT_EQ(round_up_to_power(5), 8);
  EXPECT_EQ(round_up_to_power(64), 64);
  EXPECT_EQ(log2_of(1), 0);
  EXPECT_EQ(log2_of(64), 6);
}

}  // namespace
}  // namespace strider::pass
