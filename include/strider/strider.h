// SPDX-License-Identifier: Apache-2.0
// All of Strider's public interface.
#pragma once

#include <strider/compare.h>
#include <strider/device.h>
#include <strider/dlpack.h>
#include <strider/dtype.h>
#include <strider/error.h>
#include <strider/interpret.h>
#include <strider/kernel.h>
#include <strider/memory.h>
#include <strider/npy.h>
#include <strider/ops.h>
#include <strider/pointwise.h>
#include <strider/prepared.h>
#include <strider/schema.h>
#include <strider/stats.h>
#include <strider/stream.h>
#include <strider/tensor.h>
#include <strider/tile.h>
#include <strider/value.h>
