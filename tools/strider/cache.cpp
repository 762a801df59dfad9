// SPDX-License-Identifier: Apache-2.0
// `strider cache`: what compiled code is kept on disk, and its removal.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>

#include "base/settings.h"
#include "commands.h"
#include "call/disk_cache.h"

namespace strider::tool {
namespace {

constexpr const char* kAbout = "Show or clear the compiled code that is kept on disk";
constexpr const char* kMore =
    "A kernel is compiled once; later processes load its code from a folder of this user.\n"
    "Code is found again by what was compiled, for which processor, by which version of\n"
    "Strider: clearing the folder is never needed for correct results, only to free space.\n"
    "\n"
    "  strider cache          the folder, how many kernels it holds, and their bytes\n"
    "  strider cache clear    remove them; running programs are not disturbed\n"
    "\n"
    "  STRIDER_CACHE_DIR=/scratch/me/kernels   another folder\n"
    "  STRIDER_CACHE_SIZE=1024                 room for 1 GiB instead of 256 MiB\n"
    "  STRIDER_CACHE=0                         keep nothing on disk";

std::string mebibytes(int64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

bool is_off() {
  const char* value = setting("STRIDER_CACHE");
  return value && std::string_view(value) == "0";
}

/// The cache, or null after saying why there is none.
std::shared_ptr<DiskCache> open() {
  auto cache = disk_cache();
  if (!cache && is_off()) fmt::print("off, because STRIDER_CACHE is 0\n");
  else if (!cache) fmt::print("off, because none of STRIDER_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder\n");
  else if (!cache->refusal().empty()) throw Failed();  // opening it said why
  return cache;
}

void show() {
  auto cache = open();
  if (!cache) return;
  DiskCache::Contents all = cache->contents();
  fmt::print("folder   {}\nkernels  {}\nsize     {} of {}\n", cache->folder(), all.entries, mebibytes(all.bytes),
             mebibytes(cache->limit_bytes()));
}

void clear() {
  auto cache = open();
  if (!cache) return;
  DiskCache::Contents removed = cache->clear();
  fmt::print("removed {} kernels, {}, from {}\n", removed.entries, mebibytes(removed.bytes), cache->folder());
}

}  // namespace

void add_cache(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cache", kAbout);
  command->footer(kMore);
  CLI::App* clearing = command->add_subcommand("clear", "Remove all of it");
  command->require_subcommand(0, 1);
  command->callback([clearing] { clearing->parsed() ? clear() : show(); });
}

}  // namespace strider::tool
