// SPDX-License-Identifier: Apache-2.0
#include "suites/command.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "suites/suites.h"
#include "testing/plot.h"
#include "testing/report.h"
#include "testing/table.h"

#include <strider/device.h>

namespace strider::bench {
namespace {

using testing::Row;

constexpr const char* kAbout =
    "Times are medians over many samples, taken in turn with those of what a case is compared with; +- is half the distance\n"
    "between the 20th and the 80th percentile. A sample is a batch of calls of 3 ms or more by the steady clock, from an idle\n"
    "device to an idle device; successive calls go round three sets of tensors, unless one is far larger than any cache.\n"
    "GB/s counts each input and output once. copy is Strider's identity kernel on f32 moving as many bytes with the same kind\n"
    "of stores, and 'of copy' is GB/s by its GB/s; memcpy is the C library's, each thread copying one part. Quotients are\n"
    "medians over rounds, in each of which both were timed.\n"
    "Large tensors have 2^24 and 2^27 elements (2^26 on a GPU). The compile suite times single calls, each of a new operator;\n"
    "processor is what all threads of the process worked meanwhile. --plot needs gnuplot.";

const Suite& suite_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Suite& s : kSuites) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  user_error("there is no suite {}; there are {}", name, fmt::join(names, ", "));
}

std::vector<const Suite*> wanted(const Request& r) {
  std::vector<const Suite*> list;
  for (const std::string& name : r.suites) list.push_back(&suite_named(name));
  if (list.empty())
    for (const Suite& s : kSuites) list.push_back(&s);
  return list;
}

testing::Choices choices(const Request& r) {
  testing::Choices c{.device = r.device, .quick = r.quick};
  if (r.threads > 0) c.threads = {r.threads};
  for (const std::string& name : r.dtypes) {
    auto dtype = dtype_named(name);
    if (!dtype) user_error("--dtype {}: there is no such dtype", name);
    c.dtypes.push_back(*dtype);
  }
  return c;
}

/// A file to be written at the end. That it cannot be is an error now, not after minutes of measuring.
class Report {
 public:
  explicit Report(const std::string& path) : path_(path) {
    if (path_.empty()) return;
    file_.open(path_);
    if (!file_) user_error("{} cannot be written", path_);
  }
  template <class Text>
  void write(const Text& text) {
    if (path_.empty()) return;
    file_ << text();
    if (!file_.flush()) user_error("{} cannot be written", path_);
  }

 private:
  std::string path_;
  std::ofstream file_;
};

std::string json_text(const Request& r, std::span<const Row> rows, std::string_view peer_name) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) list.push_back(testing::json_of(row, r.device, peer_name));
  return list.dump(1) + "\n";
}

std::string markdown_text(const std::string& title, std::span<const Row> rows, std::string_view peer_name) {
  return fmt::format("{}\n\n{}", title, testing::markdown_of(rows, peer_name));
}

std::vector<Row> run_suite(testing::Runner& runner, const Suite& suite, std::string_view peer_name) {
  runner.begin_suite(suite.name);
  suite.run(runner);
  runner.progress().clear();
  std::vector<Row> rows = runner.take_rows();
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.threads < b.threads; });
  fmt::print("\n{}: {}\n{}", suite.name, suite.about, testing::table_of(rows, peer_name));
  for (const std::string& note : runner.take_notes()) fmt::print("{}\n", note);
  std::fflush(stdout);
  return rows;
}

std::string suites_text() {
  testing::Table table("ll");
  for (const Suite& s : kSuites) table.add({std::string(s.name), std::string(s.about)});
  return table.text();
}

}  // namespace

std::shared_ptr<Request> add_options(CLI::App& command) {
  auto request = std::make_shared<Request>();
  command.footer(fmt::format("Suites:\n{}\n{}", suites_text(), kAbout));
  command.add_option("SUITE", request->suites, "Suites to run, see below; all of them if none is named");
  command.add_option("--dtype", request->dtypes, "Of the tensors, where a case works with any: f32 if not given")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--threads", request->threads, "Threads on a CPU; if not given, one and then all processors")
      ->check(CLI::Range(1, 1024));
  command.add_option("--json", request->json, "Write the figures to this file");
  command.add_option("--plot", request->plot, "Draw them, to a file that ends in .svg or .png");
  command.add_option("--markdown", request->markdown, "Write those of the largest tensors to this file, as a table");
  command.add_flag("--quick", request->quick, "Fewer samples and smaller tensors: less than a minute for all, and more noise");
  return request;
}

void run(const Request& r, testing::Peer* peer) {
  std::vector<const Suite*> suites = wanted(r);
  std::string_view peer_name = peer ? peer->name() : "";
  std::string title = fmt::format("{}: {}", r.device, describe_device(r.device));
  Report json(r.json), markdown(r.markdown);
  if (!r.plot.empty()) testing::check_plot(r.plot);
  fmt::print("{}\n", title);
  testing::Progress progress;
  testing::Runner runner(choices(r), progress, peer);
  std::vector<Row> all;
  for (const Suite* suite : suites) {
    std::vector<Row> rows = run_suite(runner, *suite, peer_name);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (peer) fmt::print("\nwhat should be reached\n{}", testing::gate_of(all, peer_name));
  json.write([&] { return json_text(r, all, peer_name); });
  markdown.write([&] { return markdown_text(title, all, peer_name); });
  if (!r.plot.empty()) testing::plot(all, r.plot, title, peer_name);
}

}  // namespace strider::bench
