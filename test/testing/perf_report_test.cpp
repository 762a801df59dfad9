// SPDX-License-Identifier: Apache-2.0
// perf_report: the points that it asks for, and its table, CSV, JSON and picture.
#include <strider/testing/report.h>

#include <gtest/gtest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/cache_folder.h"
#include "support/errors.h"
#include "testing/plot.h"

namespace strider {
namespace {

using strider::testing::Measured;
using strider::testing::perf_report;
using strider::testing::Point;
using strider::testing::Report;
using strider::testing::ReportOptions;
using support::error_of;

ReportOptions options() {
  return {
      .name = "sum", .x_names = {"n", "block"}, .x_values = {{1024, 128}, 64}, .lines = {"ours", "a, \"b\""}, .y_label = "GB/s"};
}

Report sample() {
  return perf_report(options(), [](const Point& p) -> Measured {
    if (p.line() != "ours" && p["n"] == 64) return {};
    double value = static_cast<double>(p["n"] + p["block"]) + (p.line() == "ours" ? 0 : 0.5);
    return {value, value - 1, value + 2};
  });
}

TEST(PerfReport, AsksLineByLine) {
  std::string order;
  perf_report(options(), [&](const Point& p) {
    order += fmt::format("{}/{}/{} ", p["n"], p["block"], p.line()[0]);
    return 1.0;
  });
  EXPECT_EQ(order, "1024/128/o 1024/128/a 64/64/o 64/64/a ");
}

TEST(PerfReport, TheTableLinesUp) {
  EXPECT_EQ(sample().text(),
            "sum:\n"
            "     n  block  ours (GB/s)  a, \"b\" (GB/s)\n"
            "  1024    128       1152.0         1152.5\n"
            "    64     64        128.0              -\n");
}

TEST(PerfReport, Csv) {
  EXPECT_EQ(sample().csv(),
            "n,block,ours (GB/s),ours (GB/s) low,ours (GB/s) high,\"a, \"\"b\"\" (GB/s)\",\"a, \"\"b\"\" (GB/s) low\",\"a, "
            "\"\"b\"\" (GB/s) high\"\n"
            "1024,128,1152,1151,1154,1152.5,1151.5,1154.5\n"
            "64,64,128,127,130,,,\n");
}

TEST(PerfReport, Json) {
  auto j = nlohmann::json::parse(sample().json());
  EXPECT_EQ(j["name"], "sum");
  EXPECT_EQ(j["points"][0]["x"]["block"], 128);
  EXPECT_EQ(j["points"][0]["values"]["ours"]["high"], 1154);
  EXPECT_TRUE(j["points"][1]["values"]["a, \"b\""]["value"].is_null());
}

TEST(PerfReport, NumbersFromTimes) {
  strider::testing::BenchResult t{.median = 2, .samples = {1, 2, 4}};
  EXPECT_EQ(Measured::rate(t, 4'000'000).value, 2);
  EXPECT_LE(Measured::rate(t, 4'000'000).low, 2);
  EXPECT_GE(Measured::rate(t, 4'000'000).high, 2);
  EXPECT_EQ(Measured::time(t).value, 2);
  EXPECT_LT(Measured::time(t).low, Measured::time(t).high);
}

TEST(PerfReport, ThePictureHasAxesAndBands) {
  ReportOptions o = options();
  o.x_log = o.y_log = true;
  std::string program = Report(o, {{{1, 0.5, 2}, 3}, {2, 4}}).plot_program("a.svg");
  for (const char* part :
       {"set logscale x 2", "set logscale y", "filledcurves", "1024 1 0.5 2\n", "title 'ours'", "set ylabel 'GB/s'"})
    EXPECT_NE(program.find(part), std::string::npos) << part;
}

TEST(PerfReport, Saves) {
  test::TempFolder folder;
  std::string inner = (folder.path() / "new" / "folder").string();
  sample().save(inner);
  std::ostringstream text;
  text << std::ifstream(inner + "/sum.csv").rdbuf();
  EXPECT_EQ(text.str(), sample().csv());
  EXPECT_TRUE(std::filesystem::exists(inner + "/sum.json"));
  EXPECT_EQ(std::filesystem::exists(inner + "/sum.svg"), testing::can_plot());
  if (testing::can_plot()) { EXPECT_GT(std::filesystem::file_size(inner + "/sum.svg"), 2000u); }
  EXPECT_NE(error_of([] { sample().save("/proc/none"); }).find("cannot be written"), std::string::npos);
}

TEST(PerfReport, SaysWhatIsWrong) {
  auto with = [](auto change) {
    ReportOptions o = options();
    change(o);
    return error_of([&] { perf_report(o, [](const Point& p) { return p.number("x"); }); });
  };
  EXPECT_EQ(with([](auto&) {}), "the report sum has no x on its x axis; there are n, block");
  EXPECT_EQ(with([](auto& o) { o.x_values = {{1, 2, 3}}; }), "the report sum: an x value has 3 numbers, expected 2 (n, block)");
  EXPECT_EQ(with([](auto& o) { o.x_values.clear(); }), "the report sum has no x values");
  EXPECT_EQ(with([](auto& o) { o.lines.clear(); }), "the report sum has no lines");
}

}  // namespace
}  // namespace strider
