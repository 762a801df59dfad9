// SPDX-License-Identifier: Apache-2.0
// The command-line tool, run as a user would.
#pragma once

#include <string>

namespace strider::test {

/// Whether the tool was built.
bool has_tool();
/// What `strider ARGUMENTS` says on both streams, then "status N" and the end of the line.
std::string said_by_tool(const std::string& arguments);

}  // namespace strider::test
