// SPDX-License-Identifier: Apache-2.0
// Every allocation fails in turn, cold and warm: each time there is an error of Strider's or the right result, nothing is lost, and
// the next try succeeds. Allocations below LLVM's functions are left out: it does not survive them (docs/layout.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>

#include <strider/dlpack.h>
#include <strider/error.h>
#include <strider/kernel.h>
#include <strider/memory.h>
#include <strider/npy.h>
#include <strider/pointwise.h>
#include <strider/stream.h>

#include "support/allocations.h"
#include "support/cache_folder.h"
#include "support/symbols.h"

namespace strider::test {
namespace {

struct Tries {
  int64_t failures = 0, reached = 0;
};

/// Lets the n-th allocation of `f` fail, for every n up to `all`, and then for ever fewer, the part 1 / `step`
/// further each time (with STRIDER_TEST_ALL set: for every n). `before` runs first, with all the memory
/// that it wants; `check` says whether the result is right.
Tries fail_each(const std::function<void()>& before, const std::function<void()>& f, const std::function<bool()>& check,
                int64_t all = INT64_MAX, int64_t step = 8) {
  Tries tries;
  if (std::getenv("STRIDER_TEST_ALL")) all = INT64_MAX;
  for (int64_t n = 1;; n += n < all ? 1 : n / step + 1) {
    before();
    const int64_t in_use = memory_stats().in_use;
    bool reached = false, failed = false, threw = false;
    {
      FailingAllocation failing(n);
      try {
        f();
      } catch (const Error& error) {
        threw = true;
        EXPECT_EQ(error.kind(), ErrorKind::Driver) << n << ": " << error.what();
        EXPECT_NE(std::strstr(error.what(), "memory"), nullptr) << n << ": " << error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << "allocation " << n << ": " << error.what();
        return tries;
      }
      reached = failing.was_reached();
      failed = failing.has_failed();
    }
    if (threw) {
      EXPECT_TRUE(failed) << n;
      before();
      EXPECT_EQ(memory_stats().in_use, in_use) << "allocation " << n;
      f();
    }
    EXPECT_TRUE(check()) << "allocation " << n;
    if (::testing::Test::HasFailure() || !reached) return tries;
    tries.failures += failed;
    ++tries.reached;
  }
}

auto made_operator() {
  return pointwise("axpy", [](auto a, auto x, auto y) { return a * x + y; });
}
using Made = decltype(made_operator());

auto made_kernel() {
  return kernel("shift", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Constexpr size) {
    auto i = tl::program_id(0) * size + tl::arange(0, size);
    tl::store(out + i, tl::load(x + i, i < n, 0.0f) + tl::sum(tl::load(x + i, i < n, 0.0f)), i < n);
  });
}

struct OutOfMemory : ::testing::Test {
  static constexpr int64_t kCount = 30000;  // more than the C library's part of memory
  Environment without_cache{"STRIDER_CACHE", "0"};
  Tensor x = full({kCount}, 3), y = zeros({kCount}), out = empty({kCount});
  std::optional<Tensor> result;

  void SetUp() override {
    if (!load_symbols()) GTEST_SKIP() << "a stripped program does not know which allocations are LLVM's";
  }
};

float last(const Tensor& t) { return static_cast<const float*>(t.data())[t.elements() - 1]; }

TEST_F(OutOfMemory, OperatorsCold) {
  std::optional<Made> op;
  Tries tries = fail_each([&] { op.emplace(made_operator()), result.reset(); }, [&] { result = (*op)(2.0, x, y); },
                          [&] { return result && last(*result) == 6; }, 40, 8);
  EXPECT_GT(tries.failures, 40);
}

TEST_F(OutOfMemory, OperatorsWarm) {
  Made op = made_operator();
  result = op(2.0, x, y);
  Tries tries = fail_each([&] { result.reset(), release_cache(); }, [&] { result = op(2.0, x, y); },
                          [&] { return result && last(*result) == 6; });
  EXPECT_GT(tries.failures, 0);
  fail_each([&] { result.reset(); }, [&] { result = op(2.0, x, y); }, [&] { return result && last(*result) == 6; });
}

TEST_F(OutOfMemory, OperatorsAreMade) {
  std::optional<Made> op;
  Tries tries = fail_each([&] { op.reset(); }, [&] { op.emplace(made_operator()); }, [&] { return op.has_value(); });
  EXPECT_GT(tries.failures, 0);
}

TEST_F(OutOfMemory, KernelsColdAndWarm) {
  std::optional<Kernel> k;
  auto launch = [&] { (*k)[cdiv(kCount, 64)](x, out, kCount, {{"size", 64}}); };
  auto is_right = [&] { return last(out) == 3 + 3 * (kCount % 64); };
  Tries cold = fail_each([&] { k.emplace(made_kernel()), out.copy_from(y); }, launch, is_right, 20, 4);
  EXPECT_GT(cold.failures, 20);
  fail_each([&] { out.copy_from(y); }, launch, is_right);
  auto prepare = [&] {
    PreparedCall call = (*k)[cdiv(kCount, 64)].prepare(x, out, kCount, 64);
    call();
  };
  Tries prepared = fail_each([&] { out.copy_from(y); }, prepare, is_right);
  EXPECT_GT(prepared.failures, 0);
}

TEST_F(OutOfMemory, TheDiskCacheColdAndWarm) {
  std::optional<CacheFolder> folder;
  std::optional<Made> op;
  auto call = [&] { result = (*op)(2.0, x, y); };
  auto is_right = [&] { return result && last(*result) == 6; };
  auto before = [&] { op.emplace(made_operator()), result.reset(); };
  Tries cold = fail_each([&] { folder.reset(), folder.emplace(), before(); }, call, is_right, 10, 4);
  EXPECT_GT(cold.failures, 10);
  Tries warm = fail_each(before, call, is_right, 40, 16);
  EXPECT_GT(warm.failures, 40);
}

TEST_F(OutOfMemory, Npy) {
  TempFolder folder;
  const std::string path = (folder.path() / "x.npy").string();
  Tensor t = x.reshape({2, kCount / 2}).t();
  auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), {}); };
  Tries saving = fail_each([] {}, [&] { save_npy(path, t); }, [&] { return files() == 1; });
  EXPECT_GT(saving.failures, 0);
  Tries loading = fail_each([&] { result.reset(); }, [&] { result = load_npy(path); },
                            [&] { return result && result->shape() == Dims{kCount / 2, 2} && last(*result) == 3; });
  EXPECT_GT(loading.failures, 0);
}

/// When it throws, nothing was taken.
Tensor taken(dlpack::DLManagedTensorVersioned* exported) {
  try {
    return from_dlpack(exported);
  } catch (const Error&) {
    exported->deleter(exported);
    throw;
  }
}

TEST_F(OutOfMemory, TensorsAndWhatBecomesOfThem) {
  auto all = [&] {
    Tensor t = full({100}, 2);
    Tensor half = t.to(f16), copy = zeros({30000});
    dlpack::DLManagedTensorVersioned* exported = to_dlpack(half);
    result = taken(exported).to(f32);
    StreamScope scope(Stream::make("cpu"));
    copy.copy_from(result->select(0, 3));
    if (last(copy) != 2) result.reset();
  };
  all();
  Tries tries = fail_each([&] { result.reset(); }, all, [&] { return result && last(*result) == 2; });
  EXPECT_GT(tries.failures, 4);
}

}  // namespace
}  // namespace strider::test
