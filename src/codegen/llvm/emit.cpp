// SPDX-License-Identifier: Apache-2.0
// The walk over a program's statements. Control flow is structured already, so carried values become phis as they are met.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "base/error.h"
#include "codegen/llvm/arith.h"
#include "codegen/llvm/memory.h"
#include "ir/builder.h"

namespace strider::codegen {

using ir::Op;

namespace {

void emit_statement(Emitter& e, ir::Value v);
void emit_rare_code(Emitter& e, const RareCode& code);

// --- leaves

llvm::Value* emit_constant(Emitter& e, ir::Value v) {
  const ir::Type& type = e.f.type(v);
  if (type.is_pointer()) return llvm::Constant::getNullValue(e.type(type));
  llvm::Constant* one = e.constant(type.dtype, static_cast<uint64_t>(e.f[v].imm));
  if (type.elements() == 1) return one;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(type.elements())), one);
}

llvm::Value* constant_vector(Emitter& e, ir::Value v, llvm::function_ref<uint64_t(int64_t)> bits) {
  const ir::Type& type = e.f.type(v);
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  for (int64_t k = 0; k < type.elements(); ++k) lanes.push_back(e.constant(type.dtype, bits(k)));
  return lanes.size() == 1 ? lanes[0] : llvm::ConstantVector::get(lanes);
}

llvm::Value* emit_vector(Emitter& e, ir::Value v) {
  return constant_vector(e, v, [&](int64_t k) { return static_cast<uint64_t>(e.f.table(v)[static_cast<size_t>(k)]); });
}

llvm::Value* emit_arange(Emitter& e, ir::Value v) {
  return constant_vector(e, v, [&](int64_t k) { return static_cast<uint64_t>(e.f[v].imm + k); });
}

llvm::Value* emit_program_id(Emitter& e, ir::Value v) { return e.program.id[static_cast<size_t>(e.f[v].imm)]; }
llvm::Value* emit_num_programs(Emitter& e, ir::Value v) { return e.program.count[static_cast<size_t>(e.f[v].imm)]; }
llvm::Value* emit_thread_id(Emitter& e, ir::Value) { return e.program.thread; }

// --- moving lanes

llvm::Value* splat(Emitter& e, llvm::Value* scalar, int64_t lanes) {
  return lanes == 1 ? scalar : e.b.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

llvm::Value* emit_broadcast(Emitter& e, ir::Value v) {
  const ir::Type& from = e.f.type(e.f.operand(v, 0));
  return from.elements() > 1 ? e.operand(v, 0) : splat(e, e.operand(v, 0), e.f.type(v).elements());
}

llvm::Value* emit_extract(Emitter& e, ir::Value v) { return e.lane(e.operand(v, 0), e.f[v].imm); }

llvm::Value* as_vector(Emitter& e, llvm::Value* x) { return x->getType()->isVectorTy() ? x : e.b.CreateVectorSplat(1, x); }

llvm::Value* emit_shuffle(Emitter& e, ir::Value v) {
  llvm::Value *a = as_vector(e, e.operand(v, 0)), *b = as_vector(e, e.operand(v, 1));
  std::span<const int64_t> table = e.f.table(v);
  llvm::SmallVector<int, 64> lanes(table.begin(), table.end());
  llvm::Value* mixed = e.b.CreateShuffleVector(a, b, lanes);
  return lanes.size() == 1 ? e.b.CreateExtractElement(mixed, uint64_t{0}) : mixed;
}

// --- threads

llvm::Value* emit_barrier(Emitter& e, ir::Value) {
  e.spelling.barrier(e);
  return nullptr;
}

/// One element by way of 32-bit words.
llvm::Value* exchange_element(Emitter& e, llvm::Value* x, int64_t xor_mask) {
  llvm::Type *type = x->getType(), *word = e.b.getInt32Ty();
  llvm::Type* integer = type->isPointerTy() ? e.b.getInt64Ty() : e.b.getIntNTy(type->getScalarSizeInBits());
  llvm::Value* bits = type->isPointerTy() ? e.b.CreatePtrToInt(x, integer) : e.b.CreateBitCast(x, integer);
  llvm::Value* moved = e.spelling.exchange(e, e.b.CreateZExtOrTrunc(bits, word), xor_mask);
  llvm::Value* all = e.b.CreateZExtOrTrunc(moved, integer);
  if (integer->getIntegerBitWidth() > 32) {
    llvm::Value* high = e.spelling.exchange(e, e.b.CreateTrunc(e.b.CreateLShr(bits, 32), word), xor_mask);
    all = e.b.CreateOr(all, e.b.CreateShl(e.b.CreateZExt(high, integer), 32));
  }
  return type->isPointerTy() ? e.b.CreateIntToPtr(all, type) : e.b.CreateBitCast(all, type);
}

llvm::Value* emit_exchange(Emitter& e, ir::Value v) {
  llvm::Value* x = e.operand(v, 0);
  int64_t lanes = e.f.type(v).elements();
  if (lanes == 1) return exchange_element(e, x, e.f[v].imm);
  llvm::Value* all = llvm::PoisonValue::get(x->getType());
  for (int64_t k = 0; k < lanes; ++k)
    all = e.b.CreateInsertElement(all, exchange_element(e, e.lane(x, k), e.f[v].imm), static_cast<uint64_t>(k));
  return all;
}

// --- control flow

/// Writes a region's statements; gives what it yields.
Values emit_region(Emitter& e, const ir::Region& region) {
  for (ir::Value v : region.body) {
    if (e.f[v].op == Op::Yield) {
      Values yielded;
      for (ir::Value operand : e.f.operands(v)) yielded.push_back(e.value(operand));
      return yielded;
    }
    if (int code = e.rare.code_of[v.id]; code >= 0) emit_rare_code(e, e.rare.codes[static_cast<size_t>(code)]);
    else if (!e.rare.is_placed[v.id]) emit_statement(e, v);
  }
  return {};
}

void set_params(Emitter& e, std::span<const ir::Value> params, llvm::ArrayRef<llvm::Value*> arguments) {
  for (size_t k = 0; k < params.size(); ++k) e.value(params[k]) = arguments[k];
}

/// One phi for each of `values`, which come from `from`; the other edges are added later.
Values phis(Emitter& e, llvm::ArrayRef<llvm::Value*> values, llvm::BasicBlock* from) {
  Values made;
  for (llvm::Value* value : values) {
    llvm::PHINode* phi = e.b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, from);
    made.push_back(phi);
  }
  return made;
}

void add_edges(llvm::ArrayRef<llvm::Value*> made, llvm::ArrayRef<llvm::Value*> values, llvm::BasicBlock* from) {
  for (size_t k = 0; k < made.size(); ++k) llvm::cast<llvm::PHINode>(made[k])->addIncoming(values[k], from);
}

Values carried(Emitter& e, ir::Value v, size_t first) {
  Values values;
  for (ir::Value operand : e.f.operands(v).subspan(first)) values.push_back(e.value(operand));
  return values;
}

/// if lo < hi: do body; while (i < hi - step, saturated; i += step). The sum cannot overflow where it is used.
llvm::Value* emit_for(Emitter& e, ir::Value v) {
  bool is_signed = is_signed_int(e.f.type(e.f.operand(v, 0)).dtype);
  llvm::Value *lo = e.operand(v, 0), *hi = e.operand(v, 1), *step = e.operand(v, 2);
  auto less = [&](llvm::Value* a, llvm::Value* b) { return is_signed ? e.b.CreateICmpSLT(a, b) : e.b.CreateICmpULT(a, b); };
  Values initial = carried(e, v, 3);

  llvm::Value* last = e.b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat, hi, step);
  llvm::BasicBlock *before = e.b.GetInsertBlock(), *body = e.block("for"), *done = e.block("done");
  e.b.CreateCondBr(less(lo, hi), body, done);

  e.b.SetInsertPoint(body);
  Values arguments = phis(e, {lo}, before);
  arguments.append(phis(e, initial, before));
  set_params(e, e.f.region(v, 0).params, arguments);
  Values next = emit_region(e, e.f.region(v, 0));
  llvm::Value* index = e.b.CreateAdd(arguments[0], step, "", /*HasNUW=*/!is_signed, /*HasNSW=*/is_signed);
  llvm::BasicBlock* latch = e.b.GetInsertBlock();
  e.b.CreateCondBr(less(arguments[0], last), body, done);
  add_edges(llvm::ArrayRef(arguments).take_front(1), {index}, latch);
  add_edges(llvm::ArrayRef(arguments).drop_front(1), next, latch);

  e.b.SetInsertPoint(done);
  Values results = phis(e, initial, before);
  add_edges(results, next, latch);
  e.results[v.id] = results;
  return nullptr;
}

llvm::Value* emit_while(Emitter& e, ir::Value v) {
  llvm::BasicBlock *before = e.b.GetInsertBlock(), *head = e.block("while"), *body = e.block("do"), *done = e.block("done");
  e.b.CreateBr(head);
  e.b.SetInsertPoint(head);
  Values values = phis(e, carried(e, v, 0), before);
  set_params(e, e.f.region(v, 0).params, values);
  set_params(e, e.f.region(v, 1).params, values);
  llvm::Value* condition = emit_region(e, e.f.region(v, 0))[0];
  e.b.CreateCondBr(condition, body, done);
  e.b.SetInsertPoint(body);
  Values next = emit_region(e, e.f.region(v, 1));
  add_edges(values, next, e.b.GetInsertBlock());
  e.b.CreateBr(head);
  e.b.SetInsertPoint(done);
  e.results[v.id] = values;
  return nullptr;
}

llvm::Value* emit_if(Emitter& e, ir::Value v) {
  llvm::BasicBlock *then = e.block("then"), *otherwise = e.block("else"), *done = e.block("done");
  e.b.CreateCondBr(e.operand(v, 0), then, otherwise);
  e.b.SetInsertPoint(then);
  Values from_then = emit_region(e, e.f.region(v, 0));
  llvm::BasicBlock* then_end = e.b.GetInsertBlock();
  e.b.CreateBr(done);
  e.b.SetInsertPoint(otherwise);
  Values from_otherwise = emit_region(e, e.f.region(v, 1));
  llvm::BasicBlock* otherwise_end = e.b.GetInsertBlock();
  e.b.CreateBr(done);
  e.b.SetInsertPoint(done);
  Values results = phis(e, from_then, then_end);
  add_edges(results, from_otherwise, otherwise_end);
  e.results[v.id] = results;
  return nullptr;
}

/// Choices whose slow side is skipped when no lane needs it.
void emit_rare_code(Emitter& e, const RareCode& code) {
  for (ir::Value v : code.before) emit_statement(e, v);
  llvm::Value* common = e.value(code.condition);
  llvm::Value* all = common->getType()->isVectorTy() ? e.b.CreateAndReduce(common) : common;
  llvm::BasicBlock *before = e.b.GetInsertBlock(), *rare = e.block("rare"), *done = e.block("done");
  e.b.CreateCondBr(all, done, rare, llvm::MDBuilder(e.b.getContext()).createLikelyBranchWeights());
  e.b.SetInsertPoint(rare);
  for (ir::Value v : code.slow) emit_statement(e, v);
  Values fast, mixed;
  for (ir::Value v : code.choices) {
    fast.push_back(e.operand(v, 1));
    mixed.push_back(e.b.CreateSelect(common, e.operand(v, 1), e.operand(v, 2)));
  }
  llvm::BasicBlock* end = e.b.GetInsertBlock();
  e.b.CreateBr(done);
  e.b.SetInsertPoint(done);
  Values chosen = phis(e, fast, before);
  add_edges(chosen, mixed, end);
  for (size_t k = 0; k < code.choices.size(); ++k) e.value(code.choices[k]) = chosen[k];
}

llvm::Value* emit_result(Emitter& e, ir::Value v) { return e.results[e.f.operand(v, 0).id][static_cast<size_t>(e.f[v].imm)]; }

// --- one row per op that is not pointwise

using Handler = llvm::Value* (*)(Emitter&, ir::Value);

constexpr struct {
  Op op;
  Handler handler;
} kHandlers[] = {
    {Op::Constant, emit_constant},     {Op::Vector, emit_vector},        {Op::Arange, emit_arange},
    {Op::ProgramId, emit_program_id},  {Op::NumPrograms, emit_num_programs}, {Op::ThreadId, emit_thread_id},
    {Op::Broadcast, emit_broadcast},   {Op::Extract, emit_extract},      {Op::Shuffle, emit_shuffle},
    {Op::Load, emit_load},             {Op::Store, emit_store},          {Op::Atomic, emit_atomic},
    {Op::LoadBlock, emit_load_block},  {Op::StoreBlock, emit_store_block}, {Op::Alloc, emit_alloc},
    {Op::Barrier, emit_barrier},       {Op::Exchange, emit_exchange},    {Op::For, emit_for},
    {Op::While, emit_while},           {Op::If, emit_if},                {Op::Result, emit_result},
};

constexpr std::array<Handler, ir::kOpCount> handlers_by_op() {
  std::array<Handler, ir::kOpCount> table{};
  for (int k = 0; k < ir::kOpCount; ++k)
    if (is_pointwise(ir::op_at(k))) table[static_cast<size_t>(k)] = emit_pointwise;
  for (const auto& row : kHandlers) table[static_cast<size_t>(row.op)] = row.handler;
  return table;
}
constexpr auto kHandlerOf = handlers_by_op();

void emit_statement(Emitter& e, ir::Value v) {
  Handler handler = kHandlerOf[static_cast<size_t>(e.f[v].op)];
  if (!handler) internal_error("{} reached the emitter", name_of(e.f[v].op));
  e.value(v) = handler(e, v);
}

}  // namespace

bool is_lane_op(Op op) { return op == Op::Yield || kHandlerOf[static_cast<size_t>(op)] != nullptr; }

namespace {

/// Everything between the beginning and the return; gives what the function yields.
Values emit_body(Emitter& e) {
  e.shows_bits = values_that_show_bits(e.f);
  e.rare = plan_rare_code(e.f);
  return emit_region(e, e.f.body());
}

/// A helper on vectors of `lanes` lanes.
ir::Function widened(const ir::Function& helper, int64_t lanes) {
  ir::Builder b(helper.name);
  b.set_literal(true);
  std::vector<ir::Value> wide(helper.size());
  auto type = [&](ir::Value v) { return lanes == 1 ? helper.type(v) : helper.type(v).with_shape({lanes}); };
  for (ir::Value p : helper.params()) wide[p.id] = b.param(type(p), {});
  for (ir::Value v : helper.body().body) {
    const ir::Node& node = helper[v];
    std::vector<ir::Value> operands;
    for (ir::Value o : helper.operands(v)) operands.push_back(wide[o.id]);
    if (node.op == Op::Yield) b.yield(operands);
    else {
      ir::Type result = type(v);
      wide[v.id] = b.emit(node.op, operands, node.imm, &result);
      b.set_flags(wide[v.id], node.flags);
    }
  }
  return b.finish();
}

/// The function stays one: with its body in the place of each call, the code would be what the calls are there to avoid.
llvm::Function* write_helper(Emitter& caller, const ir::Function& helper, int64_t lanes) {
  const ir::Function wide = widened(helper, lanes);
  Emitter e(wide, caller.target, caller.spelling, caller.module);
  e.costs = caller.costs;
  e.converts_half = caller.converts_half;
  e.has_ranges = caller.has_ranges;
  llvm::SmallVector<llvm::Type*, 3> types;
  for (ir::Value p : wide.params()) types.push_back(e.type(wide.type(p)));
  ir::Value yielded = wide.operand(wide.body().body.back(), 0);
  auto* f = e.program.function = llvm::Function::Create(llvm::FunctionType::get(e.type(wide.type(yielded)), types, false),
                                                        llvm::Function::InternalLinkage, helper.name, e.module);
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->addFnAttr(llvm::Attribute::NoInline);
  e.b.SetInsertPoint(e.block("entry"));
  for (unsigned k = 0; k < types.size(); ++k) e.value(wide.params()[k]) = f->getArg(k);
  e.b.CreateRet(emit_body(e)[0]);
  return f;
}

llvm::Value* call_helper(Emitter& e, int64_t number, int64_t lanes, llvm::ArrayRef<llvm::Value*> args) {
  llvm::Function*& f = e.helpers[{number, lanes}];
  if (!f) f = write_helper(e, *e.f.helpers[static_cast<size_t>(number)], lanes);
  llvm::CallInst* call = e.b.CreateCall(f, args);
  call->setDoesNotThrow();
  return call;
}

}  // namespace

void emit_function(Emitter& e) {
  e.spelling.begin(e);
  emit_body(e);
  e.b.CreateRetVoid();
}

llvm::Value* emit_call(Emitter& e, ir::Value v) {
  int64_t lanes = e.f.type(v).elements(), number = e.f[v].imm;
  Values args;
  for (ir::Value o : e.f.operands(v)) args.push_back(e.value(o));
  if (e.spelling.call_lanes == 0 || lanes <= e.spelling.call_lanes) return call_helper(e, number, lanes, args);
  llvm::Value* all = llvm::PoisonValue::get(e.type(e.f.type(v)));
  for (int64_t k = 0; k < lanes; ++k) {
    Values here;
    for (llvm::Value* x : args) here.push_back(e.lane(x, k));
    all = e.b.CreateInsertElement(all, call_helper(e, number, 1, here), static_cast<uint64_t>(k));
  }
  return all;
}

}  // namespace strider::codegen
