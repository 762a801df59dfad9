// SPDX-License-Identifier: Apache-2.0
#include "support/ptxas.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <unistd.h>

namespace strider::support {

namespace fs = std::filesystem;

namespace {

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::stringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string file = folder + "/ptxas"; access(file.c_str(), X_OK) == 0) return file;
  return "";
}

std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 4096> part;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  while (size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  if (pclose(pipe) != 0 && text.empty()) text = command + " failed";
  return text;
}

/// The modules as one: a line of a module's head is written once, kernels get numbers.
std::string join(const std::vector<std::string>& modules) {
  std::string text;
  std::set<std::string> heads;
  for (size_t k = 0; k < modules.size(); ++k) {
    std::istringstream lines(modules[k]);
    for (std::string line; std::getline(lines, line);) {
      bool is_head = line.starts_with(".version") || line.starts_with(".target") || line.starts_with(".address_size") || line.starts_with(".extern");
      if (is_head && !heads.insert(line).second) continue;
      if (size_t at = line.find(".entry "); at != std::string::npos) line.insert(at + 7, "k" + std::to_string(k) + "_");
      text += line + "\n";
    }
  }
  return text;
}

/// ptxas drops old processors; their PTX runs on newer ones.
std::string known(const std::string& processor) {
  static const std::string help = output_of(find_ptxas() + " --help");
  return help.find("'" + processor + "'") != std::string::npos ? processor : "sm_75";
}

}  // namespace

bool has_ptxas() { return !find_ptxas().empty(); }

std::string assemble(const std::vector<std::string>& modules, const std::string& processor) {
  fs::path file = fs::temp_directory_path() / ("strider_" + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << join(modules);
  std::string said = output_of(find_ptxas() + " -O0 -arch=" + known(processor) + " -o /dev/null " + file.string());
  fs::remove(file);
  return said;
}

}  // namespace strider::support
