// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/lints.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ir/semantics.h"

namespace strider::interp {

using ir::Op;
using ir::Shape;
using ir::Type;
using ir::Value;

Lints::Lints(Machine& m) : m_(m) {
  if (m.options.lints.masked_lanes) masked_.emplace(m);
  if (m.options.lints.elementwise) elementwise_.emplace(m);
}

void Lints::before(Value v) {
  if (masked_) masked_->before(v);
  if (elementwise_) elementwise_->before(v);
}

void Lints::after(Value v) {
  if (masked_) masked_->after(v);
  if (m_.options.lints.overflow && m_.function[v].flags & ir::kAsWritten) check_overflow(m_, v);
}

void Lints::assign(std::span<const Value> targets, std::span<const Value> sources) {
  if (masked_) masked_->assign(targets, sources);
}

namespace {

bool is_fold(Op op) { return op == Op::Reduce || op == Op::Scan; }

/// A statement lane by lane, or that only passes lanes on.
bool keeps_lanes(Op op) { return ir::is_pointwise(op) || ir::has(op, ir::Shapes); }

bool mixes_lanes(Op op) {
  const bool control = op == Op::For || op == Op::While || op == Op::If || op == Op::Yield || op == Op::Result || op == Op::Nest;
  const bool hint = op == Op::Hint || op == Op::Assume;
  return is_fold(op) || !(control || hint || keeps_lanes(op) || ir::has(op, ir::Reads | ir::Writes));
}

/// Whether an access goes to what a print or a tap leaves: no lint is meant for it. Hidden parameters are called "(records)".
bool is_hidden(const Machine& m, Value access) {
  const Value root = m.memory.site(access).root;
  const auto params = m.function.params();
  const auto at = std::ranges::find(params, root);
  return at != params.end() && m.function.param_info(static_cast<int>(at - params.begin())).name.starts_with('(');
}

}  // namespace

// --- masked lanes

MaskedLanes::MaskedLanes(Machine& m) : m_(m), marks_(m.values.slots().size()), is_test_(m.function.size()) {
  for (uint32_t id = 0; id < m.function.size(); ++id)
    if (m.function[Value{id}].op == Op::While) is_test_[m.function.region(Value{id}, 0).body.back().id] = true;
}

/// Slots that lie elsewhere belong to the rows of a fold, whose marked lanes were reported when it began.
Slots MaskedLanes::marks(Value v) const {
  static constexpr uint64_t kClean = 0;
  const Slots slots = m_.in(v);
  const std::span<const uint64_t> all = m_.values.slots();
  const bool inside = slots.data >= all.data() && slots.data < all.data() + all.size();
  return inside ? Slots{marks_.data() + (slots.data - all.data()), slots.step} : Slots{&kClean, 0};
}

/// Whether the slots of a value are those of its operand.
bool MaskedLanes::is_view(Value v) const {
  const ir::Node& node = m_.function[v];
  return node.operand_count > 0 && !node.type.is_void && m_.values[v].data == m_.values[m_.function.operand(v, 0)].data;
}

uint64_t* MaskedLanes::own_marks(Value v) { return marks_.data() + (m_.values[v].data - m_.values.slots().data()); }

/// Where the mask of an access stands; -1 if it has none.
int MaskedLanes::mask_operand(Value v) const {
  const int at = ir::mask_operand(m_.function[v].op, m_.function[v].imm);
  return at < m_.function[v].operand_count ? at : -1;
}

void MaskedLanes::check(Value statement, Value operand, std::string_view what, bool where_on) {
  const Slots found = marks(operand);
  const int mask_at = where_on ? mask_operand(statement) : -1;
  static constexpr uint64_t kTrue = 1;
  const Slots mask = mask_at > 0 ? m_.in(m_.function.operand(statement, mask_at)) : Slots{&kTrue, 0};
  const int64_t lanes = m_.function.type(operand).elements();
  for (int64_t i = 0; i < lanes; ++i) {
    if (found.at(i) == 0 || mask.at(i) == 0) continue;
    m_.reports.add(FaultKind::MaskedLane, statement, {-1, i}, [&] {
      const Value load{static_cast<uint32_t>(found.at(i) - 1)};
      Found f(fmt::format("{} a lane that {} masks off, without `other`", what, statement_text(m_.function, load)));
      f.tile = m_.function.type(operand).shape;
      return f;
    });
  }
}

void MaskedLanes::check_access(Value v) {
  if (is_hidden(m_, v)) return;
  const std::span<const Value> operands = m_.function.operands(v);
  const int mask_at = mask_operand(v);
  check(v, operands[0], "takes an address from", true);
  if (mask_at > 0) check(v, operands[static_cast<size_t>(mask_at)], "takes a mask from", false);
  if (!ir::has(m_.function[v].op, ir::Writes)) return;
  const char* what = ir::has(m_.function[v].op, ir::Atomic) ? "updates memory with" : "stores";
  for (int k = 1; k < m_.function[v].operand_count; ++k)
    if (k != mask_at) check(v, operands[static_cast<size_t>(k)], what, true);
}

void MaskedLanes::before(Value v) {
  if (m_.context.id != kProgram) return;
  const Op op = m_.function[v].op;
  if (ir::has(op, ir::Reads | ir::Writes)) return check_access(v);
  const std::span<const Value> operands = m_.function.operands(v);
  if (op == Op::If) return check(v, operands[0], "decides by", false);
  if (op == Op::For) {
    for (Value bound : operands.first(3)) check(v, bound, "is bounded by", false);
  } else if (is_test_[v.id]) {
    check(v, operands[0], "decides by", false);
  } else if (mixes_lanes(op) && !is_view(v)) {
    for (Value operand : operands) check(v, operand, is_fold(op) ? "folds" : "reads", false);
  }
}

void MaskedLanes::mark_load(Value v) {
  const Slots mask = m_.in(m_.function.operand(v, 1));
  const bool has_other = m_.function[v].operand_count > 2;
  const Slots other = has_other ? marks(m_.function.operand(v, 2)) : Slots{};
  uint64_t* out = own_marks(v);
  for (int64_t i = 0; i < m_.count(v); ++i) out[i] = mask.at(i) ? 0 : has_other ? other.at(i) : v.id + 1;
}

/// Of where, and, or: an operand that a clean one rules out does not count.
uint64_t MaskedLanes::mark_of_choice(Value v, int64_t i) const {
  const std::span<const Value> operands = m_.function.operands(v);
  const uint64_t first = marks(operands[0]).at(i), second = marks(operands[1]).at(i);
  const uint64_t a = m_.in(operands[0]).at(i), b = m_.in(operands[1]).at(i);
  if (m_.function[v].op == Op::Where) return first ? first : marks(operands[a ? 1 : 2]).at(i);
  const uint64_t decided = m_.function[v].op == Op::Or;  // true | x, false & x
  if ((!first && a == decided) || (!second && b == decided)) return 0;
  return first ? first : second;
}

void MaskedLanes::mark_pointwise(Value v) {
  const Op op = m_.function[v].op;
  const bool chooses = op == Op::Where || ((op == Op::And || op == Op::Or) && m_.function.type(v).dtype == DType::Bool);
  uint64_t* out = own_marks(v);
  for (int64_t i = 0; i < m_.count(v); ++i) {
    uint64_t mark = chooses ? mark_of_choice(v, i) : 0;
    if (!chooses)
      for (Value operand : m_.function.operands(v))
        if (mark == 0) mark = marks(operand).at(i);
    out[i] = mark;
  }
}

/// A lane is marked if the one that it takes is, or its index.
void MaskedLanes::mark_gather(Value v) {
  const Slots from = marks(m_.function.operand(v, 0)), index = marks(m_.function.operand(v, 1));
  uint64_t* out = own_marks(v);
  for (int64_t i = 0; i < m_.count(v); ++i) {
    const int64_t lane = gathered_lane(m_, v, i);
    out[i] = index.at(i) || lane < 0 ? index.at(i) : from.at(lane);
  }
}

void MaskedLanes::after(Value v) {
  const ir::Node& node = m_.function[v];
  if (node.type.is_void || node.operand_count == 0 || node.region_count > 0 || node.op == Op::Result) return;
  if (node.op == Op::Load && node.operand_count > 1) return mark_load(v);
  if (ir::is_pointwise(node.op)) return mark_pointwise(v);
  if (node.op == Op::Gather) return mark_gather(v);
  if (is_view(v)) return;  // it shares the marks
  const Value from = m_.function.operand(v, 0);
  if (node.op == Op::Broadcast || node.op == Op::Trans) return move_lanes(m_, v, marks(from).data, own_marks(v));
  std::fill_n(own_marks(v), m_.count(v), 0);
}

void MaskedLanes::assign(std::span<const Value> targets, std::span<const Value> sources) {
  if (m_.context.id != kProgram) return;
  std::vector<std::vector<uint64_t>> copies;
  for (size_t k = 0; k < targets.size(); ++k) {
    const Slots from = targets[k].valid() ? marks(sources[k]) : Slots{};
    std::vector<uint64_t>& copy = copies.emplace_back(targets[k].valid() ? m_.values[targets[k]].lanes : 0);
    for (size_t i = 0; i < copy.size(); ++i) copy[i] = from.at(static_cast<int64_t>(i));
  }
  for (size_t k = 0; k < targets.size(); ++k)
    if (targets[k].valid()) std::ranges::copy(copies[k], own_marks(targets[k]));
}

// --- overflow

namespace {

struct Range {
  Wide least, most;
};
Range range_of(DType dtype) {
  const int bits = bits_of(dtype);
  if (is_signed_int(dtype)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {0, (Wide{1} << bits) - 1};
}

/// Whether the exact result of an op on integers lies in the range; the operands are exact.
bool fits_exactly(Op op, const Range& range, Wide a, Wide b, Wide c) {
  Wide exact = 0;
  switch (op) {
    case Op::Add: exact = a + b; break;
    case Op::Sub: exact = a - b; break;
    case Op::Div: exact = b == 0 ? 0 : a / b; break;
    case Op::Neg: exact = -a; break;
    case Op::Abs: exact = a < 0 ? -a : a; break;
    case Op::Cast: exact = a; break;
    case Op::Mul:
      if (__builtin_mul_overflow(a, b, &exact)) return false;
      break;
    case Op::Fma:
      if (__builtin_mul_overflow(a, b, &exact) || __builtin_add_overflow(exact, c, &exact)) return false;
      break;
    case Op::Shl:
      if (a == 0) break;
      if (b < 0 || b >= 64 || __builtin_mul_overflow(a, Wide{1} << b, &exact)) return false;
      break;
    default: return true;
  }
  return exact >= range.least && exact <= range.most;
}

bool truncation_fits(const Range& range, double x) {
  const double whole = std::trunc(x);
  return whole >= static_cast<double>(range.least) && whole < static_cast<double>(range.most) + (range.most > (Wide{1} << 53) ? 0.0 : 1.0);
}

/// Operand slots of one lane in words: "2147483647 and 1".
std::string operands_text(const Machine& m, Value v, int64_t i) {
  std::string text;
  for (Value operand : m.function.operands(v)) {
    const DType dtype = m.function.type(operand).dtype;
    const uint64_t bits = m.in(operand).at(i);
    text += text.empty() ? "" : " and ";
    text += is_float(dtype)               ? fmt::format("{}", ir::double_of_bits(dtype, bits))
            : dtype == DType::U64 ? fmt::format("{}", bits)
                                  : fmt::format("{}", ir::int_of_bits(dtype, bits));
  }
  return text;
}

void report_overflow(Machine& m, Value v, int64_t i) {
  const bool in_fold = m.context.id != kProgram;
  const bool one = in_fold || m.values[v].uniform || m.values[v].lanes == 1;
  m.reports.add(FaultKind::Overflow, v, {-1, one ? -1 : i}, [&] {
    return fmt::format("the result does not fit {} and wraps{}: of {}", strider::name_of(m.function.type(v).dtype),
                       in_fold ? ", in a reduction" : "", operands_text(m, v, i));
  });
}

}  // namespace

void check_overflow(Machine& m, Value v) {
  const Op op = m.function[v].op;
  const std::span<const Value> operands = m.function.operands(v);
  const DType from = m.function.type(operands[0]).dtype;
  const Range range = range_of(m.function.type(v).dtype);
  Slots slots[3] = {};
  for (size_t k = 0; k < operands.size(); ++k) slots[k] = m.in(operands[k]);
  for (int64_t i = 0; i < m.count(v); ++i) {
    if (!m.values[v].uniform && !m.context.is_active(i / m.values[v].lanes)) continue;
    bool fits;
    if (is_float(from)) {
      fits = truncation_fits(range, ir::double_of_bits(from, slots[0].at(i)));
    } else {
      Wide x[3] = {};
      for (size_t k = 0; k < operands.size(); ++k) x[k] = wide_of_bits(from, slots[k].at(i));
      if (op == Op::Shl) x[1] = static_cast<Wide>(slots[1].at(i));
      fits = fits_exactly(op, range, x[0], x[1], x[2]);
    }
    if (!fits) report_overflow(m, v, i);
  }
}

// --- elementwise kernels

Elementwise::Elementwise(Machine& m) : m_(m) {
  for (uint32_t id = 0; id < m.function.size(); ++id)
    if (m.function[Value{id}].op == Op::Store && !is_hidden(m, Value{id})) find_loads(m.function.operand(Value{id}, 1), &loads_[id]);
}

/// The loads that a value is computed from with lanes in their places. What has other lanes is another matter.
void Elementwise::find_loads(Value v, std::vector<Value>* loads) const {
  const ir::Node& node = m_.function[v];
  if (node.op == Op::Load && std::ranges::find(*loads, v) == loads->end()) loads->push_back(v);
  if (!ir::is_pointwise(node.op)) return;
  for (Value operand : m_.function.operands(v))
    if (m_.function.type(operand).shape == node.type.shape) find_loads(operand, loads);
}

const TensorArgument* Elementwise::tensor_of(const Site& site) const {
  if (!site.root.valid()) return nullptr;
  for (const TensorArgument& t : m_.options.tensors)
    if (m_.function.params()[t.param] == site.root) return &t;
  return nullptr;
}

void Elementwise::before(Value v) {
  if (m_.context.id != kProgram) return;
  if (m_.function[v].op == Op::Load) return remember(v);
  if (m_.function[v].op != Op::Store) return;
  for (Value load : loads_[v.id]) compare(v, load);
}

namespace {

/// The addresses of an access, 0 in lanes that are off.
std::vector<uint64_t> addresses_of(const Machine& m, Value v, int mask_operand) {
  static constexpr uint64_t kTrue = 1;
  const Slots pointer = m.in(m.function.operand(v, 0)), mask = m.in_or(v, mask_operand, kTrue);
  std::vector<uint64_t> all(static_cast<size_t>(accessed_type(m.function, v).elements()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = mask.at(static_cast<int64_t>(i)) ? pointer.at(static_cast<int64_t>(i)) : 0;
  return all;
}

/// The index of the element at an address, its axes with stride 0 at 0; false if there is none.
bool index_at(const TensorArgument& t, int64_t element_bytes, uint64_t address, Dims* index) {
  int64_t bytes = static_cast<int64_t>(address - reinterpret_cast<uint64_t>(t.base));
  if (bytes < 0 || bytes >= t.bytes || bytes % element_bytes != 0) return false;
  int64_t rest = bytes / element_bytes;
  *index = Dims::filled(t.shape.rank(), 0);
  std::vector<int> axes;
  for (int a = 0; a < t.shape.rank(); ++a)
    if (t.strides[a] != 0) axes.push_back(a);
  std::ranges::sort(axes, std::greater(), [&](int a) { return std::abs(t.strides[a]); });
  for (int a : axes) {
    const int64_t steps = std::min(rest / std::abs(t.strides[a]), t.shape[a] - 1);
    rest -= steps * std::abs(t.strides[a]);
    (*index)[a] = t.strides[a] > 0 ? steps : t.shape[a] - 1 - steps;
  }
  return rest == 0;
}

/// The address of the element that broadcasts to `index`; 0 where shapes do not fit.
uint64_t address_at(const TensorArgument& t, int64_t element_bytes, const Dims& index, const Dims& shape) {
  const int skip = shape.rank() - t.shape.rank();
  if (skip < 0) return 0;
  int64_t offset = 0;
  for (int a = 0; a < t.shape.rank(); ++a) {
    if (t.shape[a] != 1 && t.shape[a] != shape[a + skip]) return 0;
    offset += t.shape[a] == 1 ? 0 : index[a + skip] * t.strides[a];
  }
  return reinterpret_cast<uint64_t>(t.first) + static_cast<uint64_t>(offset * element_bytes);
}

}  // namespace

void Elementwise::remember(Value load) { addresses_[load.id] = addresses_of(m_, load, 1); }

void Elementwise::compare(Value store, Value load) {
  const Site& to = m_.memory.site(store);
  const Site& from = m_.memory.site(load);
  const TensorArgument* out = tensor_of(to);
  const TensorArgument* in = tensor_of(from);
  const std::vector<uint64_t> stored = addresses_of(m_, store, 2);
  const std::vector<uint64_t>& loaded = addresses_[load.id];
  if (!out || !in || loaded.size() != stored.size()) return;
  for (size_t i = 0; i < stored.size(); ++i) {
    Dims index, found;
    if (!stored[i] || !loaded[i] || !m_.memory.in_bounds(from, loaded[i]) || !index_at(*out, to.bytes, stored[i], &index)) continue;
    const uint64_t wanted = address_at(*in, from.bytes, index, out->shape);
    if (wanted == 0 || wanted == loaded[i]) continue;
    m_.reports.add(FaultKind::Elementwise, load, {-1, static_cast<int64_t>(i)}, [&] {
      const bool is_element = index_at(*in, from.bytes, loaded[i], &found);
      const std::string own = is_element ? "has index " + to_string(found) : std::string("is no element of the tensor");
      return m_.memory.found(from, loaded[i],
                             fmt::format("{} {}, its lane is stored to index {}, which is {}", m_.memory.address_text(from, loaded[i]),
                                         own, to_string(index), m_.memory.address_text(from, wanted)));
    });
  }
}

}  // namespace strider::interp
