// SPDX-License-Identifier: Apache-2.0
#include "ir/target.h"

#include <algorithm>

#include "base/error.h"
#include "ir/function.h"

namespace strider {
namespace {

// Shapes and figures were measured on one EPYC.
CostModel costs_of_one_thread() {
  CostModel c;
  c.rows = {{8, 4096}, {16, 1024}, {1, 8192}, {128, 128}, {2048, 8}, {4, 64}, {32, 256}, {256, 32}};
  c.tiles = {{128, 64}, {64, 64}, {16, 64}, {64, 16}, {16, 16}, {512, 8}, {8, 512}, {1024, 4}, {4, 1024}};
  c.flat_elements = 2048;     // small: the last one, which is ragged, is slower
  c.weighed_from = 1 << 22;   // of fewer elements all sizes of a layout should share code, as far as they can
  c.masked = 2.5;
  c.program = 48;
  c.row = 6;
  c.broken_row = 400;         // the memory after its part is fetched in vain
  c.whole_m = 8;
  c.whole_n = 16;
  c.fold_elements = 16384;
  return c;
}

CostModel costs_of_many_threads() {
  constexpr int32_t kThreads = 128, kAccesses = 2, kAccessBytes = 16;
  CostModel c;
  c.rows = {{8, 128}, {1, 1024}, {128, 8}, {4, 32}};
  c.tiles = {{64, 64}, {128, 8}, {8, 128}};
  c.flat_bytes = kThreads * kAccesses * kAccessBytes;
  c.fold_elements = 4096;
  return c;
}

/// A processor whose programs run on many threads, and who pays for accesses that are not aligned.
Target many_threads() {
  Target t;
  t.vector_bytes = 16;
  t.aligned_bytes = 16;
  t.max_threads = 1024;
  t.warp = 32;
  t.local_in_scratch = false;
  t.masked_blocks = false;
  t.streaming_stores = false;
  t.deinterleaves = false;
  t.rereads = false;
  t.costs = costs_of_many_threads();
  return t;
}

}  // namespace

Target usual_target(TargetKind kind) {
  Target t = kind == TargetKind::Gpu ? many_threads() : Target();
  t.kind = kind;
  if (kind != TargetKind::Gpu) t.costs = costs_of_one_thread();
  if (kind == TargetKind::Interpreter) t.output = Output::Source, t.assembly = "";
  return t;
}

Target quick_target(const Target& target) {
  Target t = target;
  t.quick = true;
  t.vector_bytes = 1;
  t.unroll_slots = 1;
  return t;
}

bool Target::runs(const Target& other) const {
  bool same_family = back_end == other.back_end && triple == other.triple && tile_form == other.tile_form;
  return same_family && other.level <= level;
}

bool Target::spells(ir::Op op, DType dtype) const { return std::ranges::find(missing, MissingOp{op, dtype}) == missing.end(); }

void Target::lose(DType dtype) {
  for (int k = 0; k < ir::kOpCount; ++k) lose(ir::op_at(k), dtype);
}

namespace {

void check_op(const ir::Function& f, ir::Value v, const ir::Type& type, const Target& target) {
  const ir::Node& node = f[v];
  if (type.is_void || type.is_pointer() || target.spells(node.op, type.dtype)) return;
  std::string place = to_string(f.span(v));
  unsupported_error("{}{}: {} on {} is not available on target {}, which has no code for it", place, place.empty() ? f.name : ", " + f.name,
                    name_of(node.op, node.imm), ir::to_string(type), target.name);
}

}  // namespace

void check_spelled(const ir::Function& f, const Target& target) {
  if (target.missing.empty()) return;
  for (uint32_t id = 0; id < f.size(); ++id) {
    const ir::Value v{id};
    const ir::Node& node = f[v];
    if (info(node.op).result != ir::ResultRule::Bool) check_op(f, v, node.type, target);
    if (node.operand_count > 0 && node.op != ir::Op::Where) check_op(f, v, f.type(f.operand(v, 0)), target);
    if (has(node.op, ir::Writes) && node.operand_count > 1) check_op(f, v, f.type(f.operand(v, 1)), target);
  }
}

}  // namespace strider
