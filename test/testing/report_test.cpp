// SPDX-License-Identifier: Apache-2.0
// Rows as tables, JSON, aims and pictures; and that the cases of the benchmarks can run.
#include "testing/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suites/cases.h"
#include "testing/plot.h"

#include <strider/error.h>

namespace strider::inline v0::testing {
namespace {

Row row_of(std::string name, double ms, double copy_ms, Aim aim = {}) {
  return {.suite = "pointwise", .name = std::move(name), .dtype = "f32", .threads = 1, .elements = 1 << 24, .bytes = 192'000'000,
          .times = {{ms / 1e3}}, .copy = {{copy_ms / 1e3}}, .memcpy_gbps = 30, .aim = aim};
}

Row beside_peer(double ms, double peer_ms, Aim aim) {
  Row row = row_of("tanh", ms, 4, aim);
  row.peer = {{peer_ms / 1e3}};
  return row;
}

TEST(Report, JsonHasWhatWasMeasured) {
  nlohmann::json j = json_of(beside_peer(5, 20, {}), "cpu", "libtorch");
  EXPECT_EQ(j["suite"], "pointwise");
  EXPECT_EQ(j["case"], "tanh");
  EXPECT_EQ(j["dtype"], "f32");
  EXPECT_EQ(j["device"], "cpu");
  EXPECT_EQ(j["threads"], 1);
  EXPECT_EQ(j["elements"], 1 << 24);
  EXPECT_EQ(j["bytes"], 192'000'000);
  EXPECT_NEAR(j["ms"], 5, 1e-9);
  EXPECT_NEAR(j["gbps"], 38.4, 1e-9);
  EXPECT_NEAR(j["copy_gbps"], 48, 1e-9);
  EXPECT_NEAR(j["fraction"], 0.8, 1e-9);
  EXPECT_NEAR(j["peers"]["libtorch"]["ms"], 20, 1e-9);
  EXPECT_NEAR(j["peers"]["libtorch"]["gbps"], 9.6, 1e-9);
}

TEST(Report, WhatWasNotMeasuredIsNull) {
  Row row{.suite = "compile", .name = "1 op", .times = {{0.01}}};
  nlohmann::json j = json_of(row, "cpu");
  EXPECT_TRUE(j["gbps"].is_null() && j["copy_gbps"].is_null() && j["fraction"].is_null());
  EXPECT_TRUE(j["peers"].empty());
}

TEST(Report, TablesHaveNoEmptyColumns) {
  std::string text = table_of(std::vector{row_of("add", 5, 4)});
  EXPECT_NE(text.find("of copy"), std::string::npos);
  EXPECT_NE(text.find("0.80"), std::string::npos);
  EXPECT_NE(text.find("2^24"), std::string::npos);
  EXPECT_EQ(text.find("processor"), std::string::npos);
}

TEST(Report, AimsAreReachedAtTheDigitsShown) {
  EXPECT_TRUE(is_reached(row_of("add", 4.2, 4, {Aim::OfCopy, 0.95})));    // 0.952
  EXPECT_TRUE(is_reached(row_of("add", 4.22, 4, {Aim::OfCopy, 0.95})));   // 0.948, shown as 0.95
  EXPECT_FALSE(is_reached(row_of("add", 4.3, 4, {Aim::OfCopy, 0.95})));   // 0.93
  EXPECT_TRUE(is_reached(beside_peer(1, 3, {Aim::TimesPeer, 2.5})));
  EXPECT_FALSE(is_reached(beside_peer(1, 2, {Aim::TimesPeer, 2.5})));
  EXPECT_TRUE(is_reached(beside_peer(1, 3, {Aim::OfPeersTime, 0.35})));
  EXPECT_FALSE(is_reached(beside_peer(1, 2, {Aim::OfPeersTime, 0.35})));
  EXPECT_TRUE(is_reached(row_of("first call", 29, 4, {Aim::Milliseconds, 30})));
  EXPECT_FALSE(is_reached(row_of("first call", 31, 4, {Aim::Milliseconds, 30})));
}

TEST(Report, TheGateJoinsTheRowsOfACase) {
  std::vector<Row> rows{row_of("add", 4.1, 4, {Aim::OfCopy, 0.95}), row_of("add", 8, 4, {Aim::OfCopy, 0.95}),
                        row_of("abs", 4, 4, {Aim::OfCopy, 0.95}), row_of("copy", 4, 4)};
  std::string text = gate_of(rows, "libtorch");
  EXPECT_NE(text.find("2^24 1t: 0.98, 2^24 1t: 0.50 !"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 aims reached"), std::string::npos) << text;
  EXPECT_EQ(text.find("copy f32"), std::string::npos) << text;
}

TEST(Report, AnAimWithoutAPeerIsNotJudged) {
  EXPECT_FALSE(has_aim(row_of("exp", 1, 1, {Aim::TimesPeer, 2})));
  EXPECT_TRUE(has_aim(beside_peer(1, 1, {Aim::TimesPeer, 2})));
}

TEST(Plot, TextIsNeverAProgram) {
  EXPECT_EQ(quoted("it's `touch x`\n"), "'it''s `touch x` '");  // single quotes: nothing is expanded
}

TEST(Plot, TheProgramHoldsTheRows) {
  std::vector<Row> rows{row_of("add", 5, 4), row_of("add, curve", 5, 4)};
  std::string text = plot_program(rows, "a.svg", "title");
  EXPECT_NE(text.find("0 \"add\" 38.400 48.000 NaN"), std::string::npos) << text;
  EXPECT_NE(text.find("16777216 38.400 48.000"), std::string::npos) << text;
  EXPECT_NE(text.find("set terminal svg"), std::string::npos);
}

TEST(Plot, OtherEndingsAreRefused) { EXPECT_THROW(check_plot("a.pdf"), Error); }

TEST(Plot, NothingToDrawIsAnError) {
  std::vector<Row> rows{{.suite = "compile", .name = "1 op", .times = {{0.01}}}};
  EXPECT_THROW(plot_program(rows, "a.svg", ""), Error);
}

// --- the cases

TEST(Cases, RunAndCountTheirBytes) {
  Progress progress;
  Runner runner({}, progress);
  for (auto list : {bench::pointwise_cases(), bench::layout_cases(), bench::math_cases()})
    for (const bench::Case& c : list) {
      Work work = bench::work_of(runner, c, f32, 1 << 20);
      work.call(0);
      EXPECT_GE(work.bytes, work.elements * size_of(*dtype_named(work.dtype))) << c.name;
      EXPECT_EQ(static_cast<bool>(work.reference), c.allocates) << c.name;
    }
}

TEST(Cases, BroadcastOperandsCountOnce) {
  Progress progress;
  Runner runner({}, progress);
  for (const bench::Case& c : bench::layout_cases())
    if (c.name == "(N,1) + (1,M)") {
      EXPECT_EQ(bench::work_of(runner, c, f32, 1 << 20).bytes, (2 * 1024 + (1 << 20)) * 4);
    }
}

TEST(Runner, TimesWorkBesideACopyWithTheSameStores) {
  Progress progress;
  Runner runner({.quick = true, .threads = {1}}, progress);
  runner.begin_suite("own");
  runner.use_threads(1);
  for (bool streaming : {false, true}) {
    Call nothing = [](int64_t) {};
    runner.time({.name = "work", .dtype = "f32", .elements = 1000, .bytes = 8000, .streaming = streaming, .call = nothing});
  }
  std::vector<Row> rows = runner.take_rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].suite, "own");
  EXPECT_TRUE(rows[0].has_copy() && rows[1].has_copy());
}

}  // namespace
}  // namespace strider::v0::testing
