// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"
#include "support/command.h"

#include <cstdio>
#include <filesystem>

namespace strider::test {

bool has_tool() { return std::filesystem::exists(kBinaryDir + "/strider"); }

std::string said_by(const std::string& command) {
  std::FILE* pipe = ::popen(("(" + command + ") 2>&1; echo \"status $?\"").c_str(), "r");
  if (!pipe) return "no pipe";
  std::string text;
  char buffer[512];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  ::pclose(pipe);
  return text;
}

std::string said_by_tool(const std::string& arguments) { return said_by(kBinaryDir + "/strider " + arguments); }

}  // namespace strider::test
