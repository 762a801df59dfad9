// SPDX-License-Identifier: Apache-2.0
#include "planner/plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "planner/overlap.h"

namespace strider::planner {
namespace {

constexpr int64_t kMaxIndex = INT32_MAX - (1 << 20);  // an index plus a block still fits i32

std::string name_of(std::span<const Operand> operands, size_t k) {
  size_t outputs = 0;
  while (outputs < operands.size() && operands[outputs].role == Role::Output) ++outputs;
  return k < outputs ? fmt::format("output {}", k) : fmt::format("argument {}", k - outputs);
}

bool is_tensor(const Operand& o) { return o.role != Role::Scalar; }
bool is_tensor(const Plan& p, int k) { return p.key.access[k].role != Role::Scalar; }
int rank(const Plan& p) { return p.key.rank; }
int axis_n(const Plan& p) { return p.key.rank - 1; }
int axis_m(const Plan& p) { return p.key.rank - 2; }

}  // namespace

// --- shapes

namespace {

[[noreturn]] void shapes_differ(std::span<const Operand> operands, size_t k, const Dims& shape, int axis, int64_t other) {
  const Dims& s = *operands[k].shape;
  int from_end = shape.rank() - axis;
  user_error("{} of shape {} does not broadcast with the others: its axis {} has size {}, theirs {}", name_of(operands, k),
             to_string(s), s.rank() - from_end, s[s.rank() - from_end], other);
}

void broadcast_with(Dims& shape, std::span<const Operand> operands, size_t k) {
  const Dims& s = *operands[k].shape;
  while (shape.rank() < s.rank()) shape.insert(0, 1);
  for (int j = 1; j <= s.rank(); ++j) {
    int64_t& size = shape[shape.rank() - j];
    int64_t own = s[s.rank() - j];
    if (size == 1) size = own;
    else if (own != 1 && own != size) shapes_differ(operands, k, shape, shape.rank() - j, size);
  }
}

}  // namespace

Dims broadcast_shape(std::span<const Operand> operands) {
  Dims shape;
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].role == Role::Input) broadcast_with(shape, operands, k);
  return shape;
}

// --- overlap

namespace {

bool is_same_tensor(const Operand& a, const Operand& b) {
  return a.data == b.data && a.dtype == b.dtype && *a.shape == *b.shape && *a.strides == *b.strides;
}

Region region(const Operand& o) {
  return {reinterpret_cast<uintptr_t>(o.data), size_of(o.dtype), *o.shape, *o.strides};
}

void check_pair(std::span<const Operand> operands, size_t output, size_t other) {
  bool is_input = operands[other].role == Role::Input;
  if (is_input && is_same_tensor(operands[output], operands[other])) return;
  Answer answer = overlap(region(operands[output]), region(operands[other]));
  if (answer == Answer::No) return;
  user_error("{} {} memory with {}: write to other memory{}", name_of(operands, output),
             answer == Answer::Yes ? "shares" : "may share", name_of(operands, other),
             is_input ? ", or to exactly the same elements" : "");
}

}  // namespace

void step::check_overlap(std::span<const Operand> operands) {
  for (size_t k = 0; k < operands.size() && operands[k].role == Role::Output; ++k) {
    Answer answer = overlaps_itself(*operands[k].shape, *operands[k].strides);
    if (answer != Answer::No)
      user_error("{} of shape {} with strides {} {} elements that share memory", name_of(operands, k),
                 to_string(*operands[k].shape), to_string(*operands[k].strides), answer == Answer::Yes ? "has" : "may have");
    for (size_t j = k + 1; j < operands.size(); ++j)
      if (is_tensor(operands[j])) check_pair(operands, k, j);
  }
}

// --- one index space

void step::broadcast(Plan& p, std::span<const Operand> operands, const Dims& shape) {
  p.key.operands = static_cast<uint8_t>(operands.size());
  p.key.rank = static_cast<uint8_t>(shape.rank());
  p.strides.resize(operands.size(), shape.rank());
  std::copy(shape.begin(), shape.end(), p.sizes);
  p.empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    p.key.access[k] = {o.role, o.dtype, Unit::None, 0, 0};
    p.data[k] = static_cast<const char*>(o.data);
    if (!is_tensor(o)) continue;
    if (o.role == Role::Output && *o.shape != shape)
      user_error("{} has shape {}, the inputs broadcast to {}", name_of(operands, k), to_string(*o.shape), to_string(shape));
    int missing = shape.rank() - o.shape->rank();
    for (int a = 0; a < shape.rank(); ++a)
      p.strides[k][a] = a < missing || (*o.shape)[a - missing] == 1 ? 0 : (*o.strides)[a - missing];
  }
}

namespace {

void move_axis(Plan& p, int from, int to) {
  p.sizes[to] = p.sizes[from];
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k)) p.strides[k][to] = p.strides[k][from];
}

void swap_axes(Plan& p, int a, int b) {
  std::swap(p.sizes[a], p.sizes[b]);
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k)) std::swap(p.strides[k][a], p.strides[k][b]);
}

}  // namespace

void step::drop_unit_axes(Plan& p) {
  int kept = 0;
  for (int a = 0; a < rank(p); ++a) {
    if (p.sizes[a] == 1) continue;
    if (kept != a) move_axis(p, a, kept);
    ++kept;
  }
  p.key.rank = static_cast<uint8_t>(kept);
}

/// Axes along which the first output runs backwards are walked from their other end.
void step::flip_axes(Plan& p) {
  for (int a = 0; a < rank(p); ++a) {
    if (p.strides[0][a] >= 0) continue;
    for (int k = 0; k < p.key.operands; ++k) {
      if (!is_tensor(p, k)) continue;
      p.data[k] += p.strides[k][a] * (p.sizes[a] - 1) * size_of(p.key.access[k].dtype);
      p.strides[k][a] = -p.strides[k][a];
    }
  }
}

namespace {

/// Whether axis a belongs inside axis b: the first operand that steps differently along them decides.
bool steps_less(const Plan& p, int a, int b) {
  for (int k = 0; k < p.key.operands; ++k) {
    if (!is_tensor(p, k)) continue;
    int64_t sa = std::abs(p.strides[k][a]), sb = std::abs(p.strides[k][b]);
    if (sa != sb && sa != 0 && sb != 0) return sa < sb;
  }
  return false;
}

}  // namespace

void step::order_axes(Plan& p) {
  for (int a = 1; a < rank(p); ++a)
    for (int b = a; b > 0 && steps_less(p, b - 1, b); --b) swap_axes(p, b - 1, b);
}

namespace {

/// For every operand, a step along axis a is as far as all of axis b.
bool can_merge(const Plan& p, int a, int b) {
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k) && p.strides[k][a] != p.strides[k][b] * p.sizes[b]) return false;
  return true;
}

}  // namespace

void step::merge_axes(Plan& p) {
  if (rank(p) == 0) return;
  int last = 0;
  for (int a = 1; a < rank(p); ++a) {
    if (can_merge(p, last, a)) {
      int64_t size = p.sizes[last] * p.sizes[a];
      move_axis(p, a, last);
      p.sizes[last] = size;
    } else if (++last != a) {
      move_axis(p, a, last);
    }
  }
  p.key.rank = static_cast<uint8_t>(last + 1);
}

// --- layout

namespace {

/// One element: an axis of size 1 along which everything is contiguous, so that no code of its own is needed.
void make_single_axis(Plan& p) {
  p.key.rank = 1;
  p.sizes[0] = 1;
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k)) p.strides[k][0] = 1;
}

bool is_flat(const Plan& p) {
  if (rank(p) != 1) return false;
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k) && p.strides[k][0] != 0 && p.strides[k][0] != 1) return false;
  return true;
}

/// The axis along which an operand is contiguous although it is not along N, or -1.
int crossing_axis(const Plan& p, int k) {
  if (!is_tensor(p, k)) return -1;
  int64_t n = p.strides[k][axis_n(p)];
  if (n == 0 || n == 1) return -1;
  for (int a = axis_m(p); a >= 0; --a)
    if (p.strides[k][a] == 1) return a;
  return -1;
}

/// The axis that the operands which disagree with N want, or -1.
int crossing_axis(const Plan& p) {
  for (int k = 0; k < p.key.operands; ++k)
    if (int a = crossing_axis(p, k); a >= 0) return a;
  return -1;
}

/// M should be long: a short one is swapped with the longest outer axis.
void lengthen_m(Plan& p) {
  constexpr int64_t kShort = 16;
  int m = axis_m(p);
  if (m < 1 || p.sizes[m] >= kShort) return;
  int longest = static_cast<int>(std::max_element(p.sizes, p.sizes + m) - p.sizes);
  if (p.sizes[longest] > p.sizes[m]) swap_axes(p, longest, m);
}

/// The bytes from an operand's first element to its last.
std::pair<const char*, const char*> span_of(const Plan& p, int k) {
  int64_t bytes = size_of(p.key.access[k].dtype);
  const char *first = p.data[k], *last = p.data[k] + bytes;
  for (int a = 0; a < rank(p); ++a) (p.strides[k][a] < 0 ? first : last) += p.strides[k][a] * (p.sizes[a] - 1) * bytes;
  return {first, last};
}

/// Whether what is read between an operand's elements may be an output's, as in x[::2] and x[1::2].
bool interleaves_with_output(const Plan& p, int k) {
  auto [first, last] = span_of(p, k);
  for (int j = 0; p.key.access[j].role == Role::Output; ++j) {
    auto [other_first, other_last] = span_of(p, j);
    if (first < other_last && other_first < last) return true;
  }
  return false;
}

Unit unit_of(const Plan& p, int k, const Target& target) {
  if (p.strides[k][axis_n(p)] == 1) return Unit::N;
  bool is_second = p.strides[k][axis_n(p)] == 2 && p.key.access[k].role == Role::Input && target.deinterleaves;
  if (is_second && !interleaves_with_output(p, k)) return Unit::Second;
  if (p.key.layout == Layout::Tiled && p.strides[k][axis_m(p)] == 1) return Unit::M;
  return Unit::None;
}

}  // namespace

void step::choose_layout(Plan& p, const Target& target) {
  if (rank(p) == 0) make_single_axis(p);
  if (is_flat(p)) {
    p.key.layout = Layout::Flat;
  } else if (int m = crossing_axis(p); m >= 0) {
    p.key.layout = Layout::Tiled;
    for (int a = m; a < axis_m(p); ++a) swap_axes(p, a, a + 1);  // the others stay in order: neighbours follow each other
  } else {
    p.key.layout = Layout::Rows;
    lengthen_m(p);
  }
  for (int k = 0; k < p.key.operands; ++k) {
    if (!is_tensor(p, k)) continue;
    Access& access = p.key.access[k];
    access.unit = unit_of(p, k, target);
    for (int a = 0; a < rank(p); ++a)
      if (p.strides[k][a] == 0) access.broadcast |= 1u << a;
  }
}

// --- block

namespace {

/// Blocks are powers of two, and a division would take as long as the rest of the choice.
int64_t tiles(int64_t size, int32_t block) { return (size + block - 1) >> std::countr_zero(static_cast<uint32_t>(block)); }

/// Lanes that a block shape computes for every element.
double waste(BlockShape b, int64_t m, int64_t n) {
  return static_cast<double>(tiles(m, b.m) * b.m) / static_cast<double>(m) * static_cast<double>(tiles(n, b.n) * b.n) /
         static_cast<double>(n);
}

BlockShape best_block(std::span<const BlockShape> blocks, int64_t m, int64_t n) {
  constexpr double kFits = 1.5;
  for (BlockShape b : blocks)
    if (waste(b, m, n) <= kFits) return b;
  return *std::min_element(blocks.begin(), blocks.end(), [&](BlockShape a, BlockShape b) { return waste(a, m, n) < waste(b, m, n); });
}

int32_t flat_block(const Plan& p, const CostModel& costs) {
  if (costs.flat_bytes == 0) return costs.flat_elements;
  int narrowest = 16;
  for (int k = 0; k < p.key.operands; ++k)
    if (is_tensor(p, k)) narrowest = std::min(narrowest, size_of(p.key.access[k].dtype));
  return costs.flat_bytes / narrowest;
}

/// How long a processor works on all elements, in elements of whole tiles: others are masked, and each program and each row of one
/// takes a while to begin; more of it where a row goes on in another program.
double cost(const CostModel& c, BlockShape b, int64_t m, int64_t n, Layout layout) {
  const bool breaks = b.m > 1 && b.n < n;
  const double row = layout == Layout::Rows ? breaks ? c.broken_row : c.row : 0;
  auto rounded = [](int64_t size, int64_t to) { return static_cast<double>((size + to - 1) / to * to); };
  double whole = static_cast<double>(m / b.m * b.m) * static_cast<double>(n / b.n * b.n);
  double all = rounded(m, std::min(b.m, c.whole_m)) * rounded(n, std::min(b.n, c.whole_n));
  double rows = static_cast<double>(m) * static_cast<double>(tiles(n, b.n));
  return whole + c.masked * (all - whole) + row * rows + c.program * rows / std::min<double>(b.m, static_cast<double>(m));
}

BlockShape cheapest_block(const CostModel& c, std::span<const BlockShape> blocks, int64_t m, int64_t n, Layout layout) {
  constexpr double kSame = 1.02;
  double least = std::numeric_limits<double>::infinity();
  for (BlockShape b : blocks) least = std::min(least, cost(c, b, m, n, layout));
  return *std::find_if(blocks.begin(), blocks.end(), [&](BlockShape b) { return cost(c, b, m, n, layout) <= kSame * least; });
}

int64_t count_programs(const Plan& p, const Target& target) {
  const int64_t most = target.grid_limit[0];
  Wide programs = Wide{p.tiles_m} * p.tiles_n;
  for (int a = 0; a < axis_m(p) && programs <= most; ++a) programs *= p.sizes[a];
  if (programs > most) unsupported_error("the operator would need more than {} programs for this layout", most);
  return static_cast<int64_t>(programs);
}

}  // namespace

void step::choose_block(Plan& p, const Target& target) {
  int64_t m = rank(p) > 1 ? p.sizes[axis_m(p)] : 1, n = p.sizes[axis_n(p)];
  const CostModel& costs = target.costs;
  const std::vector<BlockShape>& blocks = p.key.layout == Layout::Tiled ? costs.tiles : costs.rows;
  BlockShape block = rank(p) == 1                     ? BlockShape{1, flat_block(p, costs)}
                     : Wide{m} * n >= costs.weighed_from ? cheapest_block(costs, blocks, m, n, p.key.layout)
                                                         : best_block(blocks, m, n);
  p.key.block_m = block.m;
  p.key.block_n = block.n;
  p.tiles_m = tiles(m, block.m);
  p.tiles_n = tiles(n, block.n);
  p.programs = count_programs(p, target);
}

// --- numbers and facts

namespace {

/// Whether the offsets of all lanes fit, those past the edges of a ragged tile included.
bool offsets_fit_i32(const Plan& p, int k) {
  int64_t low = 0, high = 0;
  for (int a = 0; a < rank(p); ++a) {
    int64_t block = a == rank(p) - 1 ? p.key.block_n : a == rank(p) - 2 ? p.key.block_m : 1;
    int64_t reach = p.strides[k][a] * (p.sizes[a] - 1 + block);
    (reach < 0 ? low : high) += reach;
  }
  return low >= INT32_MIN && high <= INT32_MAX;
}

}  // namespace

void step::choose_width(Plan& p) {
  bool fits = p.programs <= kMaxIndex;
  for (int a = 0; a < rank(p); ++a) fits &= p.sizes[a] <= kMaxIndex;
  for (int k = 0; k < p.key.operands; ++k) fits &= !is_tensor(p, k) || offsets_fit_i32(p, k);
  p.key.wide = !fits;
}

namespace {

bool is_contiguous(Unit unit) { return unit == Unit::N || unit == Unit::M; }

/// The bytes, as a power of two, that divide where every row of a contiguous operand begins.
int log2_alignment(const Plan& p, int k) {
  uint64_t all = reinterpret_cast<uintptr_t>(p.data[k]);
  int unit = p.key.access[k].unit == Unit::N ? axis_n(p) : axis_m(p);
  for (int a = 0; a < rank(p); ++a)
    if (a != unit) all |= static_cast<uint64_t>(p.strides[k][a]) * static_cast<uint64_t>(size_of(p.key.access[k].dtype));
  return std::countr_zero(all);
}

int log2_alignment(const Plan& p, Role role) {
  int least = 63;
  for (int k = 0; k < p.key.operands; ++k)
    if (p.key.access[k].role == role && is_contiguous(p.key.access[k].unit)) least = std::min(least, log2_alignment(p, k));
  return least;
}

bool is_large_and_fresh(const Plan& p, const Target& target) {
  int64_t elements = 1;
  for (int a = 0; a < rank(p); ++a) elements *= p.sizes[a];
  for (int k = 0; k < p.key.operands; ++k) {
    const Access& access = p.key.access[k];
    if (access.same_as > 0) return false;
    if (access.role == Role::Output && (access.unit != Unit::N || !target.streams(elements * size_of(access.dtype))))
      return false;
  }
  return true;
}

void note_in_place(Plan& p) {
  for (int k = 0; k < p.key.operands; ++k) {
    if (p.key.access[k].role != Role::Input) continue;
    for (int j = 0; p.key.access[j].role == Role::Output; ++j) {
      bool same = p.data[k] == p.data[j] && p.key.access[k].dtype == p.key.access[j].dtype &&
                  std::equal(p.strides[k], p.strides[k] + rank(p), p.strides[j]);
      if (same) p.key.access[k].same_as = static_cast<uint8_t>(1 + j);
    }
  }
}

}  // namespace

/// Alignment counts where an access must be aligned to be wide: everywhere on some targets, else for streaming stores.
void step::note_facts(Plan& p, const Target& target) {
  note_in_place(p);
  bool aligns = target.aligned_bytes > 0;
  int wanted = std::bit_width(static_cast<unsigned>(aligns ? target.aligned_bytes : target.wide_bytes())) - 1;
  bool out = log2_alignment(p, Role::Output) >= wanted, in = log2_alignment(p, Role::Input) >= wanted;
  p.key.streaming = is_large_and_fresh(p, target) && (aligns || out);
  p.key.align_out = static_cast<uint8_t>(out && (aligns || p.key.streaming) ? wanted : 0);
  p.key.align_in = static_cast<uint8_t>(in && aligns ? wanted : 0);
}

// --- all of it

Plan plan(std::span<const Operand> operands, const Target& target) {
  if (operands.size() > kMaxOperands) user_error("{} operands, at most {} are possible", operands.size(), kMaxOperands);
  Plan p;
  Dims shape = broadcast_shape(operands);
  step::broadcast(p, operands, shape);
  if (p.empty) return p;
  step::check_overlap(operands);
  step::drop_unit_axes(p);
  step::flip_axes(p);
  step::order_axes(p);
  step::merge_axes(p);
  step::choose_layout(p, target);
  step::choose_block(p, target);
  step::choose_width(p);
  step::note_facts(p, target);
  return p;
}

}  // namespace strider::planner
