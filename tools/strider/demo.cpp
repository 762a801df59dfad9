// SPDX-License-Identifier: Apache-2.0
// `strider demo`: the main job. Operators from scalar maths and a kernel by hand run on real tensors of several layouts, on
// every kind of device that opens here; each result is compared with plain C++.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "commands.h"
#include "testing/table.h"

#include <strider/strider.h>

namespace strider::tool {
namespace {

const auto& add() {
  static const auto op = pointwise("add", [](auto x, auto y, auto alpha) { return x + y * alpha; },
                                   {.is_tensor = {true, true, false}, .names = {"x", "y", "alpha"}});
  return op;
}

const auto& gelu() {
  static const auto op = pointwise("gelu", [](auto x) { return 0.5 * x * (1.0 + strider::erf(x * M_SQRT1_2)); });
  return op;
}

const Kernel& l1_norm() {
  static const Kernel k = kernel("l1_norm", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = tl::program_id(0) * block + tl::arange(0, block);
    tl::atomic_add(out, tl::sum(tl::abs(tl::load(x + i, i < n, 0.0f))));
  }, {{"x", "out", "n"}});
  return k;
}

constexpr int64_t kRows = 1000, kColumns = 768, kCount = 1'000'003, kBlock = 4096;
constexpr double kAlpha = 0.5;

/// The tensors of the demo on one device, and their elements in plain C++.
struct Data {
  explicit Data(std::string_view device)
      : a(randn({kRows, kColumns}, {}, 1).to(device)),
        b(randn({kColumns, kRows}, {}, 2).to(device)),
        wide(randn({kRows, 2 * kColumns}, {}, 3).to(device)),
        row(randn({kColumns}, {}, 4).to(device)),
        column(randn({kRows, 1}, {}, 5).to(device)),
        line(randn({kCount}, {}, 6).to(device)) {}

  Tensor a, b, wide, row, column, line;
};

using Elements = std::vector<float>;
using Reference = std::function<double(int64_t row, int64_t column)>;

double plain_gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// The largest difference from the reference, relative where values are above 1.
double difference(const TensorView& result, const Reference& reference) {
  Elements found = result.to_vector<float>();
  double most = 0;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) {
      double wanted = reference(i, j), error = std::abs(found[static_cast<size_t>(i * kColumns + j)] - wanted);
      most = std::max(most, std::isnan(error) ? INFINITY : error / std::max(1.0, std::abs(wanted)));
    }
  return most;
}

/// One run after the other, with a table of what came out.
class Demo {
 public:
  explicit Demo(std::string device) : device_(std::move(device)), data_(device_) {
    table_.add({"call", "operands", "first results", "first call", "again", "error", ""});
  }

  bool run() {
    add_runs();
    gelu_runs();
    l1_run();
    fmt::print("\n{}: {}\n{}", device_, describe_device(device_), table_.text());
    return all_right_;
  }

  std::string source() const { return add().source(data_.a, data_.b.t(), kAlpha); }

 private:
  static std::string operands(const TensorView& x) {
    return to_string(x.shape()) + (x.is_contiguous() ? "" : fmt::format(" by {}", to_string(x.strides())));
  }

  void add_runs() {
    Elements a = data_.a.to_vector<float>(), b = data_.b.to_vector<float>(), wide = data_.wide.to_vector<float>(),
             row = data_.row.to_vector<float>(), column = data_.column.to_vector<float>();
    auto at = [](const Elements& e, int64_t i) { return static_cast<double>(e[static_cast<size_t>(i)]); };
    run_add("add(a, row, 0.5)", data_.a, data_.row,
            [=](int64_t i, int64_t j) { return at(a, i * kColumns + j) + at(row, j) * kAlpha; });
    run_add("add(column, row, 0.5)", data_.column, data_.row,
            [=](int64_t i, int64_t j) { return at(column, i) + at(row, j) * kAlpha; });
    run_add("add(a, b.t(), 0.5)", data_.a, data_.b.t(),
            [=](int64_t i, int64_t j) { return at(a, i * kColumns + j) + at(b, j * kRows + i) * kAlpha; });
    run_add("add(a, wide[:, ::2], 0.5)", data_.a, data_.wide.slice(1, 0, 2 * kColumns, 2),
            [=](int64_t i, int64_t j) { return at(a, i * kColumns + j) + at(wide, 2 * (i * kColumns + j)) * kAlpha; });
  }

  void run_add(std::string_view call, const Tensor& x, const Tensor& y, const Reference& reference) {
    report(call, operands(x) + ", " + operands(y), [&] { return add()(x, y, kAlpha); }, reference);
  }

  void gelu_runs() {
    Elements a = data_.a.to_vector<float>();
    auto reference = [&](int64_t i, int64_t j) { return plain_gelu(a[static_cast<size_t>(i * kColumns + j)]); };
    report("gelu(a)", operands(data_.a), [&] { return gelu()(data_.a); }, reference);
    Tensor flipped = data_.a.flip(0);
    report("gelu(a[::-1])", operands(flipped), [&] { return gelu()(flipped); },
           [&](int64_t i, int64_t j) { return reference(kRows - 1 - i, j); });
  }

  void l1_run() {
    double wanted = 0;
    for (float v : data_.line.to_vector<float>()) wanted += std::abs(static_cast<double>(v));
    auto call = [&] {
      Tensor out = zeros({}, {f32, device_});
      l1_norm()[cdiv(kCount, kBlock)](data_.line, out, kCount, {{"BLOCK", kBlock}});
      return out;
    };
    report("l1_norm(line)", operands(data_.line), call,
           [&](const Tensor& out) { return std::abs(out.item() - wanted) / wanted; });
  }

  /// Runs `call` twice and adds a line about it.
  void report(std::string_view name, const std::string& operand_text, const std::function<Tensor()>& call,
              const std::function<double(const Tensor&)>& error_of) {
    double first = 0, again = 0;
    timed(call, first);
    Tensor result = timed(call, again);
    double error = error_of(result);
    bool right = error < 2e-6;
    all_right_ &= right;
    table_.add({std::string(name), operand_text, first_elements(result), fmt::format("{:.2f} ms", first),
                fmt::format("{:.2f} ms", again), fmt::format("{:.1e}", error), right ? "ok" : "WRONG"});
  }
  void report(std::string_view name, const std::string& operand_text, const std::function<Tensor()>& call,
              const Reference& reference) {
    report(name, operand_text, call, [&](const Tensor& result) { return difference(result, reference); });
  }

  Tensor timed(const std::function<Tensor()>& call, double& milliseconds) const {
    auto start = std::chrono::steady_clock::now();
    Tensor result = call();
    synchronize(device_);
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  static std::string first_elements(const Tensor& t) {
    if (t.elements() == 1) return fmt::format("{:.1f}", t.item());
    Elements e = t.slice(0, 0, 1).to_vector<float>();
    return fmt::format("{:.4f} {:.4f} ...", e[0], e[1]);
  }

  std::string device_;
  Data data_;
  timing::Table table_{"lllrrrl"};
  bool all_right_ = true;
};

/// The first device of each kind.
std::vector<std::string> kinds_of_devices() {
  std::vector<std::string> result;
  for (const std::string& name : devices()) {
    std::string kind = name.substr(0, name.find(':'));
    if (result.empty() || !result.back().starts_with(kind)) result.push_back(name);
  }
  return result;
}

void demo() {
  fmt::print(
      "add  = [](auto x, auto y, auto alpha) {{ return x + y * alpha; }}\n"
      "gelu = [](auto x) {{ return 0.5 * x * (1.0 + erf(x * M_SQRT1_2)); }}\n"
      "l1_norm: a tile kernel that adds the sum of its block to the result atomically\n"
      "Operands that are not contiguous are shown as shape by strides. Errors are to plain C++ in double, relative above 1.\n");
  bool all_right = true;
  for (const std::string& device : kinds_of_devices()) {
    Demo one(device);
    if (device == devices()[0]) fmt::print("\nThe tile kernel of add(a, b.t(), 0.5) on {}:\n{}", device, one.source());
    all_right &= one.run();
  }
  fmt::print("\n{}\n", all_right ? "all results agree with plain C++" : "SOME RESULTS ARE WRONG");
  if (!all_right) throw Failed();
}

}  // namespace

void add_demo(CLI::App& app) {
  app.add_subcommand("demo", "Run operators and a kernel on real tensors and check the results")->callback(demo);
}

}  // namespace strider::tool
