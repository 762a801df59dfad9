// SPDX-License-Identifier: Apache-2.0
// A table from plain bytes to things that are made once and kept. Reading takes no lock.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/deep_stack.h"
#include "base/making.h"
#include "base/undisturbed.h"

namespace strider {

/// The bytes of an object of a type without padding.
template <class T>
std::string_view bytes_of(const T* data, size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(data), count * sizeof(T)};
}

/// Open addressing over pointers to entries. A larger table replaces the smaller one, which stays for its last readers.
template <class T>
class Cache {
 public:
  /// `what` is told in errors: "kernel softmax".
  explicit Cache(std::string what) : what_(std::move(what)) { grow(); }

  /// The value of `key`, or null.
  T* find(std::string_view key) const {
    const Entry* latest = latest_.load(std::memory_order_acquire);  // often the only one: no hash is needed
    if (latest && latest->key == key) return latest->value.get();
    uint64_t hash = XXH3_64bits(key.data(), key.size());
    const Table* table = table_.load(std::memory_order_acquire);
    for (uint64_t i = hash;; ++i) {
      Entry* entry = table->slots[i & table->mask].load(std::memory_order_acquire);
      if (!entry) return nullptr;
      if (entry->hash == hash && entry->key == key) return entry->value.get();
    }
  }

  /// The value of `key`, made by `make()` (a unique_ptr), on a deep stack, if there is none; of several callers one makes it, the
  /// others wait. Values of different keys are made at the same time. If it throws, nothing is kept, and a caller that waited makes it.
  template <class Make>
  T& find_or_make(std::string_view key, Make&& make) {
    std::unique_lock lock = lock_of_tables();
    if (T* found = find(key)) return *found;
    Making::wait_for_others(lock, this, key);
    if (T* found = find(key)) return *found;
    std::unique_ptr<T> value;
    {
      Making making(lock, this, key, what_);
      value = on_deep_stack(make);
    }
    return add(key, std::move(value));
  }

  size_t size() const {
    std::unique_lock lock = lock_of_tables();
    return entries_.size();
  }

 private:
  struct Entry {
    uint64_t hash;
    std::string key;
    std::unique_ptr<T> value;
  };
  struct Table {
    explicit Table(uint64_t size) : mask(size - 1), slots(new std::atomic<Entry*>[size]()) {}
    uint64_t mask;
    std::unique_ptr<std::atomic<Entry*>[]> slots;
  };

  /// All that may fail comes first: readers see the entry when it is kept.
  T& add(std::string_view key, std::unique_ptr<T> value) {
    auto entry = std::make_unique<Entry>(Entry{XXH3_64bits(key.data(), key.size()), std::string(key), std::move(value)});
    if (2 * (entries_.size() + 1) > tables_.back()->mask + 1) grow();
    Entry* kept = entries_.emplace_back(std::move(entry)).get();
    put(*tables_.back(), kept);
    latest_.store(kept, std::memory_order_release);
    return *kept->value;
  }

  static void put(Table& table, Entry* entry) {
    uint64_t i = entry->hash;
    while (table.slots[i & table.mask].load(std::memory_order_relaxed)) ++i;
    table.slots[i & table.mask].store(entry, std::memory_order_release);
  }

  void grow() {
    auto larger = std::make_unique<Table>(tables_.empty() ? 16 : 2 * (tables_.back()->mask + 1));
    for (const auto& entry : entries_) put(*larger, entry.get());
    table_.store(tables_.emplace_back(std::move(larger)).get(), std::memory_order_release);
  }

  std::atomic<Table*> table_{nullptr};
  std::atomic<const Entry*> latest_{nullptr};
  const std::string what_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace strider
