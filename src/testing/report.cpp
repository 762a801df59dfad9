// SPDX-License-Identifier: Apache-2.0
#include "testing/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include "testing/table.h"

namespace strider::inline v0::testing {

// --- words

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string count_text(int64_t count) {
  bool is_power = count >= 1024 && std::has_single_bit(static_cast<uint64_t>(count));
  return is_power ? fmt::format("2^{}", std::countr_zero(static_cast<uint64_t>(count))) : fmt::format("{}", count);
}

namespace {

std::string threads_text(int threads) { return threads == 1 ? "1 thread" : fmt::format("{} threads", threads); }

std::string heading(const Row& row) { return row.threads > 0 ? threads_text(row.threads) + "\n" : ""; }

std::string spread_text(const Times& t) {
  if (t.samples.size() < 2) return "";
  return fmt::format("{:.0f}%", 50 * (t.quantile(0.8) - t.quantile(0.2)) / t.median());
}

std::string number_text(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value); }

}  // namespace

// --- tables

namespace {

/// A column: its title and a row's cell, empty where the row has none.
struct Column {
  std::string title;
  std::string (*cell)(const Row&);
};

std::vector<Column> columns(std::string_view peer_name) {
  std::vector<Column> list{
      {"case", [](const Row& r) { return r.name; }},
      {"dtype", [](const Row& r) { return r.dtype; }},
      {"elements", [](const Row& r) { return r.elements > 0 ? count_text(r.elements) : ""; }},
      {"time", [](const Row& r) { return time_text(r.times.median()); }},
      {"+-", [](const Row& r) { return spread_text(r.times); }},
      {"processor", [](const Row& r) { return r.processor.samples.empty() ? "" : time_text(r.processor.median()); }},
      {"GB/s", [](const Row& r) { return r.bytes > 0 ? fmt::format("{:.1f}", r.gbps()) : ""; }},
      {"copy", [](const Row& r) { return r.has_copy() ? fmt::format("{:.1f}", r.copy_gbps()) : ""; }},
      {"memcpy", [](const Row& r) { return r.memcpy_gbps > 0 ? fmt::format("{:.1f}", r.memcpy_gbps) : ""; }},
      {"of copy", [](const Row& r) { return r.has_copy() ? fmt::format("{:.2f}", r.fraction()) : ""; }},
  };
  if (!peer_name.empty()) {
    list.push_back({std::string(peer_name), [](const Row& r) { return r.has_peer() ? time_text(r.peer.median()) : ""; }});
    list.push_back({fmt::format("x {}", peer_name),
                    [](const Row& r) { return r.has_peer() ? number_text(r.times_peer()) : ""; }});
  }
  list.push_back({"", [](const Row& r) {
    return r.reference_name.empty() ? "" : fmt::format("{:.2f} of {}", r.of_reference(), r.reference_name);
  }});
  return list;
}

/// Columns in which no row has anything are left out.
std::string table(std::span<const Row> rows, std::string_view peer_name) {
  std::vector<std::vector<std::string>> lines(rows.size() + 1);
  std::string alignment;
  for (const Column& column : columns(peer_name)) {
    std::vector<std::string> cells;
    for (const Row& row : rows) cells.push_back(column.cell(row));
    if (std::all_of(cells.begin(), cells.end(), [](const std::string& c) { return c.empty(); })) continue;
    alignment += column.title == "case" || column.title == "dtype" || column.title.empty() ? 'l' : 'r';
    lines[0].push_back(column.title);
    for (size_t k = 0; k < cells.size(); ++k) lines[k + 1].push_back(cells[k]);
  }
  Table result(alignment);
  for (auto& line : lines) result.add(std::move(line));
  return result.text();
}

}  // namespace

std::string table_of(std::span<const Row> rows, std::string_view peer_name) {
  std::string text;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].threads == rows[begin].threads) ++end;
    text += heading(rows[begin]) + table(rows.subspan(begin, end - begin), peer_name);
    begin = end;
  }
  return text;
}

// --- the largest of each case

namespace {

bool is_same_case(const Row& a, const Row& b) { return a.suite == b.suite && a.name == b.name && a.dtype == b.dtype; }

}  // namespace

bool is_curve(const Row& row) { return row.name.ends_with("curve"); }

std::vector<const Row*> largest(std::span<const Row> rows) {
  std::vector<const Row*> list;
  for (const Row& row : rows) {
    auto found = std::find_if(list.begin(), list.end(), [&](const Row* r) { return is_same_case(*r, row); });
    if (found == list.end()) list.push_back(&row);
    else if (std::pair(row.threads, row.elements) > std::pair((*found)->threads, (*found)->elements)) *found = &row;
  }
  return list;
}

std::string markdown_of(std::span<const Row> rows, std::string_view peer_name) {
  std::string text = "| case | dtype | elements | threads | time | GB/s | of copy |";
  std::string line = "| --- | --- | ---: | ---: | ---: | ---: | ---: |";
  if (!peer_name.empty()) text += fmt::format(" times {} |", peer_name), line += " ---: |";
  text += "\n" + line + "\n";
  for (const Row* r : largest(rows)) {
    if (!r->has_copy() || is_curve(*r)) continue;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {:.1f} | {:.2f} |", r->name, r->dtype, count_text(r->elements), r->threads,
                        time_text(r->times.median()), r->gbps(), r->fraction());
    if (!peer_name.empty()) text += r->has_peer() ? fmt::format(" {} |", number_text(r->times_peer())) : " |";
    text += "\n";
  }
  return text;
}

// --- JSON

nlohmann::json json_of(const Row& row, std::string_view device, std::string_view peer_name) {
  nlohmann::json j{{"suite", row.suite},
                   {"case", row.name},
                   {"dtype", row.dtype},
                   {"device", device},
                   {"threads", row.threads},
                   {"elements", row.elements},
                   {"bytes", row.bytes},
                   {"ms", row.milliseconds()},
                   {"p20_ms", row.times.quantile(0.2) * 1e3},
                   {"p80_ms", row.times.quantile(0.8) * 1e3},
                   {"samples", row.times.samples.size()},
                   {"gbps", nullptr},
                   {"copy_gbps", nullptr},
                   {"fraction", nullptr},
                   {"peers", nlohmann::json::object()}};
  if (row.bytes > 0) j["gbps"] = row.gbps();
  if (row.has_copy()) j.update({{"copy_gbps", row.copy_gbps()}, {"fraction", row.fraction()}});
  if (row.memcpy_gbps > 0) j["memcpy_gbps"] = row.memcpy_gbps;
  if (!row.reference_name.empty()) j["reference"] = {{"name", row.reference_name}, {"ms", row.reference.median() * 1e3}};
  if (!row.processor.samples.empty()) j["processor_ms"] = row.processor.median() * 1e3;
  if (row.has_peer()) {
    nlohmann::json peer{{"ms", row.peer.median() * 1e3}};
    if (row.bytes > 0) peer["gbps"] = gigabytes_per_second(row.bytes, row.peer);
    j["peers"][std::string(peer_name)] = peer;
  }
  return j;
}

// --- aims

namespace {

struct Rule {
  const char* text;  // of the value, the peer and the reference
  bool is_limit;     // what is seen should not exceed the value
  bool (*is_known)(const Row&);
  double (*seen)(const Row&);
};

bool has_reference(const Row& r) { return !r.reference_name.empty(); }
bool is_anything(const Row&) { return true; }

constexpr Rule kRules[] = {  // by Aim::Kind
    {"", false, [](const Row&) { return false; }, [](const Row&) { return 0.0; }},
    {"{0:.2f} of copy", false, [](const Row& r) { return r.has_copy(); }, [](const Row& r) { return r.fraction(); }},
    {"{0:.2f} of {2}", false, has_reference, [](const Row& r) { return r.of_reference(); }},
    {"{0} x {1}", false, [](const Row& r) { return r.has_peer(); }, [](const Row& r) { return r.times_peer(); }},
    {"{0:.2f} of {1}'s time", true, [](const Row& r) { return r.has_peer(); }, [](const Row& r) { return 1 / r.times_peer(); }},
    {"{0} ms", true, is_anything, [](const Row& r) { return r.milliseconds(); }},
};
static_assert(std::size(kRules) == Aim::Milliseconds + 1);

const Rule& rule(const Row& row) { return kRules[row.aim.kind]; }

std::string aim_text(const Row& row, std::string_view peer_name) {
  return fmt::format(fmt::runtime(rule(row).text), row.aim.value, peer_name, row.reference_name);
}

std::string place_text(const Row& row) {
  std::string place = row.threads > 0 ? fmt::format("{}t", row.threads) : "";
  return row.aim.kind == Aim::Milliseconds || row.elements == 0 ? place : fmt::format("{} {}", count_text(row.elements), place);
}

}  // namespace

bool has_aim(const Row& row) { return rule(row).is_known(row); }
double seen(const Row& row) { return rule(row).seen(row); }

/// What was seen counts with the digits in which it is shown.
bool is_reached(const Row& row) {
  double value = std::round(seen(row) * 100) / 100;
  return rule(row).is_limit ? value <= row.aim.value : value >= row.aim.value;
}

std::string gate_of(std::span<const Row> rows, std::string_view peer_name) {
  std::vector<std::vector<const Row*>> cases;
  for (const Row& row : rows) {
    if (!has_aim(row)) continue;
    auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& list) { return is_same_case(*list[0], row); });
    if (found == cases.end()) cases.push_back({&row});
    else found->push_back(&row);
  }
  Table table("llll");
  table.add({"case", "must reach", "", "seen at elements, threads"});
  int reached = 0;
  for (const auto& list : cases) {
    bool all = std::all_of(list.begin(), list.end(), [](const Row* r) { return is_reached(*r); });
    std::vector<std::string> places;
    for (const Row* r : list)
      places.push_back(fmt::format("{}: {}{}", place_text(*r), number_text(seen(*r)), is_reached(*r) ? "" : " !"));
    table.add({fmt::format("{} {}", list[0]->name, list[0]->dtype), aim_text(*list[0], peer_name), all ? "reached" : "MISSED",
               fmt::format("{}", fmt::join(places, ", "))});
    reached += all;
  }
  return table.text() + fmt::format("{} of {} aims reached\n", reached, cases.size());
}

}  // namespace strider::v0::testing
