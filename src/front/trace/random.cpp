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

// Nothing here wraps, so that the interpreter's lint of overflow stays silent: what is dropped is masked off before.

constexpr uint64_t kLowHalf = 0xffffffff;

Value low_word(const Value& x) { return (x & kLowHalf).to(DType::U32); }
Value high_word(const Value& x) { return (x >> 32).to(DType::U32); }

/// The bits of an integer, its sign extended, as u64.
Value as_u64(const Value& x) {
  return is_signed_int(x.dtype()) ? bitcast(x.to(DType::I64), DType::U64) : x.to(DType::U64);
}
Value as_word(const Width& width, const Value& x) { return width.dtype == DType::U64 ? as_u64(x) : low_word(as_u64(x)); }

struct Product {
  Value low, high;
};

/// Of two u64, from the products of their halves.
Product product_of_64(const Value& a, const Value& b) {
  Value a0 = a & kLowHalf, a1 = a >> 32, b0 = b & kLowHalf, b1 = b >> 32;
  Value low = a0 * b0;
  Value middle = a1 * b0 + (low >> 32);
  Value other = a0 * b1 + (middle & kLowHalf);
  return {((other & kLowHalf) << 32) | (low & kLowHalf), a1 * b1 + (middle >> 32) + (other >> 32)};
}

Product product(const Value& a, const Value& b) {
  if (a.dtype() == DType::U64) return product_of_64(a, b);
  Value all = a.to(DType::U64) * b.to(DType::U64);
  return {low_word(all), high_word(all)};
}

Value word(const Width& width, uint64_t bits) { return Value(bits).to(width.dtype); }

/// key + step, wrapped.
Value next_key(const Width& width, const Value& key, uint64_t step) {
  if (width.dtype == DType::U32) return low_word(key.to(DType::U64) + step);
  Value room = word(width, 0 - step), none = word(width, 0);
  Value passes = key >= room;
  return key - where(passes, room, none) + where(passes, none, word(width, step));
}

Four run_philox(const Width& width, Value key0, Value key1, Four c, int rounds) {
  if (rounds < 0) user_error("philox: {} rounds, expected at least 0", rounds);
  const Value a = word(width, width.multiplier[0]), b = word(width, width.multiplier[1]);
  for (int k = 0; k < rounds; ++k) {
    Product by_a = product(a, c[0]), by_b = product(b, c[2]);
    c = {by_b.high ^ c[1] ^ key0, by_b.low, by_a.high ^ c[3] ^ key1, by_a.low};
    if (k + 1 == rounds) break;
    key0 = next_key(width, key0, width.key_step[0]);
    key1 = next_key(width, key1, width.key_step[1]);
  }
  return c;
}

Four random_words(std::string_view what, const Operand& seed, const Operand& offset, int rounds) {
  check_integer(what, "seed", seed);
  check_integer(what, "offset", offset);
  Value key = as_u64(seed.value), place = as_u64(offset.value), zero = word(kNarrow, 0);
  bool is_wide = bits_of(offset.value.dtype()) == 64;
  Four counter{low_word(place), is_wide ? high_word(place) : zero, zero, zero};
  return run_philox(kNarrow, low_word(key), high_word(key), counter, rounds);
}

Value uniform(const Value& x) {
  bool is_wide = bits_of(x.dtype()) == 64;
  Value s = bitcast(x, is_wide ? DType::I64 : DType::I32);
  Value magnitude = where(s < 0, ~s, s);
  return magnitude.to(DType::F32) * Value(is_wide ? 1.0842020432385337e-19 : 4.6566127342e-10);
}

/// Two normally distributed numbers from two uniform ones.
std::array<Value, 2> normal(const Value& u1, const Value& u2) {
  Value radius = sqrt(-2.0 * log(maximum(1.0e-7, u1))), angle = 6.283185307179586 * u2;
  return {radius * cos(angle), radius * sin(angle)};
}

/// Everything is written as if it stood where the user called.
template <class F>
decltype(auto) at_place_of(const Operand& x, F&& f) {
  return Trace::current().at(x.where, f);
}

}  // namespace

namespace tl {

Value umulhi(const Operand& a, const Operand& b) {
  return at_place_of(a, [&] {
    check_integer("umulhi", "first factor", a);
    check_integer("umulhi", "second factor", b);
    DType dtype = (a.value ^ b.value).dtype();  // the common one
    if (bits_of(dtype) < 32) user_error("umulhi: the factors are {}, expected integers of 32 or 64 bits", name_of(dtype));
    DType bits = bits_of(dtype) == 32 ? DType::U32 : DType::U64;
    return bitcast(product(bitcast(a.value.to(dtype), bits), bitcast(b.value.to(dtype), bits)).high, dtype);
  });
}

std::array<Value, 4> philox(const Operand& seed, const Operand& c0, const Operand& c1, const Operand& c2, const Operand& c3,
                            int rounds) {
  return at_place_of(seed, [&] {
    check_integer("philox", "seed", seed);
    for (const Operand* c : {&c0, &c1, &c2, &c3}) check_integer("philox", "counter", *c);
    const Width& width = bits_of(c0.value.dtype()) == 64 ? kWide : kNarrow;
    Value key = as_u64(seed.value);
    Four counter{as_word(width, c0.value), as_word(width, c1.value), as_word(width, c2.value), as_word(width, c3.value)};
    if (&width == &kWide) return run_philox(width, key, word(width, 0), counter, rounds);
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
