// SPDX-License-Identifier: Apache-2.0
#include "planner/describe.h"

#include <fmt/ranges.h>

#include <vector>

namespace strider::planner {
namespace {

constexpr const char* kLayouts[] = {  // by Layout
    "flat: every operand is contiguous or a single element; a tile is a piece of the one axis",
    "rows: a tile over M and N, outer axes from the program id",
    "tiled: as rows, but some operand is contiguous along M and is transposed on its way",
};

/// The last axis is N, the one before it M, others are numbered from the outermost.
std::string axis_name(const Key& key, int axis) {
  if (axis == key.rank - 1) return "N";
  return axis == key.rank - 2 ? "M" : fmt::format("{}", axis);
}

std::string axes_text(const Plan& p) {
  std::vector<std::string> axes;
  for (int a = 0; a < p.key.rank; ++a) axes.push_back(fmt::format("{} = {}", axis_name(p.key, a), p.sizes[a]));
  return fmt::format("{}", fmt::join(axes, ", "));
}

std::string block_text(const Plan& p) {
  std::string programs = fmt::format("{} program{}", p.programs, p.programs == 1 ? "" : "s");
  if (p.key.rank == 1) return fmt::format("{} elements; {}", p.key.block_n, programs);
  return fmt::format("{} by {} elements; {} by {} tiles, {}", p.key.block_m, p.key.block_n, p.tiles_m, p.tiles_n, programs);
}

std::string alignment_text(int log2) {
  return log2 == 0 ? "that of their dtype" : fmt::format("{} bytes", 1 << log2);
}

std::string operand_text(const Plan& p, int k) {
  const Access& access = p.key.access[k];
  if (access.role == Role::Scalar) return fmt::format("{}, a number", name_of(access.dtype));
  std::vector<std::string> strides, broadcast;
  for (int a = 0; a < p.key.rank; ++a) {
    strides.push_back(fmt::format("{} {}", axis_name(p.key, a), p.strides[k][a]));
    if (access.broadcast >> a & 1) broadcast.push_back(axis_name(p.key, a));
  }
  std::string text = fmt::format("{}, strides {}", name_of(access.dtype), fmt::join(strides, ", "));
  constexpr std::string_view kUnits[] = {"", "; contiguous along N", "; contiguous along M", "; every second element along N"};
  text += kUnits[static_cast<int>(access.unit)];
  if (!broadcast.empty()) text += fmt::format("; broadcast along {}", fmt::join(broadcast, ", "));
  if (access.same_as > 0) text += fmt::format("; the same memory as output {}", access.same_as - 1);
  return text;
}

std::string key_text(const Key& key) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&key);
  return fmt::format("{} bytes: {:02x}", key.bytes(), fmt::join(bytes, bytes + key.bytes(), ""));
}

}  // namespace

std::string describe(const Plan& p, std::span<const std::string> names) {
  if (p.empty) return "no elements: nothing is compiled and nothing runs\n";
  std::string text;
  auto line = [&](std::string_view title, const std::string& value) { text += fmt::format("{:<9} {}\n", title, value); };
  line("layout", kLayouts[static_cast<int>(p.key.layout)]);
  line("axes", axes_text(p));
  line("block", block_text(p));
  line("offsets", p.key.wide ? "64 bits" : "32 bits");
  line("stores", p.key.streaming ? "bypass the caches" : "ordinary");
  line("alignment", fmt::format("outputs: {}, inputs: {}", alignment_text(p.key.align_out), alignment_text(p.key.align_in)));
  line("key", key_text(p.key));
  for (int k = 0; k < p.key.operands; ++k) text += fmt::format("{}: {}\n", names[static_cast<size_t>(k)], operand_text(p, k));
  return text;
}

}  // namespace strider::planner
