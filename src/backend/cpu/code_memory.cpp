// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/code_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace strider::cpu {
namespace {

constexpr size_t kSlab = 4 << 20;

[[noreturn]] void refuse(size_t bytes, int error) {
  if (error == EACCES || error == EPERM)
    driver_error("cpu: this system allows no new code in memory ({}): allow it (SELinux: execmem, systemd: MemoryDenyWriteExecute), or set "
                 "STRIDER_BACKEND=interp, which is slow", std::strerror(error));
  driver_error("cpu: the system gives no memory for {} bytes of code: {}", bytes, std::strerror(error));
}

}  // namespace

CodeMemory::CodeMemory() : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))), process_(::getpid()) {}

CodeMemory& CodeMemory::of_process() {
  static CodeMemory& only = *new CodeMemory;
  return only;
}

/// The first byte is touched so that the system sees the slab's pages as of one kind, and joins them again after a change.
void CodeMemory::add_slab(size_t least) {
  const size_t bytes = std::max(kSlab, least);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse(least, errno);
  auto* base = static_cast<char*>(memory);
  *base = 0;
  slabs_[base] = {bytes, 0};
  add_free(base, bytes);
}

void CodeMemory::add_free(char* memory, size_t bytes) {
  auto next = free_.lower_bound(memory);
  if (next != free_.end() && memory + bytes == next->first && !slabs_.contains(next->first)) {
    bytes += next->second;
    remove_free(next);
  }
  next = free_.lower_bound(memory);
  if (next != free_.begin() && !slabs_.contains(memory)) {
    auto before = std::prev(next);
    if (before->first + before->second == memory) {
      memory = before->first;
      bytes += before->second;
      remove_free(before);
    }
  }
  free_[memory] = bytes;
  free_by_size_.insert({bytes, memory});
}

void CodeMemory::remove_free(std::map<char*, size_t>::iterator range) {
  free_by_size_.erase({range->second, range->first});
  free_.erase(range);
}

/// In a child the system no longer joins pages of a slab that it inherited: its own code goes into slabs of its own.
void CodeMemory::forget_parents_pages() {
  if (process_ == ::getpid()) return;
  process_ = ::getpid();
  free_.clear();
  free_by_size_.clear();
}

char* CodeMemory::take(size_t bytes) {
  bytes = rounded(std::max<size_t>(bytes, 1));
  std::lock_guard lock(mutex_);
  forget_parents_pages();
  auto found = free_by_size_.lower_bound({bytes, nullptr});
  if (found == free_by_size_.end()) {
    add_slab(bytes);
    found = free_by_size_.lower_bound({bytes, nullptr});
  }
  auto [size, memory] = *found;
  if (::mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) refuse(bytes, errno);
  remove_free(free_.find(memory));
  if (size > bytes) add_free(memory + bytes, size - bytes);
  std::prev(slabs_.upper_bound(memory))->second.used += bytes;
  return memory;
}

void CodeMemory::seal(char* memory, size_t bytes) {
  if (::mprotect(memory, rounded(bytes), PROT_READ | PROT_EXEC) != 0) refuse(bytes, errno);
  __builtin___clear_cache(memory, memory + bytes);
}

void CodeMemory::give_back(char* memory, size_t bytes) noexcept {
  bytes = rounded(bytes);
  std::lock_guard lock(mutex_);
  auto slab = std::prev(slabs_.upper_bound(memory));
  slab->second.used -= bytes;
  try {
    add_free(memory, bytes);
  } catch (...) {
    return;  // the pages are lost until their slab is; there is no memory to note them
  }
  if (slab->second.used > 0 || slabs_.size() == 1) return;
  auto range = free_.find(slab->first);
  if (range == free_.end() || range->second != slab->second.bytes) return;
  remove_free(range);
  ::munmap(slab->first, slab->second.bytes);
  slabs_.erase(slab);
}

}  // namespace strider::cpu
