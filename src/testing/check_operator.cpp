// SPDX-License-Identifier: Apache-2.0
// The four steps for operators.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "ir/print.h"
#include "ir/semantics.h"
#include "tensor/compare.h"
#include "tensor/elements.h"
#include "tensor/guard.h"
#include "tensor/shape.h"
#include "testing/check.h"
#include "testing/reference.h"
#include "testing/tolerance.h"

#include <strider/testing/special.h>

namespace strider::inline v0::testing {
namespace {

using testing::CloseOptions;
using testing::CloseReport;

/// The arguments of one call; numbers stand where the schema wants them.
struct Case {
  std::string name;
  std::vector<Tensor> tensors = {};              // by argument, empty ones for numbers
  std::optional<TensorView> out = {};
};

/// How the results of one dtype came out.
struct Outcome {
  WorstUlp ulp;
  int64_t elements = 0;
  int64_t own_dtype_only = 0;  // as the function in its own dtype has it, and not as in double
};

class OperatorCheck {
 public:
  OperatorCheck(const Operator& op, const CheckOptions& options) : op_(op), decl_(op.declaration()), options_(options) {}

  CheckReport run() {
    Steps steps("operator " + decl_.name, options_);
    steps.run("types", [&](CheckStep& s) { types(s); });
    steps.run("boundaries", [&](CheckStep& s) { boundaries(s); });
    steps.run("correctness", [&](CheckStep& s) { correctness(s); });
    steps.run("speed", [&](CheckStep& s) { speed(s); });
    return steps.take();
  }

 private:
  // --- arguments

  bool is_number(size_t k) const { return k < decl_.schema.is_tensor.size() && !decl_.schema.is_tensor[k]; }
  size_t tensor_count() const {
    size_t count = 0;
    for (size_t k = 0; k < decl_.arguments; ++k) count += !is_number(k);
    return count;
  }
  /// An argument that is a choice is bool whatever the others are.
  DType dtype_of_argument(size_t k, DType dtype) const { return k == 0 && first_is_bool_ ? boolean : dtype; }
  bool is_for_floats(DType dtype) const { return is_float(dtype); }

  std::vector<Argument> arguments(const Case& c, DType dtype) const {
    std::vector<Argument> list;
    for (size_t k = 0; k < decl_.arguments; ++k) {
      if (!is_number(k)) list.emplace_back(c.tensors[k]);
      else if (is_for_floats(dtype)) list.emplace_back(0.75);
      else list.emplace_back(dtype == boolean ? 1 : 2);
    }
    if (c.out) list.emplace_back(out(*c.out));
    return list;
  }

  std::vector<planner::ArgumentType> types_of(const Case& c, DType dtype) const {
    std::vector<planner::ArgumentType> list;
    for (size_t k = 0; k < decl_.arguments; ++k) {
      if (is_number(k)) list.push_back({planner::Source::Number, is_for_floats(dtype) ? f64 : i64});
      else list.push_back({c.tensors[k].rank() == 0 ? planner::Source::ZeroDim : planner::Source::Tensor, c.tensors[k].dtype()});
    }
    return list;
  }

  /// A case of equal tensors, as `make(argument, dtype)` gives them.
  template <class F>
  Case case_of(std::string name, DType dtype, const F& make) const {
    Case c{std::move(name)};
    for (size_t k = 0; k < decl_.arguments; ++k)
      c.tensors.push_back(is_number(k) ? empty({}) : make(k, dtype_of_argument(k, dtype)).to(options_.device));
    return c;
  }
  Tensor ordinary(const Dims& shape, DType dtype, size_t argument, double share = 0) const {
    return testing::random_with_special(shape, {dtype, options_.device}, options_.seed + 17 * argument, {.share = share});
  }
  Case ordinary_case(std::string name, DType dtype, const Dims& shape, double share = 0) const {
    return case_of(std::move(name), dtype, [&](size_t k, DType t) { return ordinary(shape, t, k, share); });
  }

  // --- one call against the reference

  std::vector<Tensor> call(const Case& c, DType dtype) const {
    std::vector<Tensor> results = op_.run(arguments(c, dtype));
    device_named(options_.device).synchronize();
    return results;
  }

  static Dims common_shape(const Case& c) {
    Dims shape;
    for (const Tensor& t : c.tensors) {
      if (t.rank() > shape.rank()) {
        Dims longer = t.shape();
        for (int k = 1; k <= shape.rank(); ++k)
          if (longer[t.rank() - k] == 1) longer[t.rank() - k] = shape[shape.rank() - k];
        shape = longer;
      } else {
        for (int k = 1; k <= t.rank(); ++k)
          if (shape[shape.rank() - k] == 1) shape[shape.rank() - k] = t.shape()[t.rank() - k];
      }
    }
    return shape;
  }

  /// Bits of the arguments, by argument and element.
  std::vector<std::vector<uint64_t>> operand_bits(const Case& c, DType dtype, const Dims& shape) const {
    std::vector<std::vector<uint64_t>> bits;
    int64_t elements = count_elements(shape, f64);
    for (size_t k = 0; k < decl_.arguments; ++k) {
      if (is_number(k)) {
        uint64_t number = is_for_floats(dtype) ? ir::bits_of_double(f64, 0.75) : dtype == boolean ? 1 : 2;
        bits.emplace_back(static_cast<size_t>(elements), number);
      } else {
        bits.push_back(c.tensors[k].expand(shape).to_bits());
      }
    }
    return bits;
  }

  std::vector<uint64_t> from_user(const std::vector<std::vector<uint64_t>>& operands, const Case& c, DType dtype,
                                  DType result) const {
    std::vector<uint64_t> expected(operands[0].size());
    std::vector<double> row(decl_.arguments);
    for (size_t i = 0; i < expected.size(); ++i) {
      for (size_t k = 0; k < row.size(); ++k)
        row[k] = ir::double_of_bits(is_number(k) ? (is_for_floats(dtype) ? f64 : i64) : c.tensors[k].dtype(), operands[k][i]);
      expected[i] = ir::bits_of_double(result, options_.reference(row));
    }
    return expected;
  }

  static std::vector<uint64_t> from_function(ScalarReference& reference, const std::vector<std::vector<uint64_t>>& operands,
                                             size_t output) {
    std::vector<uint64_t> expected(operands[0].size()), row(operands.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      for (size_t k = 0; k < row.size(); ++k) row[k] = operands[k][i];
      expected[i] = reference(row, output);
    }
    return expected;
  }

  /// Takes the result in the operator's own dtype where that is what was found, and the one in double is not.
  int64_t choose(const std::vector<uint64_t>& actual, std::vector<uint64_t>& expected, const std::vector<uint64_t>& own,
                 DType dtype) const {
    double largest = largest_magnitude(dtype, static_cast<int64_t>(expected.size()), expected);
    Tolerance tolerance = tolerance_of(close_options(options_, dtype), dtype, largest);
    int64_t chosen = 0;
    for (size_t i = 0; i < actual.size(); ++i) {
      bool is_right =
          tolerance.accepts(dtype, actual[i], dtype, expected[i]) && !differ_in_sign_of_zero(actual[i], expected[i], dtype);
      if (is_right || !tolerance.accepts(dtype, actual[i], dtype, own[i])) continue;
      expected[i] = own[i];
      ++chosen;
    }
    return chosen;
  }
  static bool differ_in_sign_of_zero(uint64_t a, uint64_t b, DType dtype) { return wrong_zero({a}, {b}, dtype) == 0; }

  std::string arguments_text(const std::vector<std::vector<uint64_t>>& operands, const Case& c, DType dtype, size_t i) const {
    std::string text;
    for (size_t k = 0; k < operands.size(); ++k) {
      DType t = is_number(k) ? (is_for_floats(dtype) ? f64 : i64) : c.tensors[k].dtype();
      text += fmt::format("{}{} = {}", k == 0 ? "" : ", ", decl_.schema.name_of(k), ir::print_element(t, operands[k][i]));
    }
    return text;
  }

  /// Runs the case and compares all its outputs; throws what is wrong as a user error.
  void verify(const Case& c, DType dtype, Outcome& outcome) const {
    GuardedMemory guarded;
    Case inside = c;  // copies, so that the inputs too lie between guards
    for (Tensor& t : inside.tensors) t = guarded_copy(t);
    std::vector<Tensor> results = call(inside, dtype);
    if (c.out) results = {Tensor(*c.out, nullptr)};
    Dims shape = common_shape(c);
    std::vector<std::vector<uint64_t>> operands = operand_bits(c, dtype, shape);
    for (size_t k = 0; k < results.size(); ++k) verify_output(c, dtype, results[k], k, shape, operands, outcome);
    if (std::string damage = guarded.damage(); !damage.empty())
      user_error("{} of {}: wrote outside: {}", c.name, name_of(dtype), damage);
  }

  static Tensor guarded_copy(const Tensor& t) {
    if (t.elements() == 0) return t;
    Tensor copy = empty_on(t.device_object(), t.shape(), t.strides(), t.dtype());
    std::vector<char> bytes(bytes_of(t).size());
    t.device_object().copy_out(bytes.data(), bytes_of(t).data(), static_cast<int64_t>(bytes.size()));
    t.device_object().copy_in(bytes_of(copy).data(), bytes.data(), static_cast<int64_t>(bytes.size()));
    return copy;
  }

  void verify_output(const Case& c, DType dtype, const TensorView& result, size_t output, const Dims& shape,
                     const std::vector<std::vector<uint64_t>>& operands, Outcome& outcome) const {
    std::vector<planner::ArgumentType> types = types_of(c, dtype);
    ScalarReference wide(decl_, types, false), own(decl_, types, true);
    DType expected_dtype = c.out ? result.dtype() : wide.results()[output];
    std::string where =
        fmt::format("{} of {}{}", c.name, name_of(dtype), decl_.outputs > 1 ? fmt::format(", output {}", output) : "");
    if (result.shape() != shape)
      user_error("{}: the result has shape {}, expected {}", where, to_string(result.shape()), to_string(shape));
    if (result.dtype() != expected_dtype)
      user_error("{}: the result is {}, expected {}", where, name_of(result.dtype()), name_of(expected_dtype));
    std::vector<uint64_t> actual = result.to_bits(), expected;
    if (options_.reference) {
      expected = from_user(operands, c, dtype, expected_dtype);
    } else {
      expected = from_function(wide, operands, output);
      if (wide.is_float())
        outcome.own_dtype_only += choose(actual, expected, from_function(own, operands, output), expected_dtype);
    }
    Tensor reference = generate(shape, {expected_dtype}, [&](int64_t i) { return expected[static_cast<size_t>(i)]; });
    CloseReport report = testing::compare(result, reference, close_options(options_, expected_dtype));
    outcome.elements += report.elements;
    outcome.ulp.add(expected_dtype, actual, expected, report.atol);
    if (!report.is_close()) {
      size_t first = linear(report.worst[0].index, shape);
      user_error("{}: at {} {}", where, arguments_text(operands, c, dtype, first), report.text());
    }
    if (int64_t i = wrong_zero(actual, expected, expected_dtype); i >= 0)
      user_error("{}: at {} the result is {}, expected {}", where, arguments_text(operands, c, dtype, static_cast<size_t>(i)),
                 ir::print_element(expected_dtype, actual[static_cast<size_t>(i)]),
                 ir::print_element(expected_dtype, expected[static_cast<size_t>(i)]));
  }

  static size_t linear(const Dims& index, const Dims& shape) {
    int64_t i = 0;
    for (int k = 0; k < shape.rank(); ++k) i = i * shape[k] + index[k];
    return static_cast<size_t>(i);
  }

  /// Whether the case is as it should be; if not, the step gets a line.
  bool try_case(CheckStep& step, const Case& c, DType dtype, Outcome& outcome) const {
    return attempt(step, [&] { verify(c, dtype, outcome); });
  }

  // --- step 1

  void types(CheckStep& step) {
    TypesFound found;
    for (bool first_is_bool : {false, true}) {
      first_is_bool_ = first_is_bool;
      found = {};
      for (DType dtype : dtypes_of(options_)) try_dtype(found, dtype);
      if (!found.accepted().empty() || decl_.arguments < 2 || is_number(0)) break;
    }
    found.tell(step, options_);
    accepted_ = found.accepted();
  }

  void try_dtype(TypesFound& found, DType dtype) const {
    found.attempt(dtype, [&] {
      Case c = ordinary_case("types", dtype, {5});
      std::vector<DType> expected = ScalarReference(decl_, types_of(c, dtype), false).results();
      std::vector<Tensor> results = call(c, dtype);
      std::string words;
      for (size_t k = 0; k < results.size(); ++k) {
        if (results[k].dtype() != expected[k])
          user_error("output {} is {}, its rule says {}", k, name_of(results[k].dtype()), name_of(expected[k]));
        words += fmt::format("{}{}", k == 0 ? "" : " and ", name_of(results[k].dtype()));
      }
      return words;
    });
  }

  // --- step 2

  void boundaries(CheckStep& step) const {
    Outcome outcome;
    int cases = 0;
    std::vector<int64_t> sizes =
        options_.quick ? std::vector<int64_t>{0, 1, 1025} : std::vector<int64_t>{0, 1, 2, 7, 255, 1023, 1025, 5000};
    for (DType dtype : accepted_) {
      cases += 1 + static_cast<int>(sizes.size());
      if (!try_case(step, special_case(dtype), dtype, outcome)) continue;
      for (int64_t n : sizes)
        if (!try_case(step, ordinary_case(fmt::format("{} elements", n), dtype, {n}), dtype, outcome)) break;
    }
    if (step.verdict == Verdict::Failed) return;
    add(step, Verdict::Passed,
        fmt::format("special values, and {} sizes from 0 on: {} cases, {} elements; nothing was written outside", sizes.size(),
                    cases, outcome.elements));
    note_own(step, outcome);
  }

  static void note_own(CheckStep& step, const Outcome& o) {
    if (o.own_dtype_only > 0)
      add(step, Verdict::Passed,
          fmt::format("{} elements are as the function gives them in its own dtype (overflow, cancellation), not as in double",
                      o.own_dtype_only));
  }

  /// Special values of all arguments: all pairs of two, a random choice of more.
  Case special_case(DType dtype) const {
    auto values = [&](size_t k) { return testing::special_values(dtype_of_argument(k, dtype)); };
    uint64_t key = key_of(options_.seed);
    size_t tensors = tensor_count(), count = values(decl_.arguments - 1 - is_number(decl_.arguments - 1)).size();
    int64_t n = tensors == 1 ? static_cast<int64_t>(count) : tensors == 2 ? static_cast<int64_t>(count * count) : 4001;
    return case_of("special values", dtype, [&](size_t k, DType t) {
      std::vector<testing::SpecialValue> list = values(k);
      size_t place = 0;  // among the tensors
      for (size_t j = 0; j < k; ++j) place += !is_number(j);
      return generate({n | 1}, {t}, [&](int64_t index) {
        auto i = static_cast<uint64_t>(index);
        uint64_t which = tensors > 2 ? random_bits(key + k, i) : place == 0 ? i : i / count;
        return list[which % list.size()].bits;
      });
    });
  }

  // --- step 3

  void correctness(CheckStep& step) const {
    for (DType dtype : accepted_) {
      Outcome outcome;
      size_t cases = 0;
      bool is_right = true;
      for (const Case& c : layouts(dtype)) {
        ++cases;
        if (!(is_right = try_case(step, c, dtype, outcome))) break;
      }
      if (is_right) is_right = strided_output(step, dtype, outcome);
      if (!is_right) continue;
      std::string own =
          outcome.own_dtype_only > 0 ? fmt::format(", {} of them as in its own dtype alone", outcome.own_dtype_only) : "";
      add(step, Verdict::Passed,
          fmt::format("{}: {} layouts, {} elements{}{}", name_of(dtype), cases + 1, outcome.elements, outcome.ulp.text(), own));
    }
    if (step.verdict == Verdict::Passed && tensor_count() > 1 && !first_is_bool_) mixed(step);
  }

  std::vector<Case> layouts(DType dtype) const {
    constexpr int64_t kRows = 33, kColumns = 67, kTwice = 2 * kColumns;
    size_t last = decl_.arguments - 1;
    while (is_number(last)) --last;
    auto with_last = [&](std::string name, auto make) {
      return case_of(std::move(name), dtype, [&](size_t k, DType t) {
        return k == last ? make(t, k) : ordinary({kRows, kColumns}, t, k);
      });
    };
    auto ord = [&](const Dims& shape, DType t, size_t k) { return ordinary(shape, t, k); };
    std::vector<Case> all{
        ordinary_case("contiguous", dtype, {kRows, kColumns}),
        with_last("transposed", [&](DType t, size_t k) { return ord({kColumns, kRows}, t, k).t(); }),
        with_last("every second column", [&](DType t, size_t k) { return ord({kRows, kTwice}, t, k).slice(1, 0, kTwice, 2); }),
        with_last("inner columns", [&](DType t, size_t k) { return ord({kRows, kTwice}, t, k).narrow(1, 3, kColumns); }),
        with_last("repeated rows", [&](DType t, size_t k) { return ord({1, kColumns}, t, k).expand({kRows, kColumns}); }),
    };
    if (options_.quick) return all;
    all.push_back(with_last("reversed", [&](DType t, size_t k) { return ord({kRows, kColumns}, t, k).flip(1).flip(0); }));
    all.push_back(with_last("repeated columns", [&](DType t, size_t k) {
      return ord({kRows, 1}, t, k).expand({kRows, kColumns});
    }));
    all.push_back(case_of("all transposed", dtype, [&](size_t k, DType t) { return ord({kColumns, kRows}, t, k).t(); }));
    all.push_back(case_of("four axes", dtype, [&](size_t k, DType t) { return ord({3, 5, 7, 9}, t, k).permute({2, 0, 3, 1}); }));
    if (tensor_count() > 1) {
      all.push_back(with_last("a broadcast row", [&](DType t, size_t k) { return ord({kColumns}, t, k); }));
      all.push_back(with_last("a broadcast column", [&](DType t, size_t k) { return ord({kRows, 1}, t, k); }));
    }
    return all;
  }

  /// Into every second column of a matrix whose others must stay as they are.
  bool strided_output(CheckStep& step, DType dtype, Outcome& outcome) const {
    if (decl_.outputs != 1) return true;
    constexpr int64_t kRows = 21, kColumns = 43;
    Case c = ordinary_case("an output of every second column", dtype, {kRows, kColumns});
    DType result = ScalarReference(decl_, types_of(c, dtype), false).results()[0];
    GuardedMemory guarded;
    Tensor matrix = empty({kRows, 2 * kColumns}, {result, options_.device}), between = matrix.slice(1, 1, 2 * kColumns, 2);
    std::vector<uint64_t> before = between.to_bits();
    c.out = matrix.slice(1, 0, 2 * kColumns, 2);
    if (!try_case(step, c, dtype, outcome)) return false;
    if (between.to_bits() == before) return true;
    add(step, Verdict::Failed,
        fmt::format("{} of {}: wrote outside: elements between those of the output", c.name, name_of(dtype)));
    return false;
  }

  void mixed(CheckStep& step) const {
    constexpr std::pair<DType, DType> kPairs[] = {{f16, f32}, {f32, f16}, {i32, f32},    {f32, f64},
                                                  {u8, i16},  {i64, f16}, {boolean, i32}};
    Outcome outcome;
    int taken = 0;
    for (auto [first, second] : kPairs) {
      if (!is_accepted(first) || !is_accepted(second)) continue;
      bool is_first = true;
      Case c = case_of(fmt::format("{} with {}", name_of(first), name_of(second)), second, [&](size_t k, DType) {
        return ordinary({33, 67}, std::exchange(is_first, false) ? first : second, k);
      });
      DType numbers = is_float(first) || is_float(second) ? f32 : i32;
      try {
        (void)ScalarReference(decl_, types_of(c, numbers), false);
      } catch (const Error&) {
        continue;  // the operator does not take the two together
      }
      taken += try_case(step, c, numbers, outcome);
    }
    if (taken > 0) add(step, Verdict::Passed, fmt::format("{} pairs of dtypes, {} elements", taken, outcome.elements));
  }
  bool is_accepted(DType dtype) const { return std::find(accepted_.begin(), accepted_.end(), dtype) != accepted_.end(); }

  // --- step 4

  void speed(CheckStep& step) const {
    DType dtype = is_accepted(f32) ? f32 : accepted_.front();
    SpeedSubject subject;
    subject.make = [&](int64_t elements, int64_t, int64_t shift) {
      std::optional<GuardedMemory> shifted;
      if (shift > 0) shifted.emplace(shift);
      auto c = std::make_shared<Case>(case_of("speed", dtype, [&](size_t k, DType t) { return ordinary({elements}, t, k); }));
      auto results = std::make_shared<std::vector<Tensor>>(call(*c, dtype));
      SpeedCase work;
      for (size_t k = 0; k < decl_.arguments; ++k)
        if (!is_number(k)) work.bytes += elements * size_of(c->tensors[k].dtype());
      for (const Tensor& t : *results) work.bytes += elements * size_of(t.dtype());
      work.footprint = work.bytes;
      work.run = [this, c, results, dtype] {
        std::vector<Argument> list = arguments(*c, dtype);
        for (const Tensor& t : *results) list.emplace_back(out(t));
        op_.run(list);
      };
      return work;
    };
    check_speed(step, subject, options_);
  }

  const Operator& op_;
  const detail::OperatorDecl& decl_;
  const CheckOptions& options_;
  bool first_is_bool_ = false;
  std::vector<DType> accepted_;
};

}  // namespace
}  // namespace strider::v0::testing

namespace strider::inline v0::testing {

CheckReport check(const Operator& op, const CheckOptions& options) {
  testing::check_options(options);
  return testing::OperatorCheck(op, options).run();
}

}  // namespace strider::v0::testing
