// SPDX-License-Identifier: Apache-2.0
// What the emitter can spell, checked before it starts: an op of another form, or one that should have been decomposed, gets
// an error with a name instead of a failure inside LLVM.
#include <algorithm>
#include <bit>

#include "base/error.h"
#include "codegen/llvm/codegen.h"
#include "codegen/llvm/emitter.h"

namespace strider::codegen {

using ir::Op;

namespace {

constexpr int64_t kMostLanes = 64;

class Check {
 public:
  Check(const ir::Function& f, const Target& target) : f_(f), target_(target) {}

  void run() const {
    check_program();
    for (ir::Value p : f_.params())
      if (!f_.type(p).is_scalar()) refuse(p, "arguments are scalars or pointers");
    for (const auto& helper : f_.helpers) Check(*helper, target_).check_region(helper->body());
    check_region(f_.body());
    check_spelled(f_, target_);
  }

 private:
  [[noreturn]] void refuse(ir::Value v, std::string_view why) const {
    const ir::Node& n = f_[v];
    const ir::Type& type = n.operand_count > 0 && is_pointwise(n.op) ? f_.type(f_.operand(v, 0)) : n.type;
    std::string place = to_string(f_.span(v));
    unsupported_error("{}{}: {} on {} is not available on target {}: {}", place, place.empty() ? f_.name : ", " + f_.name,
                      name_of(n.op, n.imm), ir::to_string(type), target_.name, why);
  }

  void check_program() const {
    if (f_.threads < 1 || f_.threads > target_.max_threads)
      unsupported_error("{}: {} threads a program, target {} runs 1 to {}", f_.name, f_.threads, target_.name, target_.max_threads);
    if (f_.scratch_bytes > target_.scratch_limit)
      unsupported_error("{}: {} bytes of scratch, target {} has {}", f_.name, f_.scratch_bytes, target_.name, target_.scratch_limit);
    const auto count = static_cast<int64_t>(f_.params().size());
    if (count > target_.argument_limit || 8 * count > target_.argument_bytes)
      unsupported_error("{}: {} parameters, target {} takes {}", f_.name, count, target_.name,
                        std::min(target_.argument_limit, target_.argument_bytes / 8));
  }

  void check_region(const ir::Region& region) const {
    for (ir::Value p : region.params) check_type(p);
    for (ir::Value v : region.body) {
      check_node(v);
      for (int k = 0; k < f_[v].region_count; ++k) check_region(f_.region(v, k));
    }
  }

  void check_type(ir::Value v) const {
    const ir::Type& t = f_.type(v);
    if (t.is_void) return;
    if (t.shape.rank() > 1 || t.elements() > kMostLanes || !std::has_single_bit(static_cast<uint64_t>(t.elements())))
      refuse(v, "values are scalars or vectors of a power of two of at most 64 lanes");
  }

  void check_node(ir::Value v) const {
    const ir::Node& n = f_[v];
    if (!is_lane_op(n.op)) refuse(v, "the op does not occur in lane form");
    check_type(v);
    if (is_pointwise(n.op)) check_pointwise(v);
    if (n.op == Op::Broadcast && !f_.type(f_.operand(v, 0)).is_scalar()) refuse(v, "only scalars are repeated");
    if (n.op == Op::Exchange) check_exchange(v);
    if (n.op == Op::Shuffle) check_shuffle(v);
    if (n.op == Op::Alloc) check_alloc(v);
  }

  void check_pointwise(ir::Value v) const {
    const ir::Type& operand = f_.type(f_.operand(v, 0));
    bool compares = f_[v].op >= Op::Eq && f_[v].op <= Op::Ge;
    if (operand.is_pointer() ? compares || can_spell(f_[v].op, DType::U8) : can_spell(f_[v].op, operand.dtype)) return;
    refuse(v, "it must be decomposed first");
  }

  void check_exchange(ir::Value v) const {
    int64_t imm = f_[v].imm;
    if (imm < 0 || imm >= target_.warp || imm >= f_.threads)
      refuse(v, fmt::format("thread ids differ by {}, threads exchange within {}", imm, std::min(target_.warp, f_.threads)));
    if (f_.threads > target_.warp && f_.threads % target_.warp != 0) refuse(v, "the last warp is not full");
  }

  void check_shuffle(ir::Value v) const {
    const ir::Type &a = f_.type(f_.operand(v, 0)), &b = f_.type(f_.operand(v, 1));
    if (a != b) refuse(v, "operands differ in type");
    for (int64_t lane : f_.table(v))
      if (lane < 0 || lane >= 2 * a.elements()) refuse(v, fmt::format("there is no lane {}", lane));
  }

  void check_alloc(ir::Value v) const {
    const ir::Node& n = f_[v];
    if (n.imm < 1) refuse(v, "it is empty");
    if (n.type.space == ir::Space::Global) refuse(v, "scratch is shared or local");
    int64_t end = int64_t{n.aux} + n.imm * size_of(n.type.dtype);
    if (n.type.space == ir::Space::Shared && end > f_.scratch_bytes)
      refuse(v, fmt::format("it ends at byte {} of {} bytes of scratch", end, f_.scratch_bytes));
  }

  const ir::Function& f_;
  const Target& target_;
};

}  // namespace

void check_legal(const ir::Function& lanes, const Target& target) { Check(lanes, target).run(); }

}  // namespace strider::codegen
