// SPDX-License-Identifier: Apache-2.0
#include "testing/plot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "testing/report.h"

namespace strider::inline v0::testing {
namespace {

struct Format {
  std::string_view ending, terminal;
};
constexpr Format kFormats[] = {
    {".svg", "svg size {},{} dynamic background rgb 'white' font 'sans-serif,13' noenhanced"},
    {".png", "pngcairo size {},{} font 'sans-serif,10' noenhanced"},
};

const Format* format_of(std::string_view path) {
  for (const Format& f : kFormats)
    if (path.ends_with(f.ending)) return &f;
  return nullptr;
}

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

bool can_plot() { return is_installed("gnuplot"); }

void check_plot(const std::string& path) {
  if (!format_of(path)) user_error("the plot {}: expected a name that ends in .svg or .png", path);
  if (!can_plot()) user_error("plots need gnuplot, which is not installed (Debian: gnuplot-nox)");
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    bool is_control = static_cast<unsigned char>(c) < ' ' || c == 0x7f;
    result += c == '\'' ? "''" : std::string(1, is_control ? ' ' : c);
  }
  return result + "'";
}

std::string output_of(const std::string& path, int width, int height) {
  std::string terminal = fmt::format(fmt::runtime(format_of(path)->terminal), width, height);
  return fmt::format("set terminal {}\nset output {}\nset grid y lc rgb '#dddddd'\nset border 3\n", terminal, quoted(path));
}

void run_gnuplot(const std::string& program, const std::string& path) {
  FILE* gnuplot = ::popen("gnuplot", "w");
  if (!gnuplot) user_error("the plot {}: gnuplot cannot be started", path);
  std::fwrite(program.data(), 1, program.size(), gnuplot);
  if (int status = ::pclose(gnuplot); status != 0) user_error("the plot {}: gnuplot ended with status {}", path, status);
}

namespace {

// --- the roofs: cases at their largest size, with most threads

/// Those that have a roof.
std::vector<const Row*> largest_with_roof(std::span<const Row> rows) {
  std::vector<const Row*> list = largest(rows);
  std::erase_if(list, [](const Row* r) { return !r->has_copy() || is_curve(*r); });
  return list;
}

/// A string among data, where gnuplot knows double quotes alone and expands nothing.
std::string data_word(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  return '"' + text + '"';
}

std::string case_data(const std::vector<const Row*>& list) {
  std::string text = "$cases << EOD\n";
  for (size_t k = 0; k < list.size(); ++k) {
    const Row& r = *list[k];
    std::string peer = r.has_peer() ? fmt::format("{:.3f}", gigabytes_per_second(r.bytes, r.peer)) : "NaN";
    std::string label = r.dtype == "f32" ? r.name : r.name + " " + r.dtype;
    text += fmt::format("{} {} {:.3f} {:.3f} {}\n", k, data_word(label), r.gbps(), r.copy_gbps(), peer);
  }
  return text + "EOD\n";
}

std::string case_plot(const std::vector<const Row*>& list, std::string_view peer_name) {
  const Row& first = *list[0];
  std::string at = first.threads > 0 ? fmt::format(", {} threads", first.threads) : "";
  std::string text = fmt::format(
      "set title 'the largest size measured{}; bytes of inputs and outputs, each once'\n"
      "set ylabel 'GB/s'\nset yrange [0:*]\nset xrange [-0.7:{}.7]\n"
      "set xtics rotate by -40 nomirror\nset key outside top right horizontal\n"
      "set rmargin 14\nset style fill solid 0.85 noborder\nset boxwidth 0.36\n"
      "plot $cases using ($1-0.19):3:xtic(2) with boxes lc rgb '#1f5fa8' title 'Strider'",
      at, list.size() - 1);
  bool has_peer = std::any_of(list.begin(), list.end(), [](const Row* r) { return r->has_peer(); });
  if (has_peer) text += fmt::format(", \\\n  $cases using ($1+0.19):5 with boxes lc rgb '#e08a2c' title '{}'", peer_name);
  return text + ", \\\n  $cases using 1:4:(0.45) with xerrorbars pt 0 lw 2 lc rgb '#222222'"
                " title 'copy of as many bytes: the roof'\n";
}

// --- the curves

std::string curve_data(std::span<const Row> rows, const std::vector<int>& threads) {
  std::string text;
  for (int t : threads) {
    text += fmt::format("$curve{} << EOD\n", t);
    for (const Row& r : rows)
      if (r.threads == t) text += fmt::format("{} {:.3f} {:.3f}\n", r.elements, r.gbps(), r.copy_gbps());
    text += "EOD\n";
  }
  return text;
}

std::string curve_plot(const std::vector<int>& threads) {
  std::string text =
      "set rmargin 4\nset title 'from small tensors to large ones'\nset xlabel 'elements'\n"
      "set logscale x 2\nset format x '2^%L'\nset xrange [*:*]\n"
      "set xtics norotate 4\nset yrange [0:*]\nset key outside top right horizontal\nplot ";
  const char* const colours[] = {"#1f5fa8", "#c0392b", "#2c8a4b"};
  for (size_t k = 0; k < threads.size(); ++k) {
    int t = threads[k];
    std::string who = t == 0 ? "" : t == 1 ? ", 1 thread" : fmt::format(", {} threads", t);
    const char* colour = colours[k % std::size(colours)];
    if (k > 0) text += ", \\\n  ";
    text += fmt::format("$curve{} using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '{}' title 'add{}'", t, colour, who);
    text += fmt::format(", \\\n  $curve{} using 1:3 with lines dt 2 lw 2 lc rgb '{}' title 'copy{}'", t, colour, who);
  }
  return text + "\n";
}

/// The curves of the first dtype that has one.
std::vector<Row> curves_of(std::span<const Row> rows) {
  std::vector<Row> list;
  for (const Row& r : rows)
    if (is_curve(r) && (list.empty() || r.dtype == list[0].dtype)) list.push_back(r);
  return list;
}

std::vector<int> threads_of(std::span<const Row> rows) {
  std::vector<int> list;
  for (const Row& r : rows)
    if (std::find(list.begin(), list.end(), r.threads) == list.end()) list.push_back(r.threads);
  return list;
}

}  // namespace

std::string plot_program(std::span<const Row> rows, const std::string& path, const std::string& title,
                         std::string_view peer_name) {
  std::vector<const Row*> cases = largest_with_roof(rows);
  std::vector<Row> curves = curves_of(rows);
  std::vector<int> threads = threads_of(curves);
  int pictures = !cases.empty() + !threads.empty();
  if (pictures == 0) user_error("the plot {}: none of these suites has a bandwidth to draw", path);
  std::string text = case_data(cases) + curve_data(curves, threads);
  text += output_of(path, 1100, 80 + 430 * pictures);
  text += fmt::format("set multiplot layout {},1 title {}\n", pictures, quoted(title));
  if (!cases.empty()) text += case_plot(cases, peer_name);
  if (!threads.empty()) text += curve_plot(threads);
  return text + "unset multiplot\n";
}

void plot(std::span<const Row> rows, const std::string& path, const std::string& title, std::string_view peer_name) {
  check_plot(path);
  run_gnuplot(plot_program(rows, path, title, peer_name), path);
}

}  // namespace strider::v0::testing
