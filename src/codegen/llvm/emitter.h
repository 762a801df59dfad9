// SPDX-License-Identifier: Apache-2.0
// What the parts of the emitter share: the function being translated, the place where code is written, and the spellings
// of the instruction set.
//
// Every target has the same emitter. What differs is a row of data, `Spelling`, which each back end has in a file of its own
// (backend/*/spelling.cpp). How values are represented:
//   bool             i1; one byte in memory
//   f16, bf16        i16: they are only moved and converted, so that no target meets half arithmetic
//   vectors          <n x element>; a vector of one lane is a scalar
//   pointers         ptr in the address space of their ir::Space
#pragma once

#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include <llvm/Analysis/TargetFolder.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/rare.h"
#include "ir/function.h"
#include "ir/target.h"

namespace strider::codegen {

// Folds constants only: a loop's phi has one edge while its body is written, so no simplification may look through it.
using IrBuilder = llvm::IRBuilder<llvm::TargetFolder>;
using Values = llvm::SmallVector<llvm::Value*, 4>;

struct Emitter;

/// How an instruction set says what the others say differently.
struct Spelling {
  void (*start)();       // makes LLVM's description of the processor known; called once
  const char* half_feature;   // LLVM's name for instructions that convert f16; null: they are there
  const char* range_feature;  // the same for `extremum`; null: it needs none
  unsigned spaces[4];    // address space by ir::Space
  int access_bytes;      // blocks are accessed in pieces of at most so many bytes; 0: in one, which LLVM splits well
  int swap_bytes;        // the narrowest compare-and-swap
  bool half_atomics;     // atomic f16 additions
  bool masks_are_bits;   // a vector of bools turns into an integer at no cost
  bool splits_halves;    // there is no comparison of vectors of f16
  bool masked_loads_wait;  // LLVM makes a load and a choice one instruction, whose load waits for the condition
  int call_lanes;        // helpers take vectors of at most so many lanes; 0: of any number
  void (*begin)(Emitter&);  // makes the function, fills in Emitter::program and the values of the parameters
  void (*barrier)(Emitter&);
  void (*streaming)(Emitter&, llvm::StoreInst*);  // marks a store of data that is not read soon
  llvm::Value* (*exchange)(Emitter&, llvm::Value* word, int64_t xor_mask);  // of one i32
  llvm::Value* (*pack_bytes)(Emitter&, llvm::Value* bytes);  // <4 x i8> to i32 where LLVM must not see a cast; null: a cast
  llvm::Value* (*negate_short)(Emitter&, llvm::Value* x);     // one i16; null: as other integers
  // One f32 or f64 whose bits are looked at: without its sign, with the other sign; null: as other floats.
  llvm::Value* (*magnitude)(Emitter&, llvm::Value* x);
  llvm::Value* (*negate_float)(Emitter&, llvm::Value* x);
  llvm::Value* (*square_root)(Emitter&, llvm::Value* x);      // one f32; null: llvm.sqrt
  llvm::Value* (*extremum)(Emitter&, ir::Op op, llvm::Value* a, llvm::Value* b);  // of floats; null, or gives null: llvm.minimum
};

/// What a program finds when it starts.
struct Program {
  llvm::Function* function = nullptr;
  std::array<llvm::Value*, 3> id{}, count{};  // i32
  llvm::Value* thread = nullptr;              // i32
  llvm::Value* scratch = nullptr;             // in the shared space, or null
  llvm::Value* readable = nullptr;            // a pointer to memory that is there, where a load without lanes minds; or null
  llvm::Value* never_null = nullptr;          // a pointer of which LLVM does not know that, where long blocks mind; or null
};

struct Emitter {
  Emitter(const ir::Function& function, const Target& target, const Spelling& spelling, llvm::Module& module);

  llvm::Type* element(DType dtype);         // in a register
  llvm::Type* memory_element(DType dtype);  // in memory
  llvm::Type* type(const ir::Type& type);
  llvm::Type* with_lanes(llvm::Type* element, int64_t lanes) const;
  /// A constant of `type` whose bits are as in ir/semantics.h.
  llvm::Constant* constant(DType dtype, uint64_t bits);

  llvm::Value*& value(ir::Value v) { return values[v.id]; }
  llvm::Value* operand(ir::Value v, int k) { return values[f.operand(v, k).id]; }
  llvm::Value* lane(llvm::Value* vector, int64_t index);
  llvm::BasicBlock* block(const char* name);

  /// Writes `body`, run only when `condition` holds; gives its value, or `otherwise`. A body without value gives null.
  llvm::Value* guarded(llvm::Value* condition, llvm::function_ref<llvm::Value*()> body, llvm::Value* otherwise);

  const ir::Function& f;
  const Target& target;
  const Spelling& spelling;
  llvm::Module& module;
  IrBuilder b;
  Program program;
  std::vector<llvm::Value*> values;              // by ir::Value
  std::vector<bool> shows_bits;                  // by ir::Value: floats whose bits, those of NaN included, are looked at
  RarePlan rare;
  std::unordered_map<uint32_t, Values> results;  // of ops with regions, by ir::Value
  std::map<std::pair<int64_t, int64_t>, llvm::Function*> helpers;  // written so far, by number and lanes
  const llvm::TargetTransformInfo* costs = nullptr;
  bool converts_half = true;  // f16 conversions are instructions
  bool has_ranges = false;    // Spelling::range_feature is there
};

/// Writes all of `e.f` into `e.module`, whose triple and data layout are set.
void emit_function(Emitter& e);

/// A call of one of `e.f`'s helpers, which is written into the module when it is first called.
llvm::Value* emit_call(Emitter& e, ir::Value v);

/// Whether the emitter knows `op`; pointwise ones depend on the dtype as well (arith.h).
bool is_lane_op(ir::Op op);

}  // namespace strider::codegen
