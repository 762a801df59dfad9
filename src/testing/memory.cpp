// SPDX-License-Identifier: Apache-2.0
#include "testing/memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/backend.h"
#include "ir/semantics.h"

#include <strider/memory.h>

namespace strider::inline v0::testing {
namespace {

constexpr int64_t kPattern = 1 << 16;  // elements after which the content repeats

double element(double normal, DType dtype, Content content) {
  double value = is_float(dtype) ? normal : dtype == boolean ? normal > 0 : std::nearbyint(normal * 16);
  return content == Content::Positive || is_unsigned_int(dtype) ? std::abs(value) : value;
}

/// The bytes of kPattern elements.
std::vector<char> pattern(DType dtype, Content content) {
  static const auto& normal = *new std::vector<float>(randn({kPattern}).to_vector<float>());
  auto size = static_cast<size_t>(size_of(dtype));
  std::vector<char> bytes(kPattern * size);
  for (size_t i = 0; i < kPattern; ++i) {
    uint64_t bits = ir::bits_of_double(dtype, element(normal[i], dtype, content));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

}  // namespace

Tensor Memory::make(DType dtype, Content content, int64_t elements) const {
  Tensor slab = empty({elements}, {dtype, device_.name()});
  if (content == Content::None) {
    device_.fill_zero(slab.data(), elements * size_of(dtype));  // so that no call pays for the first touch of its pages
    return slab;
  }
  std::vector<char> bytes = pattern(dtype, content);
  auto total = elements * size_of(dtype);
  for (int64_t done = 0; done < total; done += static_cast<int64_t>(bytes.size()))
    device_.copy_in(static_cast<char*>(slab.data()) + done, bytes.data(), std::min<int64_t>(total - done, bytes.size()));
  return slab;
}

TensorView Memory::operand(const OperandText& text, Content content, int slot) {
  Key key{text.dtype(), content, slot};
  auto found = slabs_.find(key);
  int64_t elements = std::max<int64_t>(text.elements(), kPattern);
  if (found == slabs_.end() || found->second.elements() < elements) {
    slabs_.erase(key);
    release_cache(device_.name());  // so that slabs of former sizes do not pile up
    found = slabs_.emplace(key, make(text.dtype(), content, elements)).first;
  }
  return text.in(found->second.data(), device_);
}

}  // namespace strider::v0::testing
