// SPDX-License-Identifier: Apache-2.0
// Memory for machine code: whole pages of large slabs. Pages are written first and executed then, never both at once.
//
// The system counts mappings (65,530 of a process, as a rule), and neighbouring pages of one permission are one mapping. So a slab
// takes one or two, however many kernels lie in it. Pages that become free are given out again; a slab without any code is unmapped.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <sys/types.h>

namespace strider::cpu {

class CodeMemory {
 public:
  /// The only one, which lives to the end of the process.
  static CodeMemory& of_process();

  /// Writable memory of at least so many bytes. Throws a driver error when the system gives no more.
  char* take(size_t bytes);
  /// Makes what take() gave executable, and no longer writable. Throws a driver error when the system refuses.
  void seal(char* memory, size_t bytes);
  /// Takes the memory back, sealed or not.
  void give_back(char* memory, size_t bytes) noexcept;

 private:
  CodeMemory();
  size_t rounded(size_t bytes) const { return (bytes + page_ - 1) / page_ * page_; }
  void add_slab(size_t least);
  void add_free(char* memory, size_t bytes);
  void remove_free(std::map<char*, size_t>::iterator range);
  void forget_parents_pages();

  const size_t page_;
  std::mutex mutex_;
  std::map<char*, size_t> free_;                     // by address; neighbours are joined
  std::set<std::pair<size_t, char*>> free_by_size_;  // the same
  struct Slab {
    size_t bytes, used;
  };
  std::map<char*, Slab> slabs_;
  pid_t process_;
};

}  // namespace strider::cpu
