// SPDX-License-Identifier: Apache-2.0
// Rows as a picture, drawn by gnuplot: what each case reaches under the roof that copy of the same bytes sets, and how add and
// copy behave from small tensors to large ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "testing/row.h"

namespace strider::timing {

/// A user error if `path` ends neither in .svg nor in .png, or if gnuplot is not installed.
void check_plot(const std::string& path);
/// gnuplot's program for the picture.
std::string plot_program(std::span<const Row> rows, const std::string& path, const std::string& title,
                         std::string_view peer_name = "");
void plot(std::span<const Row> rows, const std::string& path, const std::string& title, std::string_view peer_name = "");

}  // namespace strider::timing
