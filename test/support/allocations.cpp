// SPDX-License-Identifier: Apache-2.0
//
// The test program's operator new counts its calls, so that tests can show that a path does not allocate.
#include "support/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local int64_t count = 0;

void* counted(void* memory) {
  ++count;
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* allocate(std::size_t size) { return counted(std::malloc(size ? size : 1)); }

void* allocate(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}

}  // namespace

namespace strider::test {

int64_t allocation_count() { return count; }

}  // namespace strider::test

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
