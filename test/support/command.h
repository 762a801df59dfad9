// SPDX-License-Identifier: Apache-2.0
// Commands of the shell: the command-line tool, run as a user would, and programs of tests.
#pragma once

#include <string>

namespace strider::test {

/// Whether the tool was built.
bool has_tool();
/// What a command of the shell says on both streams, then "status N" and the end of the line.
std::string said_by(const std::string& command);
/// The same of `strider ARGUMENTS`.
std::string said_by_tool(const std::string& arguments);

}  // namespace strider::test
