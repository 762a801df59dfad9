// SPDX-License-Identifier: Apache-2.0
// The kit to test and time operators and kernels; docs/testing.md. strider/strider.h does not include it.
#pragma once

#include <strider/testing/autotune.h>
#include <strider/testing/bench.h>
#include <strider/testing/check.h>
#include <strider/testing/close.h>
#include <strider/testing/report.h>
#include <strider/testing/special.h>
