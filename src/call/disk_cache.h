// SPDX-License-Identifier: Apache-2.0
// Compiled code in a folder, found again by later processes.
//
// An entry is a file whose name is the hash of all that decides what the code is. It is written under another name and
// renamed, so that no reader sees a part of one, and it carries its key and a checksum. The folder holds executable code:
// it must belong to this user, nobody else may be able to write to it, and no link in it is followed. Whatever is wrong
// with an entry or with the folder, the answer is "not there": code is compiled, and one warning a process says why.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "base/kit.h"

namespace strider {

/// The hash of a tile kernel as it was generated, and of what makes code of it: target, library, LLVM, driver.
struct DiskKey {
  std::array<uint8_t, 16> bytes;
  std::string name() const;  // 32 hexadecimal digits
  bool operator==(const DiskKey&) const = default;
};

/// `driver` is Device::driver_version of the device that will load the code. Names of parameters and places in the source
/// make no difference.
DiskKey disk_key(const ir::Function& tile, const Target& target, std::string_view driver);
/// The hash of any text, and of the library.
STRIDER_KIT DiskKey disk_key(std::string_view text);

class STRIDER_KIT DiskCache {
 public:
  /// Makes the folder if it is missing. Never throws: refusal() says what is wrong.
  DiskCache(std::string folder, int64_t limit_bytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  std::optional<Binary> find(const DiskKey& key);
  void store(const DiskKey& key, const Binary& binary);

  /// Text that is no code, in a file NAME.note. It is kept, trusted and removed as entries are, but has no checksum: who reads it
  /// must not rely on what it says.
  std::optional<std::string> find_note(const DiskKey& key);
  void store_note(const DiskKey& key, std::string_view text);

  const std::string& folder() const { return folder_; }
  int64_t limit_bytes() const { return limit_; }
  /// Why the folder is not used; empty if it is.
  const std::string& refusal() const { return refusal_; }

  struct Contents {
    int64_t entries = 0, bytes = 0;  // entries: code; the bytes are those of notes too
  };
  Contents contents() const;
  /// Removes all entries and notes, and no file that merely has such a name; gives what they were.
  Contents clear();

 private:
  struct File;
  void open();
  std::string wrong_with_folder() const;
  std::optional<std::string> read(const std::string& name);
  template <class F>
  void each_file(F&& f) const;
  bool write(const std::string& name, std::string_view bytes);
  void make_room(const DiskKey& added, int64_t bytes);
  std::string not_used(const std::string& name, std::string_view why) const;
  void discard(const std::string& name, std::string_view why);

  const std::string folder_;
  const int64_t limit_;
  std::string refusal_;
  int directory_ = -1;
  std::atomic<int64_t> bytes_since_look_{0};
};

/// The cache that the environment names (docs/settings.md), or null if it is switched off or no folder is known.
/// Throws a user error for a setting without a meaning.
STRIDER_KIT std::shared_ptr<DiskCache> disk_cache();

/// Where disk_cache() looks: the folder, or an empty string.
std::string disk_cache_folder();

}  // namespace strider
