// SPDX-License-Identifier: Apache-2.0
#include "front/lang/random.h"

#include "front/lang/arith.h"

namespace strider::front {
namespace {

using ir::Op;

using Words = std::array<Expr, 4>;

/// The constants of one width of Philox.
struct Width {
  DType dtype, wide_dtype;
  uint64_t multiplier[2], key_step[2];
};
constexpr Width kNarrow = {DType::U32, DType::U64, {0xD2511F53, 0xCD9E8D57}, {0x9E3779B9, 0xBB67AE85}};
constexpr Width kWide = {
    DType::U64, DType::U64, {0xD2E7470EE14C6C93, 0xCA5A826395121157}, {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B}};

Expr integer(Writer& w, std::string_view what, std::string_view name, const Term& x) {
  if (x.is_empty()) user_error("{}: the {} was never given a value", what, name);
  if (!is_int(w.dtype_of(x))) user_error("{}: the {} is {}, expected an integer", what, name, strider::name_of(w.dtype_of(x)));
  return {&w, x};
}

// Nothing here wraps, so that the interpreter's lint of overflow stays silent: what is dropped is masked off before.

constexpr uint64_t kLowHalf = 0xffffffff;

Expr low_word(const Expr& x) { return (x & kLowHalf).to(DType::U32); }
Expr high_word(const Expr& x) { return (x >> 32).to(DType::U32); }

/// The bits of an integer, its sign extended, as u64.
Expr as_u64(const Expr& x) { return is_signed_int(x.dtype()) ? x.to(DType::I64).bits(DType::U64) : x.to(DType::U64); }
Expr as_word(const Width& width, const Expr& x) { return width.dtype == DType::U64 ? as_u64(x) : low_word(as_u64(x)); }

struct Product {
  Expr low, high;
};

/// Of two u64, from the products of their halves.
Product product_of_64(const Expr& a, const Expr& b) {
  Expr a0 = a & kLowHalf, a1 = a >> 32, b0 = b & kLowHalf, b1 = b >> 32;
  Expr low = a0 * b0;
  Expr middle = a1 * b0 + (low >> 32);
  Expr other = a0 * b1 + (middle & kLowHalf);
  return {((other & kLowHalf) << 32) | (low & kLowHalf), a1 * b1 + (middle >> 32) + (other >> 32)};
}

Product product(const Expr& a, const Expr& b) {
  if (a.dtype() == DType::U64) return product_of_64(a, b);
  Expr all = a.to(DType::U64) * b.to(DType::U64);
  return {low_word(all), high_word(all)};
}

Expr word(Writer& w, const Width& width, uint64_t bits) { return Expr{&w, Literal::of(bits)}.to(width.dtype); }

/// key + step, wrapped.
Expr next_key(const Width& width, const Expr& key, uint64_t step) {
  if (width.dtype == DType::U32) return low_word(key.to(DType::U64) + step);
  Writer& w = *key.writer;
  Expr room = word(w, width, 0 - step), none = word(w, width, 0);
  Expr passes = key >= room;
  return key - choose(passes, room, none) + choose(passes, none, word(w, width, step));
}

Words run_philox(const Width& width, Expr key0, Expr key1, Words c, int rounds) {
  if (rounds < 0) user_error("philox: {} rounds, expected at least 0", rounds);
  Writer& w = *key0.writer;
  const Expr a = word(w, width, width.multiplier[0]), b = word(w, width, width.multiplier[1]);
  for (int k = 0; k < rounds; ++k) {
    Product by_a = product(a, c[0]), by_b = product(b, c[2]);
    c = {by_b.high ^ c[1] ^ key0, by_b.low, by_a.high ^ c[3] ^ key1, by_a.low};
    if (k + 1 == rounds) break;
    key0 = next_key(width, key0, width.key_step[0]);
    key1 = next_key(width, key1, width.key_step[1]);
  }
  return c;
}

Words random_words(Writer& w, std::string_view what, const Term& seed, const Term& offset, int rounds) {
  Expr given_seed = integer(w, what, "seed", seed), given_offset = integer(w, what, "offset", offset);
  Expr key = as_u64(given_seed), place = as_u64(given_offset), zero = word(w, kNarrow, 0);
  bool is_wide = bits_of(given_offset.dtype()) == 64;
  Words counter{low_word(place), is_wide ? high_word(place) : zero, zero, zero};
  return run_philox(kNarrow, low_word(key), high_word(key), counter, rounds);
}

Expr uniform(const Expr& x) {
  bool is_wide = bits_of(x.dtype()) == 64;
  Expr s = x.bits(is_wide ? DType::I64 : DType::I32);
  Expr magnitude = choose(s < 0, ~s, s);
  return magnitude.to(DType::F32) * (is_wide ? 1.0842020432385337e-19 : 4.6566127342e-10);
}

/// Two normally distributed numbers from two uniform ones.
std::array<Expr, 2> normal(const Expr& u1, const Expr& u2) {
  Expr radius = apply(Op::Sqrt, apply(Op::Log, apply(Op::Maximum, u1, 1.0e-7)) * -2.0), angle = u2 * 6.283185307179586;
  return {radius * apply(Op::Cos, angle), radius * apply(Op::Sin, angle)};
}

Four terms(const Words& x) { return {x[0].term, x[1].term, x[2].term, x[3].term}; }

}  // namespace

Term umulhi(Writer& w, const Term& a, const Term& b) {
  Expr x = integer(w, "umulhi", "first factor", a), y = integer(w, "umulhi", "second factor", b);
  DType dtype = common_dtype(w, {{a, b}});
  if (bits_of(dtype) < 32) user_error("umulhi: the factors are {}, expected integers of 32 or 64 bits", strider::name_of(dtype));
  DType bits = bits_of(dtype) == 32 ? DType::U32 : DType::U64;
  return product(x.to(dtype).bits(bits), y.to(dtype).bits(bits)).high.bits(dtype).term;
}

Four philox(Writer& w, const Term& seed, const Four& counters, int rounds) {
  Expr key = integer(w, "philox", "seed", seed);
  for (const Term& c : counters) integer(w, "philox", "counter", c);
  const Width& width = bits_of(w.dtype_of(counters[0])) == 64 ? kWide : kNarrow;
  key = as_u64(key);
  auto counter = [&](size_t k) { return as_word(width, Expr{&w, counters[k]}); };
  Words c{counter(0), counter(1), counter(2), counter(3)};
  if (&width == &kWide) return terms(run_philox(width, key, word(w, width, 0), c, rounds));
  return terms(run_philox(width, low_word(key), high_word(key), c, rounds));
}

Four randint4x(Writer& w, const Term& seed, const Term& offset, int rounds) {
  return terms(random_words(w, "randint4x", seed, offset, rounds));
}

Term randint(Writer& w, const Term& seed, const Term& offset, int rounds) {
  return random_words(w, "randint", seed, offset, rounds)[0].term;
}

Term uint_to_uniform_float(Writer& w, const Term& x) {
  Expr bits = integer(w, "uint_to_uniform_float", "operand", x);
  if (bits_of(bits.dtype()) < 32)
    user_error("uint_to_uniform_float: the operand is {}, expected 32 or 64 bits", strider::name_of(bits.dtype()));
  return uniform(bits).term;
}

Term rand(Writer& w, const Term& seed, const Term& offset, int rounds) {
  return uniform(random_words(w, "rand", seed, offset, rounds)[0]).term;
}

Four rand4x(Writer& w, const Term& seed, const Term& offset, int rounds) {
  Words words = random_words(w, "rand4x", seed, offset, rounds);
  return terms({uniform(words[0]), uniform(words[1]), uniform(words[2]), uniform(words[3])});
}

Term randn(Writer& w, const Term& seed, const Term& offset, int rounds) {
  Words words = random_words(w, "randn", seed, offset, rounds);
  return normal(uniform(words[0]), uniform(words[1]))[0].term;
}

Four randn4x(Writer& w, const Term& seed, const Term& offset, int rounds) {
  Words words = random_words(w, "randn4x", seed, offset, rounds);
  auto [a, b] = normal(uniform(words[0]), uniform(words[1]));
  auto [c, d] = normal(uniform(words[2]), uniform(words[3]));
  return terms({a, b, c, d});
}

}  // namespace strider::front
