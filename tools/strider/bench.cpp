// SPDX-License-Identifier: Apache-2.0
// `strider bench`: runs suites, prints a table of each, writes all figures as JSON.
#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/version.h"
#include "commands.h"
#include "suites.h"
#include "testing/table.h"

#include <strider/device.h>

namespace strider::tool {
namespace {

constexpr const char* kAbout =
    "Every row is the median of many samples; +- is half the distance between the 20th and the 80th percentile. A row's\n"
    "baseline is timed alternately with it, in the same run: ratio is the baseline's time by its own, per byte, the median\n"
    "of neighbouring samples. Baselines are Strider's own kernels: copy, the identity, moves the same bytes; read or-s\n"
    "together the words of each block as integers and stores one word a program.\n"
    "Samples are taken by the steady clock from an idle device to an idle device, around a batch of calls that lasts 3 ms\n"
    "or more; successive calls go round three sets of tensors. GB/s counts each input and output once. The compile suite\n"
    "times single calls, each of a new operator; processor is what all threads of the process worked meanwhile.";

struct Request {
  std::vector<std::string> suites;
  std::string device = "cpu", json;
  int threads = 0;
  bool quick = false;
};

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

// --- JSON

nlohmann::json json_of(const timing::Times& t) {
  return {{"median_s", t.median()},
          {"p20_s", t.quantile(0.2)},
          {"p80_s", t.quantile(0.8)},
          {"least_s", t.quantile(0)},
          {"samples_s", t.samples}};
}

nlohmann::json json_of(std::string_view suite, const Row& row) {
  nlohmann::json j{{"suite", suite}, {"case", row.name}, {"time", json_of(row.times)}};
  if (row.bytes > 0) j.update({{"bytes", row.bytes}, {"gb_per_s", timing::gigabytes_per_second(row.bytes, row.times)}});
  if (!row.baseline_name.empty())
    j.update({{"baseline", row.baseline_name}, {"baseline_time", json_of(row.baseline)}, {"ratio", row.ratio}});
  if (!row.processor.samples.empty()) j["processor_time"] = json_of(row.processor);
  return j;
}

void write(const nlohmann::json& report, const std::string& path) {
  std::ofstream file(path);
  file << report.dump(1) << "\n";
  if (!file.flush()) user_error("{} cannot be written", path);
}

// --- the command

void bench(const Request& r) {
  if (r.threads > 0) ::setenv("STRIDER_THREADS", std::to_string(r.threads).c_str(), 1);  // read at the first launch
  std::vector<const Suite*> list = wanted(r);
  nlohmann::json report{{"strider", kVersion},
                        {"device", r.device},
                        {"description", describe_device(r.device)},
                        {"rows", nlohmann::json::array()}};
  fmt::print("{}: {}\n", r.device, describe_device(r.device));
  for (const Suite* suite : list) {
    timing::Progress progress;
    Runner runner(r.device, r.quick, progress);
    suite->run(runner);
    progress.clear();
    std::vector<Row> rows = runner.take_rows();
    fmt::print("\n{}: {}\n{}", suite->name, suite->about, timing::table_of(rows));
    std::fflush(stdout);
    for (const Row& row : rows) report["rows"].push_back(json_of(suite->name, row));
  }
  if (!r.json.empty()) write(report, r.json);
}

std::string suites_text() {
  timing::Table table("ll");
  for (const Suite& s : kSuites) table.add({std::string(s.name), std::string(s.about)});
  return table.text();
}

}  // namespace

void add_bench(CLI::App& app) {
  auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("bench", "Time operators, kernels and compilation, beside baselines");
  command->footer(fmt::format("Suites:\n{}\n{}", suites_text(), kAbout));
  command->add_option("SUITE", request->suites, "Suites to run, see below; all of them if none is named");
  command->add_option("--device", request->device, "cpu, cuda or cuda:1; strider info lists what there is")
      ->capture_default_str();
  command->add_option("--threads", request->threads, "Threads on a CPU; all processors if not given")->check(CLI::Range(1, 1024));
  command->add_option("--json", request->json, "Write every sample to this file");
  command->add_flag("--quick", request->quick, "Fewer samples: an eighth of the time, and more noise");
  command->callback([request] { bench(*request); });
}

}  // namespace strider::tool
