// SPDX-License-Identifier: Apache-2.0
#include <strider/device.h>

#include "backend/backend.h"
#include "call/tiers.h"

namespace strider {
inline namespace v0 {

std::vector<std::string> devices() { return available_devices(); }
std::string describe_device(std::string_view device) { return device_named(device).description(); }
void synchronize(std::string_view device) { device_named(device).synchronize(); }

void finish_compiles() { finish_background(); }

}  // namespace v0
}  // namespace strider
