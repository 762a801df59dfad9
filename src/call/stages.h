// SPDX-License-Identifier: Apache-2.0
// One stage of a kernel as text. Nothing is launched, and no device of the target is needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <strider/stage.h>

#include "base/kit.h"
#include "call/inspect.h"
#include "ir/function.h"
#include "ir/target.h"

namespace strider {

/// The target that is named, or that of the device.
Target target_of(const Stage& stage, const Device& device);

/// The named stage of a tile kernel on its way through the pipeline. A user error that lists the stages of the target if it has none of
/// that name; `earlier` are those before the tile kernel.
STRIDER_KIT std::string stage_of(const ir::Function& tile, std::string_view stage, const Target& target,
                                 std::vector<std::string> earlier = {});

/// The same of an operator, which has the stages "plan" and "scalar" before the tile kernel.
STRIDER_KIT std::string stage_of(const Inspection& inspection, std::string_view stage, const Target& target);

}  // namespace strider
