// SPDX-License-Identifier: Apache-2.0
// Assignments in bodies: what cannot be carried is an error that names the body and the line, and what bodies say is said once.
// What they compute: test/lowering/control_kernels.cpp, on every engine.
#include <strider/strider.h>

#include <memory>

#include "front/run_kernel.h"

namespace st = strider;
namespace tl = strider::tl;

namespace strider::test {
namespace {

std::string assign_error(auto body) {
  return error_of([&] { front::trace_kernel(kernel("bad", body), {}); });
}

/// "kernel bad (.../assign_test.cpp:LINE): " and the words.
#define EXPECT_ASSIGN_ERROR(line, text, words)                            \
  do {                                                                    \
    const std::string found = text;                                       \
    EXPECT_HAS(found, "assign_test.cpp:" + std::to_string(line) + "): "); \
    EXPECT_HAS(found, words);                                             \
  } while (false)

TEST(Assignment, TypesStay) {
  int line = __LINE__;
  auto widened = [](tl::Ptr<float> x, tl::i32 n) {
    Value v = 0;
    tl::range(0, n, 1, [&] {
      v = v + tl::load(x);
    });
  };
  EXPECT_ASSIGN_ERROR(line + 4, assign_error(widened),
                      "the body of range (line " + std::to_string(line + 3) +
                          ") assigns a value from outside that is i32 before the loop and f32 after an iteration");
  EXPECT_HAS(assign_error([](tl::i32 n) {
               auto v = tl::zeros<int>({4});
               tl::while_([&] { return n > 0; }, [&] { v = tl::zeros<int>({8}), n -= 1; });
             }), "that is i32[4] before the loop and i32[8] after an iteration");
  EXPECT_HAS(assign_error([](tl::f32 x, tl::i32 n) { tl::range(0, n, 1, [&] { x = 0; }); }),
             "that is f32 before the loop and i32 after an iteration");
  EXPECT_HAS(assign_error([](tl::i32 n) {
               Value v = 0;
               tl::if_(n > 0, [&] { v = 0.5; });
             }), "that the bodies of if_ (line ");
  EXPECT_HAS(assign_error([](tl::Ptr<int> x, tl::i32 n) {
               auto p = x + tl::arange(0, 4);
               tl::Pointer q = x;
               tl::range(0, n, 1, [&] { q = p; });
             }), "that is *i32 before the loop and *i32[4] after an iteration");
}

TEST(Assignment, SomethingIsThereBefore) {
  EXPECT_HAS(assign_error([](tl::i32 n) {
               Value v;
               tl::range(0, n, 1, [&](auto i) { v = i; });
             }), "assigns a value from outside that has none before the loop: give it one first, or declare it in the body");
  EXPECT_HAS(assign_error([](tl::Ptr<int> x, tl::i32 n) {
               Value v;
               tl::if_(n > 2, [&] { v = n + 1; });
               tl::store(x, v);
             }), "that has none where the branch does not assign it");
}

TEST(Assignment, NotInConditionsAndCombineFunctions) {
  EXPECT_HAS(assign_error([](tl::i32 n) { tl::while_([&] { return n -= 1, n > 0; }, [&] { n -= 1; }); }),
             "the condition of while_ assigns a value from outside");
  EXPECT_HAS(assign_error([](tl::i32 n) {
               (void)tl::reduce(tl::arange(0, 4), 0, [&](auto a, auto b) { return n += 1, a + b; });
             }), "the combine function of reduce assigns a value from outside");
  EXPECT_HAS(assign_error([](tl::i32 n) {
               (void)tl::associative_scan(tl::arange(0, 4), 0, [&](auto a, auto b) {
                 tl::if_(a > b, [&] { n += 1; });
                 return a + b;
               });
             }), "the combine function of associative_scan assigns a value from outside");
  front::trace_kernel(kernel("fine", [](tl::Ptr<int>) {
    (void)tl::reduce(tl::arange(0, 4), 0, [&](auto a, auto b) {
      Value c = a;
      c += b;
      tl::if_(a > b, [&] { c -= 1; });
      return c;
    });
  }), {});
}

/// A C++ variable that decides what a body writes: as a literal, a size, an axis, by how much is written, and by what is assigned.
TEST(Assignment, TracesThatDiffer) {
  const char* words = "when it is traced again: bodies are traced more than once, so a C++ variable";
  auto loop = [](auto body) {
    return [body](tl::Ptr<int> x, tl::i32 n) {
      Value v = 0, w = 0;
      int k = 0;
      tl::range(0, n, 1, [&] {
        v += 1;
        body(x, v, w, k);
      });
    };
  };
  EXPECT_HAS(assign_error(loop([](auto& x, auto&, auto&, int& k) { tl::store(x + k++, 1); })), words);
  EXPECT_HAS(assign_error(loop([](auto& x, auto&, auto&, int& k) { k += 4, tl::store(x + tl::arange(k, k + 4), 1); })), words);
  EXPECT_HAS(assign_error(loop([](auto& x, auto&, auto&, int& k) {
               if (k++ == 0) tl::store(x, 1);
             })), words);
  EXPECT_HAS(assign_error(loop([](auto&, auto&, auto& w, int& k) {
               if (k++ == 0) w += 1;
             })), words);
  EXPECT_HAS(assign_error(loop([](auto&, auto&, auto& w, int& k) {
               if (k++ > 0) w += 1;
             })), words);
  EXPECT_HAS(assign_error(loop([](auto&, auto&, auto&, int& k) { tl::print("a" + std::to_string(k++)); })), words);
}

TEST(Assignment, ObjectsThatEndInABody) {
  EXPECT_HAS(assign_error([](tl::i32 n) {
               std::vector<Value> list{Value(0)};
               tl::range(0, n, 1, [&] {
                 list[0] += 1;
                 list.push_back(n);
                 list.shrink_to_fit();
                 list.resize(9);
               });
             }), "destroys a value from outside that it assigns");
  EXPECT_HAS(assign_error([](tl::i32 n) {
               auto v = std::make_unique<Value>(0);
               tl::if_(n > 0, [&] { *v += 1, v.reset(); });
             }), "destroys a value from outside that it assigns");
  EXPECT_HAS(assign_error([](tl::Ptr<int> x, tl::i32 n) {  // the first trace's value stays in the list
               std::vector<Value> list;
               list.reserve(8);
               Value v = 0;
               tl::range(0, n, 1, [&] {
                 v += 1;
                 list.push_back(v + n);
                 tl::store(x, list[0]);
               });
             }), "a value is used outside of the body");
}

/// Whether traced bodies appear once, and in a program that is as if written with carried values.
TEST(Assignment, SaysEverythingOnce) {
  auto natural = kernel("k", [](tl::Ptr<int> x, tl::i32 n) {
    Value v = 0;
    tl::range(0, n, 1, [&] {
      tl::compile_print("traced");
      tl::range(0, n, 1, [&] {
        v += 1;
        tl::print("v", v);
        tl::device_assert(v > 0, "positive");
        tl::tap("t", v);
      });
    });
    tl::store(x, v);
  });
  testing::internal::CaptureStdout();
  const std::string text = text_of(natural);
  const std::string said = testing::internal::GetCapturedStdout();
  auto count = [](const std::string& where, const std::string& what) {
    size_t found = 0;
    for (size_t at = where.find(what); at != std::string::npos; at = where.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(said, "traced"), 1u) << said;
  EXPECT_EQ(count(text, " for "), 2u) << text;
  EXPECT_EQ(count(text, "(records)"), 1u) << text;
}

TEST(Assignment, IsAsCarried) {
  auto natural = kernel("k", [](tl::Ptr<int> x, tl::i32 n) {
    auto acc = tl::zeros<int>({8});
    auto p = x;
    tl::range(0, n, 1, [&](auto i) {
      acc += tl::load(p + tl::arange(0, 8)) + i;
      p += 8;
    });
    tl::store(x + tl::arange(0, 8), acc);
  });
  auto carried = kernel("k", [](tl::Ptr<int> x, tl::i32 n) {
    auto [acc, p] = tl::range(0, n, 1, tl::zeros<int>({8}), x, [&](auto i, auto acc, auto p) {
      return std::tuple{acc + (tl::load(p + tl::arange(0, 8)) + i), p + 8};
    });
    tl::store(x + tl::arange(0, 8), acc);
  });
  EXPECT_EQ(text_of(natural), text_of(carried));
}

/// How often the innermost body runs grows by two for each level, and a body that assigns nothing runs once.
TEST(Assignment, NestingDoublesNothing) {
  auto runs = [](int depth, bool assigns) {
    int count = 0;
    front::trace_kernel(kernel("k", [&](tl::i32 n) {
      Value v = 0;
      std::function<void(int)> nest = [&](int left) {
        if (left == 0) {
          ++count;
          if (assigns) v += 1;
          return;
        }
        tl::range(0, n, 1, [&] { nest(left - 1); });
      };
      nest(depth);
    }), {});
    return count;
  };
  EXPECT_EQ(runs(6, false), 1);
  EXPECT_EQ(runs(1, true), 3);
  EXPECT_EQ(runs(2, true), 5);
  EXPECT_EQ(runs(8, true), 17);
}

TEST(Assignment, CaughtErrorsLeaveNothing) {
  auto k = kernel("k", [](tl::Ptr<int> x, tl::i32 n) {
    Value v = 1;
    try {
      tl::range(0, n, 1, [&] {
        v += 1;
        tl::store(x, v + tl::load(x));
        (void)tl::sqrt(n);
      });
    } catch (const Error&) {
    }
    tl::store(x, v);
  });
  std::vector<int> x{0};
  run(k, {}, {1, 1, 1}, x, 3);
  EXPECT_EQ(x[0], 1);
}

TEST(Assignment, Steps) {
  EXPECT_HAS(assign_error([](tl::i32 n) { tl::range(0, n, 0, [] {}); }), "range: the step is 0");
  EXPECT_HAS(assign_error([](tl::i32 n) { tl::range(0, n, tl::full<int>({}, 0), [] {}); }), "range: the step is 0");
  auto k = kernel("k", [](tl::Ptr<int> x, tl::i32 step) {
    Value v = 0;
    tl::range(0, 10, step, [&] { v += 1; });
    tl::store(x, v);
  });
  ir::Function f = front::trace_kernel(k, {}, {.log2_align = 2, .no_alias = false});
  std::vector<int> x{7};
  const uint64_t slots[] = {slot(x), slot(0)};
  EXPECT_HAS(interp::to_string(interp::interpret_tiles(f, {1, 1, 1}, slots)), "the step is 0, it must be above 0");
  EXPECT_EQ(x[0], 0);
  run(k, {}, {1, 1, 1}, x, 3);
  EXPECT_EQ(x[0], 4);
}

TEST(KernelNames, AreUnique) {
  auto named = [](std::vector<std::string> names) {
    return error_of([&] { kernel("k", [](tl::Ptr<int>, tl::Ptr<int>, tl::i32, tl::Constexpr) {}, {.names = names}); });
  };
  EXPECT_EQ(named({"x", "x", "n", "B"}), "kernel k: two parameters are called x");
  EXPECT_EQ(error_of([] { kernel("k", [](tl::Ptr<int>, tl::Const<"B">) {}, {.names = {"B"}}); }),
            "kernel k: two parameters are called B");
  EXPECT_HAS(named({"x", "y"}), "kernel k: 2 parameters are named, the function takes 4");
  EXPECT_HAS(named({"x", "y", "n", "B", "C"}), "kernel k: 5 parameters are named, the function takes 4");
  auto shifted = kernel("k", [](tl::Ptr<int> x, tl::Ptr<int> y) { tl::store(x, tl::load(y)); }, {.names = {"arg1", ""}});
  EXPECT_EQ(front::name_of(shifted.declaration(), 1), "arg1_");
}

}  // namespace
}  // namespace strider::test
