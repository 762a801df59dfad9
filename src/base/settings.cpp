// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <cstdlib>

#include "base/error.h"

namespace strider {
namespace {

constexpr Setting kSettings[] = {
    {"STRIDER_THREADS", "threads that a launch on the CPU uses; if not set, one for each processor that the process may run on"},
    {"STRIDER_MEMORY_CACHE",
     "MiB of freed tensors' memory that each device keeps for new ones, 0 for none; if not set, a quarter of the memory, at most 4096"},
    {"STRIDER_CACHE", "0: compiled code is not kept on disk; 1, or not set: it is"},
    {"STRIDER_CACHE_DIR",
     "the folder where compiled code is kept; if not set, strider in XDG_CACHE_HOME, else .cache/strider in HOME"},
    {"STRIDER_CACHE_SIZE", "MiB that the folder may hold, 256 if not set; what was not used for longest is removed"},
    {"STRIDER_BACKEND", "interp: kernels and operators on the CPU run in the interpreter, which checks every access; native, or not set: compiled"},
    {"STRIDER_LINTS", "what the interpreter reports as well, with commas between: masked, overflow, elementwise; if not set, none"},
    {"STRIDER_STEPS", "statements that one program of an interpreted launch may run before it is an error, in millions; 100 if not set, 0 for no limit"},
    {"STRIDER_TIERS", "0: operators on GPUs are compiled for speed at once, not for a quick first call with fast code following"},
};

}  // namespace

std::span<const Setting> settings() { return kSettings; }

const char* setting(std::string_view name) {
  for (const Setting& s : kSettings)
    if (s.name == name) return ::secure_getenv(s.name);
  internal_error("the setting {} is not in the table", name);
}

}  // namespace strider
