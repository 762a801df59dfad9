// SPDX-License-Identifier: Apache-2.0
#include "pass/run_program.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backend/interp/tile.h"
#include "ir/print.h"
#include "ir/semantics.h"

namespace strider::pass {

using namespace ir;

namespace {

std::vector<char> numbers(DType dtype, int64_t elements, int64_t seed) {
  std::vector<char> bytes(static_cast<size_t>(elements * size_of(dtype)));
  for (int64_t i = 0; i < elements; ++i) {
    uint64_t bits = bits_of_int(dtype, (i * 7 + seed * 11) % 23 - 9);
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, static_cast<size_t>(size_of(dtype)));
  }
  return bytes;
}

std::vector<std::vector<char>> initial_memory(const Function& f, const Launch& launch) {
  std::vector<std::vector<char>> memory;
  for (Value p : f.params())
    if (f.type(p).is_pointer() && (memory.empty() || !launch.one_buffer))
      memory.push_back(numbers(f.type(p).dtype, launch.elements, static_cast<int64_t>(memory.size())));
  return memory;
}

}  // namespace

std::string to_string(const Launch& launch) {
  return fmt::format("grid {}, scalars {}, one buffer: {}", fmt::join(launch.grid, " x "), fmt::join(launch.scalars, ", "),
                     launch.one_buffer);
}

std::vector<std::vector<char>> memory_after(const Function& f, const Launch& launch) {
  std::vector<std::vector<char>> memory = initial_memory(f, launch);
  std::vector<uint64_t> args;
  interp::InterpOptions options;
  size_t buffer = 0, scalar = 0;
  for (size_t k = 0; k < f.params().size(); ++k) {
    const Type& type = f.type(f.params()[k]);
    if (!type.is_pointer()) {
      args.push_back(bits_of_int(type.dtype, launch.scalars.at(scalar++)));
      continue;
    }
    std::vector<char>& bytes = memory[launch.one_buffer ? 0 : buffer++];
    args.push_back(reinterpret_cast<uint64_t>(bytes.data()));
    const char* name = f.param_info(static_cast<int>(k)).name.c_str();
    options.memories.push_back({name, bytes.data(), static_cast<int64_t>(bytes.size())});
  }
  std::string reports = interp::to_string(interp::interpret_tiles(f, launch.grid, args, options));
  EXPECT_EQ(reports, "") << to_string(launch) << "\n" << print(f);
  return memory;
}

void expect_same_memory(const Function& f, const Function& g, const Launch& launch) {
  bool same = memory_after(f, launch) == memory_after(g, launch);
  EXPECT_TRUE(same) << to_string(launch) << "\n" << print(f) << "became\n" << print(g);
}

std::vector<Value> find_all(const Function& f, Op op, RegionId region) {
  std::vector<Value> found;
  for (Value v : f.region(region).body) {
    if (f[v].op == op) found.push_back(v);
    for (int k = 0; k < f[v].region_count; ++k)
      for (Value inner : find_all(f, op, f.region_of(v, k))) found.push_back(inner);
  }
  return found;
}

}  // namespace strider::pass
