// SPDX-License-Identifier: Apache-2.0
// Memory that has run out is an error like others: nothing of the standard library's leaves a public function.
#pragma once

#include <strider/callable.h>

namespace strider {

using detail::out_of_memory;
using detail::out_of_memory_is_an_error;

}  // namespace strider
