// SPDX-License-Identifier: Apache-2.0
// What every pointwise op computes, on scalars: the one definition that folding, both interpreters and tests share.
//
// An element travels as 64 bits: its bytes, zero-extended (a bool is 0 or 1, an f32 its IEEE bits in the low half).
#pragma once

#include <cstddef>
#include <cstdint>

#include <strider/dtype.h>

#include "base/kit.h"
#include "ir/op.h"

namespace strider::ir {

/// `value` rounded to nearest even (floats), truncated and wrapped (integers), or compared with zero (bool).
STRIDER_KIT uint64_t bits_of_double(DType dtype, double value);
/// `value` converted exactly or rounded once (floats), wrapped (integers), compared with zero (bool).
STRIDER_KIT uint64_t bits_of_int(DType dtype, int64_t value);
STRIDER_KIT double double_of_bits(DType dtype, uint64_t bits);
/// Integers and bool: sign- or zero-extended. Floats: truncated, saturated to the range of i64, NaN gives 0.
STRIDER_KIT int64_t int_of_bits(DType dtype, uint64_t bits);

/// One lane of a pointwise op other than ptr_add. `dtype` is that of the operands (of the last operand for `where`),
/// `result` that of the result. Exp and its kin use the host's libm: targets see only their expansions (pass/decompose).
STRIDER_KIT uint64_t evaluate(Op op, DType dtype, DType result, const uint64_t* args);
/// The same over `count` lanes; args[k][i * stride[k]] is operand k of lane i, with strides 0 or 1.
void evaluate_lanes(Op op, DType dtype, DType result, const uint64_t* const* args, const int* strides, uint64_t* out,
                    size_t count);

/// What an atomic leaves in memory. Maximum and minimum are those of the ops; compare-and-swap compares bits.
uint64_t evaluate_atomic(AtomicKind kind, DType dtype, uint64_t old, uint64_t value, uint64_t compare);

}  // namespace strider::ir
