// SPDX-License-Identifier: Apache-2.0
#include "base/out_of_memory.h"

#include <strider/error.h>

namespace strider {
namespace {

/// Made while there is memory: a copy of an exception shares its text.
const Error& ready = *new Error(ErrorKind::Driver, "there is not enough memory");

}  // namespace

void detail::out_of_memory() { throw Error(ready); }

}  // namespace strider
