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
#include "backend/backend.h"
#include "call/disk_cache.h"
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
  testing::Table table("ll");
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
  testing::Table table("lll");
  for (const Setting& s : settings()) {
    const char* value = setting(s.name);
    table.add({s.name, value ? value : "(not set)", std::string(s.meaning)});
  }
  return table.text();
}

std::string disk_cache_text() {
  auto cache = disk_cache();
  if (!cache) return "not used: it is switched off, or no folder is known";
  if (!cache->refusal().empty()) return fmt::format("not used: {}", cache->refusal());
  constexpr double kMiB = 1 << 20;
  DiskCache::Contents c = cache->contents();
  return fmt::format("{}: {} kernels, {:.1f} of at most {:.0f} MiB", cache->folder(), c.entries,
                     static_cast<double>(c.bytes) / kMiB, static_cast<double>(cache->limit_bytes()) / kMiB);
}

void info() {
  fmt::print("strider {}, LLVM {}\n", kVersion, codegen::llvm_version());
  fmt::print("\ndevices\n{}", devices_text());
  fmt::print("\ntargets that can be compiled for\n  {}\n", fmt::join(known_targets(), " "));
  fmt::print("\ncompiled code on disk\n  {}\n", disk_cache_text());
  fmt::print("\nenvironment variables\n{}", settings_text());
}

}  // namespace

void add_info(CLI::App& app) {
  app.add_subcommand("info", "List devices, targets, versions and settings")->callback(info);
}

}  // namespace strider::tool
