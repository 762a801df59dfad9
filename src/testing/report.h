// SPDX-License-Identifier: Apache-2.0
// What was measured: as a table, as JSON, and beside what should have been reached.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/row.h"

namespace strider::inline v0::testing {

/// "12.34 ms" or "56.7 us".
std::string time_text(double seconds);
/// "2^24", or the number itself.
std::string count_text(int64_t count);

/// The rows of one suite: a table for each number of threads and elements, those with a bandwidth apart from those without.
std::string table_of(std::span<const Row> rows, std::string_view peer_name = "");

/// Whether the row is one point of many sizes of one case.
bool is_curve(const Row& row);
/// Of every case the row of most threads and, among those, most elements; in order.
std::vector<const Row*> largest(std::span<const Row> rows);
/// Those with a bandwidth as a Markdown table, with figures that matter to a reader of the first page.
std::string markdown_of(std::span<const Row> rows, std::string_view peer_name = "");

/// {suite, case, dtype, device, threads, elements, bytes, ms, gbps, copy_gbps, fraction, peers: {NAME: {ms, gbps}}, ...}
nlohmann::json json_of(const Row& row, std::string_view device, std::string_view peer_name = "");

/// Every case with an aim: the aim, what was seen at each size and number of threads, and whether all of that reaches it.
std::string gate_of(std::span<const Row> rows, std::string_view peer_name);
/// What the row has where its aim counts, if that was measured.
bool has_aim(const Row& row);
double seen(const Row& row);
bool is_reached(const Row& row);

}  // namespace strider::v0::testing
