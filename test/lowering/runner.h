// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of the suite on one engine and compares every byte that it could have touched.
//
// The tile interpreter on the prepared program gives the expected memory. Every other engine must leave the same bits (any
// NaN for a NaN, and the stated slack where floats are added by atomics), unchanged guards around each buffer, and no reports.
#pragma once

#include <string>
#include <vector>

#include "backend/interp/report.h"
#include "ir/target.h"
#include "lowering/kernels.h"

namespace strider::lowering {

/// Memory of one buffer with guards on both sides.
struct Image {
  std::vector<char> bytes;
  int64_t offset = 0;  // of the first element: honours the alignment that the argument states, and no larger one
};

std::vector<Image> initial_images(const Kernel& kernel);

struct Outcome {
  std::vector<Image> images;             // of the arguments that are buffers, in order
  std::vector<interp::Report> reports = {};  // of an interpreter
};

Outcome run_tiles(const Kernel& kernel, const ir::Function& program);
Outcome run_lanes(const Kernel& kernel, const ir::Function& lanes);
/// Compiles lane form for the target and launches it on the device.
Outcome run_device(const Kernel& kernel, const ir::Function& lanes, std::string_view device, const Target& target);

/// The kernel after pass::prepare, and what it does in the tile interpreter.
struct Expected {
  ir::Function prepared;
  Outcome outcome;
};
Expected expect(const Kernel& kernel);

/// A target for the lane interpreter: warps of 32, vectors of 16 bytes.
Target lane_target();

/// What is wrong with one engine's outcome, in a few lines; empty if nothing is.
std::string check_lanes(const Kernel& kernel, const Expected& expected, int threads, const Target* target = nullptr);
/// On a device, compiled for its own target unless another one is given.
std::string check_device(const Kernel& kernel, const Expected& expected, std::string_view device, const Target* target = nullptr);
/// True if a CUDA device opens here.
bool has_cuda();

/// One line for each difference, the first ones only; empty if there is none.
std::string differences(const Kernel& kernel, const std::vector<Image>& wanted, const std::vector<Image>& found);
/// The same against the kernel's reference, where it has one.
std::string differences_from_reference(const Kernel& kernel, const std::vector<Image>& found);

}  // namespace strider::lowering
