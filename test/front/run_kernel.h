// SPDX-License-Identifier: Apache-2.0
// Traces a kernel and runs it in the tile interpreter, on vectors.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include <strider/error.h>
#include <strider/kernel.h>

#include "backend/interp/tile.h"
#include "front/trace/kernel.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace strider::test {

inline uint64_t slot(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
template <class T>
uint64_t slot(std::vector<T>& v) {
  return reinterpret_cast<uint64_t>(v.data());
}
template <detail::Number T>
uint64_t slot(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

inline std::string text_of(const Kernel& k, std::initializer_list<Constant> constants = {}) {
  ir::Function f = front::trace_kernel(k, constants, {.log2_align = 2, .no_alias = false});
  ir::verify(f, ir::Form::Tile);
  return ir::print(f);
}

/// Runs the kernel; the interpreter must have nothing to report.
template <class... A>
void run(const Kernel& k, std::initializer_list<Constant> constants, const Grid& grid, A&&... arguments) {
  ir::Function f = front::trace_kernel(k, constants, {.log2_align = 2, .no_alias = false});
  ir::verify(f, ir::Form::Tile);
  const uint64_t slots[] = {slot(arguments)...};
  auto reports = interp::interpret_tiles(f, grid, slots);
  EXPECT_TRUE(reports.empty()) << interp::to_string(reports);
}

/// The message of the user error that `f` throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace strider::test
