// SPDX-License-Identifier: Apache-2.0
// Every kernel of the suite on every engine: one test each, named after both.
#include <map>

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "lowering/runner.h"
#include "pass/pipeline.h"
#include "support/ptxas.h"

namespace strider::lowering {
namespace {

/// Computed once for each kernel of the suite.
const Expected& expected(const Kernel& kernel) {
  static std::map<const Kernel*, Expected> all;
  auto known = all.find(&kernel);
  if (known == all.end()) known = all.emplace(&kernel, expect(kernel)).first;
  return known->second;
}

// --- engines

void check_as_written(const Kernel& k) {
  ir::verify(k.program, ir::Form::Tile);
  Outcome outcome = run_tiles(k, k.program);
  EXPECT_EQ(interp::to_string(outcome.reports), "");
  EXPECT_EQ(differences_from_reference(k, outcome.images), "");
}

void check_prepared(const Kernel& k) {
  EXPECT_EQ(interp::to_string(expected(k).outcome.reports), "");
  EXPECT_EQ(differences_from_reference(k, expected(k).outcome.images), "");
}

template <int threads>
void check_threads(const Kernel& k) {
  EXPECT_EQ(check_lanes(k, expected(k), threads), "");
}

/// Code for a quick first call: single lanes, bodies that are not split, loops instead of repetition.
void check_quick(const Kernel& k) {
  Target target = quick_target(lane_target());
  for (int threads : {32, 256}) EXPECT_EQ(check_lanes(k, expected(k), threads, &target), "") << threads;
}

void check_quick_cuda(const Kernel& k) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA device opens here";
  Target target = quick_target(device_named("cuda").target());
  EXPECT_EQ(check_device(k, expected(k), "cuda", &target), "");
}

void check_cpu(const Kernel& k) { EXPECT_EQ(check_device(k, expected(k), "cpu"), ""); }

/// The oldest processors: short vectors, no fused multiply-add, no masked accesses.
void check_old_cpu(const Kernel& k) {
  Target target = target_named("cpu:x86-64");
  EXPECT_EQ(check_device(k, expected(k), "cpu", &target), "");
}

void check_cuda(const Kernel& k) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA device opens here";
  EXPECT_EQ(check_device(k, expected(k), "cuda"), "");
}

void check_ptx(const Kernel& k, const std::string& processor) {
  Target target = target_named("cuda:" + processor);
  ir::Function lanes = pass::lower(expected(k).prepared, target);
  Binary binary = compiler_for(target).compile(lanes, target);
  if (!support::has_ptxas()) GTEST_SKIP() << "ptxas is not installed; the PTX was compiled only";
  EXPECT_EQ(support::assemble({std::string(binary.code.begin(), binary.code.end())}, processor), "");
}

struct Engine {
  const char* name;
  void (*check)(const Kernel&);
};

void PrintTo(const Engine& engine, std::ostream* out) { *out << engine.name; }

const Engine kEngines[] = {
    {"as_written", check_as_written},
    {"prepared", check_prepared},
    {"1_thread", check_threads<1>},
    {"4_threads", check_threads<4>},
    {"32_threads", check_threads<32>},
    {"128_threads", check_threads<128>},
    {"quick", check_quick},
    {"cpu", check_cpu},
    {"old_cpu", check_old_cpu},
    {"cuda", check_cuda},
    {"quick_cuda", check_quick_cuda},
    {"sm_70", [](const Kernel& k) { check_ptx(k, "sm_70"); }},
    {"sm_80", [](const Kernel& k) { check_ptx(k, "sm_80"); }},
    {"sm_90", [](const Kernel& k) { check_ptx(k, "sm_90"); }},
};

// --- the table

using Case = std::tuple<size_t, Engine>;

std::vector<size_t> indices() {
  std::vector<size_t> all(kernels().size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = k;
  return all;
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return kernels()[std::get<0>(info.param)].name + "__" + std::get<1>(info.param).name;
}

class Lowering : public ::testing::TestWithParam<Case> {};

TEST_P(Lowering, GivesTheAnswer) {
  const auto& [kernel, engine] = GetParam();
  engine.check(kernels()[kernel]);
}

INSTANTIATE_TEST_SUITE_P(Suite, Lowering, ::testing::Combine(::testing::ValuesIn(indices()), ::testing::ValuesIn(kEngines)), name_of_case);

}  // namespace
}  // namespace strider::lowering
