// SPDX-License-Identifier: Apache-2.0
// A launch on either interpreter, argument by argument; tests of the interpreters share it.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "backend/interp/lane.h"
#include "backend/interp/tile.h"
#include "ir/builder.h"

namespace strider::interp {

class Launch {
 public:
  /// An array that the next argument, called `name`, points to.
  template <class T>
  Launch& array(const char* name, std::vector<T>& data) {
    return view(name, data, data.data());
  }
  /// A pointer into an array.
  template <class T>
  Launch& view(const char* name, std::vector<T>& data, T* first) {
    options.memories.push_back({name, reinterpret_cast<char*>(data.data()), static_cast<int64_t>(data.size() * sizeof(T))});
    args_.push_back(reinterpret_cast<uint64_t>(first));
    return *this;
  }
  template <class T>
  Launch& scalar(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    args_.push_back(bits);
    return *this;
  }

  /// Runs `f` by the interpreter of its form, and gives all reports as text.
  std::string run(const ir::Function& f, int64_t programs = 1) { return to_string(reports(f, {programs, 1, 1})); }
  std::vector<Report> reports(const ir::Function& f, const Grid& grid) {
    return f.threads == 0 ? interpret_tiles(f, grid, args_, options) : interpret_lanes(f, grid, args_, options);
  }

  InterpOptions options;

 private:
  std::vector<uint64_t> args_;
};

inline ir::Value pointer_param(ir::Builder& b, const char* name, DType dtype) {
  return b.param(ir::Type::pointer(dtype), {.name = name});
}
inline ir::Value scalar_param(ir::Builder& b, const char* name, DType dtype) {
  return b.param(ir::Type::scalar(dtype), {.name = name});
}

/// The pointers base + offset, base a scalar pointer.
inline ir::Value at(ir::Builder& b, ir::Value base, ir::Value offset) {
  return b.ptr_add(b.broadcast(base, b.type(offset).shape), offset);
}
inline ir::Value splat(ir::Builder& b, ir::Value like, double value) {
  return b.constant(ir::Type::tile(b.type(like).dtype, b.type(like).shape), value);
}

/// Whether `text` holds `words`; a failure prints both.
inline ::testing::AssertionResult says(const std::string& text, const std::string& words) {
  const bool found = text.find(words) != std::string::npos;
  return (found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << "\"" << text << "\" and \"" << words << "\"";
}

inline ir::Function in_lane_form(ir::Builder& b, int threads, int64_t scratch_bytes = 0) {
  ir::Function f = b.finish();
  f.threads = threads;
  f.scratch_bytes = scratch_bytes;
  return f;
}

template <class T>
std::vector<T> iota(int64_t count, T first = 0) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(first + static_cast<T>(i)));
  return values;
}

}  // namespace strider::interp
