// SPDX-License-Identifier: Apache-2.0
#include "support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/symbols.h"

namespace {

thread_local int64_t count = 0;

std::atomic<int64_t> until_failure{0};  // 0: none fails
std::atomic<bool> failed{false};

void fail_if_it_is_time() {
  if (until_failure.load(std::memory_order_relaxed) <= 0 || until_failure.fetch_sub(1) != 1) return;
  if (strider::test::is_called_from("4llvm")) return;
  failed = true;
  throw std::bad_alloc();
}

void* counted(void* memory) {
  ++count;
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* allocate(std::size_t size) {
  fail_if_it_is_time();
  return counted(std::malloc(size ? size : 1));
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  fail_if_it_is_time();
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}

}  // namespace

namespace strider::test {

int64_t allocation_count() { return count; }

FailingAllocation::FailingAllocation(int64_t n) {
  load_symbols();
  failed = false;
  until_failure = n;
}
FailingAllocation::~FailingAllocation() { until_failure = 0; }
bool FailingAllocation::was_reached() const { return until_failure <= 0; }
bool FailingAllocation::has_failed() const { return failed; }

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
