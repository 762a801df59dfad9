// SPDX-License-Identifier: Apache-2.0
#include "call/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include <fmt/ranges.h>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/settings.h"
#include "base/undisturbed.h"
#include "base/version.h"
#include "codegen/llvm/codegen.h"
#include "ir/print.h"
#include "call/stats.h"

namespace strider {

// --- keys

namespace {

/// All of a target: a member that is added there must be added here.
std::string text_of(const Target& t) {
  const auto& [name, back_end, kind, output, assembly, triple, processor, features, level, missing, tile_form, vector_bytes,
               interleave, unroll_slots, aligned_bytes, masked_blocks, deinterleaves, streaming_stores, max_threads, warp,
               scratch_limit, cache_bytes, local_in_scratch, rereads, grid_limit, argument_limit, argument_bytes,
               /* The planner's figures: they choose among programs, and the program is part of the key. */ costs, in_tiers, quick] = t;
  static_cast<void>(costs);
  std::string text;
  auto add = [&](const auto&... members) { ((text += fmt::format("{} ", members)), ...); };
  add(name, back_end, static_cast<int>(kind), static_cast<int>(output), assembly, triple, processor, features, level, tile_form,
      vector_bytes, interleave, unroll_slots, aligned_bytes, masked_blocks, deinterleaves, streaming_stores, max_threads, warp,
      scratch_limit, cache_bytes, local_in_scratch, rereads, fmt::format("{}", fmt::join(grid_limit, ",")), argument_limit, argument_bytes, in_tiers, quick);
  for (const MissingOp& m : missing) add(name_of(m.op), name_of(m.dtype));
  return text;
}

/// The text without the names of parameters. The kernel's own name stays: it is that of the code's symbol.
std::string canonical_text(const ir::Function& tile) {
  ir::Function f = tile;
  for (size_t k = 0; k < f.params().size(); ++k) f.param_info(static_cast<int>(k)).name.clear();
  return ir::print(f);
}

std::array<uint8_t, 16> hash_of(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::to_array(canonical.digest);
}

}  // namespace

std::string DiskKey::name() const {
  std::string text;
  for (uint8_t b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

DiskKey disk_key(const ir::Function& tile, const Target& target, std::string_view driver) {
  return {hash_of(fmt::format("strider {} {}\nllvm {}\ntarget {}\ndriver {}\n{}", kVersion, build_id(), codegen::llvm_identity(),
                              text_of(target), driver, canonical_text(tile)))};
}

DiskKey disk_key(std::string_view text) { return {hash_of(fmt::format("strider {} {}\n{}", kVersion, build_id(), text))}; }

// --- entries

namespace {

constexpr char kMagic[8] = {'S', 'T', 'R', 'I', 'D', 'E', 'R', '1'};
constexpr int64_t kMostBytes = int64_t{1} << 30;  // a larger file is no entry

struct Header {
  char magic[8];
  uint64_t payload_bytes;
  std::array<uint8_t, 16> key, checksum;
};
static_assert(sizeof(Header) == 48);

class Writer {
 public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class C>
  void list(const C& values) {
    number(static_cast<uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size());
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what Writer wrote; what is missing reads as zeros and makes ok() false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  void number(T& value) {
    std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
  }
  template <class C>
  void list(C& values) {
    uint64_t size = 0;
    number(size);
    std::string_view bytes = take(size);
    values.assign(bytes.begin(), bytes.end());
  }
  bool ok() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(uint64_t count) {
    ok_ &= count <= rest_.size();
    if (!ok_) return {};
    std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// Writes or reads everything of a binary, in one order.
template <class Archive, class B>
void all_of(Archive& archive, B& b) {
  archive.list(b.target);
  archive.list(b.entry);
  archive.list(b.code);
  archive.list(b.slots);
  archive.number(b.threads);
  archive.number(b.scratch_bytes);
  archive.number(b.is_quick);
}

std::string to_file(const DiskKey& key, const Binary& b) {
  Writer w;
  all_of(w, b);
  std::string payload = w.take();
  Header header{{}, payload.size(), key.bytes, hash_of(payload)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

std::optional<Binary> from_file(const DiskKey& key, std::string_view file) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  std::string_view payload = file.substr(sizeof header);
  bool is_whole = std::equal(kMagic, kMagic + sizeof kMagic, header.magic) && header.key == key.bytes &&
                  header.payload_bytes == payload.size() && header.checksum == hash_of(payload);
  if (!is_whole) return std::nullopt;
  Binary b;
  Reader r(payload);
  all_of(r, b);
  return r.ok() ? std::optional(std::move(b)) : std::nullopt;
}

// --- files

/// A descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

bool others_can_write(const struct stat& s) { return s.st_uid != ::geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)); }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool read_all(int fd, std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

std::string reason() { return std::strerror(errno); }

/// Makes the folder and those that it lies in, for this user alone.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), 0700);
  ::mkdir(path.c_str(), 0700);
}

/// The first of a process is told to the user, the others would say the same.
void warn(const std::string& text) {
  static std::atomic<pid_t> warned{0};
  if (warned.exchange(::getpid()) != ::getpid())
    std::fprintf(stderr, "strider: %s; kernels are compiled instead (this is said once; see docs/caches.md)\n", text.c_str());
}

constexpr std::string_view kUnfinished = ".strider-new-";

std::string unfinished_name() {
  static std::atomic<uint64_t> count{0};
  static const uint64_t start = std::random_device()();
  return fmt::format("{}{}-{}-{}", kUnfinished, ::getpid(), start, count.fetch_add(1));
}

bool is_entry(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

constexpr std::string_view kNote = ".note", kNoteMagic = "STRIDER1\n";
static_assert(kNoteMagic.starts_with(std::string_view(kMagic, sizeof kMagic)));

std::string note_name(const DiskKey& key) { return key.name() + std::string(kNote); }
bool is_note(std::string_view name) { return name.ends_with(kNote) && is_entry(name.substr(0, name.size() - kNote.size())); }
/// What is kept until there is no room for it.
bool is_kept(std::string_view name) { return is_entry(name) || is_note(name); }
bool is_unfinished(std::string_view name) { return name.starts_with(kUnfinished); }

/// Whether the file, a regular one, begins as all of ours do; one that was never finished may have ended before. Other files of such
/// a name are none of our business.
bool is_ours(int directory, const char* name, int64_t bytes) {
  if (bytes < static_cast<int64_t>(sizeof kMagic) && !is_unfinished(name)) return false;
  Descriptor file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string begin(std::min<size_t>(static_cast<size_t>(bytes), sizeof kMagic), '\0');
  return file >= 0 && read_all(file, begin) && std::string_view(kMagic, sizeof kMagic).starts_with(begin);
}

}  // namespace

// --- the folder

struct DiskCache::File {
  std::string name;
  int64_t bytes;
  timespec used;
};

/// A slash at the end would follow a link.
static std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

DiskCache::DiskCache(std::string folder, int64_t limit_bytes)
    : folder_(without_last_slashes(std::move(folder))), limit_(limit_bytes) {
  open();
  refusal_ = wrong_with_folder();
  if (!refusal_.empty()) warn(refusal_);
}

DiskCache::~DiskCache() {
  if (directory_ >= 0) ::close(directory_);
}

void DiskCache::open() {
  constexpr int kHow = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  directory_ = ::open(folder_.c_str(), kHow);
  if (directory_ >= 0 || errno != ENOENT) return;
  make_folders(folder_);
  directory_ = ::open(folder_.c_str(), kHow);
}

std::string DiskCache::wrong_with_folder() const {
  struct stat s;
  if (directory_ < 0) {
    std::string why = reason();
    bool is_link = ::lstat(folder_.c_str(), &s) == 0 && S_ISLNK(s.st_mode);
    return fmt::format("the cache folder {} cannot be opened: {}", folder_,
                       is_link ? "it is a symbolic link; name the folder that it points to" : why);
  }
  if (::fstat(directory_, &s) != 0) return fmt::format("the cache folder {} cannot be looked at: {}", folder_, reason());
  if (s.st_uid != ::geteuid()) return fmt::format("the cache folder {} belongs to user {}, not to this one", folder_, s.st_uid);
  if (others_can_write(s)) return fmt::format("the cache folder {} can be written by others (chmod 700)", folder_);
  return "";
}

std::optional<Binary> DiskCache::find(const DiskKey& key) {
  auto bytes = read(key.name());
  if (!bytes) return std::nullopt;
  auto binary = from_file(key, *bytes);
  if (!binary) return discard(key.name(), "it is damaged"), std::nullopt;
  counters().bytes_read.add(static_cast<int64_t>(bytes->size()));
  return binary;
}

std::optional<std::string> DiskCache::find_note(const DiskKey& key) {
  auto text = read(note_name(key));
  if (!text || !text->starts_with(kNoteMagic)) return std::nullopt;
  return text->substr(kNoteMagic.size());
}

void DiskCache::store_note(const DiskKey& key, std::string_view text) {
  if (!refusal_.empty() || static_cast<int64_t>(text.size()) > limit_) return;
  if (!write(note_name(key), std::string(kNoteMagic) + std::string(text))) return;
  make_room(key, static_cast<int64_t>(text.size()));
}

/// The content of a file that can be trusted; it was used now.
std::optional<std::string> DiskCache::read(const std::string& name) {
  if (!refusal_.empty()) return std::nullopt;
  Descriptor file(::openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file < 0) {
    if (errno == ELOOP) discard(name, "it is a symbolic link");
    else if (errno != ENOENT) warn(not_used(name, reason()));  // out of descriptors, perhaps: the entry may be good
    return std::nullopt;
  }
  struct stat s;
  if (::fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) return discard(name, "it is no file"), std::nullopt;
  if (others_can_write(s)) return discard(name, "others could have written it"), std::nullopt;
  if (s.st_size > kMostBytes) return discard(name, "it is too large"), std::nullopt;
  std::string bytes(static_cast<size_t>(s.st_size), '\0');
  if (!read_all(file, bytes)) return discard(name, "it is damaged"), std::nullopt;
  ::futimens(file, nullptr);  // a folder that can only be read does without
  return bytes;
}

std::string DiskCache::not_used(const std::string& name, std::string_view why) const {
  return fmt::format("the cache entry {}/{} is not used: {}", folder_, name, why);
}

/// Removes what cannot be an entry from the place of one.
void DiskCache::discard(const std::string& name, std::string_view why) {
  warn(not_used(name, why));
  if (::unlinkat(directory_, name.c_str(), 0) != 0 && errno == EISDIR) ::unlinkat(directory_, name.c_str(), AT_REMOVEDIR);
}

void DiskCache::store(const DiskKey& key, const Binary& binary) {
  if (!refusal_.empty()) return;
  std::string bytes = to_file(key, binary);
  if (static_cast<int64_t>(bytes.size()) > limit_ || !write(key.name(), bytes)) return;
  counters().bytes_written.add(static_cast<int64_t>(bytes.size()));
  make_room(key, static_cast<int64_t>(bytes.size()));
}

bool DiskCache::write(const std::string& name, std::string_view bytes) {
  std::string unfinished = unfinished_name();
  Descriptor file(::openat(directory_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  bool is_open = file >= 0;
  if (is_open && write_all(file, bytes) && ::renameat(directory_, unfinished.c_str(), directory_, name.c_str()) == 0) return true;
  warn(fmt::format("nothing can be written to the cache folder {}: {}", folder_, reason()));
  if (is_open) ::unlinkat(directory_, unfinished.c_str(), 0);
  return false;
}

/// Calls f for each file of the cache: entries, notes, and those that were never finished.
template <class F>
void DiskCache::each_file(F&& f) const {
  if (!refusal_.empty()) return;
  int copy = ::openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with a position of its own
  DIR* listing = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (!listing) {
    if (copy >= 0) ::close(copy);
    return;
  }
  while (const dirent* e = ::readdir(listing)) {
    std::string_view name = e->d_name;
    struct stat s;
    if (!is_kept(name) && !is_unfinished(name)) continue;
    if (::fstatat(directory_, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) continue;
    if (!is_ours(directory_, e->d_name, s.st_size)) continue;
    f(File{std::string(name), s.st_size, s.st_mtim});
  }
  ::closedir(listing);
}

/// Keeps the folder below its limit by removing what was not used for longest. Looking at a full folder takes as long as a
/// compile, so it is done for one in sixteen entries, and when much was written since.
void DiskCache::make_room(const DiskKey& added, int64_t bytes) {
  constexpr int kRarely = 16;
  constexpr time_t kForgotten = 600;  // seconds after which nobody will finish a file
  int64_t since = bytes_since_look_.fetch_add(bytes) + bytes;
  if (added.bytes[0] % kRarely != 0 && since < limit_ / kRarely) return;
  bytes_since_look_ = 0;
  std::vector<File> files;
  int64_t total = 0;
  each_file([&](File file) {
    if (!is_kept(file.name) && ::time(nullptr) - file.used.tv_sec > kForgotten) ::unlinkat(directory_, file.name.c_str(), 0);
    if (!is_kept(file.name)) return;
    total += file.bytes;
    files.push_back(std::move(file));
  });
  if (total <= limit_ - limit_ / kRarely) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const File& file : files) {
    if (total <= limit_ / 4 * 3) return;
    ::unlinkat(directory_, file.name.c_str(), 0);
    total -= file.bytes;
  }
}

DiskCache::Contents DiskCache::contents() const {
  Contents all;
  each_file([&](const File& file) {
    all.entries += is_entry(file.name);
    all.bytes += file.bytes;
  });
  return all;
}

DiskCache::Contents DiskCache::clear() {
  Contents removed;
  each_file([&](const File& file) {
    if (::unlinkat(directory_, file.name.c_str(), 0) != 0) return;
    removed.entries += is_entry(file.name);
    removed.bytes += file.bytes;
  });
  return removed;
}

// --- the process's cache

namespace {

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value ? value : "";
}

std::string text_of_setting(std::string_view name) {
  const char* value = setting(name);
  return value ? value : "";
}

int64_t limit_from_settings() {
  constexpr int64_t kUsual = 256, kMost = int64_t{1} << 20;
  std::string text = text_of_setting("STRIDER_CACHE_SIZE");
  if (text.empty()) return kUsual << 20;
  int64_t size = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1 || size > kMost)
    user_error("the environment variable STRIDER_CACHE_SIZE is \"{}\", expected a number of MiB, 1 to {}", text, kMost);
  return size << 20;
}

bool is_on_by_settings() {
  std::string text = text_of_setting("STRIDER_CACHE");
  if (!text.empty() && text != "0" && text != "1")
    user_error("the environment variable STRIDER_CACHE is \"{}\", expected 0, for no code on disk, or 1", text);
  return text != "0";
}

}  // namespace

std::string disk_cache_folder() {
  if (std::string folder = text_of_setting("STRIDER_CACHE_DIR"); !folder.empty()) return folder;
  if (std::string caches = environment("XDG_CACHE_HOME"); caches.starts_with('/')) return caches + "/strider";
  if (std::string home = environment("HOME"); home.starts_with('/')) return home + "/.cache/strider";
  return "";
}

std::shared_ptr<DiskCache> disk_cache() {
  static auto& current = *new std::shared_ptr<DiskCache>;
  std::string folder = without_last_slashes(disk_cache_folder());
  int64_t limit = limit_from_settings();
  bool is_on = is_on_by_settings();
  if (folder.empty() || !is_on) return nullptr;
  const Uncancelled uncancelled;
  std::unique_lock lock = lock_of_tables();
  if (!current || current->folder() != folder || current->limit_bytes() != limit)
    current = std::make_shared<DiskCache>(folder, limit);
  return current;
}

}  // namespace strider
