// SPDX-License-Identifier: Apache-2.0
// From operands to a plan: a small key that selects code, and numbers passed at the launch. Pure: needs no device.
//
//   check overlap -> broadcast -> drop unit axes -> flip -> order axes -> merge axes -> layout -> block -> index width -> facts
//
// After it the axes are those of one loop nest, outermost first, and every operand has one stride for each: 0 where it is
// broadcast. The last axis is called N, the one before it M. Layouts:
//   Flat   one axis, along which every operand is contiguous or a single element: a 1-D tile
//   Rows   a tile over M and N, or over N alone if there is one axis; outer axes come from the program id
//   Tiled  the same, where some operand is contiguous along M instead of N
// How many keys an operator can have for given dtypes: 2 index widths, 2 store policies or alignments, up to 9 block shapes,
// and, for each axis and operand, whether it is broadcast and where it is contiguous or every second element. Sizes and other
// strides never count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <algorithm>
#include <vector>

#include <strider/dims.h>
#include <strider/dtype.h>

#include "base/kit.h"
#include "ir/target.h"

namespace strider::planner {

inline constexpr int kMaxOperands = 128;  // 64 inputs and 64 outputs
inline constexpr int kMaxAxes = kMaxDims;

enum class Role : uint8_t { Output, Input, Scalar };

/// An argument as the planner sees it. Outputs come first. A scalar has only a dtype: Bool, I64, U64 or F64.
struct Operand {
  Role role;
  DType dtype;
  const void* data;
  const Dims* shape;
  const Dims* strides;
};

enum class Layout : uint8_t { Flat, Rows, Tiled };
/// The axis of the tile along which an operand is contiguous; Second: every second element along N, of inputs where that helps.
enum class Unit : uint8_t { None, N, M, Second };

/// What code must know of one operand.
struct Access {
  Role role;
  DType dtype;
  Unit unit;
  uint8_t same_as;     // inputs: 1 + the output that is this very tensor
  uint32_t broadcast;  // bit k: the stride of axis k is 0
  bool operator==(const Access&) const = default;
};

/// All that selects code; plain bytes, of which the first bytes() count and the rest is not written.
struct Key {
  uint8_t operands = 0;
  uint8_t rank = 0;
  Layout layout = Layout::Flat;
  uint8_t wide = 0;         // offsets are i64
  uint8_t streaming = 0;    // stores bypass the caches
  uint8_t align_out = 0;    // log2 of bytes, of contiguous outputs; 0: only that of their dtype is known
  uint8_t align_in = 0;     // the same of contiguous inputs
  uint8_t unused = 0;
  int32_t block_m = 1, block_n = 1;
  Access access[kMaxOperands];

  size_t bytes() const { return offsetof(Key, access) + operands * sizeof(Access); }
};
static_assert(sizeof(Access) == 8 && offsetof(Key, access) == 16);

/// A stride for each operand and axis. Usual numbers of them lie in place: a call allocates nothing and needs little stack.
class Strides {
 public:
  Strides() {}  // leaves them as they are
  void resize(size_t operands, int axes) {
    axes_ = static_cast<size_t>(std::max(axes, 1));
    if (operands * axes_ > kFew) more_.resize(operands * axes_);
  }
  int64_t* operator[](size_t operand) { return (more_.empty() ? few_ : more_.data()) + operand * axes_; }
  const int64_t* operator[](size_t operand) const { return (more_.empty() ? few_ : more_.data()) + operand * axes_; }

 private:
  static constexpr size_t kFew = 128;
  size_t axes_ = 1;
  int64_t few_[kFew];
  std::vector<int64_t> more_;
};

struct Plan {
  Key key;
  bool empty = false;       // no elements: nothing to launch
  int64_t sizes[kMaxAxes];
  Strides strides;
  const char* data[kMaxOperands];
  int64_t tiles_m = 1, tiles_n = 1;
  int64_t programs = 0;

  Plan() {}  // leaves the arrays as they are: only what is used is written
};

/// Throws user errors that name operands "output 0" and "argument 0" (counted among inputs and scalars).
STRIDER_KIT Plan plan(std::span<const Operand> operands, const Target& target);

/// The shape that the inputs broadcast to.
Dims broadcast_shape(std::span<const Operand> operands);
/// Strides for a new output, PyTorch's preserve_format: inputs of one dense layout give theirs; else axes in the order of the
/// inputs' strides, so that a transposed input gives a transposed output. Negative strides count by their magnitude.
Dims output_strides(std::span<const Operand> operands, const Dims& shape);
/// Those of a copy, PyTorch's empty_like: the tensor's own if they are dense, else as an operator's of this one input.
Dims kept_strides(const Dims& shape, const Dims& strides);

/// The steps, in order; each needs what the ones before it leave.
namespace step {
void check_overlap(std::span<const Operand> operands);
void broadcast(Plan& p, std::span<const Operand> operands, const Dims& shape);
void drop_unit_axes(Plan& p);
void flip_axes(Plan& p);
void order_axes(Plan& p);
void merge_axes(Plan& p);
void choose_layout(Plan& p, const Target& target);
void choose_block(Plan& p, const Target& target);
void choose_width(Plan& p);
void note_facts(Plan& p, const Target& target);
}  // namespace step

}  // namespace strider::planner
