// SPDX-License-Identifier: Apache-2.0
// The interpreters as a back end: kernels run on memory whose every access is checked, and a launch that is at fault fails
// with its reports (report.h) as the words of a user error.
#pragma once

#include "backend/backend.h"

namespace strider {

extern const BackEnd kInterpBackEnd;

/// "interp:tile" runs programs as pass::prepare leaves them, "interp:lanes" what pass::lower makes of them, with up to 1024
/// threads, as on a GPU.
std::vector<Target> interp_targets();
/// Binaries hold the printed kernel.
Compiler& interp_compiler();
/// A device of its own memory, for the target of that number.
std::unique_ptr<Device> open_interp_device(int number);
/// What interpret() of backend.h does.
std::vector<Fault> interpret_launch(std::string_view what, const ir::Function& program, const Grid& grid,
                                    std::span<const uint64_t> args, std::span<const TensorArgument> tensors,
                                    const Interpretation& how);

}  // namespace strider
