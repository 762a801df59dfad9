// SPDX-License-Identifier: Apache-2.0
// `strider demo`: the main job. An image from a .npy file goes through operators of scalar maths and a kernel by hand, in the
// layouts that real code has, on every kind of device that opens here; each result is compared with plain C++.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "commands.h"
#include "testing/operand_text.h"
#include "testing/report.h"
#include "testing/runner.h"
#include "testing/table.h"

#include <strider/strider.h>

namespace strider::tool {
namespace {

namespace fs = std::filesystem;

const auto& normalize() {
  static const auto op = pointwise("normalize", [](auto x, auto mean, auto deviation) { return (x - mean) / deviation; },
                                   {.names = {"x", "mean", "deviation"}});
  return op;
}

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

constexpr const char* kOperators =
    "normalize = [](auto x, auto mean, auto deviation) { return (x - mean) / deviation; }\n"
    "add       = [](auto x, auto y, auto alpha) { return x + y * alpha; }\n"
    "gelu      = [](auto x) { return 0.5 * x * (1.0 + erf(x * M_SQRT1_2)); }\n"
    "l1_norm   : a tile kernel that adds the sum of its block to the result atomically\n";

// --- the image

constexpr int64_t kHeight = 1080, kWidth = 1920, kChannels = 3;

/// Rings around a point, other for each colour, under a gradient.
uint8_t pixel(int64_t y, int64_t x, int64_t channel) {
  double dy = static_cast<double>(y - 500), dx = static_cast<double>(x - 300 * (channel + 1));
  double ring = std::cos(std::sqrt(dy * dy + dx * dx) / 17);
  double slope = static_cast<double>(x + y) / static_cast<double>(kHeight + kWidth);
  return static_cast<uint8_t>(std::lround(127.5 * (1 + ring * (1 - slope))));
}

std::string write_image(const fs::path& folder) {
  std::vector<uint8_t> bytes;
  bytes.reserve(kHeight * kWidth * kChannels);
  for (int64_t y = 0; y < kHeight; ++y)
    for (int64_t x = 0; x < kWidth; ++x)
      for (int64_t c = 0; c < kChannels; ++c) bytes.push_back(pixel(y, x, c));
  std::string path = folder / "image.npy";
  save_npy(path, tensor(bytes, {kHeight, kWidth, kChannels}));
  return path;
}

Tensor read_image(const std::string& path) {
  Tensor image = load_npy(path);
  constexpr int64_t kLeast = 32;
  if (image.dtype() != u8 || image.rank() != 3 || image.size(2) != kChannels || std::min(image.size(0), image.size(1)) < kLeast)
    user_error("{} holds {} of shape {}, expected an image: u8 of shape (height, width, {}), 32 by 32 or larger", path,
               name_of(image.dtype()), to_string(image.shape()), kChannels);
  return image;
}

/// A folder that goes with all that is in it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("strider-demo-{}", ::getpid())) { fs::create_directories(path_); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// --- what is run

constexpr double kMean[] = {123.675, 116.28, 103.53}, kDeviation[] = {58.395, 57.12, 57.375};
constexpr double kAlpha = 0.5;
constexpr int64_t kBlock = 4096;

/// Elements by index of axes.
using Reference = std::function<double(int64_t, int64_t, int64_t)>;

/// The largest difference from the reference, relative where values are above 1. Missing axes have index 0.
double difference(const Tensor& result, const Reference& reference) {
  std::vector<double> found = result.to_doubles();
  Dims shape = result.shape();
  while (shape.rank() < 3) shape.push_back(1);
  double most = 0;
  size_t n = 0;
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j)
      for (int64_t k = 0; k < shape[2]; ++k, ++n) {
        double wanted = reference(i, j, k), error = std::abs(found[n] - wanted);
        most = std::max(most, std::isnan(error) ? INFINITY : error / std::max(1.0, std::abs(wanted)));
      }
  return most;
}

std::string operand_text(const TensorView& x) {
  std::string strides = x.is_contiguous() ? "" : " by " + to_string(x.strides());
  return fmt::format("{} {}{}", name_of(x.dtype()), to_string(x.shape()), strides);
}

int64_t bytes_of(const TensorView& x) { return x.elements() * size_of(x.dtype()); }

/// One run after the other, with a table of what came out.
class Demo {
 public:
  Demo(std::string device, const Tensor& image)
      : device_(std::move(device)),
        host_(image.to_doubles()),
        image_(image.to(device_)),
        mean_(channel_values(kMean)),
        deviation_(channel_values(kDeviation)),
        planes_(empty({kChannels, image.size(0), image.size(1)}, {f32, device_})),
        runner_({.device = device_, .quick = true}, progress_) {
    runner_.use_threads(runner_.threads().back());
    table_.add({"call", "first operand", "first results", "first call", "again", "GB/s", "of copy", "error", ""});
  }

  bool run() {
    layouts();
    others();
    l1_run();
    progress_.clear();
    fmt::print("\n{}: {}\n{}", device_, describe_device(device_), table_.text());
    second_shape();
    return all_right_;
  }

  std::string source() const { return add().source(quarter(0), quarter(1), kAlpha); }

 private:
  Tensor channel_values(const double (&values)[kChannels]) const {
    return tensor(std::vector<float>(std::begin(values), std::end(values))).to(device_);
  }

  int64_t height() const { return image_.size(0); }
  int64_t width() const { return image_.size(1); }
  double byte(int64_t y, int64_t x, int64_t c) const { return host_[static_cast<size_t>((y * width() + x) * kChannels + c)]; }
  double normal(int64_t y, int64_t x, int64_t c) const {
    auto k = static_cast<size_t>(c);
    return (byte(y, x, c) - static_cast<float>(kMean[k])) / static_cast<float>(kDeviation[k]);
  }

  /// Every second row of the first plane, from `first` on; every second element of those.
  Tensor half(int64_t first) const { return planes_.slice(0, 0, 1).squeeze(0).slice(0, first, height() / 2 * 2, 2); }
  Tensor quarter(int64_t first) const { return half(first).slice(1, 0, width(), 2); }
  static Tensor by_channel(const Tensor& t) { return t.reshape({kChannels, 1, 1}); }

  /// The layouts that code meets everywhere: permuted, [::2], [::2, ::2], transposed.
  void layouts() {
    Tensor pixels = image_.permute({2, 0, 1}), mean = by_channel(mean_), deviation = by_channel(deviation_), planes = planes_;
    report("normalize(image.permute(2, 0, 1), out=planes)", pixels, [=] {
      normalize()(pixels, mean, deviation, out(planes));
      return planes;
    }, [this](int64_t c, int64_t y, int64_t x) { return normal(y, x, c); });
    report_add("add(plane[::2], plane[1::2], 0.5)", half(0), half(1),
               [this](int64_t y, int64_t x, int64_t) { return normal(2 * y, x, 0) + normal(2 * y + 1, x, 0) * kAlpha; });
    report_add("add(plane[::2, ::2], plane[1::2, ::2], 0.5)", quarter(0), quarter(1), blended());
    int64_t side = std::min(height(), width());
    Tensor square = planes.slice(0, 0, 1).squeeze(0).slice(0, 0, side).slice(1, 0, side);
    report_add("add(square, square.t(), 0.5)", square, square.t(),
               [this](int64_t y, int64_t x, int64_t) { return normal(y, x, 0) + normal(x, y, 0) * kAlpha; });
  }

  Reference blended() const {
    return [this](int64_t y, int64_t x, int64_t) { return normal(2 * y, 2 * x, 0) + normal(2 * y + 1, 2 * x, 0) * kAlpha; };
  }

  void others() {
    auto exact = [this](int64_t c, int64_t y, int64_t x) {
      double v = normal(y, x, c);
      return 0.5 * v * (1 + std::erf(v * M_SQRT1_2));
    };
    Tensor planes = planes_, flipped = planes_.flip(1);
    report("gelu(planes)", planes, [=] { return gelu()(planes); }, exact);
    report("gelu(planes[:, ::-1])", flipped, [=] { return gelu()(flipped); },
           [=, this](int64_t c, int64_t y, int64_t x) { return exact(c, height() - 1 - y, x); });
  }

  void l1_run() {
    Tensor planes = planes_;
    double wanted = 0;
    for (double v : planes.to_doubles()) wanted += std::abs(v);
    int64_t n = planes.elements();
    report("l1_norm(planes)", planes, [=, this] {
      Tensor sum = zeros({}, {f32, device_});
      l1_norm()[cdiv(n, kBlock)](planes, sum, n, {{"BLOCK", kBlock}});
      return sum;
    }, [wanted](int64_t, int64_t, int64_t) { return wanted; });
  }

  void report_add(const std::string& name, const Tensor& x, const Tensor& y, const Reference& reference) {
    report(name, x, [=] { return add()(x, y, kAlpha); }, reference, bytes_of(y));
  }

  /// Runs `call` for its result, then in turn with a copy of as many bytes, and adds a line about it.
  void report(const std::string& name, const TensorView& operand, const std::function<Tensor()>& call, const Reference& reference,
              int64_t other_bytes = 0) {
    auto start = std::chrono::steady_clock::now();
    Tensor result = call();
    synchronize(device_);
    double first = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double error = difference(result, reference);
    bool right = error < 2e-6;
    all_right_ &= right;
    testing::Row row = timed(name, bytes_of(operand) + other_bytes + bytes_of(result), [&](int64_t) { call(); });
    table_.add({name, operand_text(operand), first_elements(result), testing::time_text(first),
                testing::time_text(row.times.median()), fmt::format("{:.1f}", row.gbps()), fmt::format("{:.2f}", row.fraction()),
                fmt::format("{:.1e}", error), right ? "ok" : "WRONG"});
  }

  testing::Row timed(const std::string& name, int64_t bytes, testing::Call call) {
    progress_.show(name);
    runner_.time({.name = name, .bytes = bytes, .call = std::move(call)});
    return runner_.take_rows()[0];
  }

  /// Another size in a layout seen before: nothing may be compiled. Its rows too begin where wide accesses can: code may know that.
  void second_shape() {
    auto part = [this](int64_t first) { return quarter(first).slice(0, 0, height() / 2 - 7).slice(1, 0, width() / 2 - 16); };
    finish_compiles();
    int64_t before = stats().compiles;
    double error = difference(add()(part(0), part(1), kAlpha), blended());
    int64_t compiled = stats().compiles - before;
    bool right = error < 2e-6 && compiled == 0;
    all_right_ &= right;
    fmt::print("add of {}, a shape not seen before in a layout that was: {} kernels compiled{}\n", operand_text(part(0)),
               compiled, right ? "" : ", WRONG");
  }

  static std::string first_elements(const Tensor& t) {
    if (t.elements() == 1) return fmt::format("{:.1f}", t.item());
    TensorView row = t;
    while (row.rank() > 1) row = row.slice(0, 0, 1).squeeze(0);
    std::vector<double> e = row.slice(0, 0, 2).to_doubles();
    return fmt::format("{:.4f} {:.4f}", e[0], e.back());
  }

  std::string device_;
  std::vector<double> host_;
  Tensor image_, mean_, deviation_;
  Tensor planes_;  // what normalize leaves: f32, channels first
  testing::Progress progress_;
  testing::Runner runner_;
  testing::Table table_{"lllrrrrrl"};
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

void print_counters() {
  Stats s = stats();
  fmt::print("\ncache counters: {} kernels compiled, {} calls found theirs in memory, {} loaded from disk, {} not there\n",
             s.compiles, s.memory_hits, s.disk_hits, s.disk_misses);
}

void demo(const std::string& given) {
  Folder folder;
  std::string path = given.empty() ? write_image(folder.path()) : given;
  Tensor image = read_image(path);
  fmt::print("{}", kOperators);
  fmt::print("The image is that of {}: {}.\n"
             "Operands that are not contiguous are shown as shape by strides. Errors are to plain C++, relative above 1.\n"
             "GB/s counts large inputs and the result; copy is the identity kernel moving as many bytes, timed in turn.\n",
             given.empty() ? "a .npy file that was just written" : path, operand_text(image));
  bool all_right = true;
  for (const std::string& device : kinds_of_devices()) {
    Demo one(device, image);
    if (device == devices()[0])
      fmt::print("\nThe tile kernel of add(plane[::2, ::2], plane[1::2, ::2], 0.5) on {}:\n{}", device, one.source());
    all_right &= one.run();
  }
  print_counters();
  fmt::print("{}\n", all_right ? "all results agree with plain C++" : "SOME RESULTS ARE WRONG");
  if (!all_right) throw Failed();
}

}  // namespace

void add_demo(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("demo", "Run operators and a kernel on a real image and check the results");
  command->add_option("--image", *path, "A .npy file with u8 of shape (height, width, 3); if not given, one is made");
  command->callback([path] { demo(*path); });
}

}  // namespace strider::tool
