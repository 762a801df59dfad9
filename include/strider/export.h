// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library exports; everything else is hidden.
#pragma once

#define STRIDER_API __attribute__((visibility("default")))
#define STRIDER_INLINE_NAMESPACE v0
