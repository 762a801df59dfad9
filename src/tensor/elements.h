// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are functions of their index, and random numbers that are: the number of threads changes nothing.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

#include <strider/tensor.h>

namespace strider {

template <class Word, class F>
void fill_words(void* data, int64_t count, F& bits) {
  constexpr int64_t kGrain = 1 << 14;  // elements worth a thread
  auto* words = static_cast<Word*>(data);
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) words[i] = static_cast<Word>(bits(i));
  });
}

/// A contiguous tensor: element i is bits(i).
template <class F>
Tensor generate(const Dims& shape, const TensorOptions& options, F bits) {
  Tensor host = empty(shape, {options.dtype, "cpu"});
  switch (size_of(options.dtype)) {
    case 1: fill_words<uint8_t>(host.data(), host.elements(), bits); break;
    case 2: fill_words<uint16_t>(host.data(), host.elements(), bits); break;
    case 4: fill_words<uint32_t>(host.data(), host.elements(), bits); break;
    default: fill_words<uint64_t>(host.data(), host.elements(), bits);
  }
  return host.to(options.device);
}

/// A well mixed function of its argument.
inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

inline uint64_t key_of(uint64_t seed) { return mixed(seed + 0x632BE59BD9B4E019u); }

/// 64 random bits for each counter.
inline uint64_t random_bits(uint64_t key, uint64_t counter) { return mixed(key + counter * 0x9E3779B97F4A7C15u); }

}  // namespace strider
