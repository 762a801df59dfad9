// SPDX-License-Identifier: Apache-2.0
// NVIDIA's assembler, where it is installed: proof that PTX is well formed without a GPU.
#pragma once

#include <string>
#include <vector>

namespace strider::support {

bool has_ptxas();

/// Assembles all modules for a processor ("sm_80", or the oldest that ptxas knows if that is newer) in one run.
/// Gives what ptxas complains about, or "".
std::string assemble(const std::vector<std::string>& modules, const std::string& processor);

}  // namespace strider::support
