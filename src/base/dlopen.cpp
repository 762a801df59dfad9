// SPDX-License-Identifier: Apache-2.0
#include "base/dlopen.h"

#include <dlfcn.h>

#include "base/error.h"

namespace strider {

SharedLibrary::SharedLibrary(std::string name) : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  const char* reason = dlerror();
  driver_error("{} could not be opened: {}", name_, reason ? reason : "no reason given");
}

void* SharedLibrary::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

void* SharedLibrary::get(const char* symbol) const {
  if (void* address = find(symbol)) return address;
  driver_error("{} has no symbol {}", name_, symbol);
}

}  // namespace strider
