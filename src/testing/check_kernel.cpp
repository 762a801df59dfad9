// SPDX-License-Identifier: Apache-2.0
// The four steps for kernels by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ir/semantics.h"
#include "tensor/guard.h"
#include "tensor/storage.h"
#include "testing/check.h"

#include <strider/interpret.h>
#include <strider/testing/special.h>

namespace strider::inline v0::testing {
namespace {

using testing::CloseOptions;
using testing::CloseReport;
using testing::KernelCall;
using testing::KernelCheck;
using testing::KernelSize;
using testing::SpecialValue;

constexpr int64_t kShift = 8;  // bytes: no vector is aligned, all elements are

int64_t bytes_in(const Tensor& t) { return t.elements() * size_of(t.dtype()); }

class KernelChecker {
 public:
  KernelChecker(std::string_view name, const KernelCheck& how, const CheckOptions& options)
      : name_(name), how_(how), options_(options) {}

  CheckReport run() {
    Steps steps("kernel " + name_, options_);
    steps.run("types", [&](CheckStep& s) { types(s); });
    steps.run("boundaries", [&](CheckStep& s) { boundaries(s); });
    steps.run("correctness", [&](CheckStep& s) { correctness(s); });
    steps.run("speed", [&](CheckStep& s) { speed(s); });
    return steps.take();
  }

 private:
  TensorOptions tensors(DType dtype) const { return {dtype, options_.device}; }
  KernelSize small(int64_t columns) const { return {how_.by_rows ? 3 : 1, columns, how_.block}; }
  /// No multiple of the block.
  int64_t odd_size() const { return how_.by_rows ? std::max<int64_t>(how_.block * 3 / 4, 1) : how_.block + 3; }
  static std::string size_text(const KernelSize& s) {
    return s.rows == 1 ? fmt::format("{} elements, block {}", s.columns, s.block)
                       : fmt::format("{} rows of {} elements, block {}", s.rows, s.columns, s.block);
  }
  void synchronize() const { device_named(options_.device).synchronize(); }

  /// Other elements for the inputs: ordinary ones.
  void fill(const KernelCall& call) const {
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      const Tensor& t = call.inputs[k];
      t.copy_from(testing::random_with_special(t.shape(), {t.dtype(), t.device()}, options_.seed + 17 * k, {.share = 0}));
    }
  }
  /// What nobody may expect to find in the output.
  static void poison(const Tensor& out) {
    std::vector<char> bytes(static_cast<size_t>(bytes_in(out)), static_cast<char>(0xff));
    if (!bytes.empty() && out.is_contiguous())
      out.device_object().copy_in(out.data(), bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  /// Launches and compares with what is expected of the inputs as they are now.
  CloseReport launched(const KernelCall& call, WorstUlp* ulp = nullptr) const {
    poison(call.out);
    call.launch();
    synchronize();
    std::vector<double> expected = call.expected();
    if (static_cast<int64_t>(expected.size()) != call.out.elements())
      user_error("the reference gives {} elements, the kernel {}", expected.size(), call.out.elements());
    DType dtype = call.out.dtype();
    if (!is_float(dtype) && how_.in_f32) forgive_rounding(call.out.to_doubles(), expected);
    CloseOptions close = tolerances(dtype);
    close.summands = summands(call);
    Tensor reference = tensor_of(expected, call.out.shape(), dtype);
    CloseReport report = testing::compare(call.out, reference, close);
    if (ulp) ulp->add(dtype, call.out.to_bits(), reference.to_bits(), report.atol);
    return report;
  }
  CloseOptions tolerances(DType dtype) const {
    CloseOptions close = close_options(options_, dtype);
    if (!how_.in_f32 || options_.rtol || options_.atol || dtype != f64) return close;
    close.rtol = testing::default_rtol(f32);
    close.atol = testing::default_atol(f32);
    return close;
  }

  /// A float on its way to an integer is cut off: one that lies next to an integer may come out as that.
  static void forgive_rounding(const std::vector<double>& actual, std::vector<double>& expected) {
    for (size_t i = 0; i < actual.size(); ++i) {
      double whole = std::rint(expected[i]), slack = 1e-2 + 1e-5 * std::fabs(whole);
      if (expected[i] != whole && std::fabs(expected[i] - whole) <= slack && actual[i] == whole) expected[i] = whole;
    }
  }

  /// Inputs' elements for each of the output's, where there are fewer of those.
  static int64_t summands(const KernelCall& call) {
    if (call.inputs.empty() || call.out.elements() == 0) return 1;
    return std::max<int64_t>(call.inputs[0].elements() / call.out.elements(), 1);
  }

  /// A user error that says what is wrong.
  void verify(const KernelSize& size, DType dtype, int64_t shift = 0, WorstUlp* ulp = nullptr) const {
    GuardedMemory guarded(shift);
    KernelCall call = how_.prepare(size, tensors(dtype));
    fill(call);
    CloseReport report = launched(call, ulp);
    std::string where = fmt::format("{} of {}{}", size_text(size), name_of(dtype), shift > 0 ? ", not aligned" : "");
    if (!report.is_close()) user_error("{}: {}", where, report.text());
    if (std::string damage = guarded.damage(); !damage.empty()) user_error("{}: wrote outside: {}", where, damage);
  }

  bool try_size(CheckStep& step, const KernelSize& size, DType dtype, int64_t shift = 0) const {
    return attempt(step, [&] { verify(size, dtype, shift); });
  }

  // --- step 1

  void types(CheckStep& step) {
    TypesFound found;
    for (DType dtype : dtypes_of(options_)) {
      found.attempt(dtype, [&] {
        GuardedMemory guarded;  // what is wrong with the kernel's accesses shows in the next step
        KernelCall call = how_.prepare(small(odd_size()), tensors(dtype));
        call.launch();
        synchronize();
        return std::string(name_of(call.out.dtype()));
      });
    }
    found.tell(step, options_);
    accepted_ = found.accepted();
  }

  // --- step 2

  void boundaries(CheckStep& step) const {
    std::vector<int64_t> sizes = boundary_sizes();
    for (DType dtype : accepted_) {
      if (!interpreted(step, dtype)) continue;
      bool is_right = std::all_of(sizes.begin(), sizes.end(), [&](int64_t n) { return try_size(step, small(n), dtype); });
      is_right = is_right && try_size(step, small(how_.by_rows ? how_.block - 1 : how_.block + 1), dtype, kShift);
      if (is_right) special_values(step, dtype);
    }
    no_elements(step);
    if (step.verdict == Verdict::Failed) return;
    add(step, Verdict::Passed,
        fmt::format("{} sizes around the block of {}, special values one by one; nothing outside of a tensor was "
                    "written or used, and every access interpreted",
                    sizes.size(), how_.block));
  }

  /// Every access against the tensors that the arguments are.
  bool interpreted(CheckStep& step, DType dtype) const {
    if (!is_host(device_named(options_.device))) return true;
    GuardedMemory guarded;
    KernelCall call = how_.prepare(small(odd_size()), tensors(dtype));
    fill(call);
    std::vector<Fault> faults;
    {
      Interpreted here({.faults = &faults, .masked_lanes = true});
      call.launch();
    }
    bool is_right = true;
    for (const Fault& fault : faults) {
      bool is_lint = fault.kind == FaultKind::MaskedLane;
      is_right &= is_lint;
      add(step, is_lint ? Verdict::Noted : Verdict::Failed,
          fmt::format("{} of {}: {}", size_text(small(odd_size())), name_of(dtype), fault.text));
    }
    return is_right;
  }

  std::vector<int64_t> boundary_sizes() const {
    int64_t b = how_.block;
    std::vector<int64_t> all =
        how_.by_rows ? std::vector<int64_t>{1, 7, b / 2 + 1, b - 1, b} : std::vector<int64_t>{1, 7, b - 1, b, b + 1, 3 * b + 7};
    std::erase_if(all, [](int64_t n) { return n < 1; });
    return all;
  }

  void no_elements(CheckStep& step) const {
    try {
      KernelCall call = how_.prepare(small(0), tensors(accepted_.front()));
      call.launch();
      synchronize();
      add(step, Verdict::Passed, "no elements: nothing happens");
    } catch (const Error& error) {
      bool is_typed = error.kind() == ErrorKind::User;
      add(step, is_typed ? Verdict::Passed : Verdict::Failed, fmt::format("no elements: refused ({})", first_line(error.what())));
    }
  }

  /// Each special value alone among ordinary ones, in the middle of the first input and at its end: an infinity may make all of a
  /// sum infinite, and hide what the others did.
  void special_values(CheckStep& step, DType dtype) const {
    KernelCall call = how_.prepare(small(how_.by_rows ? std::min<int64_t>(how_.block, 100) : odd_size()), tensors(dtype));
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      if (call.inputs[k].elements() == 0) continue;
      for (const SpecialValue& v : testing::special_values(call.inputs[k].dtype()))
        if (is_for(call.inputs[k].dtype(), v, call.inputs.size()) && !special_value(step, call, k, v, dtype)) return;
    }
  }

  /// Whether the reference in double knows what comes of it: not of large integers, which are rounded there, or in the kernel.
  bool is_for(DType dtype, const SpecialValue& v, size_t inputs) const {
    if (is_float(dtype)) return true;
    double magnitude = std::fabs(ir::double_of_bits(dtype, v.bits));
    if (how_.in_f32) return magnitude <= 127;
    bool is_min = is_signed_int(dtype) && v.bits == uint64_t{1} << (bits_of(dtype) - 1);
    return magnitude <= 0x1p52 || (is_min && inputs == 1);
  }

  bool special_value(CheckStep& step, const KernelCall& call, size_t input, const SpecialValue& v, DType dtype) const {
    fill(call);
    Tensor flat = call.inputs[input].flatten();
    Tensor value = empty({1}, {flat.dtype(), flat.device()});
    flat.device_object().copy_in(value.data(), &v.bits, size_of(flat.dtype()));
    for (int64_t place : {flat.elements() / 2, flat.elements() - 1}) flat.narrow(0, place, 1).copy_from(value);
    CloseReport report = launched(call);
    if (report.is_close()) return true;
    std::string text = fmt::format("{} in input {} of {}: {}", v.name, input, name_of(dtype), report.text());
    bool is_large = is_float(dtype) && std::fabs(ir::double_of_bits(flat.dtype(), v.bits)) > std::sqrt(3e38);
    if (is_large && std::isfinite(ir::double_of_bits(flat.dtype(), v.bits))) {
      add(step, Verdict::Noted,
          fmt::format("{} in input {} of {}: overflows on the way, in double it does not", v.name, input, name_of(dtype)));
      return true;
    }
    add(step, Verdict::Failed, text);
    return false;
  }

  // --- step 3

  void correctness(CheckStep& step) const {
    std::vector<KernelSize> sizes =
        how_.by_rows ? std::vector<KernelSize>{{37, how_.block - how_.block / 8, how_.block}, {5, how_.block, how_.block}}
                     : std::vector<KernelSize>{{1, 10'007, how_.block}, {1, 16 * how_.block, how_.block}};
    if (!options_.quick && !how_.by_rows)
      for (int64_t block : how_.blocks) sizes.push_back({1, 20'011, block});
    for (DType dtype : accepted_) {
      WorstUlp ulp;
      int64_t elements = 0;
      bool is_right = attempt(step, [&] {
        for (const KernelSize& size : sizes) {
          verify(size, dtype, 0, &ulp);
          elements += size.elements();
        }
      });
      if (is_right)
        add(step, Verdict::Passed,
            fmt::format("{}: {} sizes and blocks, {} elements{}", name_of(dtype), sizes.size(), elements, ulp.text()));
    }
  }

  // --- step 4

  void speed(CheckStep& step) const {
    DType dtype = std::find(accepted_.begin(), accepted_.end(), f32) != accepted_.end() ? f32 : accepted_.front();
    SpeedSubject subject;
    subject.block = how_.block;
    if (!how_.by_rows) subject.blocks = how_.blocks;
    subject.make = [&, dtype](int64_t elements, int64_t block, int64_t shift) {
      std::optional<GuardedMemory> shifted;
      if (shift > 0) shifted.emplace(shift);
      KernelSize size =
          how_.by_rows ? KernelSize{std::max<int64_t>(elements / block, 1), block, block} : KernelSize{1, elements, block};
      auto call = std::make_shared<KernelCall>(how_.prepare(size, tensors(dtype)));
      SpeedCase work{[call] { call->launch(); }, call->bytes, bytes_in(call->out)};
      for (const Tensor& t : call->inputs) work.footprint += bytes_in(t);
      return work;
    };
    check_speed(step, subject, options_);
  }

  std::string name_;
  const KernelCheck& how_;
  const CheckOptions& options_;
  std::vector<DType> accepted_;
};

}  // namespace
}  // namespace strider::v0::testing

namespace strider::inline v0::testing {

CheckReport check(std::string_view kernel, const KernelCheck& how, const CheckOptions& options) {
  testing::check_options(options);
  if (!how.prepare) user_error("check: the kernel {} has no function that prepares its calls", kernel);
  if (how.block < 1) user_error("check: the kernel {} has a block of {}, expected 1 or more", kernel, how.block);
  return testing::KernelChecker(kernel, how, options).run();
}

}  // namespace strider::v0::testing
