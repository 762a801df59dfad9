// SPDX-License-Identifier: Apache-2.0
// A launch on the tensors of the host: what each pointer may reach is what its tensor spans.
#include <algorithm>

#include "backend/backend.h"
#include "backend/interp/interp.h"
#include "backend/interp/tile.h"

namespace strider {

std::vector<Fault> interpret_launch(std::string_view what, const ir::Function& program, const Grid& grid,
                                    std::span<const uint64_t> args, std::span<const TensorArgument> tensors, const Interpretation& how) {
  interp::InterpOptions options;
  options.what = what;
  options.max_reports = std::max<int64_t>(how.most, 1);  // a launch at fault never ends as if there were none
  options.lints = how;
  options.tensors = tensors;
  options.memories.push_back({nullptr, nullptr, 0});  // so that accesses are checked also if no pointer reaches anything
  for (const TensorArgument& t : tensors) {
    int64_t elements = 1;
    for (int64_t size : t.shape) elements *= size;
    const char* name = program.param_info(static_cast<int>(t.param)).name.c_str();
    options.memories.push_back({name, const_cast<char*>(t.base), t.bytes, elements, static_cast<int64_t>(t.param)});
  }
  return interp::interpret_tiles(program, grid, args, options);
}

}  // namespace strider
