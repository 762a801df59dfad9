// SPDX-License-Identifier: Apache-2.0
// The interpreters as a back end: kernels run on memory whose every access is checked, and a launch that is at fault fails
// with its reports (report.h) as the words of a user error.
#pragma once

#include "backend/backend.h"

namespace strider {

/// "interp:tile" runs programs as pass::prepare leaves them, "interp:lanes" what pass::lower makes of them, with up to 1024
/// threads. Throws a user error for any other name.
Target interp_target(std::string_view name);
/// Binaries hold the printed kernel.
Compiler& interp_compiler();
/// A device of its own memory, for the target of that name.
std::unique_ptr<Device> open_interp_device(std::string_view target);

}  // namespace strider
