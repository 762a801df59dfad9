// SPDX-License-Identifier: Apache-2.0
// Mistakes in kernels: each error names the kernel, the line where it was written, and what to write instead.
#include <strider/strider.h>

#include "front/run_kernel.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

std::string kernel_error(auto body, std::initializer_list<Constant> constants = {}) {
  return error_of([&] { front::trace_kernel(kernel("bad", body), constants); });
}

/// "kernel bad (.../errors_test.cpp:LINE): " and the words.
#define EXPECT_KERNEL_ERROR(line, text, words)                                         \
  do {                                                                                 \
    const std::string found = text;                                                    \
    EXPECT_EQ(found.rfind("kernel bad (", 0), 0u) << found;                            \
    EXPECT_HAS(found, "errors_test.cpp:" + std::to_string(line) + "): ");              \
    EXPECT_HAS(found, words);                                                          \
  } while (false)

TEST(KernelErrors, NameTheLineAndTheRemedy) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::Ptr<float> x, tl::i32 n) { (void)(x + n / 2); }),
                      "a pointer is moved by f32, expected an integer");
  EXPECT_KERNEL_ERROR(line + 3, kernel_error([](tl::Ptr<float> x, tl::f64 v) { tl::store(x, v); }),
                      "store: the value is f64, the pointer is *f32: convert it with .to(st::f32)");
  EXPECT_KERNEL_ERROR(line + 5, kernel_error([](tl::Ptr<int> x) { tl::store(x, 0.5); }), "the literal 0.5 does not fit i32");
  EXPECT_KERNEL_ERROR(line + 6, kernel_error([](tl::u8 n) { (void)(n + 256); }), "the literal 256 does not fit u8");
  EXPECT_KERNEL_ERROR(line + 7, kernel_error([](tl::u32 n) { (void)(n > -1); }), "the literal -1 does not fit u32");
  EXPECT_KERNEL_ERROR(line + 8, kernel_error([](tl::Ptr<int> x) { (void)(x + tl::zeros<float>({4})); }),
                      "a pointer is moved by f32, expected an integer");
  EXPECT_KERNEL_ERROR(line + 10, kernel_error([](tl::Ptr<int> x) { (void)tl::load(x, tl::arange(0, 4)); }),
                      "load: the mask is i32[4], expected bool, as a comparison gives it");
  EXPECT_KERNEL_ERROR(line + 12, kernel_error([](tl::Ptr<int> x) { tl::store(x, tl::arange(0, 4)); }),
                      "store: the value has shape [4], the pointer []: a value broadcasts to its pointer");
  EXPECT_KERNEL_ERROR(line + 14, kernel_error([](tl::Ptr<int>) { (void)(tl::arange(0, 4) + tl::arange(0, 3)); }),
                      "add: tiles of shapes [4] and [3] do not broadcast: counted from the last axis, sizes must agree or be 1; "
                      "x[{tl::colon, tl::newaxis}] adds an axis of size 1");
  EXPECT_KERNEL_ERROR(line + 17, kernel_error([](tl::Ptr<int>) { (void)tl::sqrt(tl::arange(0, 4)); }),
                      "sqrt: operands (i32[4]) do not fit, expected floats");
  EXPECT_KERNEL_ERROR(line + 19, kernel_error([](tl::Ptr<int>) { (void)tl::sum(tl::arange(0, 4), 1); }),
                      "sum: axis 1 is out of range for a tile of shape [4]");
  EXPECT_KERNEL_ERROR(line + 21, kernel_error([](tl::Ptr<int>) { (void)tl::arange(4, 4); }), "arange(4, 4) is empty");
  EXPECT_KERNEL_ERROR(line + 22, kernel_error([](tl::Ptr<int>) { (void)tl::program_id(3); }),
                      "program_id: axis 3 of the grid, expected 0, 1 or 2");
  EXPECT_KERNEL_ERROR(line + 24, kernel_error([](tl::i32 n) { (void)tl::where(n, 1, 2); }),
                      "where: the condition is i32, expected bool");
}

TEST(KernelErrors, FoldsAndScans) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::i32 n) { (void)tl::max(n, 0); }), "max: axis 0 is out of range for a tile of shape []");
  EXPECT_KERNEL_ERROR(line + 2, kernel_error([](tl::Ptr<int>) { (void)tl::argmax(tl::zeros<int>({2, 3}), -3); }),
                      "argmax: axis -3 is out of range for a tile of shape [2, 3]");
  EXPECT_KERNEL_ERROR(line + 4, kernel_error([](tl::Ptr<int>) { (void)tl::xor_sum(tl::zeros<float>({4})); }),
                      "xor_sum: the tile is f32, expected integers or bool");
  EXPECT_KERNEL_ERROR(line + 6, kernel_error([](tl::Ptr<int>) { (void)tl::cumsum(tl::zeros<float>({4}), 1); }),
                      "cumsum: axis 1 is out of range for a tile of shape [4]");
  auto add = [](auto a, auto b) { return a + b; };
  EXPECT_KERNEL_ERROR(line + 9, kernel_error([=](tl::Ptr<int>) { (void)tl::reduce(tl::zeros<float>({4}), 2, add); }),
                      "reduce: axis 2 is out of range for a tile of shape [4]");
  EXPECT_KERNEL_ERROR(line + 11, kernel_error([=](tl::i32 n) { (void)tl::associative_scan(n, 0, add); }),
                      "associative_scan: axis 0 is out of range for a tile of shape []");
  EXPECT_KERNEL_ERROR(line + 13, kernel_error([](tl::Ptr<int>) {
                        auto a = tl::zeros<int>({4}), b = tl::zeros<int>({3});
                        (void)tl::reduce(std::array{a, b}, 0, [](auto a, auto b, auto c, auto d) { return std::tuple{a + c, b + d}; });
                      }),
                      "reduce: operands (i32[4], i32[3]) do not fit, expected tiles of one shape");
}

TEST(KernelErrors, ShapesThatDoNotMeet) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::Ptr<int> x) { (void)tl::load(x + tl::arange(0, 4), tl::arange(0, 3) > 1); }),
                      "the mask has shape [3], the pointer [4]: a mask broadcasts to its pointer");
  EXPECT_KERNEL_ERROR(line + 3, kernel_error([](tl::Ptr<int> x) { tl::store(x + tl::arange(0, 4), tl::arange(0, 3)); }),
                      "the value has shape [3], the pointer [4]: a value broadcasts to its pointer");
  EXPECT_KERNEL_ERROR(line + 5, kernel_error([](tl::Ptr<int>) { (void)tl::broadcast_to(tl::arange(0, 3), {2, 4}); }),
                      "a tile of shape [3] does not broadcast to [2, 4]");
}

TEST(KernelErrors, CombineFunctions) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::Ptr<int>) { (void)tl::reduce(tl::arange(0, 4), 0, [](auto a, auto b) { return a < b; }); }),
                      "reduce: combine returns bool as value 0 for a tile of i32; they must agree: convert it with .to(st::i32)");
  EXPECT_KERNEL_ERROR(line + 3, kernel_error([](tl::Ptr<int>) {
                        auto v = tl::arange(0, 4);
                        (void)tl::associative_scan(std::array{v, v}, 0, [](auto a, auto, auto, auto) { return a; });
                      }), "associative_scan: combine returns 1 values for 2 tiles");
  EXPECT_KERNEL_ERROR(line + 7, kernel_error([](tl::Ptr<int>) {
                        auto v = tl::arange(0, 4);
                        (void)tl::reduce(v, 0, [&](auto a, auto) { return a + v; });
                      }), "reduce: combine returns i32[4] as value 0 for a tile of i32");
}

TEST(KernelErrors, WholeTiles) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::Ptr<int>) { (void)tl::cat(tl::arange(0, 4), tl::arange(0, 3)); }),
                      "cat: tiles of shapes [4] and [3], expected the same shape");
  EXPECT_KERNEL_ERROR(line + 3, kernel_error([](tl::i32 n) { (void)tl::cat(n, n); }), "cat: axis 0 is out of range for a tile of shape []");
  EXPECT_KERNEL_ERROR(line + 4, kernel_error([](tl::Ptr<int>) { (void)tl::join(tl::arange(0, 4), tl::arange(0, 3)); }),
                      "tiles of shapes [4] and [3] do not broadcast");
  EXPECT_KERNEL_ERROR(line + 6, kernel_error([](tl::Ptr<int>) { (void)tl::split(tl::arange(0, 4)); }),
                      "split: a tile of shape [4], expected a last axis of size 2");
  EXPECT_KERNEL_ERROR(line + 8, kernel_error([](tl::Ptr<int>) { (void)tl::flip(tl::arange(0, 4), 1); }), "flip: axis 1 is out of range");
  EXPECT_KERNEL_ERROR(line + 9, kernel_error([](tl::Ptr<int>) { (void)tl::permute(tl::arange(0, 4), {}); }), "permute: no axes are named");
  EXPECT_KERNEL_ERROR(line + 10, kernel_error([](tl::Ptr<int>) { (void)tl::gather(tl::arange(0, 4), tl::zeros<float>({4}), 0); }),
                      "gather: the index is f32[4], expected integers");
  EXPECT_KERNEL_ERROR(line + 12, kernel_error([](tl::Ptr<int>) { (void)tl::gather(tl::zeros<int>({2, 3}), tl::zeros<int>({4, 3}), 1); }),
                      "gather: the index has shape [4, 3], expected that of the tile, [2, 3], but for axis 1");
  EXPECT_KERNEL_ERROR(line + 14, kernel_error([](tl::Ptr<int>) { (void)tl::static_range(0, 4, 0); }), "static_range(0, 4, 0): the step is 0");
  EXPECT_KERNEL_ERROR(line + 15, kernel_error([](tl::Ptr<int>) { (void)tl::sort(tl::arange(0, 4097)); }),
                      "sort: 4097 elements along axis 0 of a tile of shape [4097], at most 4096 are possible");
  EXPECT_KERNEL_ERROR(line + 17, kernel_error([](tl::i32 n) { (void)tl::sort(n); }), "sort: axis -1 is out of range for a tile of shape []");
  EXPECT_KERNEL_ERROR(line + 18, kernel_error([](tl::Ptr<int>) { (void)tl::topk(tl::arange(0, 4), 5); }),
                      "topk: 5 elements of axis 0 of a tile of shape [4]");
  EXPECT_KERNEL_ERROR(line + 20, kernel_error([](tl::Ptr<int>) { (void)tl::histogram(tl::zeros<float>({4}), 4); }),
                      "histogram: the tile is f32[4], expected integers");
  EXPECT_KERNEL_ERROR(line + 22, kernel_error([](tl::Ptr<int>) { (void)tl::histogram(tl::arange(0, 4), 5000); }),
                      "histogram: 5000 bins, expected 1 to 4096");
  EXPECT_KERNEL_ERROR(line + 24, kernel_error([](tl::Ptr<int>) { (void)tl::histogram(tl::arange(0, 4), 4, tl::arange(0, 3) > 1); }),
                      "histogram: the mask has shape [3], the tile [4]: a mask broadcasts to its tile");
}

TEST(KernelErrors, Dot) {
  int line = __LINE__;
  auto dot = [](DType a, Dims shape_a, DType b, Dims shape_b, Value acc = {}) {
    return kernel_error([=](tl::Ptr<int>) { (void)tl::dot(tl::zeros(shape_a, a), tl::zeros(shape_b, b), acc); });
  };
  EXPECT_KERNEL_ERROR(line + 2, dot(f32, {4, 3}, f32, {4, 3}), "dot: tiles of shapes [4, 3] and [4, 3], expected [m, k] and [k, n]");
  EXPECT_KERNEL_ERROR(line + 2, dot(f32, {4}, f32, {4, 3}), "dot: a is f32[4], expected a tile of numbers with two axes");
  EXPECT_KERNEL_ERROR(line + 2, dot(f32, {4, 3}, boolean, {3, 4}), "dot: b is bool[3, 4], expected a tile of numbers with two axes");
  EXPECT_KERNEL_ERROR(line + 2, dot(f16, {4, 3}, f32, {3, 4}), "dot: a is f16[4, 3] and b is f32[3, 4], expected one dtype");
  EXPECT_KERNEL_ERROR(line + 2, dot(i8, {4, 3}, i8, {3, 4}, 0.5), "the literal 0.5 does not fit i32");
  EXPECT_KERNEL_ERROR(line + 9, kernel_error([](tl::Ptr<int>) {
                        auto a = tl::zeros<float>({4, 4});
                        (void)tl::dot(a, a, tl::zeros<float>({4, 3}));
                      }), "dot: acc has shape [4, 3], the product [4, 4]: acc broadcasts to it");
  EXPECT_KERNEL_ERROR(line + 13, kernel_error([](tl::Ptr<int>) {
                        auto a = tl::zeros<float>({4, 4});
                        (void)tl::dot(a, a, tl::zeros<double>({4, 4}));
                      }), "dot: acc is f64[4, 4], products are added in f32: convert it with .to(st::f32)");
}

TEST(KernelErrors, ControlFlow) {
  int line = __LINE__;
  EXPECT_KERNEL_ERROR(line + 1, kernel_error([](tl::Ptr<int>) { tl::if_(tl::arange(0, 4) > 1, [] {}); }),
                      "choose between tiles with where(condition, a, b)");
  EXPECT_KERNEL_ERROR(line + 3, kernel_error([](tl::i32 n) { tl::if_(n > 0, [&] { return n + 1; }, [&] { return n < 1; }); }),
                      "if_: value 0 of the bodies is i32 and bool");
  EXPECT_KERNEL_ERROR(line + 5, kernel_error([](tl::i32 n) { tl::range(0, n, 1, 0, [](auto i, auto) { return i < 3; }); }),
                      "carried value 0 is i32 before the loop and bool after an iteration");
  EXPECT_KERNEL_ERROR(line + 7, kernel_error([](tl::i32 n) { tl::range(0, n, 0, [](auto) {}); }), "the step is 0");
  EXPECT_KERNEL_ERROR(line + 8, kernel_error([](tl::f32 n) { tl::range(0, n, 1, [](auto) {}); }), "a bound is f32");
  EXPECT_KERNEL_ERROR(line + 9, kernel_error([](tl::i32 n) { tl::range(0, n, 1, [](auto i) { tl::return_if(i > 2); }); }),
                      "return_if stands inside a body");
}

TEST(KernelErrors, ValuesDoNotLeaveTheirBody) {
  std::string text = kernel_error([](tl::Ptr<int> x, tl::i32 n) {
    std::optional<Value> escaped;
    tl::if_(n > 2, [&] { escaped.emplace(n + 1); });
    tl::store(x, *escaped);
  });
  EXPECT_HAS(text, "used outside of the body (of if_, range, while_, reduce) that made it: return it from the body");
  Value kept;
  kernel_error([&](tl::i32 n) { kept = n, (void)(n + tl::arange(0, 0)); });
  EXPECT_HAS(kernel_error([&](tl::Ptr<int> x) { tl::store(x, kept); }), "a value of another kernel or operator is used");
  EXPECT_HAS(kernel_error([](tl::Ptr<int> x) { tl::store(x, Value() + 1); }), "a value that was never given one");
  EXPECT_HAS(error_of([&] { (void)(kept + 1); }), "only while its kernel or operator is traced");
}

TEST(KernelErrors, Constants) {
  auto two = kernel("two", [](tl::Ptr<int>, tl::Const<"A">, tl::Const<"B">) {});
  EXPECT_HAS(error_of([&] { front::trace_kernel(two, {{"A", 1}}); }), "the constant B has no value");
  EXPECT_EQ(error_of([&] { front::trace_kernel(two, {{"A", 1}, {"C", 2}}); }),
            "kernel two: there is no constant C; its constants: A, B");
}

TEST(KernelErrors, Subscripts) {
  int line = __LINE__;
  using tl::colon, tl::newaxis;
  EXPECT_KERNEL_ERROR(line + 2, kernel_error([](tl::Ptr<int>) { (void)tl::arange(0, 4)[{colon, newaxis, colon}]; }),
                      "a subscript of 2 axes for a tile of shape [4]: it has 1; newaxis adds one");
  EXPECT_KERNEL_ERROR(line + 4, kernel_error([](tl::i32 n) { (void)n[{colon}]; }), "a subscript of 1 axes for a tile of shape []");
  front::trace_kernel(kernel("fine", [](tl::i32 n) {
    auto x = tl::arange(0, 4);
    EXPECT_EQ((x[{colon, newaxis}].shape()), (Dims{4, 1}));
    EXPECT_EQ((x[{newaxis, newaxis}].shape()), (Dims{1, 1, 4}));
    EXPECT_EQ((n[{newaxis}].shape()), (Dims{1}));
  }), {});
}

TEST(KernelErrors, CombineFunctionsComputeOnScalarsOnly) {
  int line = 0;
  auto stored = [&](tl::Ptr<int> x) {
    auto v = tl::arange(0, 4);
    line = __LINE__ + 1;
    (void)tl::reduce(v, 0, [&](auto a, auto b) {
      tl::store(x, a);
      return a + b;
    });
  };
  std::string text = kernel_error(stored);
  EXPECT_KERNEL_ERROR(line, text,
                      "reduce: its combine function holds `store` (line " + std::to_string(line + 1) +
                          "), but may only compute on scalars: do this before or after the reduce");
  EXPECT_HAS(kernel_error([](tl::Ptr<int> x) {
               (void)tl::associative_scan(tl::arange(0, 4), 0, [&](auto a, auto b) { return a + b + tl::load(x); });
             }), "associative_scan: its combine function holds `load`");
  EXPECT_HAS(kernel_error([](tl::Ptr<int> x) {
               (void)tl::reduce(tl::arange(0, 4), 0, [&](auto a, auto b) {
                 tl::if_(a > b, [&] { tl::atomic_add(x, a); });
                 return a + b;
               });
             }), "reduce: its combine function holds `atomic_add`");
  EXPECT_HAS(kernel_error([](tl::Ptr<int>) {
               (void)tl::reduce(tl::arange(0, 4), 0, [&](auto a, auto b) { return a + tl::sum(tl::arange(0, 2) + b); });
             }), "reduce: its combine function holds `");
}

Value endless(const Value& x, int level = 0) { Value same = x + 1; return level < 0 ? same : endless(x, level + 1) * 2; }
void nested(const Value& n, int depth) {
  if (depth > 0) tl::if_(n > depth, [&] { nested(n, depth - 1); });
}

TEST(KernelErrors, RecursionAndNestingHaveAnEnd) {
  EXPECT_KERNEL_ERROR(__LINE__ - 6, kernel_error([](tl::i32 n) { endless(n); }),
                      "the stack is nearly used up: a function of the body calls itself without end");
  EXPECT_KERNEL_ERROR(__LINE__ - 6, kernel_error([](tl::i32 n) { nested(n, 5000); }),
                      "bodies (of if_, range, while_, reduce) and return_if nest more than 200 deep");
  EXPECT_HAS(kernel_error([](tl::i32 n) {
               for (int k = 0; k < 5000; ++k) tl::return_if(n > k);
             }), "there are more than 200 return_if: join their conditions with |");
  front::trace_kernel(kernel("fine", [](tl::i32 n) { nested(n, 150); }), {});
  EXPECT_HAS(error_of([] { pointwise("endless", [](auto x) { return endless(Value(x)); })(st::zeros({2})); }),
             "operator endless (");
}

TEST(KernelErrors, NullFunctions) {
  void (*none)(tl::Ptr<float>) = nullptr;
  EXPECT_EQ(error_of([&] { kernel("nothing", none); }), "kernel nothing: its body is a null pointer, expected a function");
  EXPECT_EQ(error_of([&] { kernel("nothing", std::function<void(tl::i32)>()); }),
            "kernel nothing: its body is a null pointer, expected a function");
}

TEST(KernelErrors, PlaceInsideABodyIsThatOfTheInnerOperation) {
  int line = 0;
  std::string text = kernel_error([&line](tl::i32 n) {
    (void)tl::range(0, n, 1, n, [&](auto i, auto) {
      line = __LINE__ + 1;
      return st::exp(i);
    });
  });
  EXPECT_KERNEL_ERROR(line, text, "expected floats");
}

}  // namespace
}  // namespace strider::test
