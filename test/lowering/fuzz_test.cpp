// SPDX-License-Identifier: Apache-2.0
// Random programs through every engine. A failure prints its seed and the program.
//
//   STRIDER_FUZZ_SEED=123 STRIDER_FUZZ_SECONDS=60 strider_tests --gtest_filter=Fuzz.*
// starts with that seed and goes on with the following ones for that long.
#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lowering/random_program.h"
#include "lowering/runner.h"
#include "pass/decompose.h"
#include "pass/simplify.h"

namespace strider::lowering {
namespace {

double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}

std::string check_everywhere(const Kernel& k, uint64_t seed) {
  Expected expected = expect(k);
  std::string problems = interp::to_string(expected.outcome.reports);
  auto add = [&](const char* engine, const std::string& found) {
    if (!found.empty()) problems += std::string(engine) + ":\n" + found;
  };
  constexpr int kThreads[] = {1, 4, 32, 128};
  constexpr const char* kNames[] = {"1 thread", "4 threads", "32 threads", "128 threads"};
  for (uint64_t t : {seed % 4, (seed + 2) % 4}) add(kNames[t], check_lanes(k, expected, kThreads[t]));
  add("cpu", check_device(k, expected, "cpu"));
  if (has_cuda()) add("cuda", check_device(k, expected, "cuda"));
  return problems;
}

void check_seed(uint64_t seed) {
  Kernel k = random_kernel(seed);
  ir::verify(k.program, ir::Form::Tile);
  std::string problems;
  try {
    problems = check_everywhere(k, seed);
  } catch (const std::exception& error) {
    problems = error.what();
  }
  EXPECT_EQ(problems, "") << "STRIDER_FUZZ_SEED=" << seed << "\n" << ir::print(k.program);
}

TEST(Fuzz, RandomProgramsGiveOneAnswer) {
  using Clock = std::chrono::steady_clock;
  auto first = static_cast<uint64_t>(setting("STRIDER_FUZZ_SEED", 1)), seed = first;
  auto end = Clock::now() + std::chrono::duration<double>(setting("STRIDER_FUZZ_SECONDS", 10));
  do check_seed(seed++);
  while (Clock::now() < end && !HasFailure());
  std::cout << "seeds " << first << " to " << seed - 1 << "\n";
}

TEST(Fuzz, ASeedGivesOneProgram) {
  EXPECT_EQ(ir::print(random_kernel(5).program), ir::print(random_kernel(5).program));
  EXPECT_NE(ir::print(random_kernel(5).program), ir::print(random_kernel(6).program));
}

TEST(Fuzz, RandomProgramsNeitherRaceNorLeaveTheirBuffers) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Kernel k = random_kernel(seed);
    ir::verify(k.program, ir::Form::Tile);
    EXPECT_EQ(interp::to_string(run_tiles(k, k.program).reports), "") << seed;
    EXPECT_EQ(interp::to_string(expect(k).outcome.reports), "") << seed;
    if (HasFailure()) return;
  }
}

bool calls_functions(const ir::Function& f) {
  for (uint32_t id = 0; id < f.size(); ++id)
    if (has(f[ir::Value{id}].op, ir::Approx)) return true;
  return false;
}

/// Unlike contract, and the expansions of functions, these passes keep every bit.
TEST(Fuzz, SimplifyAndDecomposeKeepWhatRandomProgramsStore) {
  for (uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    Kernel k = random_kernel(seed);
    std::vector<Image> wanted = run_tiles(k, k.program).images;
    EXPECT_EQ(differences(k, wanted, run_tiles(k, pass::simplify(k.program)).images), "") << seed;
    if (calls_functions(k.program)) continue;
    EXPECT_EQ(differences(k, wanted, run_tiles(k, pass::decompose(k.program)).images), "") << seed;
  }
}

TEST(Fuzz, RandomProgramsArePrintedAndParsedBack) {
  for (uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    std::string text = ir::print(random_kernel(seed).program);
    EXPECT_EQ(ir::print(ir::parse(text)), text) << seed;
  }
}

}  // namespace
}  // namespace strider::lowering
