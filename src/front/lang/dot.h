// SPDX-License-Identifier: Apache-2.0
// The product of matrices.
#pragma once

#include <optional>

#include "front/lang/writer.h"

namespace strider::front {

/// acc + a b, converted to `out_dtype`; an empty `acc` is 0.
ir::Value dot(Writer& w, const Term& a, const Term& b, const Term& acc, std::optional<DType> out_dtype);

}  // namespace strider::front
