// SPDX-License-Identifier: Apache-2.0
// Rows as a picture, drawn by gnuplot: what each case reaches under the roof that copy of the same bytes sets, and how add and
// copy behave from small tensors to large ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "testing/row.h"

namespace strider::inline v0::testing {

/// Whether gnuplot is installed.
bool can_plot();
/// A user error if `path` ends neither in .svg nor in .png, or if gnuplot is not installed.
void check_plot(const std::string& path);

// What gnuplot's programs are made of: its text in quotes; the picture's file, size and frame.
std::string quoted(std::string_view text);
std::string output_of(const std::string& path, int width, int height);
/// A user error if gnuplot does not end well.
void run_gnuplot(const std::string& program, const std::string& path);

/// gnuplot's program for the picture.
std::string plot_program(std::span<const Row> rows, const std::string& path, const std::string& title,
                         std::string_view peer_name = "");
void plot(std::span<const Row> rows, const std::string& path, const std::string& title, std::string_view peer_name = "");

}  // namespace strider::v0::testing
