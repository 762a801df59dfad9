// SPDX-License-Identifier: Apache-2.0
#include "tensor/guard.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "backend/backend.h"
#include "base/scopes.h"

namespace strider {

namespace {

constexpr char kPoison = static_cast<char>(0xff);

struct Zone {
  Device* device;
  char* tensor;
  int64_t bytes;

  /// The first byte of a guard that was written, as text, or "".
  std::string damage() const {
    std::vector<char> guard(Guards::kZone);
    device->synchronize();
    auto written = [](char c) { return c != kPoison; };
    device->copy_out(guard.data(), tensor + bytes, Guards::kZone);
    if (auto count = std::count_if(guard.begin(), guard.end(), written))
      return fmt::format("{} bytes after the end of a tensor of {} bytes, from byte {} on", count, bytes,
                         bytes + (std::find_if(guard.begin(), guard.end(), written) - guard.begin()));
    device->copy_out(guard.data(), tensor - Guards::kZone, Guards::kZone);
    if (auto count = std::count_if(guard.begin(), guard.end(), written))
      return fmt::format("{} bytes before a tensor of {} bytes, from byte -{} on", count, bytes,
                         guard.end() - std::find_if(guard.begin(), guard.end(), written));
    return "";
  }
};

}  // namespace

struct GuardedMemory::State {
  int64_t shift;
  std::mutex mutex;
  std::map<void*, Zone> zones;  // by what was allocated
  std::string damage;           // of tensors that are gone

  std::string all_damage() {
    std::lock_guard lock(mutex);
    for (const auto& [memory, zone] : zones)
      if (damage.empty()) damage = zone.damage();
    return damage;
  }
};

struct GuardedMemory::Entry : ScopeEntry {
  explicit Entry(std::shared_ptr<State> s) : state(std::move(s)) {}
  std::shared_ptr<State> state;
};

static constinit thread_local ScopeStack<GuardedMemory::Entry> scopes;

std::shared_ptr<GuardedMemory::State> GuardedMemory::current() {
  const Entry* entry = scopes.innermost();
  return entry ? entry->state : nullptr;
}

GuardedMemory::GuardedMemory(int64_t shift) : state_(std::make_shared<State>()) {
  state_->shift = shift;
  entry_ = scopes.begin(new Entry(state_));
}
GuardedMemory::~GuardedMemory() { scopes.end(entry_); }

std::string GuardedMemory::damage() const { return state_->all_damage(); }

int64_t Guards::extra_bytes() const { return 2 * kZone + state_->shift; }

void* Guards::place(Device& device, void* allocated, int64_t bytes, void* stream) {
  std::vector<char> poison(static_cast<size_t>(bytes + extra_bytes()), kPoison);
  device.copy_in(allocated, poison.data(), static_cast<int64_t>(poison.size()), stream);
  Zone zone{&device, static_cast<char*>(allocated) + kZone + state_->shift, bytes};
  std::lock_guard lock(state_->mutex);
  state_->zones.emplace(allocated_ = allocated, zone);
  return zone.tensor;
}

void Guards::take_back() noexcept {
  std::lock_guard lock(state_->mutex);
  auto found = state_->zones.find(allocated_);
  try {
    if (state_->damage.empty()) state_->damage = found->second.damage();
  } catch (const std::exception&) {
    // It cannot be looked at.
  }
  state_->zones.erase(found);
}

}  // namespace strider
