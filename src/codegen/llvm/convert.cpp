// SPDX-License-Identifier: Apache-2.0
// Casts between dtypes, alike on every target: where processors differ (floats outside an integer's range, 16-bit floats)
// the answer is spelled out. Narrowing to a 16-bit float rounds once: wider values first go to f32 rounding to odd, which
// keeps a trace of what did not fit.
#include "base/error.h"
#include "codegen/llvm/arith.h"

namespace strider::codegen {
namespace {

/// A value of any number of lanes with the arithmetic of its own width.
struct Cast {
  Emitter& e;
  IrBuilder& b;
  int64_t lanes;

  llvm::Type* type(llvm::Type* element) const { return e.with_lanes(element, lanes); }
  llvm::Type* type(DType dtype) const { return type(e.element(dtype)); }
  llvm::Value* real(llvm::Value* like, double value) const { return llvm::ConstantFP::get(like->getType(), value); }
  llvm::Value* integer(llvm::Value* like, uint64_t value) const { return llvm::ConstantInt::get(like->getType(), value); }
  llvm::Value* bits(llvm::Value* x) const {
    return b.CreateBitCast(x, type(b.getIntNTy(x->getType()->getScalarSizeInBits())));
  }

  // --- to and from 16-bit floats

  llvm::Value* f32_of_half(llvm::Value* x) const {
    if (e.converts_half) return b.CreateFPExt(b.CreateBitCast(x, type(b.getHalfTy())), type(DType::F32));
    llvm::Value* wide = b.CreateZExt(x, type(b.getInt32Ty()));
    llvm::Value* shifted = b.CreateShl(b.CreateAnd(wide, integer(wide, 0x7fff)), 13);
    llvm::Value* small = b.CreateBitCast(shifted, type(DType::F32));
    llvm::Value* finite = bits(b.CreateFMul(small, real(small, 0x1p112)));  // moves the exponent, subnormals included
    llvm::Value* special = b.CreateICmpUGE(shifted, integer(shifted, 0x7c00u << 13));
    llvm::Value* magnitude = b.CreateSelect(special, b.CreateOr(shifted, integer(shifted, 0x7f800000)), finite);
    llvm::Value* sign = b.CreateShl(b.CreateAnd(wide, integer(wide, 0x8000)), 16);
    return b.CreateBitCast(b.CreateOr(magnitude, sign), type(DType::F32));
  }

  llvm::Value* f32_of_bfloat(llvm::Value* x) const {
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(x, type(b.getInt32Ty())), 16), type(DType::F32));
  }

  llvm::Value* half_of_f32(llvm::Value* x) const {
    if (e.converts_half) return b.CreateBitCast(b.CreateFPTrunc(x, type(b.getHalfTy())), type(b.getInt16Ty()));
    llvm::Value* all = bits(x);
    llvm::Value* magnitude = b.CreateAnd(all, integer(all, 0x7fffffff));
    llvm::Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), integer(all, 1));
    llvm::Value* rebased = b.CreateAdd(magnitude, integer(all, 0xffffffffu & (0xfffu - (112u << 23))));
    llvm::Value* normal = b.CreateLShr(b.CreateAdd(rebased, odd), 13);
    llvm::Value* half = real(x, 0.5);  // its last bit weighs as much as a subnormal half's
    llvm::Value* added = b.CreateFAdd(b.CreateBitCast(magnitude, x->getType()), half);
    llvm::Value* subnormal = b.CreateSub(bits(added), bits(half));
    llvm::Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, integer(all, 113u << 23)), subnormal, normal);
    result = b.CreateSelect(b.CreateICmpUGE(magnitude, integer(all, 143u << 23)), integer(all, 0x7c00), result);
    result = b.CreateSelect(b.CreateICmpUGT(magnitude, integer(all, 0x7f800000)), integer(all, 0x7e00), result);
    llvm::Value* sign = b.CreateAnd(b.CreateLShr(all, 16), integer(all, 0x8000));
    return b.CreateTrunc(b.CreateOr(result, sign), type(b.getInt16Ty()));
  }

  llvm::Value* bfloat_of_f32(llvm::Value* x) const {
    llvm::Value* all = bits(x);
    llvm::Value* odd = b.CreateAnd(b.CreateLShr(all, 16), integer(all, 1));
    llvm::Value* rounded = b.CreateAdd(all, b.CreateAdd(odd, integer(all, 0x7fff)));
    llvm::Value* result = b.CreateSelect(b.CreateFCmpUNO(x, x), b.CreateOr(all, integer(all, 0x400000)), rounded);
    return b.CreateTrunc(b.CreateLShr(result, 16), type(b.getInt16Ty()));
  }

  llvm::Value* f32_to_odd(llvm::Value* x) const {
    llvm::Value* nearest = b.CreateFPTrunc(x, type(DType::F32));
    llvm::Value* back = b.CreateFPExt(nearest, x->getType());
    llvm::Value* inexact = b.CreateFCmpONE(back, x);
    llvm::Value* above = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                         b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
    llvm::Value* truncated = b.CreateSub(bits(nearest), b.CreateZExt(above, type(b.getInt32Ty())));
    llvm::Value* odd = b.CreateOr(truncated, b.CreateZExt(inexact, type(b.getInt32Ty())));
    return b.CreateBitCast(odd, type(DType::F32));
  }

  llvm::Value* narrow(llvm::Value* f32, DType to) const { return to == DType::F16 ? half_of_f32(f32) : bfloat_of_f32(f32); }

  /// An integer with at most 53 significant bits that rounds to the same 16-bit float.
  llvm::Value* exact_in_f64(llvm::Value* x, bool is_signed) const {
    if (x->getType()->getScalarSizeInBits() < 64) return x;
    llvm::Value* magnitude = is_signed ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
    llvm::Value* lost = b.CreateICmpNE(b.CreateAnd(x, integer(x, 0x7ff)), integer(x, 0));
    llvm::Value* kept = b.CreateAnd(x, integer(x, ~uint64_t{0x7ff}));
    llvm::Value* odd = b.CreateOr(kept, b.CreateSelect(lost, integer(x, 0x800), integer(x, 0)));
    return b.CreateSelect(b.CreateICmpULT(magnitude, integer(x, uint64_t{1} << 53)), x, odd);
  }

  // --- floats

  llvm::Value* float_to_float(llvm::Value* x, DType from, DType to) const {
    if (from == DType::F16) x = f32_of_half(x), from = DType::F32;
    if (from == DType::BF16) x = f32_of_bfloat(x), from = DType::F32;
    if (size_of(to) > 2) return b.CreateFPCast(x, type(to));
    return narrow(from == DType::F64 ? f32_to_odd(x) : x, to);
  }

  // --- integers to floats

  llvm::Value* int_to_float(llvm::Value* x, DType from, DType to) const {
    bool is_signed = is_signed_int(from);
    if (size_of(to) > 2) return is_signed ? b.CreateSIToFP(x, type(to)) : b.CreateUIToFP(x, type(to));
    if (size_of(from) <= 2) return narrow(int_to_float(x, from, DType::F32), to);  // exact in f32
    return narrow(f32_to_odd(int_to_float(exact_in_f64(x, is_signed), from, DType::F64)), to);
  }

  // --- floats to integers

  /// Truncated to `bits` bits; the smallest integer where the value is NaN or does not fit.
  llvm::Value* truncate(llvm::Value* x, unsigned bits) const {
    double limit = bits == 64 ? 0x1p63 : 0x1p31;
    bool has_fractions_below = x->getType()->getScalarType()->isDoubleTy() && bits == 32;  // between -limit - 1 and -limit
    llvm::Value* above = has_fractions_below ? b.CreateFCmpOGT(x, real(x, -limit - 1)) : b.CreateFCmpOGE(x, real(x, -limit));
    llvm::Value* fits = b.CreateAnd(above, b.CreateFCmpOLT(x, real(x, limit)));
    llvm::Type* result = type(b.getIntNTy(bits));
    llvm::Value* smallest = llvm::ConstantInt::get(result, llvm::APInt::getSignedMinValue(bits));
    return b.CreateSelect(fits, b.CreateFPToSI(x, result), smallest);
  }

  llvm::Value* float_to_u64(llvm::Value* x) const {
    llvm::Value* upper = b.CreateFSub(x, real(x, 0x1p63));
    llvm::Value* is_upper = b.CreateAnd(b.CreateFCmpOGE(x, real(x, 0x1p63)), b.CreateFCmpOLT(x, real(x, 0x1p64)));
    llvm::Value* low = truncate(x, 64);
    llvm::Value* high = truncate(upper, 64);
    return b.CreateSelect(is_upper, b.CreateXor(high, integer(high, uint64_t{1} << 63)), low);
  }

  llvm::Value* float_to_int(llvm::Value* x, DType to) const {
    if (to == DType::U64) return float_to_u64(x);
    if (to == DType::I64 || to == DType::U32) return b.CreateTrunc(truncate(x, 64), type(to));
    return b.CreateTrunc(truncate(x, 32), type(to));
  }

  // --- all

  llvm::Value* to_bool(llvm::Value* x, DType from) const {
    if (is_float(from)) x = float_to_float(x, from, size_of(from) > 2 ? from : DType::F32);
    llvm::Value* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? b.CreateFCmpUNE(x, zero) : b.CreateICmpNE(x, zero);
  }

  llvm::Value* from_bool(llvm::Value* x, DType to) const {
    return b.CreateSelect(x, one(to), llvm::Constant::getNullValue(type(to)));
  }
  llvm::Constant* one(DType to) const {
    constexpr uint64_t kHalfOne = 0x3c00, kBfloatOne = 0x3f80;
    if (to == DType::F16) return llvm::ConstantInt::get(type(to), kHalfOne);
    if (to == DType::BF16) return llvm::ConstantInt::get(type(to), kBfloatOne);
    return is_float(to) ? llvm::ConstantFP::get(type(to), 1.0) : llvm::ConstantInt::get(type(to), 1);
  }

  llvm::Value* convert(llvm::Value* x, DType from, DType to) const {
    if (from == to) return x;
    if (to == DType::Bool) return to_bool(x, from);
    if (from == DType::Bool) return from_bool(x, to);
    if (is_float(from) && is_float(to)) return float_to_float(x, from, to);
    if (is_float(from)) return float_to_int(float_to_float(x, from, size_of(from) > 2 ? from : DType::F32), to);
    if (is_float(to)) return int_to_float(x, from, to);
    return b.CreateIntCast(x, type(to), is_signed_int(from));
  }
};

}  // namespace

llvm::Value* emit_cast(Emitter& e, llvm::Value* value, DType from, DType to) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return Cast{e, e.b, vector ? vector->getNumElements() : 1}.convert(value, from, to);
}

}  // namespace strider::codegen
