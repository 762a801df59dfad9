// SPDX-License-Identifier: Apache-2.0
// `strider info`: versions, devices, targets, settings.
#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/settings.h"
#include "base/version.h"
#include "codegen/llvm/codegen.h"
#include "commands.h"
#include "ir/target.h"
#include "testing/table.h"

#include <strider/device.h>

namespace strider::tool {
namespace {

std::string_view family_of(std::string_view name) { return name.substr(0, name.find(':')); }

/// Why no device of this family opens here.
std::string absence(std::string_view family) {
  try {
    return describe_device(family);
  } catch (const Error& error) {
    return fmt::format("none: {}", error.what());
  }
}

std::string devices_text() {
  timing::Table table("ll");
  std::vector<std::string> families;
  for (const std::string& name : devices()) {
    table.add({name, describe_device(name)});
    families.emplace_back(family_of(name));
  }
  for (const std::string& target : known_targets()) {
    std::string family(family_of(target));
    if (std::find(families.begin(), families.end(), family) != families.end()) continue;
    table.add({family, absence(family)});
    families.push_back(family);
  }
  return table.text();
}

std::string settings_text() {
  timing::Table table("lll");
  for (const Setting& s : settings()) {
    const char* value = setting(s.name);
    table.add({s.name, value ? value : "(not set)", std::string(s.meaning)});
  }
  return table.text();
}

void info() {
  fmt::print("strider {}, LLVM {}\n", kVersion, codegen::llvm_version());
  fmt::print("\ndevices\n{}", devices_text());
  fmt::print("\ntargets that can be compiled for\n  {}\n", fmt::join(known_targets(), " "));
  fmt::print("\nenvironment variables\n{}", settings_text());
}

}  // namespace

void add_info(CLI::App& app) {
  app.add_subcommand("info", "List devices, targets, versions and settings")->callback(info);
}

}  // namespace strider::tool
