// SPDX-License-Identifier: Apache-2.0
#include "testing/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ir/semantics.h"
#include "tensor/elements.h"

namespace strider::inline v0::testing {

void check_options(const CheckOptions& o) {
  device_named(o.device);
  if (!(o.speed >= 0)) user_error("check: the speed is {}, expected 0 or more", o.speed);
  if (o.elements < 1) user_error("check: {} elements, expected 1 or more", o.elements);
}

// --- steps

Steps::Steps(std::string subject, const CheckOptions& options) {
  report_.subject = std::move(subject);
  report_.device = options.device;
}

void Steps::run(const char* name, const std::function<void(CheckStep&)>& work) {
  CheckStep step{name};
  if (stopped_) add(step, Verdict::Skipped, "a step before failed");
  else {
    try {
      work(step);
    } catch (const std::exception& error) {
      add(step, Verdict::Failed, error.what());
    }
    bool memory_is_fine = std::none_of(step.lines.begin(), step.lines.end(),
                                       [](const auto& l) { return l.text.find("wrote outside") != std::string::npos; });
    stopped_ = step.verdict == Verdict::Failed && (step.name != "boundaries" || !memory_is_fine);
    if (std::any_of(report_.steps.begin(), report_.steps.end(), [](const auto& s) { return s.verdict == Verdict::Failed; }))
      stopped_ = true;
  }
  report_.steps.push_back(std::move(step));
}

void add(CheckStep& step, Verdict verdict, std::string text) {
  step.verdict = step.lines.empty() ? verdict : std::max(step.verdict, verdict);
  step.lines.push_back({verdict, std::move(text)});
}

bool attempt(CheckStep& step, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    add(step, Verdict::Failed, error.what());
    return false;
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// --- types

std::vector<DType> dtypes_of(const CheckOptions& options) {
  if (!options.dtypes.empty()) return options.dtypes;
  std::vector<DType> all;
  for (int k = 0; k < kDTypeCount; ++k) all.push_back(dtype_at(k));
  return all;
}

void TypesFound::attempt(DType dtype, const std::function<std::string()>& work) {
  try {
    accept(dtype, work());
  } catch (const Error& error) {
    refuse(dtype, error.what(), error.kind() == ErrorKind::User || error.kind() == ErrorKind::Unsupported);
  } catch (const std::exception& error) {
    refuse(dtype, error.what(), false);
  }
}

void TypesFound::accept(DType dtype, const std::string& result) {
  accepted_.push_back(dtype);
  results_.push_back(result);
}

void TypesFound::refuse(DType dtype, const std::string& why, bool typed) {
  refused_.push_back(dtype);
  reasons_.push_back(why);
  if (!typed) untyped_.push_back(fmt::format("{} fails by no error of its own: {}", name_of(dtype), why));
}

void TypesFound::tell(CheckStep& step, const CheckOptions& options) const {
  std::vector<std::string> words;
  for (size_t k = 0; k < accepted_.size(); ++k)
    words.push_back(results_[k] == name_of(accepted_[k]) ? results_[k]
                                                         : fmt::format("{} -> {}", name_of(accepted_[k]), results_[k]));
  if (accepted_.empty()) add(step, Verdict::Failed, "no dtype is accepted");
  else add(step, Verdict::Passed, fmt::format("accepted: {}", fmt::join(words, ", ")));
  for (size_t k = 0; k < refused_.size();) {  // those that are refused with the same words together
    size_t end = k + 1;
    std::string names(name_of(refused_[k]));
    while (end < refused_.size() && is_same(k, end)) names += fmt::format(", {}", name_of(refused_[end++]));
    add(step, Verdict::Passed, fmt::format("refused: {} ({})", names, first_line(reasons_[k])));
    k = end;
  }
  for (const std::string& text : untyped_) add(step, Verdict::Failed, text);
  for (DType dtype : options.must_accept)
    if (std::find(accepted_.begin(), accepted_.end(), dtype) == accepted_.end())
      add(step, Verdict::Failed, fmt::format("{} must be accepted, but is not", name_of(dtype)));
}

bool TypesFound::is_same(size_t a, size_t b) const {
  auto without_dtype = [&](size_t k) {
    std::string text = reasons_[k], name(name_of(refused_[k]));
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
    return text;
  };
  return without_dtype(a) == without_dtype(b);
}

// --- comparisons

Tensor tensor_of(const std::vector<double>& values, const Dims& shape, DType dtype) {
  return generate(shape, {dtype}, [&](int64_t i) { return ir::bits_of_double(dtype, values[static_cast<size_t>(i)]); });
}

testing::CloseOptions close_options(const CheckOptions& options, DType dtype) {
  return {.rtol = options.rtol, .atol = options.atol, .equal_nan = true, .dtype = dtype, .places = 3};
}

void WorstUlp::add(DType dtype, const std::vector<uint64_t>& actual, const std::vector<uint64_t>& expected, double atol) {
  if (!is_float(dtype)) return;
  is_any_ = true;
  atol_ = atol;
  for (size_t i = 0; i < actual.size(); ++i) {
    uint64_t steps = testing::ulp_distance(dtype, actual[i], expected[i]);
    uint64_t& worst = std::fabs(ir::double_of_bits(dtype, expected[i])) < atol ? tiny_ : usual_;
    worst = std::max(worst, steps);
  }
}

std::string WorstUlp::text() const {
  if (!is_any_) return "";
  std::string tiny = tiny_ > usual_ ? fmt::format(" ({} where the result is below {:g})", tiny_, atol_) : "";
  return fmt::format(", at most {} ulp{}", usual_, tiny);
}

int64_t wrong_zero(const std::vector<uint64_t>& actual, const std::vector<uint64_t>& expected, DType dtype) {
  if (!is_float(dtype)) return -1;
  uint64_t sign = uint64_t{1} << (bits_of(dtype) - 1);
  for (size_t i = 0; i < actual.size(); ++i)
    if (((actual[i] | expected[i]) & ~sign) == 0 && actual[i] != expected[i]) return static_cast<int64_t>(i);
  return -1;
}

}  // namespace strider::v0::testing

// --- reports

namespace strider::inline v0::testing {
namespace {

const char* word(Verdict v) {
  static constexpr const char* kWords[] = {"passed", "noted", "skipped", "FAILED"};
  return kWords[static_cast<size_t>(v)];
}

/// As programs read it.
const char* plain_word(Verdict v) { return v == Verdict::Failed ? "failed" : word(v); }

const char* mark(Verdict v) {
  static constexpr const char* kMarks[] = {" ", "-", " ", "!"};
  return kMarks[static_cast<size_t>(v)];
}

/// Every line after the first stands below the beginning of the first.
std::string indented(const std::string& text, size_t spaces) {
  std::string result;
  for (char c : text) result += c == '\n' ? "\n" + std::string(spaces, ' ') : std::string(1, c);
  return result.substr(0, result.find_last_not_of(" \n") + 1);
}

}  // namespace

bool CheckReport::passed() const {
  return std::none_of(steps.begin(), steps.end(), [](const CheckStep& s) { return s.verdict == Verdict::Failed; });
}

std::string CheckReport::text() const {
  std::string text = fmt::format("{} on {}: {}\n", subject, device, passed() ? "passed" : "FAILED");
  for (size_t k = 0; k < steps.size(); ++k) {
    text += fmt::format("  {} {:<12} {}\n", k + 1, steps[k].name, word(steps[k].verdict));
    for (const CheckLine& line : steps[k].lines) text += fmt::format("     {} {}\n", mark(line.verdict), indented(line.text, 7));
  }
  return text;
}

std::string CheckReport::json() const {
  nlohmann::json all{{"subject", subject}, {"device", device}, {"passed", passed()}, {"steps", nlohmann::json::array()}};
  for (const CheckStep& step : steps) {
    nlohmann::json lines = nlohmann::json::array();
    for (const CheckLine& line : step.lines) lines.push_back({{"verdict", plain_word(line.verdict)}, {"text", line.text}});
    all["steps"].push_back({{"name", step.name}, {"verdict", plain_word(step.verdict)}, {"lines", lines}});
  }
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace strider::v0::testing
