// SPDX-License-Identifier: Apache-2.0
// Two properties of every function and operation of values, on every dtype: results do not depend on how operands lie in
// memory, nor on where in a tensor an element stands.
#include "cases/cases.h"

#include <cstring>
#include <functional>
#include <random>

#include "ir/semantics.h"
#include "support/bits.h"

namespace strider::cases {
namespace {

using Tensors = std::vector<Tensor>;

struct Function {
  std::string name;
  size_t arguments;
  std::function<Tensor(const Tensors&)> run;
  std::function<void(const Tensors&, const Tensor&)> run_into;
};

template <class F>
Function unary(const std::string& name, F f) {
  auto op = pointwise(name, f);
  return {name, 1, [op](const Tensors& x) { return op(x[0]); }, [op](const Tensors& x, const Tensor& y) { op(x[0], st::out(y)); }};
}
template <class F>
Function binary(const std::string& name, F f) {
  auto op = pointwise(name, f);
  return {name, 2, [op](const Tensors& x) { return op(x[0], x[1]); },
          [op](const Tensors& x, const Tensor& y) { op(x[0], x[1], st::out(y)); }};
}
template <class F>
Function ternary(const std::string& name, F f) {
  auto op = pointwise(name, f);
  return {name, 3, [op](const Tensors& x) { return op(x[0], x[1], x[2]); },
          [op](const Tensors& x, const Tensor& y) { op(x[0], x[1], x[2], st::out(y)); }};
}

std::vector<Function> make_functions() {
  std::vector<Function> all;
#define STRIDER_OP(number, id, text, least, most, result, traits)
#define STRIDER_FN(number, id, name, least, most, result, traits) STRIDER_FN_##most(name)
#define STRIDER_FN_1(name) all.push_back(unary(#name, [](auto x) { return st::name(x); }));
#define STRIDER_FN_2(name) all.push_back(binary(#name, [](auto x, auto y) { return st::name(x, y); }));
#define STRIDER_FN_3(name) all.push_back(ternary(#name, [](auto x, auto y, auto z) { return st::name(x, y, z); }));
#include <strider/ops.def>
#undef STRIDER_FN_1
#undef STRIDER_FN_2
#undef STRIDER_FN_3
#define STRIDER_SYMBOL(name, symbol) all.push_back(binary(#name, [](auto x, auto y) { return x symbol y; }));
  STRIDER_SYMBOL(add, +) STRIDER_SYMBOL(sub, -) STRIDER_SYMBOL(mul, *) STRIDER_SYMBOL(divided, /) STRIDER_SYMBOL(remainder_of, %)
  STRIDER_SYMBOL(bit_and, &) STRIDER_SYMBOL(bit_or, |) STRIDER_SYMBOL(bit_xor, ^) STRIDER_SYMBOL(shl, <<) STRIDER_SYMBOL(shr, >>)
  STRIDER_SYMBOL(eq, ==) STRIDER_SYMBOL(ne, !=) STRIDER_SYMBOL(lt, <) STRIDER_SYMBOL(le, <=) STRIDER_SYMBOL(gt, >) STRIDER_SYMBOL(ge, >=)
#undef STRIDER_SYMBOL
  all.push_back(unary("neg", [](auto x) { return -x; }));
  all.push_back(unary("not", [](auto x) { return ~x; }));
  all.push_back(ternary("chosen", [](auto x, auto y, auto z) { return st::where(x < y, y, z); }));
  all.push_back(ternary("multiply_add", [](auto x, auto y, auto z) { return x * y + z; }));
  return all;
}

/// One list for all tests, which so share what they compile.
const std::vector<Function>& functions() {
  static const auto& all = *new auto(make_functions());
  return all;
}

/// Special values of the dtype and random ones.
Tensor operand(DType dtype, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> special = support::special_bits(dtype);
  Tensor t = empty({count}, {dtype});
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random() % 2 ? special[random() % special.size()] : support::random_bits(dtype, random);
    std::memcpy(static_cast<char*>(t.data()) + i * size_of(dtype), &bits, static_cast<size_t>(size_of(dtype)));
  }
  return t;
}

/// Elements' bits in row-major order; all NaNs are one.
std::vector<uint64_t> bits_of(const Tensor& t) {
  std::vector<uint64_t> bits = t.to_bits();
  if (is_float(t.dtype()))
    for (uint64_t& b : bits)
      if (std::isnan(ir::double_of_bits(t.dtype(), b))) b = UINT64_MAX;
  return bits;
}

bool takes(const Function& f, DType dtype) {
  try {
    f.run(Tensors(f.arguments, operand(dtype, 1, 0)));
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User) << f.name << ' ' << e.what();
    return false;
  }
}

/// `x` in memory of its own that lies another way; the elements are the same.
Tensor relaid(const Tensor& x, int way) {
  int64_t rows = x.size(0), columns = x.size(1);
  TensorOptions options{x.dtype()};
  Tensor y = [&] {
    switch (way) {
      case 0: return empty({rows, columns}, options).flip(0).flip(1);
      case 1: return empty({2 * rows, 3 * columns}, options).slice(0, 0, 2 * rows, 2).slice(1, 0, 3 * columns, 3);
      case 2: return empty({columns, rows}, options).t();
      default: return empty({rows * columns + 1}, options).slice(0, 1, rows * columns + 1).reshape({rows, columns});
    }
  }();
  st::ops::copy(x, st::out(y));
  return y;
}

class Properties : public ::testing::TestWithParam<int> {
 protected:
  DType dtype() const { return dtype_at(GetParam()); }
};

TEST_P(Properties, ResultsDoNotDependOnTheLayout) {
  constexpr int64_t kRows = 9, kColumns = 21;
  for (const Function& f : functions()) {
    if (!takes(f, dtype())) continue;
    Tensors plain;
    for (size_t k = 0; k < f.arguments; ++k) plain.push_back(operand(dtype(), kRows * kColumns, k + 1).reshape({kRows, kColumns}));
    Tensor y = f.run(plain);
    std::vector<uint64_t> wanted = bits_of(y);
    for (int way = 0; way < 4; ++way) {
      Tensors other;
      for (const Tensor& x : plain) other.push_back(relaid(x, way));
      if (way % 2) other[0] = plain[0];  // layouts that disagree
      Tensor out = relaid(y, way);
      f.run_into(other, out);
      ASSERT_EQ(bits_of(out), wanted) << f.name << " layout " << way;
    }
    if (y.dtype() != dtype()) continue;
    Tensor in_place = relaid(plain[0], 1);
    Tensors other = plain;
    other[0] = in_place;
    f.run_into(other, in_place);
    ASSERT_EQ(bits_of(in_place), wanted) << f.name << " in place";
  }
}

TEST_P(Properties, BroadcastOperandsAreLikeExpandedCopies) {
  constexpr int64_t kRows = 7, kColumns = 19;
  for (const Function& f : functions()) {
    if (f.arguments < 2 || !takes(f, dtype())) continue;
    Tensors broadcast, copied;
    for (size_t k = 0; k < f.arguments; ++k) {
      Tensor row = operand(dtype(), k % 2 ? kColumns : kRows, k + 1).reshape(k % 2 ? Dims{1, kColumns} : Dims{kRows, 1});
      broadcast.push_back(row);
      copied.push_back(relaid(row.expand({kRows, kColumns}), 3));
    }
    ASSERT_EQ(bits_of(f.run(broadcast)), bits_of(f.run(copied))) << f.name;
  }
}

TEST_P(Properties, ResultsDoNotDependOnThePosition) {
  for (const Function& f : functions()) {
    if (!takes(f, dtype())) continue;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Tensors one;
      for (size_t k = 0; k < f.arguments; ++k) one.push_back(operand(dtype(), 1, 10 * seed + k));
      uint64_t wanted = bits_of(f.run(one))[0];
      for (int64_t n : {2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 66, 67}) {
        Tensors filled;
        for (const Tensor& x : one) filled.push_back(relaid(x.expand({1, n}), 3).reshape({n}));
        ASSERT_EQ(bits_of(f.run(filled)), std::vector<uint64_t>(static_cast<size_t>(n), wanted)) << f.name << " n " << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Properties, ::testing::Range(0, kDTypeCount),
                         [](const auto& info) { return std::string(name_of(dtype_at(info.param))); });

}  // namespace
}  // namespace strider::cases
