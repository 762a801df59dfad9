// SPDX-License-Identifier: Apache-2.0
#include "ir/print.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/semantics.h"
#include "ir/text.h"

namespace strider::ir {
namespace {

double read_double(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The fewest digits that give the same bits back.
std::string shortest(DType dtype, uint64_t bits) {
  double value = double_of_bits(dtype, bits), near = value;
  for (int digits = 1; digits <= 17; ++digits) {
    near = read_double(fmt::format("{:.{}g}", value, digits));
    if (bits_of_double(dtype, near) == bits) break;
  }
  std::string text = fmt::format("{}", near);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string print_float(DType dtype, uint64_t bits) {
  double value = double_of_bits(dtype, bits);
  if (std::isnan(value)) return bits == bits_of_double(dtype, NAN) ? "nan" : fmt::format("nan({:#x})", bits);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return shortest(dtype, bits);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (c >= ' ' && c <= '~') out += c;
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + '"';
}

/// The results of body[at] that follow it directly, in rising order: they stand on the left of its line.
std::span<const Value> results_after(const Function& f, std::span<const Value> body, size_t at) {
  size_t end = at + 1;
  for (int64_t last = -1; end < body.size(); ++end) {
    const Node& n = f[body[end]];
    if (n.op != Op::Result || f.operand(body[end], 0) != body[at] || n.imm <= last || n.imm > 64) break;
    last = n.imm;
  }
  return body.subspan(at + 1, end - at - 1);
}

class Printer {
 public:
  explicit Printer(const Function& f) : f_(f), names_(f.size()) {
    for (size_t k = 0; k < f_.params().size(); ++k) name_param(static_cast<int>(k));
    name_region(f_.body());
  }

  /// `kind`: what stands before the name.
  std::string function(std::string_view kind);
  std::string statement(Value v) {
    write_head(v, {});
    return std::move(out_);
  }

 private:
  void name(Value v) { names_[v.id] = fmt::format("%{}", next_++); }
  void name_param(int k);
  void name_region(const Region& region);

  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  std::string named(Value v) const {
    return v.id < names_.size() && !names_[v.id].empty() ? names_[v.id] : fmt::format("%?{}", v.id);
  }

  void write_param(int k);
  void write_flags(Value v);
  void write_access(int64_t imm);
  void write_hint(const HintFact& fact);
  void write_axes(Value v);
  void write_elements(Value v);
  void write_imm(Value v);
  void write_left(std::span<const Value> results);
  void write_types(std::span<const Value> results);
  void write_head(Value v, std::span<const Value> results);
  void write_region_params(const Region& region);
  void write_body(const Region& region, bool omit_yield);
  void write_statement(Value v, std::span<const Value> results);
  void indent() { out_.append(static_cast<size_t>(2 * depth_), ' '); }

  const Function& f_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> taken_;
  int next_ = 0;
  int depth_ = 0;
  std::string out_;
};

// --- names

void Printer::name_param(int k) {
  Value v = f_.params()[k];
  const std::string& wanted = f_.param_info(k).name;
  if (text::is_identifier(wanted) && taken_.insert(wanted).second) names_[v.id] = "%" + wanted;
  else name(v);
}

void Printer::name_region(const Region& region) {
  for (Value p : region.params)
    if (names_[p.id].empty()) name(p);
  for (size_t k = 0; k < region.body.size(); ++k) {
    Value v = region.body[k];
    for (Value r : results_after(f_, region.body, k)) name(r);
    if (names_[v.id].empty() && !f_.type(v).is_void) name(v);
    for (int r = 0; r < f_[v].region_count; ++r) name_region(f_.region(v, r));
  }
}

// --- the parts of a line

void Printer::write_flags(Value v) {
  for (const text::FlagName& flag : text::kFlagNames)
    if (f_[v].flags & flag.bit) write(" {}{}", flag.keep ? "keep " : "", flag.word);
}

void Printer::write_access(int64_t imm) {
  int log2_align = static_cast<int>(imm >> kAlignShift & 255);
  int64_t known = static_cast<int64_t>(log2_align) << kAlignShift | (imm & kStreaming);
  if (imm != known || log2_align > 62) return write(" imm={}", imm);
  if (log2_align > 0) write(" align={}", int64_t{1} << log2_align);
  if (imm & kStreaming) write(" streaming");
}

void Printer::write_hint(const HintFact& fact) {
  write(" {}={}", text::hint_name(fact.kind), fact.number);
  if (fact.axis != 0) write(" axis={}", fact.axis);
}

void Printer::write_axes(Value v) {
  int64_t imm = f_[v].imm;
  std::vector<int64_t> axes;
  for (int k = 0; k < f_.type(v).shape.rank(); ++k) axes.push_back(imm >> (4 * k) & 15);
  write(" ({})", fmt::join(axes, ", "));
}

void Printer::write_elements(Value v) {
  bool literals = f_[v].op == Op::Vector;
  std::vector<std::string> texts;
  for (int64_t x : f_.table(v))
    texts.push_back(literals ? print_element(f_.type(v).dtype, static_cast<uint64_t>(x)) : fmt::format("{}", x));
  write(" ({})", fmt::join(texts, ", "));
}

void Printer::write_imm(Value v) {
  const Node& n = f_[v];
  if (n.op == Op::Constant) return write(" {}", n.type.is_pointer() ? fmt::format("{:#x}", static_cast<uint64_t>(n.imm))
                                                                    : print_element(n.type.dtype, static_cast<uint64_t>(n.imm)));
  if (n.op == Op::Vector || n.op == Op::Shuffle) write_elements(v);
  if (n.op == Op::Trans) return write_axes(v);
  if (n.op == Op::Nest) write(" {}", to_string(n.type.shape));
  if (n.op == Op::Atomic) return;  // its name says the kind
  if (n.op == Op::Hint) return write_hint(HintFact::of(n.imm));
  if (has(n.op, Reads | Writes)) return write_access(n.imm);
  if (n.imm != 0 || text::imm_name(n.op) != "imm") write(" {}={}", text::imm_name(n.op), n.imm);
  if (n.op == Op::Alloc && n.aux != 0) write(" offset={}", n.aux);
}

void Printer::write_left(std::span<const Value> results) {
  int64_t index = 0;
  for (Value r : results) {
    for (; index < f_[r].imm; ++index) write("_, ");
    write("{}", named(r));
    write_flags(r);
    write("{}", r == results.back() ? " = " : ", ");
    ++index;
  }
}

void Printer::write_types(std::span<const Value> results) {
  int64_t index = 0;
  for (Value r : results) {
    write("{}", index == 0 ? " : " : ", ");
    for (; index < f_[r].imm; ++index) write("_, ");
    write("{}", to_string(f_.type(r)));
    ++index;
  }
}

/// A statement up to its regions.
void Printer::write_head(Value v, std::span<const Value> results) {
  const Node& n = f_[v];
  write_left(results);
  if (!n.type.is_void) write("{} = ", named(v));
  write("{}", name_of(n.op, n.imm));
  for (int k = 0; k < n.operand_count; ++k) write("{}{}", k == 0 ? " " : ", ", named(f_.operand(v, k)));
  write_imm(v);
  write_flags(v);
  if (!n.type.is_void) write(" : {}", to_string(n.type));
  write_types(results);
}

// --- nesting

void Printer::write_region_params(const Region& region) {
  if (region.params.empty()) return;
  write(" (");
  for (Value p : region.params) {
    write("{}{}: {}", p == region.params.front() ? "" : ", ", named(p), to_string(f_.type(p)));
    write_flags(p);
  }
  write(")");
}

/// An empty yield at the end says nothing that the closing brace does not say.
void Printer::write_body(const Region& region, bool omit_yield) {
  write(" {{\n");
  ++depth_;
  for (size_t k = 0; k < region.body.size(); ++k) {
    Value v = region.body[k];
    bool last = k + 1 == region.body.size();
    if (omit_yield && last && f_[v].op == Op::Yield && f_[v].operand_count == 0) break;
    std::span<const Value> results = results_after(f_, region.body, k);
    write_statement(v, results);
    k += results.size();
  }
  --depth_;
  indent();
  write("}}");
}

void Printer::write_statement(Value v, std::span<const Value> results) {
  indent();
  write_head(v, results);
  for (int k = 0; k < f_[v].region_count; ++k) {
    if (k > 0) write(" {}", text::separator(f_[v].op));
    write_region_params(f_.region(v, k));
    write_body(f_.region(v, k), f_[v].op != Op::Nest);
  }
  write("\n");
}

void Printer::write_param(int k) {
  Value v = f_.params()[k];
  const ParamInfo& info = f_.param_info(k);
  write("{}{}: {}", k == 0 ? "" : ", ", named(v), to_string(f_.type(v)));
  if (names_[v.id].substr(1) != info.name && !info.name.empty()) write(" name={}", quoted(info.name));
  if (info.divisible != 1) write(" divisible={}", info.divisible);
  if (info.read_only) write(" read_only");
  if (info.no_alias) write(" no_alias");
  write_flags(v);
}

std::string Printer::function(std::string_view kind) {
  write("{} {}(", kind, text::is_identifier(f_.name) ? f_.name : quoted(f_.name));
  for (size_t k = 0; k < f_.params().size(); ++k) write_param(static_cast<int>(k));
  write(")");
  if (f_.threads != 0) write(" threads={}", f_.threads);
  if (f_.scratch_bytes != 0) write(" scratch={}", f_.scratch_bytes);
  write_body(f_.body(), true);
  write("\n");
  return std::move(out_);
}

}  // namespace

std::string print(const Function& f) {
  std::string text;
  for (const auto& helper : f.helpers) text += Printer(*helper).function(text::kHelper) + "\n";
  return text + Printer(f).function(text::kKernel);
}

std::string print_statement(const Function& f, Value v) { return Printer(f).statement(v); }

std::string print_element(DType dtype, uint64_t bits) {
  if (is_float(dtype)) return print_float(dtype, bits);
  if (dtype == DType::Bool) return bits ? "true" : "false";
  return is_unsigned_int(dtype) ? fmt::format("{}", bits) : fmt::format("{}", int_of_bits(dtype, bits));
}

}  // namespace strider::ir
