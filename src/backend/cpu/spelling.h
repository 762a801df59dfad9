// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strider {

namespace codegen {
struct Spelling;
}

/// What the emitter needs to know of x86-64.
const codegen::Spelling& cpu_spelling();

}  // namespace strider
