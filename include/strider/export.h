// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library exports; everything else is hidden.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "Strider needs C++20: compile with -std=c++20"
#include <strider/needs_cpp20>  // which is not there: a compiler stops at this line, rather than list what it cannot read below
#endif

#define STRIDER_API __attribute__((visibility("default")))
#define STRIDER_INLINE_NAMESPACE v0
