// SPDX-License-Identifier: Apache-2.0
// abs, for every dtype: what it gives at the boundaries, on every engine of this machine, and what it is made of, read from the
// assembly. The table of docs/abs.md is what these tests found.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include <strider/strider.h>

#include "support/paths.h"
#include "backend/backend.h"
#include "base/deep_stack.h"
#include "front/trace/kernel.h"
#include "ir/semantics.h"
#include "pass/pipeline.h"
#include "call/inspect.h"
#include "support/errors.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

constexpr DType kAll[] = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
constexpr double kInf = std::numeric_limits<double>::infinity();

/// abs of one element, by its bits, in each way that there is.
struct Way {
  const char* name;
  std::function<uint64_t(DType, uint64_t)> abs;
};

Tensor element(DType t, uint64_t bits) {
  Tensor x = st::zeros({1}, {t});
  std::memcpy(x.data(), &bits, static_cast<size_t>(size_of(t)));
  return x;
}

const Kernel& abs_kernel() {
  static const Kernel& k = *new Kernel(st::kernel("abs_kernel", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, tl::abs(tl::load(x + i, i < n)), i < n);
  }, {{"x", "out", "n"}}));
  return k;
}
const Kernel& where_kernel() {
  static const Kernel& k = *new Kernel(st::kernel("where_kernel", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    auto v = tl::load(x + i, i < n);
    tl::store(out + i, tl::where(v < 0, -v, v), i < n);
  }, {{"x", "out", "n"}}));
  return k;
}

uint64_t by_kernel(DType t, uint64_t bits) {
  Tensor x = element(t, bits), out = st::zeros({1}, {t});
  abs_kernel()[1](x, out, 1, {{"BLOCK", 16}});
  return out.to_bits()[0];
}

const Way kWays[] = {
    {"operator", [](DType t, uint64_t bits) { return st::ops::abs(element(t, bits)).to_bits()[0]; }},
    {"kernel", by_kernel},
    {"interpreted operator", [](DType t, uint64_t bits) {
       Interpreted scope;
       return st::ops::abs(element(t, bits)).to_bits()[0];
     }},
    {"interpreted kernel", [](DType t, uint64_t bits) {
       Interpreted scope;
       return by_kernel(t, bits);
     }},
};

uint64_t smallest_bits(DType t) {
  if (is_float(t)) return ir::bits_of_double(t, -std::numeric_limits<double>::max()) - 1;  // the finite one beside -inf
  return is_signed_int(t) ? uint64_t{1} << (bits_of(t) - 1) : 0;
}
uint64_t mask_of(DType t) { return bits_of(t) == 64 ? UINT64_MAX : (uint64_t{1} << bits_of(t)) - 1; }
uint64_t sign_of(DType t) { return uint64_t{1} << (bits_of(t) - 1); }

struct Boundary {
  uint64_t x, wanted;
};

std::vector<Boundary> boundaries(DType t) {
  std::vector<Boundary> all;
  if (is_float(t)) {
    for (double x : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, -2.5})
      all.push_back({ir::bits_of_double(t, x), ir::bits_of_double(t, std::fabs(x))});
    const uint64_t nan = ir::bits_of_double(t, NAN) & ~sign_of(t);
    for (uint64_t x : {nan, nan | sign_of(t), (nan | 1) | sign_of(t), sign_of(t) | 1, sign_of(t) | (nan >> 1)})
      all.push_back({x, x & ~sign_of(t)});  // NaNs with their payloads, the smallest subnormal
    return all;
  }
  for (uint64_t x : {uint64_t{0}, uint64_t{1}, mask_of(t), sign_of(t), sign_of(t) + 1, sign_of(t) - 1, mask_of(t) / 3})
    all.push_back({x, is_signed_int(t) && x & sign_of(t) ? (0 - x) & mask_of(t) : x});
  return all;
}

TEST(Abs, EveryDtypeAtItsBoundariesInEveryWay) {
  for (DType t : kAll) {
    if (t == boolean) continue;
    for (const Boundary& b : boundaries(t))
      for (const Way& way : kWays)
        EXPECT_EQ(way.abs(t, b.x), b.wanted) << way.name << " of " << name_of(t) << " " << std::hex << b.x;
    EXPECT_EQ(st::ops::abs(st::zeros({2}, {t})).dtype(), t);
  }
}

// --- what it is made of

std::string asm_of(const ir::Function& tile, std::string_view target_name) {
  return on_deep_stack([&] {
    const Target& target = target_named(target_name);
    return compiler_for(target).text(pass::lower(pass::prepare(tile, target), target), target, "asm");
  });
}

constexpr const char* kTarget = "cpu:x86-64-v3";

std::string asm_of(const Kernel& k, DType t) {
  return asm_of(front::trace_kernel(k, {{"BLOCK", 1024}}, {.any_dtype = t}), kTarget);
}
std::string asm_of_operator(const Operator& op, DType t) {
  Tensor x = st::zeros({1 << 16}, {t});
  const Argument list[] = {x};
  return asm_of(inspect(op, list, target_named(kTarget)).tile(), kTarget);
}

/// The loops of straight code: from a label to the jump back to it, with no other label or jump between.
std::vector<std::string> straight_loops(const std::string& text) {
  static const std::regex label("^(\\.L\\w+):.*"), jump("^\\s+j[a-z]+\\s+(\\.L\\w+).*");
  std::istringstream lines(text);
  std::vector<std::string> loops;
  std::string name, body;
  for (std::string line; std::getline(lines, line); body += line + "\n") {
    std::smatch m;
    if (std::regex_match(line, m, jump)) {
      if (m[1] == name) loops.push_back(body);
      name.clear();
    } else if (std::regex_match(line, m, label)) {
      name = m[1];
      body.clear();
    }
  }
  return loops;
}

int64_t jumps(const std::string& text) {
  static const std::regex jump("\n\\s+(j[a-z]+|call\\w*)\\s");
  return std::distance(std::sregex_iterator(text.begin(), text.end(), jump), std::sregex_iterator());
}

bool has(const std::string& text, const char* pattern) { return std::regex_search(text, std::regex(pattern)); }

/// What the hot loop, which has most stores, does to each element besides moving it.
std::string operation_of(const std::string& text) {
  std::string hot;
  for (const std::string& loop : straight_loops(text))
    if (loop.size() > hot.size()) hot = loop;
  if (has(hot, "\\s(vandp[sd]|vpand|vpternlog[dq])\\s")) return "mask";
  if (has(hot, "\\svpabs[bwdq]\\s")) return "machine abs";
  if (has(hot, "\\s(vblendvp[sd]|vpblendvb|vpsub[bwdq])\\s")) return "select";
  return hot.empty() ? "no loop" : "identity";
}

/// A loop of straight code does the work, and there are no more jumps than in the kernel that only copies (of ragged tiles, whose
/// lanes some dtypes store one by one).
void expect_no_branch(const std::string& text, const std::string& copy, DType t) {
  EXPECT_FALSE(straight_loops(text).empty()) << name_of(t) << "\n" << text;
  EXPECT_LE(jumps(text), jumps(copy)) << name_of(t) << "\n" << text;
}

std::string wanted_operation(DType t) {
  if (is_float(t)) return "mask";
  if (is_unsigned_int(t)) return "identity";
  return t == i64 ? "select" : "machine abs";  // AVX2 has no abs of 64 bits
}

const Kernel& copy_kernel() {
  static const Kernel& k = *new Kernel(st::kernel("copy_kernel", [](tl::Ptr<> x, tl::Ptr<> out, tl::i64 n, tl::Const<"BLOCK"> BLOCK) {
    auto i = tl::program_id(0).to(st::i64) * BLOCK + tl::arange(0, BLOCK);
    tl::store(out + i, tl::load(x + i, i < n), i < n);
  }, {{"x", "out", "n"}}));
  return k;
}
auto copy_operator = st::pointwise("copy", [](auto x) { return x; });

TEST(Abs, CompilesToNoBranch) {
  for (DType t : kAll) {
    if (t == boolean) continue;
    const std::string kernel = asm_of(abs_kernel(), t), op = asm_of_operator(st::ops::abs.get().untyped(), t);
    expect_no_branch(kernel, asm_of(copy_kernel(), t), t);
    expect_no_branch(op, asm_of_operator(copy_operator.untyped(), t), t);
    EXPECT_EQ(operation_of(kernel), wanted_operation(t)) << name_of(t) << "\n" << kernel;
    EXPECT_EQ(operation_of(op), wanted_operation(t)) << name_of(t) << "\n" << op;
  }
}

TEST(Abs, AChoiceBySignHasNoBranchEither) {
  auto op = st::pointwise("choice", [](auto x) { return st::where(x < 0, -x, x); });
  for (DType t : {i8, i16, i32, i64, f16, bf16, f32, f64}) {
    expect_no_branch(asm_of(where_kernel(), t), asm_of(copy_kernel(), t), t);
    expect_no_branch(asm_of_operator(op.untyped(), t), asm_of_operator(copy_operator.untyped(), t), t);
  }
}

// --- the page

std::string value_text(DType t, uint64_t bits) {
  if (!is_float(t)) return is_unsigned_int(t) ? std::to_string(bits) : std::to_string(ir::int_of_bits(t, bits));
  const double x = ir::double_of_bits(t, bits);
  if (std::isnan(x)) return "NaN";
  std::ostringstream text;
  text << (x == 0 ? (std::signbit(x) ? "-0.0" : "+0.0") : "");
  if (x != 0) text << x;
  return text.str();
}

std::string result_text(DType t, uint64_t bits) { return value_text(t, kWays[0].abs(t, bits)); }

std::string table_row_of(DType t) {
  const std::string name = "| `" + std::string(name_of(t)) + "` | ";
  const std::string refusal = support::error_of([&] { st::ops::abs(element(t, 0)); });
  if (!refusal.empty()) return name + "no: " + refusal.substr(refusal.find("): ") + 3) + " | | | | | | | |\n";
  const std::string operation = operation_of(asm_of_operator(st::ops::abs.get().untyped(), t));
  const uint64_t least = smallest_bits(t), result = kWays[0].abs(t, least);
  std::string row = name + "yes | " + operation + " | " + value_text(t, least) + " → " + value_text(t, result) + " | ";
  auto of = [&](double x) { return result_text(t, ir::bits_of_double(t, x)); };
  if (is_float(t)) row += of(-0.0) + " | " + of(NAN) + " | " + of(kInf) + ", " + of(-kInf) + " | ";
  else row += "none | none | none | ";
  row += "`" + std::string(name_of(st::ops::abs(element(t, 0)).dtype())) + "` | ";
  const bool wraps = is_signed_int(t) && result == least;
  return row + (wraps ? "widen, clamp or mark the smallest value |\n" : "none needed |\n");
}

std::string text_between(const std::string& file, const std::string& begin, const std::string& end) {
  std::ostringstream text;
  text << std::ifstream(kSourceDir + "/" + file).rdbuf();
  const std::string all = text.str();
  const size_t first = all.find(begin);
  if (first == std::string::npos) return "no \"" + begin + "\" in " + file;
  const size_t start = first + begin.size();
  return all.substr(start, all.find(end, start) - start);
}

TEST(Abs, ThePageIsWhatTheTestsFound) {
  std::string table =
      "| dtype | accepted | operation | smallest value | -0.0 | NaN | inf, -inf | result | advice |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (DType t : kAll) table += table_row_of(t);
  EXPECT_EQ(text_between("docs/abs.md", "<!-- table -->\n", "<!-- end -->"), table);
}

// The code of docs/abs.md, which shows what stands between the two lines.
// --- safe_abs
auto clamped_abs = st::pointwise("clamped_abs", [](st::Value x) {
  auto a = st::abs(x);
  if (st::is_float(x.dtype())) return a;
  return st::where(a < 0, ~a, a);  // the smallest value alone is still negative; its bits inverted are the greatest
});
auto marked_abs = st::pointwise("marked_abs", [](st::Value x) {
  auto a = st::abs(x);
  return std::tuple(a, a < 0);  // the second output says where there is no abs
});
auto wide_abs = st::pointwise("wide_abs", [](st::Value x) { return st::abs(x.to(st::i64)); });
// --- end

TEST(Abs, SafeAbs) {
  Tensor x = st::tensor<int8_t>({-128, -127, -1, 0, 127});
  EXPECT_EQ(clamped_abs(x).to_vector<int8_t>(), (std::vector<int8_t>{127, 127, 1, 0, 127}));
  auto [value, mark] = marked_abs(x);
  EXPECT_EQ(value.to_vector<int8_t>(), (std::vector<int8_t>{-128, 127, 1, 0, 127}));
  EXPECT_EQ(mark.to_doubles(), (std::vector<double>{1, 0, 0, 0, 0}));
  EXPECT_EQ(wide_abs(x).to_vector<int64_t>(), (std::vector<int64_t>{128, 127, 1, 0, 127}));
  EXPECT_EQ(clamped_abs(st::tensor<int64_t>({INT64_MIN, -5})).to_vector<int64_t>(), (std::vector<int64_t>{INT64_MAX, 5}));
  EXPECT_EQ(clamped_abs(st::tensor<float>({-1.5f, 2})).to_vector<float>(), (std::vector<float>{1.5f, 2}));
  std::vector<Fault> faults;
  clamped_abs.interpreted({.faults = &faults, .overflow = true})(x);
  ASSERT_EQ(faults.size(), 1u);  // the lint sees the smallest value
  EXPECT_EQ(faults[0].kind, FaultKind::Overflow);
  const std::string code = text_between("test/ops/abs_test.cpp", "// --- safe_abs\n", "// --- end");
  EXPECT_EQ(text_between("docs/abs.md", "```cpp\n", "```"), code);
}

}  // namespace
}  // namespace strider::test
