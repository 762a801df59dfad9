// SPDX-License-Identifier: Apache-2.0
#include <strider/testing/autotune.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "backend/backend.h"
#include "base/error.h"
#include "front/trace/kernel.h"
#include "ir/print.h"
#include "call/interpret.h"
#include "call/naming.h"
#include "testing/flush.h"
#include "testing/report.h"
#include "testing/reset.h"
#include "testing/table.h"
#include "testing/timing.h"
#include "testing/tolerance.h"
#include "testing/tuning_file.h"
#include "tensor/stream.h"

namespace strider::inline v0::testing {

using detail::KernelDecl;
using detail::ParamKind;

// --- configurations

int64_t TuneConfig::operator[](std::string_view name) const {
  for (const auto& [known, value] : constants_)
    if (known == name) return value;
  user_error("the configuration {} has no constant {}", text(), name);
}

std::string TuneConfig::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : constants_) parts.push_back(fmt::format("{} {}", name, value));
  return parts.empty() ? "without constants" : fmt::format("{}", fmt::join(parts, ", "));
}

// --- arguments

namespace {

std::vector<std::string> names_of(const KernelDecl& decl) {
  std::vector<std::string> names;
  for (size_t k = 0; k < decl.params.size(); ++k) names.push_back(front::name_of(decl, k));
  return names;
}

size_t param_named(const KernelDecl& decl, std::string_view name) {
  std::vector<std::string> names = names_of(decl);
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) user_error("there is no parameter {}; there are {}", name, fmt::join(names, ", "));
  return static_cast<size_t>(found - names.begin());
}

size_t pointer_named(const KernelDecl& decl, std::string_view name) {
  size_t param = param_named(decl, name);
  if (decl.params[param].kind != ParamKind::Pointer)
    user_error("the parameter {} is no tensor: it cannot be zeroed, restored or scratch", name);
  return param;
}

}  // namespace

const Argument& TuneArguments::named(std::string_view name) const { return by_param_[param_named(kernel_.declaration(), name)]; }

int64_t TuneArguments::operator[](std::string_view name) const {
  const Argument& a = named(name);
  if (!a.is_number() || a.kind() == Argument::Float) user_error("the argument {} is no integer", name);
  return a.as_int();
}

const TensorView& TuneArguments::tensor(std::string_view name) const {
  const Argument& a = named(name);
  if (a.kind() != Argument::Tensor) user_error("the argument {} is no tensor", name);
  return a.view();
}

// --- one launch that is to be tuned

namespace {

/// Which parameters a configuration sets; a user error that names constants which the kernel does not have.
std::vector<size_t> params_of(const KernelDecl& decl, const TuneConfig& config) {
  std::vector<size_t> params;
  for (const auto& [name, value] : config.constants()) params.push_back(front::constant_named(decl, name));
  return params;
}

/// Which parameters the configurations set.
std::vector<size_t> tuned_params(const KernelDecl& decl, const std::vector<TuneConfig>& configs) {
  if (configs.empty()) user_error("there are no configurations to choose from");
  std::vector<size_t> params = params_of(decl, configs[0]);
  for (const TuneConfig& c : configs)
    if (params_of(decl, c) != params) user_error("the configuration {} sets other constants than {}", c.text(), configs[0].text());
  return params;
}

/// The arguments by parameter; the constants that are tuned change from launch to launch.
class Arguments {
 public:
  Arguments(const Kernel& kernel, const std::vector<size_t>& tuned, std::span<const Argument> given)
      : kernel_(kernel), tuned_(tuned), by_param_(kernel.declaration().params.size()) {
    const KernelDecl& decl = kernel.declaration();
    std::vector<bool> is_set(by_param_.size(), false);
    for (size_t param : tuned) is_set[param] = true;
    if (!given.empty() && given.back().kind() == Argument::Constants) {
      for (const Constant& c : given.back().constants()) {
        size_t param = front::constant_named(decl, c.name);
        if (is_set[param]) user_error("the constant {} is given, and it is tuned", c.name);
        by_param_[param] = Argument(c.value), is_set[param] = true;
      }
      given = given.first(given.size() - 1);
    }
    size_t expected = static_cast<size_t>(std::count(is_set.begin(), is_set.end(), false));
    if (given.size() != expected)
      user_error("{} arguments given, expected {} beside the constants that are tuned", given.size(), expected);
    for (const Argument& a : given) {
      if (a.name().empty()) continue;
      size_t param = param_named(decl, a.name());
      if (is_set[param]) user_error("the argument {} is given twice, or is tuned", a.name());
      by_param_[param] = a, is_set[param] = true;
    }
    size_t next = 0;
    for (const Argument& a : given) {
      if (!a.name().empty()) continue;
      while (is_set[next]) ++next;
      by_param_[next] = a, is_set[next] = true;
    }
  }

  std::span<const Argument> by_param() const { return by_param_; }
  std::span<const Argument> with(const TuneConfig& config) {
    for (size_t k = 0; k < tuned_.size(); ++k) by_param_[tuned_[k]] = Argument(config.constants()[k].second);
    return by_param_;
  }

  Device& device() const {
    for (const Argument& a : by_param_)
      if (a.kind() == Argument::Tensor) return a.view().device_object();
    return device_named("cpu");
  }

  /// The tensors called so; a user error for what is no tensor.
  std::vector<TensorView> tensors(const std::vector<std::string>& names) const {
    std::vector<TensorView> views;
    for (const std::string& name : names) views.push_back(TuneArguments(kernel_, by_param_).tensor(name));
    return views;
  }

  std::string key(const std::vector<std::string>& names) const {
    const KernelDecl& decl = kernel_.declaration();
    std::string text = device().name();
    for (const std::string& name : names) {
      const Argument& a = by_param_[param_named(decl, name)];
      if (a.kind() == Argument::Tensor) text += fmt::format(", {} {}", name, to_string(a.view().shape()));
      else if (a.kind() == Argument::Float) text += fmt::format(", {} {}", name, a.as_float());
      else text += fmt::format(", {} {}", name, a.as_int());
    }
    for (size_t k = 0; k < by_param_.size(); ++k)
      if (by_param_[k].kind() == Argument::Tensor)
        text += fmt::format(", {} {}", front::name_of(decl, k), name_of(by_param_[k].view().dtype()));
    return text;
  }

  /// The tile program of a configuration as if nothing were known of alignment: what the kernel is.
  std::string program(const TuneConfig& config) {
    const KernelDecl& decl = kernel_.declaration();
    with(config);
    std::vector<front::ArgumentFact> facts(by_param_.size());
    for (size_t k = 0; k < by_param_.size(); ++k) {
      facts[k].dtype = by_param_[k].kind() == Argument::Tensor ? by_param_[k].view().dtype() : decl.params[k].dtype;
      if (decl.params[k].kind == ParamKind::Constant) facts[k].constant = by_param_[k].as_int();
    }
    try {
      return ir::print(front::trace_kernel(decl, facts));
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// The tensors that can be written, by the names of their parameters, but those of `scratch`.
  std::vector<std::pair<std::string, TensorView>> results(const std::vector<std::string>& scratch) const {
    std::vector<std::pair<std::string, TensorView>> list;
    for (size_t k = 0; k < by_param_.size(); ++k) {
      if (by_param_[k].kind() != Argument::Tensor || by_param_[k].view().is_read_only()) continue;
      std::string name = front::name_of(kernel_.declaration(), k);
      if (std::find(scratch.begin(), scratch.end(), name) == scratch.end()) list.emplace_back(name, by_param_[k].view());
    }
    return list;
  }

 private:
  const Kernel& kernel_;
  const std::vector<size_t>& tuned_;
  std::vector<Argument> by_param_;
};

/// Those of `options` that are worth a try.
std::vector<TuneConfig> candidates(const KernelDecl& decl, const TuneOptions& o, const TuneArguments& arguments) {
  std::vector<TuneConfig> list = o.prune ? o.prune(o.configs, arguments) : o.configs;
  if (list.empty()) user_error("pruning left no configuration of {}", o.configs.size());
  for (const TuneConfig& c : list)
    if (params_of(decl, c) != params_of(decl, o.configs[0]))
      user_error("prune gives the configuration {}, which sets other constants than {}", c.text(), o.configs[0].text());
  if (!o.model || list.size() <= o.top_k) return list;
  std::vector<std::pair<double, size_t>> order;
  for (size_t k = 0; k < list.size(); ++k) order.emplace_back(o.model(list[k], arguments), k);
  std::sort(order.begin(), order.end());
  std::vector<TuneConfig> best;
  for (size_t k = 0; k < o.top_k; ++k) best.push_back(list[order[k].second]);
  return best;
}

/// What configurations compute, compared: groups of those whose results are alike.
class Answers {
 public:
  Answers(std::vector<std::pair<std::string, TensorView>> results, std::optional<double> rtol)
      : results_(std::move(results)), rtol_(rtol) {}

  /// The results as they are now are those of configuration `config`.
  void add(size_t config) {
    std::vector<Tensor> here;
    for (const auto& [name, view] : results_) here.push_back(view.to("cpu").clone());
    for (Group& g : groups_)
      if (difference(here, g.results).empty()) return g.configs.push_back(config);
    groups_.push_back({{config}, std::move(here)});
  }

  /// For each configuration that computes something else than most, or than the first if there is no most: what.
  std::map<size_t, std::string> outliers(const std::vector<TuneConfig>& configs) const {
    std::map<size_t, std::string> texts;
    if (groups_.empty()) return texts;
    auto size = [](const Group& g) { return g.configs.size(); };
    const Group& most = *std::max_element(groups_.begin(), groups_.end(), [&](const auto& a, const auto& b) { return size(a) < size(b); });
    for (const Group& g : groups_)
      for (size_t config : g.configs)
        if (&g != &most)
          texts[config] = fmt::format("it computes something else than {}: {}", configs[most.configs[0]].text(),
                                      difference(g.results, most.results));
    return texts;
  }

 private:
  struct Group {
    std::vector<size_t> configs;
    std::vector<Tensor> results;
  };

  /// What differs first, or "".
  std::string difference(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) const {
    for (size_t k = 0; k < actual.size(); ++k) {
      DType dtype = expected[k].dtype();
      Rows bits(expected[k]);
      double rtol = is_float(dtype) ? rtol_.value_or(usual_rtol(dtype)) : 0;
      double largest = testing::largest_magnitude(dtype, expected[k].elements(), bits);
      testing::CloseReport report = testing::compare(
          actual[k], expected[k], {.rtol = rtol, .atol = rtol * largest, .equal_nan = true, .places = 1});
      if (!report.is_close()) return fmt::format("{}: {}", results_[k].first, report.text());
    }
    return "";
  }

  static double usual_rtol(DType dtype) {
    switch (dtype) {
      case DType::F16: return 0x1p-5;
      case DType::BF16: return 0x1p-4;
      case DType::F32: return 0x1p-12;
      default: return 0x1p-26;
    }
  }

  std::vector<std::pair<std::string, TensorView>> results_;
  std::optional<double> rtol_;
  std::vector<Group> groups_;
};

/// What is done with the configurations of one key.
struct Trial {
  const std::vector<TuneConfig>& configs;
  const TuneOptions& options;
  const Arguments& arguments;
  Device& device;
  std::function<void(const TuneConfig&)> launch;
};

/// Runs each configuration once, all from the same beginning, which it leaves behind; gives why configurations are left out.
std::map<size_t, std::string> tried(const Trial& t) {
  auto results = t.arguments.results(t.options.scratch);
  std::vector<TensorView> zeroed = t.arguments.tensors(t.options.reset_to_zero), kept;
  for (const auto& [name, view] : t.arguments.results({})) kept.push_back(view);
  testing::Reset begin({}, kept);
  testing::Reset zero(zeroed, {});
  Answers answers(std::move(results), t.options.rtol);
  std::map<size_t, std::string> errors;
  for (size_t k = 0; k < t.configs.size(); ++k) {
    begin();
    zero();
    try {
      t.launch(t.configs[k]);
      t.device.synchronize_stream(current_handle(t.device));
      answers.add(k);
    } catch (const Error& error) {
      errors[k] = error.what();
    }
  }
  errors.merge(answers.outliers(t.configs));
  return errors;
}

/// Tries each configuration once, then times those that run and compute the same, in turn.
void time_all(const Trial& t, TuneResult& result) {
  constexpr int kMostRounds = 4;
  std::map<size_t, std::string> errors = tried(t);
  testing::Reset reset(t.arguments.tensors(t.options.reset_to_zero), t.arguments.tensors(t.options.restore));
  std::vector<TuneRow>& rows = result.rows;
  for (size_t k = 0; k < t.configs.size(); ++k)
    if (!errors.contains(k)) rows.push_back({t.configs[k]});
  std::optional<testing::CacheFlush> flush;
  if (t.options.flush_cache) flush.emplace(t.device);
  std::function<void()> before;
  if (flush || !reset.is_empty()) before = [&] {
    reset();
    if (flush) (*flush)();
  };
  auto take = [&](std::span<const size_t> open) {
    std::vector<testing::Call> calls;
    for (size_t k : open) calls.push_back([&, k](int64_t) { t.launch(rows[k].config); });
    testing::Options how{.seconds = t.options.repeat * static_cast<double>(open.size()) / 1e3,
                         .warm_up_seconds = t.options.warm_up / 1e3,
                         .batch_seconds = std::min(1e-3, t.options.repeat / 5e3),
                         .least_rounds = 7};
    return testing::measure(t.device, calls, how, before);
  };
  testing::Race race = testing::race(rows.size(), take, kMostRounds);
  result.is_certain = race.is_certain;
  for (size_t k = 0; k < rows.size(); ++k) {
    rows[k].median = race.times[k].median() * 1e3;
    rows[k].low = race.times[k].quantile(0.2) * 1e3;
    rows[k].high = race.times[k].quantile(0.8) * 1e3;
  }
  if (!rows.empty()) std::swap(rows[0], rows[race.best]);  // others may have a smaller median of fewer samples
  auto from = rows.begin() + (rows.empty() ? 0 : 1);
  std::stable_sort(from, rows.end(), [](const TuneRow& a, const TuneRow& b) { return a.median < b.median; });
  for (const auto& [k, error] : errors) rows.push_back({.config = t.configs[k], .error = error});
}

// --- tables

std::string table_of(const TuneResult& r) {
  size_t constants = r.rows[0].config.constants().size();
  testing::Table table(std::string(constants, 'r') + "rrrl");
  std::vector<std::string> head;
  for (const auto& [name, value] : r.rows[0].config.constants()) head.push_back(name);
  for (const char* title : {"time", "+-", "of best", ""}) head.emplace_back(title);
  table.add(head);
  for (const TuneRow& row : r.rows) {
    std::vector<std::string> cells;
    for (const auto& [name, value] : row.config.constants()) cells.push_back(fmt::format("{}", value));
    if (row.error.empty()) {
      cells.push_back(testing::time_text(row.median / 1e3));
      cells.push_back(fmt::format("{:.0f}%", 50 * (row.high - row.low) / row.median));
      cells.push_back(fmt::format("{:.2f}", r.rows[0].median / row.median));
      cells.emplace_back(&row == &r.rows[0] ? "chosen" : "");
    } else {
      cells.insert(cells.end(), {"-", "", "", row.error});
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string heading(const std::string& kernel, const TuneResult& r) {
  std::string notes;
  if (r.left_out > 0) notes += fmt::format("; {} left out", r.left_out);
  if (r.from_disk) notes += "; timed by an earlier process";
  if (!r.is_certain) notes += "; the order of the first ones is not certain";
  return fmt::format("{} at {}{}\n", kernel, r.key, notes);
}

}  // namespace

// --- the tuner

struct Autotuned::Impl {
  Impl(const Kernel& k, TuneOptions o, std::vector<size_t> p) : kernel(k), options(std::move(o)), params(std::move(p)) {}

  Kernel kernel;
  TuneOptions options;
  std::vector<size_t> params;  // that are tuned
  std::mutex timing;           // held while a key is timed: two at the same time would disturb each other
  std::atomic<std::thread::id> timer{};  // who holds it
  std::mutex mutex;            // held while the results are looked at or added to, never while a user's function runs
  std::map<std::string, TuneResult> results;

  const std::string& name() const { return kernel.declaration().name; }

  /// Null if nothing was found for the key in this process.
  const TuneResult* known(const std::string& key) {
    std::lock_guard lock(mutex);
    auto found = results.find(key);
    return found == results.end() ? nullptr : &found->second;
  }

  const TuneResult& tune(const LaunchGrid& grid, Arguments& arguments) {
    std::string key = arguments.key(options.key);
    if (const TuneResult* result = known(key)) return *result;
    if (timer == std::this_thread::get_id()) user_error("it is being tuned, and a function of its own calls it: {}", key);
    std::lock_guard alone(timing);
    if (const TuneResult* result = known(key)) return *result;  // another thread was first
    struct Timer {
      explicit Timer(std::atomic<std::thread::id>& who) : who_(who) { who_ = std::this_thread::get_id(); }
      ~Timer() { who_ = std::thread::id(); }
      std::atomic<std::thread::id>& who_;
    } here(timer);
    TuneResult result = found(key, grid, arguments);
    std::lock_guard lock(mutex);
    return results.emplace(key, std::move(result)).first->second;
  }

  TuneResult found(const std::string& key, const LaunchGrid& grid, Arguments& arguments) {
    std::vector<TuneConfig> configs = candidates(kernel.declaration(), options, TuneArguments(kernel, arguments.by_param()));
    std::string program = arguments.device().description();
    for (const TuneConfig& c : configs) program += "\n" + arguments.program(c);
    std::optional<testing::TuningFile> file;
    if (options.keep && !interpretation()) file.emplace(name(), key, program);  // the interpreter's times say nothing of others
    if (file)
      if (auto known = file->read(configs)) return *std::move(known);
    TuneResult result{.key = key, .rows = {}};
    time_all({configs, options, arguments, arguments.device(),
              [&](const TuneConfig& c) { kernel.launch(grid, arguments.with(c)); }}, result);
    result.left_out = static_cast<int>(options.configs.size() - std::min(options.configs.size(), configs.size()));
    if (!result.rows[0].error.empty()) user_error("none of {} configurations runs:\n{}", result.rows.size(), table_of(result));
    if (file) file->write(result);
    return result;
  }
};

Autotuned::Autotuned(Kernel kernel, TuneOptions options) {
  const KernelDecl& decl = kernel.declaration();
  naming("kernel", decl.name, [&] {
    std::vector<size_t> params = tuned_params(decl, options.configs);
    for (const std::string& name : options.key) param_named(decl, name);
    for (const auto* names : {&options.reset_to_zero, &options.restore, &options.scratch})
      for (const std::string& name : *names) pointer_named(decl, name);
    if (!(options.warm_up >= 0) || !(options.repeat >= 0))
      user_error("{} ms to warm up and {} ms to repeat, expected 0 or more", options.warm_up, options.repeat);
    if (options.rtol && !(*options.rtol >= 0)) user_error("rtol is {}, expected 0 or more", *options.rtol);
    if (options.model && options.top_k < 1) user_error("the model leaves 0 configurations, expected top_k to be 1 or more");
    impl_ = std::shared_ptr<Impl>(new Impl(kernel, std::move(options), std::move(params)));
  });
}

TuneResult Autotuned::tune(const LaunchGrid& grid, std::span<const Argument> arguments) const {
  return naming("kernel", impl_->name(), [&] {
    Arguments list(impl_->kernel, impl_->params, arguments);
    return impl_->tune(grid, list);
  });
}

void Autotuned::launch(const LaunchGrid& grid, std::span<const Argument> arguments) const {
  naming("kernel", impl_->name(), [&] {
    Arguments list(impl_->kernel, impl_->params, arguments);
    TuneConfig best = impl_->tune(grid, list).best();
    impl_->kernel.launch(grid, list.with(best));
  });
}

std::vector<TuneResult> Autotuned::results() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<TuneResult> list;
  for (const auto& [key, result] : impl_->results) list.push_back(result);
  return list;
}

std::string Autotuned::table() const {
  std::string text;
  for (const TuneResult& r : results()) text += heading(impl_->name(), r) + table_of(r);
  return text;
}

const Kernel& Autotuned::kernel() const { return impl_->kernel; }

}  // namespace strider::v0::testing
