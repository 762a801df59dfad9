// SPDX-License-Identifier: Apache-2.0
// Marks what libstrider.so exports for libstrider-testing.so alone: both are built together, and no public header shows it.
#pragma once

#include <strider/export.h>

#define STRIDER_KIT STRIDER_API
