// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strider {

namespace codegen {
struct Spelling;
}

/// What the emitter needs to know of PTX.
const codegen::Spelling& cuda_spelling();

}  // namespace strider
