// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/infer.h"
#include "ir/print.h"
#include "ir/semantics.h"

namespace strider::ir {
namespace {

constexpr int kGridAxes = 3;
constexpr int kMaxAlign = 30;  // log2 of bytes

// --- rules of one node, in every form

std::vector<Type> types_of(const Function& f, std::span<const Value> values) {
  std::vector<Type> types;
  for (Value v : values) types.push_back(f.type(v));
  return types;
}

void check_imm(const Function& f, Value v, int64_t least, int64_t most) {
  int64_t imm = f[v].imm;
  if (imm < least || imm > most) user_error("{}: {} is outside {} to {}", name_of(f[v].op), imm, least, most);
}

void check_result(const Function& f, Value v, const Type& wanted) {
  const Type& found = f.type(v);
  if (found != wanted) user_error("{}: the result is {}, expected {}", name_of(f[v].op), to_string(found), to_string(wanted));
}

void check_vector(Op op, const Type& t) {
  if (t.is_pointer() || t.shape.rank() != 1) user_error("{}: {} is no vector", name_of(op), to_string(t));
}

void check_bits(const Function& f, Value v, uint64_t bits) {
  const Type& t = f.type(v);
  int width = t.is_pointer() ? 64 : bits_of(t.dtype);
  if (width < 64 && bits >> width) user_error("{}: bits {:#x} do not fit {}", name_of(f[v].op), bits, name_of(t.dtype));
}

void constant_rule(const Function& f, Value v) {
  if (f.type(v).is_void) user_error("const: no type");
  check_bits(f, v, static_cast<uint64_t>(f[v].imm));
}

void grid_rule(const Function& f, Value v) {
  check_result(f, v, Type::scalar(DType::I32));
  check_imm(f, v, 0, kGridAxes - 1);
}

void thread_rule(const Function& f, Value v) { check_result(f, v, Type::scalar(DType::I32)); }

void arange_rule(const Function& f, Value v) {
  const Type& t = f.type(v);
  if (t.is_pointer() || !is_int(t.dtype) || t.shape.rank() != 1) user_error("arange: {} is no row of integers", to_string(t));
  int64_t least = is_unsigned_int(t.dtype) ? 0 : INT64_MIN >> (64 - bits_of(t.dtype));
  int64_t most = bits_of(t.dtype) == 64 ? INT64_MAX : (int64_t{1} << (bits_of(t.dtype) - is_signed_int(t.dtype))) - 1;
  if (f[v].imm < least || f[v].imm > most - (t.elements() - 1))
    user_error("arange: {} numbers from {} on do not fit {}", t.elements(), f[v].imm, name_of(t.dtype));
}

void cast_rule(const Function& f, Value v) {
  if (f.type(v).is_pointer()) user_error("cast: a pointer has no other dtype");
}

void same_element_rule(const Function& f, Value v) {
  const Type& from = f.type(f.operand(v, 0));
  check_result(f, v, from.with_shape(f.type(v).shape));
}

void expand_rule(const Function& f, Value v) {
  Type wanted = f.type(f.operand(v, 0));
  check_imm(f, v, 0, wanted.shape.rank());
  wanted.shape.insert(static_cast<int>(f[v].imm), 1);
  check_result(f, v, wanted);
}

void trans_rule(const Function& f, Value v) {
  const Type& from = f.type(f.operand(v, 0));
  Type wanted = from;
  int rank = from.shape.rank(), seen = 0;
  for (int k = 0; k < rank; ++k) {
    int axis = static_cast<int>(f[v].imm >> (4 * k) & 15);
    if (axis >= rank || seen & 1 << axis) user_error("trans: the axes are no permutation of {}", rank);
    seen |= 1 << axis;
    wanted.shape[k] = from.shape[axis];
  }
  if (f[v].imm >> (4 * rank) != 0) user_error("trans: more axes than the tile has");
  check_result(f, v, wanted);
}

void gather_rule(const Function& f, Value v) {
  const Type& from = f.type(f.operand(v, 0));
  check_imm(f, v, 0, from.shape.rank() - 1);
  check_result(f, v, from.with_shape(f.type(f.operand(v, 1)).shape));
}

void access_rule(const Function& f, Value v) {
  int64_t align = f[v].imm >> kAlignShift;
  if (align < 0 || align > kMaxAlign || (f[v].imm & ((1 << kAlignShift) - 1) & ~kStreaming))
    user_error("{}: unknown access bits {:#x}", name_of(f[v].op), f[v].imm);
}

/// Inference has seen its imm.
void no_rule(const Function&, Value) {}

void block_rule(const Function& f, Value v) {
  access_rule(f, v);
  const Type& pointer = f.type(f.operand(v, 0));
  const Type& t = f[v].op == Op::LoadBlock ? f.type(v) : f.type(f.operand(v, 1));
  check_vector(f[v].op, t);
  if (!pointer.is_scalar() || t.dtype != pointer.dtype)
    user_error("{}: {} does not point to the elements of {}", name_of(f[v].op), to_string(pointer), to_string(t));
}

void alloc_rule(const Function& f, Value v) {
  const Type& t = f.type(v);
  if (!t.is_scalar() || (t.space != Space::Shared && t.space != Space::Local))
    user_error("alloc: {} is no pointer to shared or local memory", to_string(t));
  check_imm(f, v, 1, kMaxScratch / size_of(t.dtype));
}

void check_table_size(const Function& f, Value v) {
  check_vector(f[v].op, f.type(v));
  if (static_cast<int64_t>(f.table(v).size()) != f.type(v).elements())
    user_error("{}: {} lanes listed for {}", name_of(f[v].op), f.table(v).size(), to_string(f.type(v)));
}

void vector_rule(const Function& f, Value v) {
  check_table_size(f, v);
  for (int64_t bits : f.table(v)) check_bits(f, v, static_cast<uint64_t>(bits));
}

void shuffle_rule(const Function& f, Value v) {
  check_table_size(f, v);
  const Type& t = f.type(f.operand(v, 0));
  if (t.shape.rank() != 1 || f.type(f.operand(v, 1)) != t) user_error("shuffle: the operands are no vectors of one type");
  for (int64_t lane : f.table(v))
    if (lane < 0 || lane >= 2 * t.elements()) user_error("shuffle: lane {} is outside 0 to {}", lane, 2 * t.elements() - 1);
  check_result(f, v, t.with_shape(f.type(v).shape));
}

void extract_rule(const Function& f, Value v) {
  const Type& t = f.type(f.operand(v, 0));
  if (t.shape.rank() != 1) user_error("extract: {} is no vector", to_string(t));
  check_imm(f, v, 0, t.elements() - 1);
  check_result(f, v, t.with_shape({}));
}

void exchange_rule(const Function& f, Value v) { check_imm(f, v, 0, kMaxThreads - 1); }

void check_params(const Function& f, Value owner, int region, const std::vector<Type>& wanted) {
  std::vector<Type> found = types_of(f, f.region(owner, region).params);
  if (found == wanted) return;
  user_error("{}: region {} takes {} parameters of other types than its operands", name_of(f[owner].op), region, found.size());
}

void fold_rule(const Function& f, Value v) {
  check_imm(f, v, 0, kMaxRank - 1);
  std::vector<Type> elements;
  for (Value o : f.operands(v)) elements.push_back(f.type(o).with_shape({}));
  elements.insert(elements.end(), elements.begin(), elements.end());
  check_params(f, v, 0, elements);
}

void for_rule(const Function& f, Value v) {
  std::vector<Type> params = types_of(f, f.operands(v).subspan(3));
  params.insert(params.begin(), f.type(f.operand(v, 0)));
  check_params(f, v, 0, params);
}

void while_rule(const Function& f, Value v) {
  for (int k = 0; k < 2; ++k) check_params(f, v, k, types_of(f, f.operands(v)));
}

void if_rule(const Function& f, Value v) {
  for (int k = 0; k < 2; ++k) check_params(f, v, k, {});
}

void nest_rule(const Function& f, Value v) { check_params(f, v, 0, {}); }

/// The types of the results that a region op may have.
std::vector<Type> region_results(const Function& f, Value owner) {
  std::vector<Type> types = types_of(f, f.operands(owner));
  switch (f[owner].op) {
    case Op::For: types.erase(types.begin(), types.begin() + 3); return types;
    case Op::Reduce:
      for (Type& t : types) t.shape.erase(static_cast<int>(f[owner].imm));
      return types;
    case Op::If: return types_of(f, f.operands(f.region(owner, 0).body.back()));
    case Op::Nest: return {};
    default: return types;
  }
}

void result_rule(const Function& f, Value v) {
  Value owner = f.operand(v, 0);
  if (!has(f[owner].op, Regions)) user_error("result: of {}, which has none", name_of(f[owner].op));
  std::vector<Type> types = region_results(f, owner);
  if (types.empty()) user_error("result: this {} has none", name_of(f[owner].op));
  check_imm(f, v, 0, static_cast<int64_t>(types.size()) - 1);
  check_result(f, v, types[static_cast<size_t>(f[v].imm)]);
}

void call_rule(const Function& f, Value v) {
  check_imm(f, v, 0, static_cast<int64_t>(f.helpers.size()) - 1);
  const Function& helper = *f.helpers[static_cast<size_t>(f[v].imm)];
  std::vector<Type> operands;
  for (Value o : f.operands(v)) operands.push_back(f.type(o).with_shape({}));
  if (operands != types_of(helper, helper.params()))
    user_error("call: {} takes {} operands of other types", helper.name, helper.params().size());
  check_result(f, v, helper.type(helper.operand(helper.body().body.back(), 0)).with_shape(f.type(f.operand(v, 0)).shape));
}

struct Rule {
  Op op;
  void (*check)(const Function& f, Value v);
  bool uses_imm;
};
constexpr Rule kRules[] = {
    {Op::Constant, constant_rule, true},       {Op::ProgramId, grid_rule, true},     {Op::NumPrograms, grid_rule, true},
    {Op::Arange, arange_rule, true},           {Op::ThreadId, thread_rule, false},   {Op::Cast, cast_rule, false},

    {Op::Broadcast, same_element_rule, false}, {Op::ExpandDims, expand_rule, true},  {Op::Reshape, same_element_rule, false},
    {Op::Trans, trans_rule, true},             {Op::Gather, gather_rule, true},

    {Op::Load, access_rule, true},             {Op::Store, access_rule, true},       {Op::Atomic, no_rule, true},
    {Op::LoadBlock, block_rule, true},         {Op::StoreBlock, block_rule, true},   {Op::Alloc, alloc_rule, true},

    {Op::Vector, vector_rule, false},          {Op::Shuffle, shuffle_rule, false},   {Op::Extract, extract_rule, true},
    {Op::Exchange, exchange_rule, true},       {Op::Hint, no_rule, true},

    {Op::Reduce, fold_rule, true},             {Op::Scan, fold_rule, true},          {Op::For, for_rule, false},
    {Op::While, while_rule, false},            {Op::If, if_rule, false},             {Op::Nest, nest_rule, false},
    {Op::Result, result_rule, true},           {Op::Call, call_rule, true},
};

const Rule* rule_of(Op op) {
  auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.op == op; });
  return found == std::end(kRules) ? nullptr : found;
}

/// The type that inference gives must be the type that stands there.
void check_type(const Function& f, Value v) {
  Op op = f[v].op;
  std::vector<Type> operands = types_of(f, f.operands(v));
  const Type& found = f.type(v);
  Type wanted = infer(op, operands, f[v].imm, &found);
  if (op == Op::Nest) wanted.shape = found.shape;
  check_result(f, v, wanted);
}

}  // namespace

int region_count(Op op) {
  if (!has(op, Regions)) return 0;
  return op == Op::While || op == Op::If ? 2 : 1;
}

void check_node(const Function& f, Value v) {
  const Node& n = f[v];
  if (n.region_count != region_count(n.op))
    user_error("{}: {} regions, expected {}", name_of(n.op), n.region_count, region_count(n.op));
  if (n.op != Op::Result) check_type(f, v);
  if (has(n.op, Regions) && !n.type.is_void) user_error("{}: has a type of its own", name_of(n.op));
  const Rule* rule = rule_of(n.op);
  if (rule) rule->check(f, v);
  bool uses_imm = n.op == Op::Param || (rule && rule->uses_imm);
  if (n.imm != 0 && !uses_imm) user_error("{}: a number {} without meaning", name_of(n.op), n.imm);
  if (has(n.op, Regions)) check_regions(f, v);
}

void check_helper(const Function& helper) {
  auto refuse = [&](std::string_view why) { user_error("helper {}: {}", helper.name, why); };
  const auto& body = helper.body().body;
  for (Value p : helper.params())
    if (helper.type(p).is_pointer()) refuse("a parameter is a pointer");
  if (body.empty() || helper[body.back()].op != Op::Yield || helper[body.back()].operand_count != 1) refuse("it does not yield one value");
  for (size_t k = 0; k + 1 < body.size(); ++k) {
    const Node& n = helper[body[k]];
    if ((!is_pointwise(n.op) && n.op != Op::Constant) || n.op == Op::Call || n.op == Op::PtrAdd || n.type.is_pointer())
      refuse(fmt::format("it holds {}, expected constants and pointwise ops", name_of(n.op)));
    if (!n.type.is_scalar()) refuse("it holds a tile");
  }
}

// --- the whole function

namespace {

constexpr std::string_view kFormNames[] = {"tile", "scheduled", "lane"};

constexpr uint8_t bit(Form form) { return static_cast<uint8_t>(1 << static_cast<int>(form)); }
constexpr uint8_t kAllForms = bit(Form::Tile) | bit(Form::Scheduled) | bit(Form::Lanes);

/// The forms in which an op may stand.
constexpr uint8_t forms_of(Op op) {
  switch (op) {
    case Op::Reduce: case Op::Scan: case Op::ExpandDims: case Op::Reshape: case Op::Trans: case Op::Gather: case Op::Dot:
    case Op::Histogram:
      return bit(Form::Tile) | bit(Form::Scheduled);
    case Op::Nest: return bit(Form::Scheduled);
    default: return has(op, Lane) ? bit(Form::Lanes) : kAllForms;
  }
}

/// What encloses a statement.
struct Context {
  std::optional<Op> owner;  // of the region; none: the program
  bool nest = false;
  bool combine = false;  // the function of a reduction or a scan
};

class Verifier {
 public:
  Verifier(const Function& f, Form form) : f_(f), form_(form), placed_(f.size()), visible_(f.size()) {}

  void run();

 private:
  template <class... Args>
  [[noreturn]] void refuse(Value v, fmt::format_string<Args...> format, Args&&... args) const;

  void define(Value v);
  void check_params(const Region& region);
  void check_region(RegionId id, Context context, bool keeps_definitions);
  void check_statement(const Region& region, size_t at, Context context);
  void check_visible(const Region& region, size_t at);
  void check_form(Value v);
  void check_value(Value v);
  void check_context(Value v, Context context);
  void check_yield(const Region& region, size_t at, Context context);
  void check_alloc(Value v);

  const Function& f_;
  Form form_;
  std::vector<bool> placed_, visible_;
  std::vector<Value> defined_;
};

template <class... Args>
void Verifier::refuse(Value v, fmt::format_string<Args...> format, Args&&... args) const {
  internal_error("{} form of {}: {}, in\n  {}", kFormNames[static_cast<int>(form_)], f_.name,
                 fmt::format(format, std::forward<Args>(args)...), print_statement(f_, v));
}

void Verifier::run() {
  bool lanes = form_ == Form::Lanes;
  if (f_.threads < (lanes ? 1 : 0) || f_.threads > kMaxThreads)
    internal_error("{} form of {}: {} threads", kFormNames[static_cast<int>(form_)], f_.name, f_.threads);
  if (f_.scratch_bytes < 0 || f_.scratch_bytes > kMaxScratch)
    internal_error("{}: {} bytes of scratch", f_.name, f_.scratch_bytes);
  for (Value p : f_.params())
    if (!f_.type(p).is_scalar()) refuse(p, "a parameter of type {}, expected a scalar or a pointer", to_string(f_.type(p)));
  for (const auto& helper : f_.helpers) {
    Verifier(*helper, Form::Tile).run();
    check_helper(*helper);
  }
  check_region(0, {}, false);
}

/// From here to the end of the region, or further if it is a nest.
void Verifier::define(Value v) {
  if (placed_[v.id]) internal_error("{}: node {} ({}) stands in two places", f_.name, v.id, name_of(f_[v].op));
  placed_[v.id] = true;
  visible_[v.id] = true;
  defined_.push_back(v);
}

void Verifier::check_params(const Region& region) {
  for (size_t k = 0; k < region.params.size(); ++k) {
    Value p = region.params[k];
    define(p);
    if (f_[p].op != Op::Param || f_[p].imm != static_cast<int64_t>(k)) refuse(p, "expected parameter {} of its region", k);
    check_value(p);
  }
}

void Verifier::check_region(RegionId id, Context context, bool keeps_definitions) {
  const Region& region = f_.region(id);
  size_t mark = defined_.size();
  check_params(region);
  for (size_t k = 0; k < region.body.size(); ++k) check_statement(region, k, context);
  if (keeps_definitions) return;
  for (size_t k = mark; k < defined_.size(); ++k) visible_[defined_[k].id] = false;
  defined_.resize(mark);
}

void Verifier::check_statement(const Region& region, size_t at, Context context) {
  Value v = region.body[at];
  if (v.id >= f_.size()) internal_error("{}: no node {}", f_.name, v.id);
  const Node& n = f_[v];
  if (n.op == Op::Param) refuse(v, "a parameter among the statements");
  check_visible(region, at);
  define(v);
  check_form(v);
  check_context(v, context);
  if (n.op == Op::Yield) check_yield(region, at, context);
  for (int k = 0; k < n.region_count; ++k) {
    if (f_.region_of(v, k) >= f_.region_count()) refuse(v, "no region {}", f_.region_of(v, k));
    Context inner{.owner = n.op, .nest = context.nest || n.op == Op::Nest,
                  .combine = context.combine || n.op == Op::Reduce || n.op == Op::Scan};
    check_region(f_.region_of(v, k), inner, n.op == Op::Nest);
  }
  try {
    check_node(f_, v);
  } catch (const Error& e) {
    refuse(v, "{}", e.what());
  }
  check_value(v);
}

/// Operands are defined before; results stand right after their owner, in rising order.
void Verifier::check_visible(const Region& region, size_t at) {
  Value v = region.body[at];
  for (Value o : f_.operands(v))
    if (o.id >= f_.size() || !visible_[o.id]) refuse(v, "an operand is not visible here");
  if (f_[v].op != Op::Result) return;
  if (at == 0) refuse(v, "a result without its op");
  Value before = region.body[at - 1], owner = f_.operand(v, 0);
  bool follows = before == owner || (f_[before].op == Op::Result && f_.operand(before, 0) == owner && f_[before].imm < f_[v].imm);
  if (!follows) refuse(v, "a result that does not follow its op in order");
}

void Verifier::check_form(Value v) {
  const Node& n = f_[v];
  if (!(forms_of(n.op) & bit(form_))) refuse(v, "{} does not occur in this form", name_of(n.op));
  uint8_t promises = kNoWrap | kStaged | kLikely | kMayWrap;  // of the program, not of its schedule
  if ((n.flags & ~promises) && form_ != Form::Scheduled) refuse(v, "a flag outside scheduled form");
  if (form_ != Form::Lanes) return;
  if (n.op == Op::Broadcast && !f_.type(f_.operand(v, 0)).is_scalar()) refuse(v, "a broadcast of a vector");
  if (n.op == Op::Alloc) check_alloc(v);
}

void Verifier::check_value(Value v) {
  const Type& t = f_.type(v);
  if (t.is_void) return;
  if (form_ == Form::Lanes) {
    if (t.shape.rank() > 1 || t.elements() > kMaxLanes || !std::has_single_bit(static_cast<uint64_t>(t.elements())))
      refuse(v, "{} is neither a scalar nor a vector of 1, 2, 4, ... {} lanes", to_string(t), kMaxLanes);
  } else if (t.is_pointer() && t.space != Space::Global) {
    refuse(v, "a pointer to {} memory", t.space == Space::Shared ? "shared" : "local");
  }
}

void Verifier::check_context(Value v, Context context) {
  const Node& n = f_[v];
  if (context.nest && n.op == Op::Nest) refuse(v, "a nest inside a nest");
  if (!context.combine || n.op == Op::Yield) return;
  bool allowed = is_pure(n.op) || n.op == Op::If || n.op == Op::For || n.op == Op::While;
  if (!allowed) refuse(v, "{} in the combine function of a reduction or scan", name_of(n.op));
  if (!n.type.is_void && !n.type.is_scalar()) refuse(v, "a tile in the combine function of a reduction or scan");
}

/// A yield ends every region but a nest's. One at the end of a tile program makes it a scalar function.
void Verifier::check_yield(const Region& region, size_t at, Context context) {
  Value v = region.body[at];
  if (at + 1 != region.body.size()) refuse(v, "statements after a yield");
  if (context.owner == Op::Nest) refuse(v, "a nest that yields");
  if (!context.owner && form_ != Form::Tile && f_[v].operand_count > 0) refuse(v, "a program that yields values");
}

/// Once scratch is assigned, every shared allocation lies in it.
void Verifier::check_alloc(Value v) {
  const Node& n = f_[v];
  if (f_.scratch_bytes == 0 || n.type.space != Space::Shared) return;
  if (n.aux + n.imm * size_of(n.type.dtype) > f_.scratch_bytes) refuse(v, "beyond the {} bytes of scratch", f_.scratch_bytes);
}

}  // namespace

void verify(const Function& f, Form form) { Verifier(f, form).run(); }

}  // namespace strider::ir
