// SPDX-License-Identifier: Apache-2.0
// Random numbers, composed of the language's own operations.
#include <strider/random.h>

#include "front/trace/trace.h"

namespace strider {
inline namespace v0 {

using front::Trace;

namespace {

using Four = std::array<Value, 4>;

/// The constants of one width of Philox.
struct Width {
  DType dtype, wide_dtype;
  uint64_t multiplier[2], key_step[2];
};
constexpr Width kNarrow = {DType::U32, DType::U64, {0xD2511F53, 0xCD9E8D57}, {0x9E3779B9, 0xBB67AE85}};
constexpr Width kWide = {DType::U64, DType::U64, {0xD2E7470EE14C6C93, 0xCA5A826395121157}, {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B}};

void check_integer(std::string_view what, std::string_view name, const Operand& x) {
  if (x.value.is_empty()) user_error("{}: the {} was never given a value", what, name);
  if (!is_int(x.value.dtype())) user_error("{}: the {} is {}, expected an integer", what, name, name_of(x.value.dtype()));
}

/// The high half of a product of two u64, from the products of their halves.
Value high_of_64(const Value& a, const Value& b) {
  Value a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  Value low = a0 * b0, middle = a1 * b0 + (low >> 32);
  Value other = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

Value high_of_32(const Value& a, const Value& b) { return ((a.to(DType::U64) * b.to(DType::U64)) >> 32).to(DType::U32); }

Value high(const Value& a, const Value& b) { return a.dtype() == DType::U32 ? high_of_32(a, b) : high_of_64(a, b); }

Value word(const Width& width, uint64_t bits) { return Value(bits).to(width.dtype); }

Four run_philox(const Width& width, Value key0, Value key1, Four c, int rounds) {
  if (rounds < 0) user_error("philox: {} rounds, expected at least 0", rounds);
  const Value a = word(width, width.multiplier[0]), b = word(width, width.multiplier[1]);
  const Value step0 = word(width, width.key_step[0]), step1 = word(width, width.key_step[1]);
  for (int k = 0; k < rounds; ++k) {
    Value high_a = high(a, c[0]), high_b = high(b, c[2]), low_a = a * c[0], low_b = b * c[2];
    c = {high_b ^ c[1] ^ key0, low_b, high_a ^ c[3] ^ key1, low_a};
    key0 = key0 + step0;
    key1 = key1 + step1;
  }
  return c;
}

Value low_word(const Value& x) { return x.to(DType::U32); }
Value high_word(const Value& x) { return (x.to(DType::U64) >> 32).to(DType::U32); }

Four random_words(std::string_view what, const Operand& seed, const Operand& offset, int rounds) {
  check_integer(what, "seed", seed);
  check_integer(what, "offset", offset);
  Value key = seed.value.to(DType::U64), zero = Value(0).to(DType::U32);
  bool is_wide = bits_of(offset.value.dtype()) == 64;
  Four counter{low_word(offset.value), is_wide ? high_word(offset.value) : zero, zero, zero};
  return run_philox(kNarrow, low_word(key), high_word(key), counter, rounds);
}

Value uniform(const Value& x) {
  bool is_wide = bits_of(x.dtype()) == 64;
  Value s = bitcast(x, is_wide ? DType::I64 : DType::I32);
  Value magnitude = where(s < 0, -s - 1, s);
  return magnitude.to(DType::F32) * Value(is_wide ? 1.0842020432385337e-19 : 4.6566127342e-10);
}

/// Two normally distributed numbers from two uniform ones.
std::array<Value, 2> normal(const Value& u1, const Value& u2) {
  Value radius = sqrt(-2.0 * log(maximum(1.0e-7, u1))), angle = 6.283185307179586 * u2;
  return {radius * cos(angle), radius * sin(angle)};
}

/// Everything is written as if it stood where the user called, and wraps on purpose.
template <class F>
decltype(auto) at_place_of(const Operand& x, F&& f) {
  detail::Wrapping scope;
  return Trace::current().at(x.where, f);
}

}  // namespace

namespace tl {

Value umulhi(const Operand& a, const Operand& b) {
  return at_place_of(a, [&] {
    check_integer("umulhi", "first factor", a);
    check_integer("umulhi", "second factor", b);
    DType dtype = (a.value + b.value).dtype();
    if (bits_of(dtype) < 32) user_error("umulhi: the factors are {}, expected integers of 32 or 64 bits", name_of(dtype));
    DType bits = bits_of(dtype) == 32 ? DType::U32 : DType::U64;
    return high(a.value.to(dtype).to(bits), b.value.to(dtype).to(bits)).to(dtype);
  });
}

std::array<Value, 4> philox(const Operand& seed, const Operand& c0, const Operand& c1, const Operand& c2, const Operand& c3,
                            int rounds) {
  return at_place_of(seed, [&] {
    check_integer("philox", "seed", seed);
    for (const Operand* c : {&c0, &c1, &c2, &c3}) check_integer("philox", "counter", *c);
    const Width& width = bits_of(c0.value.dtype()) == 64 ? kWide : kNarrow;
    Value key = seed.value.to(DType::U64);
    Four counter{c0.value.to(width.dtype), c1.value.to(width.dtype), c2.value.to(width.dtype), c3.value.to(width.dtype)};
    if (&width == &kWide) return run_philox(width, key, Value(0).to(DType::U64), counter, rounds);
    return run_philox(width, low_word(key), high_word(key), counter, rounds);
  });
}

std::array<Value, 4> randint4x(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] { return random_words("randint4x", seed, offset, rounds); });
}

Value randint(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] { return random_words("randint", seed, offset, rounds)[0]; });
}

Value uint_to_uniform_float(const Operand& x) {
  return at_place_of(x, [&] {
    check_integer("uint_to_uniform_float", "operand", x);
    if (bits_of(x.value.dtype()) < 32)
      user_error("uint_to_uniform_float: the operand is {}, expected 32 or 64 bits", name_of(x.value.dtype()));
    return uniform(x.value);
  });
}

Value rand(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] { return uniform(random_words("rand", seed, offset, rounds)[0]); });
}

std::array<Value, 4> rand4x(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] {
    Four words = random_words("rand4x", seed, offset, rounds);
    return Four{uniform(words[0]), uniform(words[1]), uniform(words[2]), uniform(words[3])};
  });
}

Value randn(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] {
    Four words = random_words("randn", seed, offset, rounds);
    return normal(uniform(words[0]), uniform(words[1]))[0];
  });
}

std::array<Value, 4> randn4x(const Operand& seed, const Operand& offset, int rounds) {
  return at_place_of(seed, [&] {
    Four words = random_words("randn4x", seed, offset, rounds);
    auto [a, b] = normal(uniform(words[0]), uniform(words[1]));
    auto [c, d] = normal(uniform(words[2]), uniform(words[3]));
    return Four{a, b, c, d};
  });
}

}  // namespace tl
}  // namespace v0
}  // namespace strider
