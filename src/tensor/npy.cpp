// SPDX-License-Identifier: Apache-2.0
// Reading allocates nothing before the file was seen to be long enough for it; writing leaves either the whole file or the one
// that was there before.
#include <strider/npy.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "backend/backend.h"
#include "base/cancellation.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "tensor/npy_header.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace strider::inline v0 {
namespace {

static_assert(std::endian::native == std::endian::little, "npy: elements are read and written as they lie in memory");

namespace fs = std::filesystem;

/// Runs `f`; puts "WHAT PATH: " before its errors.
template <class F>
auto naming_file(std::string_view what, const std::string& path, F&& f) {
  const Uncancelled uncancelled;
  if (size_t end = path.find('\0'); end != std::string::npos)  // where a message would end too
    user_error("{} {}\\0...: the path has a character 0 in it", what, path.substr(0, end));
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} {}: {}", what, path, error.what()));
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::User, fmt::format("{} {}: {}", what, path, error.code().message()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::Driver, fmt::format("{} {}: there is not enough memory", what, path));
  }
}

[[noreturn]] void system_failed(std::string_view doing) { user_error("it cannot be {}: {}", doing, std::strerror(errno)); }

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Of a regular file.
  int64_t size() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) system_failed("read");
    if (!S_ISREG(status.st_mode)) user_error("it is no regular file");
    return status.st_size;
  }

  /// Exactly these bytes.
  void read(char* to, int64_t count, int64_t offset) const {
    while (count > 0) {
      ssize_t done = ::pread(descriptor_, to, static_cast<size_t>(std::min(count, kPiece)), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) system_failed("read");
      if (done == 0) user_error("it ended while it was read");
      to += done;
      count -= done;
      offset += done;
    }
  }
  void write(const char* from, int64_t count) const {
    while (count > 0) {
      ssize_t done = ::write(descriptor_, from, static_cast<size_t>(std::min(count, kPiece)));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) system_failed("written");
      from += done;
      count -= done;
    }
  }
  /// On the disk itself: some file systems tell only now that there was no space.
  void sync() const {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) system_failed("written");
  }

 private:
  static constexpr int64_t kPiece = 1 << 30;
  int descriptor_;
};

// ---- reading

void swap_bytes(char* data, int64_t count, int64_t bytes) {
  parallel_for(count, 1 << 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) std::reverse(data + i * bytes, data + (i + 1) * bytes);
  });
}

/// Any byte that is not 0 means true to NumPy; here a bool is 0 or 1.
void normalise_bools(char* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) data[i] = data[i] != 0;
}

/// Of the reversed shape: the first axis counts fastest.
Dims fortran_strides(Dims shape) {
  std::reverse(shape.begin(), shape.end());
  Dims strides = contiguous_strides(shape);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

std::string read_text(const File& file, int64_t begin, int64_t end) {
  std::string text(static_cast<size_t>(end - begin), '\0');
  file.read(text.data(), end - begin, begin);
  return text;
}

Tensor read_array(const File& file) {
  constexpr int64_t kLongestHeader = 1 << 20;
  int64_t bytes = file.size();
  npy::TextRange range = npy::text_range(read_text(file, 0, std::min(bytes, npy::kPrefixBytes)));
  if (range.end > bytes) user_error("its header should end at byte {}, but the file has {} bytes", range.end, bytes);
  if (range.end > kLongestHeader)
    user_error("its header has {} bytes, and at most {} are read: of an array of numbers it is shorter", range.end, kLongestHeader);
  npy::Header header = npy::parse_header(read_text(file, range.begin, range.end));
  int64_t left = bytes - range.end;
  int64_t count = count_elements(header.shape, header.dtype), size = size_of(header.dtype);
  if (count * size > left)
    user_error("a shape of {} of {} needs {} bytes, but {} follow its header", to_string(header.shape), name_of(header.dtype),
               count * size, left);
  Dims strides = header.is_fortran ? fortran_strides(header.shape) : contiguous_strides(header.shape);
  Tensor result = empty_on(device_of("cpu"), header.shape, strides, header.dtype);
  auto* data = static_cast<char*>(result.data());
  file.read(data, count * size, range.end);
  if (header.is_big_endian) swap_bytes(data, count, size);
  if (header.dtype == DType::Bool) normalise_bools(data, count);
  return result;
}

// ---- writing

/// The file that is meant: what a symbolic link points to, even if it is not there yet.
std::string resolved(const std::string& path) {
  if (!fs::is_symlink(path)) return path;
  fs::path target = fs::read_symlink(path);
  return fs::weakly_canonical(target.is_absolute() ? target : fs::path(path).parent_path() / target);
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// A file in the folder of `path` that becomes `path` when it is whole. Until then it has no name, where the system knows such files,
/// so that nothing is left of it whatever happens; else a short one. It gets the owner and the mode of the file that it replaces, and
/// nobody else can read it before.
class Draft {
 public:
  explicit Draft(const std::string& path)
      : folder_(::open(folder_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), name_(path.substr(path.rfind('/') + 1)), file_(open()) {
    if (!file_.is_open()) system_failed("written");
  }
  ~Draft() {
    if (!own_name_.empty()) ::unlinkat(folder_.descriptor(), own_name_.c_str(), 0);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const File& file() const { return file_; }

  void publish() {
    take_mode();
    file_.sync();
    if (own_name_.empty() && link_as(name_)) return sync_folder();
    while (own_name_.empty()) {  // a name is needed to take another file's place
      if (std::string name = fresh_name(); link_as(name)) own_name_ = std::move(name);  // moving cannot fail
      else if (errno != EEXIST) system_failed("written");
    }
    if (::renameat(folder_.descriptor(), own_name_.c_str(), folder_.descriptor(), name_.c_str()) != 0) system_failed("written");
    own_name_.clear();
    sync_folder();
  }

 private:
  int open() {
    if (!folder_.is_open()) return -1;
    struct stat before;
    has_before_ = ::fstatat(folder_.descriptor(), name_.c_str(), &before, 0) == 0;
    if (has_before_) before_ = before;
    mode_t mode = has_before_ ? 0600 : 0666;
#ifdef O_TMPFILE
    constexpr int kHow = O_TMPFILE | O_WRONLY | O_CLOEXEC;
    if (int nameless = ::openat(folder_.descriptor(), ".", kHow, mode); nameless >= 0) return nameless;
#endif
    for (;;) {
      std::string name = fresh_name();
      int named = ::openat(folder_.descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
      if (named >= 0) own_name_ = std::move(name);
      if (named >= 0 || errno != EEXIST) return named;
    }
  }

  /// A group that cannot be kept loses its rights, rather than another one getting them.
  void take_mode() const {
    if (!has_before_) return;
    constexpr mode_t kRights = 0777, kOfGroup = 0070;
    mode_t mode = before_.st_mode & kRights;
    if (::fchown(file_.descriptor(), before_.st_uid, before_.st_gid) != 0 &&
        ::fchown(file_.descriptor(), static_cast<uid_t>(-1), before_.st_gid) != 0)
      mode &= ~kOfGroup;
    if (::fchmod(file_.descriptor(), mode) != 0) system_failed("written");
  }

  /// Gives the nameless file a name that is free.
  bool link_as(const std::string& name) const {
    std::string self = fmt::format("/proc/self/fd/{}", file_.descriptor());
    if (::linkat(AT_FDCWD, self.c_str(), folder_.descriptor(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno == EEXIST) return false;
    int error = errno;  // without /proc, who may do all may do this too
    if (::linkat(file_.descriptor(), "", folder_.descriptor(), name.c_str(), AT_EMPTY_PATH) == 0) return true;
    if (errno != EEXIST) errno = error;
    return false;
  }

  void sync_folder() const {
    File folder(::openat(folder_.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) folder.sync();  // one that cannot be read cannot be synced either
  }

  static std::string fresh_name() {
    static std::atomic<uint64_t> serial{0};
    return fmt::format(".strider.{}.{}.tmp", ::getpid(), serial.fetch_add(1));
  }

  File folder_;
  std::string name_, own_name_;
  bool has_before_ = false;
  struct stat before_ = {};
  File file_;
};

bool is_column_major(const TensorView& t) {
  TensorView reversed = t;
  for (int k = 0; k < t.rank() / 2; ++k) reversed = reversed.transpose(k, t.rank() - 1 - k);
  return t.rank() > 1 && !t.is_contiguous() && reversed.is_contiguous();
}

void write_array(const std::string& path, const TensorView& tensor) {
  fs::file_status status = fs::status(path);
  if (fs::exists(status) && !fs::is_regular_file(status)) user_error("it is no regular file");
  std::shared_ptr<Tensor> keep;
  bool is_fortran = is_column_major(tensor);
  TensorView rows = tensor;
  if (is_fortran)
    for (int k = 0; k < rows.rank() / 2; ++k) rows = rows.transpose(k, rows.rank() - 1 - k);
  rows = host_rows(rows, &keep);
  std::string header = npy::print_header({tensor.dtype(), false, is_fortran, tensor.shape()});
  Draft draft(path);
  draft.file().write(header.data(), static_cast<int64_t>(header.size()));
  draft.file().write(static_cast<const char*>(rows.data()), rows.elements() * size_of(rows.dtype()));
  draft.publish();
}

}  // namespace

Tensor load_npy(const std::string& path) {
  return naming_file("load_npy", path, [&] {
    File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a pipe without a writer must not be waited for
    if (!file.is_open()) system_failed("opened");
    return read_array(file);
  });
}

void save_npy(const std::string& path, const TensorView& tensor) {
  naming_file("save_npy", path, [&] { write_array(resolved(path), tensor); });
}

}  // namespace strider::v0
