// SPDX-License-Identifier: Apache-2.0
#include <strider/random.h>

#include "front/lang/random.h"
#include "front/trace/trace.h"

namespace strider {
inline namespace v0 {
namespace tl {

using front::write;

Value umulhi(const Operand& a, const Operand& b) { return write(a.where, front::umulhi, a, b); }

std::array<Value, 4> philox(const Operand& seed, const Operand& c0, const Operand& c1, const Operand& c2, const Operand& c3,
                            int rounds) {
  auto of_counters = [rounds](front::Writer& w, const auto& key, const auto&... counters) {
    return front::philox(w, key, {counters...}, rounds);
  };
  return write(seed.where, of_counters, seed, c0, c1, c2, c3);
}

std::array<Value, 4> randint4x(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::randint4x, seed, offset, rounds);
}
Value randint(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::randint, seed, offset, rounds);
}
Value uint_to_uniform_float(const Operand& x) { return write(x.where, front::uint_to_uniform_float, x); }
Value rand(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::rand, seed, offset, rounds);
}
std::array<Value, 4> rand4x(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::rand4x, seed, offset, rounds);
}
Value randn(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::randn, seed, offset, rounds);
}
std::array<Value, 4> randn4x(const Operand& seed, const Operand& offset, int rounds) {
  return write(seed.where, front::randn4x, seed, offset, rounds);
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
