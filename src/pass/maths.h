// SPDX-License-Identifier: Apache-2.0
// Elementary functions as expansions in basic operations: the CPU, the GPU and the interpreters compute the same bits.
//
// Each function is a template over a format F (F32 or F64; the gamma function has F64 only) and a builder `b` with value
// handles V (any copyable handle; floats, integers and booleans may have handles of different types):
//
//   constant(like, double)  iconstant(like, int64)  add sub mul div fma neg abs sqrt  round_even
//   lt le eq ne  where  logical_and logical_or logical_not  bit_and bit_or bit_xor shl shr
//   to_int to_float (of the same width)  bitcast_int bitcast_float
//   rarely (optional, see there): code that few lanes need may be branched around
//
// where() evaluates both sides. Nothing here branches, looks up a table or traps. NaN, infinities, signed zeros and
// subnormals, given or resulting, are right everywhere.
//
// Contraction: what must round once is written fma, and no plain add or sub has a product as operand, unless one by a
// power of two, so contracting them changes nothing inside an expansion. A result that is a product may be contracted
// with a sum of the user's.
//
// Worst errors are in docs/accuracy.md, measured over all of f32 and over many f64. Counts of operations are kept in
// test/pass/maths_test.cpp.
#pragma once

#include "pass/maths/arc.h"
#include "pass/maths/exp_log.h"
#include "pass/maths/gamma.h"
#include "pass/maths/hyperbolic.h"
#include "pass/maths/power.h"
#include "pass/maths/trig.h"
