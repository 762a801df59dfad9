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
  File(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

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
  /// Some file systems tell only now that there was no space.
  void finish() {
    int result = ::close(descriptor_);
    descriptor_ = -1;
    if (result != 0) system_failed("written");
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
  if (range.end > bytes || range.end > kLongestHeader)
    user_error("its header should end at byte {}, but the file has {} bytes", range.end, bytes);
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

/// A file beside `path` that goes away unless it is renamed to it.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path), own_(fresh_name(path)), file_(own_, O_WRONLY | O_CREAT | O_EXCL) {
    if (!file_.is_open()) system_failed("written");
  }
  ~Draft() {
    if (file_.is_open() || !is_done_) ::unlink(own_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const File& file() const { return file_; }
  void publish() {
    file_.finish();
    if (::rename(own_.c_str(), path_.c_str()) != 0) system_failed("written");
    is_done_ = true;
  }

 private:
  static std::string fresh_name(const std::string& path) {
    static std::atomic<uint64_t> serial{0};
    for (;;) {
      std::string name = fmt::format("{}.{}.{}.tmp", path, ::getpid(), serial.fetch_add(1));
      if (!fs::exists(fs::symlink_status(name))) return name;
    }
  }

  std::string path_, own_;
  File file_;
  bool is_done_ = false;
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
    File file(path, O_RDONLY | O_NONBLOCK);  // a pipe without a writer must not be waited for
    if (!file.is_open()) system_failed("opened");
    return read_array(file);
  });
}

void save_npy(const std::string& path, const TensorView& tensor) {
  naming_file("save_npy", path, [&] { write_array(resolved(path), tensor); });
}

}  // namespace strider::v0
