// SPDX-License-Identifier: Apache-2.0
// autotune: what it times and chooses, what it leaves behind in tensors and on disk.
#include <strider/testing/autotune.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <thread>

#include <strider/kernels/l1_norm.h>
#include "support/cache_folder.h"
#include "support/errors.h"
#include "testing/timing.h"

#include <strider/strider.h>

namespace strider {
namespace {

using strider::testing::autotune;
using strider::testing::Autotuned;
using strider::testing::TuneArguments;
using strider::testing::TuneConfig;
using strider::testing::TuneOptions;
using strider::testing::TuneResult;
using support::error_of;

/// Adds `step` to every element of x; programs of a block of 1 are many and slow.
Kernel add_to_all() {
  return kernel("add_to_all", [](tl::Ptr<float> x, tl::f32 step, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = tl::program_id(0).to(i64) * block + tl::arange(0, block);
    tl::store(x + i, tl::load(x + i, i < n) + step, i < n);
  }, {{"x", "step", "n"}});
}

LaunchGrid blocks_of(int64_t n) {
  return LaunchGrid([n](const LaunchConstants& c) { return cdiv(n, c["BLOCK"]); });
}

TuneOptions options(std::vector<TuneConfig> configs) {
  return {.configs = std::move(configs), .key = {"n"}, .warm_up = 0, .repeat = 1, .keep = false};
}

class Autotune : public ::testing::Test {
 protected:
  test::CacheFolder folder_;
};

TEST_F(Autotune, ChoosesTheFastest) {
  Tensor x = zeros({1 << 15});
  Autotuned tuned = autotune(add_to_all(), options({{{"BLOCK", 1}}, {{"BLOCK", 1024}}}));
  tuned[blocks_of(1 << 15)](x, 1.0, 1 << 15);
  ASSERT_EQ(tuned.results().size(), 1u);
  TuneResult r = tuned.results()[0];
  EXPECT_EQ(r.key, "cpu, n 32768, x f32");
  ASSERT_EQ(r.rows.size(), 2u);
  EXPECT_LE(r.rows[0].median, r.rows[1].median);  // which one that is, the machine's load may decide
  EXPECT_EQ(r.best().text(), r.rows[0].config.text());
  EXPECT_NE(tuned.table().find("+-  of best"), std::string::npos) << tuned.table();
  EXPECT_NE(tuned.table().find("chosen"), std::string::npos);
}

TEST_F(Autotune, TheSumIsRightAfterTuning) {
  Tensor x = full({1000}, -2.0f), out = full({1}, 5.0f);
  TuneOptions o = options({{{"BLOCK", 256}}, {{"BLOCK", 512}}, {{"BLOCK", 1024}}});
  o.reset_to_zero = {"out"};
  Autotuned tuned = autotune(kernels::l1_norm(), o);
  tuned[blocks_of(1000)](x, out, 1000);
  EXPECT_EQ(out.item(), 2000) << "zeroed, then added to once";
  tuned[blocks_of(1000)](x, out, 1000);
  EXPECT_EQ(out.item(), 4000) << "known now: a plain launch";
}

TEST_F(Autotune, WithoutAResetTheSumIsWrong) {
  Tensor x = full({1000}, -2.0f), out = zeros({1});
  Autotuned tuned = autotune(kernels::l1_norm(), options({{{"BLOCK", 256}}, {{"BLOCK", 512}}}));
  tuned[blocks_of(1000)](x, out, 1000);
  EXPECT_GT(out.item(), 2000);
}

TEST_F(Autotune, WhatIsOverwrittenIsPutBack) {
  std::vector<float> values(100);
  std::iota(values.begin(), values.end(), 0.0f);
  Tensor x = tensor(values);
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 64}}});
  o.restore = {"x"};
  autotune(add_to_all(), o)[blocks_of(100)](x, 1.0, 100);
  for (float& v : values) v += 1;
  EXPECT_EQ(x.to_vector<float>(), values);
}

TEST_F(Autotune, EachKeyIsTunedOnce) {
  Tensor x = zeros({200});
  int models = 0;
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 64}}, {{"BLOCK", 128}}});
  o.top_k = 1;
  o.model = [&](const TuneConfig& c, const TuneArguments& a) {
    ++models;
    return std::abs(static_cast<double>(c["BLOCK"] - a["n"]));
  };
  Autotuned tuned = autotune(add_to_all(), o);
  for (int64_t n : {64, 100, 64, 100}) tuned[blocks_of(n)](x, 1.0, n);
  EXPECT_EQ(models, 6);
  ASSERT_EQ(tuned.results().size(), 2u);
  EXPECT_EQ(tuned.results()[0].best()["BLOCK"], 128) << "n 100 comes first";
  EXPECT_EQ(tuned.results()[1].best()["BLOCK"], 64);
  EXPECT_EQ(tuned.results()[1].left_out, 2);
  EXPECT_EQ(tuned.results()[1].rows.size(), 1u);
}

TEST_F(Autotune, PrunesByTheArguments) {
  Tensor x = zeros({50});
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 4096}}});
  o.prune = [](const std::vector<TuneConfig>& all, const TuneArguments& a) {
    EXPECT_EQ(a.tensor("x").elements(), 50);
    std::vector<TuneConfig> kept;
    for (const TuneConfig& c : all)
      if (c["BLOCK"] <= a["n"]) kept.push_back(c);
    return kept;
  };
  Autotuned tuned = autotune(add_to_all(), o);
  EXPECT_EQ(tuned[blocks_of(50)].tune(x, 1.0, 50).best()["BLOCK"], 16);
  EXPECT_EQ(x.to_doubles()[0] > 0, true);
  EXPECT_NE(error_of([&] { tuned[blocks_of(3)](x, 1.0, 3); }).find("pruning left no configuration of 2"), std::string::npos);
}

TEST_F(Autotune, PruneMayGiveKnownConstantsOnly) {
  Tensor x = zeros({50});
  auto pruned_to = [&](TuneConfig config) {
    TuneOptions o = options({{{"BLOCK", 16}}});
    o.prune = [config](const auto&, const auto&) { return std::vector<TuneConfig>{config}; };
    return error_of([&] { autotune(add_to_all(), o)[blocks_of(50)](x, 1.0, 50); });
  };
  EXPECT_NE(pruned_to({}).find("prune gives the configuration without constants, which sets other constants than BLOCK 16"),
            std::string::npos) << pruned_to({});
  EXPECT_NE(pruned_to({{"ROWS", 2}}).find("ROWS"), std::string::npos) << pruned_to({{"ROWS", 2}});
  EXPECT_NE(pruned_to({{"BLOCK", 2}, {"ROWS", 2}}).find("ROWS"), std::string::npos);
  EXPECT_EQ(x.to_doubles(), std::vector<double>(50, 0.0)) << "nothing ran";
}

/// Sums x into out; a block of 128 forgets an element.
Kernel forgetful_sum() {
  return kernel("forgetful", [](tl::Ptr<float> x, tl::Ptr<float> out, tl::i64 n, tl::Const<"BLOCK"> block) {
    auto i = tl::program_id(0).to(i64) * block + tl::arange(0, block);
    auto limit = n - (block == 128 ? 1 : 0);
    tl::atomic_add(out, tl::sum(tl::load(x + i, i < limit), 0));
  }, {{"x", "out", "n"}});
}

TEST_F(Autotune, AConfigurationThatComputesSomethingElseIsNotChosen) {
  Tensor x = full({1000}, 0.1f), out = zeros({1});
  TuneOptions o = options({{{"BLOCK", 128}}, {{"BLOCK", 256}}, {{"BLOCK", 512}}});
  o.reset_to_zero = {"out"};
  Autotuned tuned = autotune(forgetful_sum(), o);
  TuneResult r = tuned[blocks_of(1000)].tune(x, out, 1000);
  EXPECT_NE(r.best()["BLOCK"], 128);
  ASSERT_EQ(r.rows.size(), 3u);
  EXPECT_EQ(r.rows[2].config["BLOCK"], 128);
  EXPECT_NE(r.rows[2].error.find("it computes something else than BLOCK 256: out: 1 of 1"), std::string::npos) << r.rows[2].error;
  EXPECT_EQ(r.rows[0].error + r.rows[1].error, "") << "sums in another order are alike";
  o.scratch = {"out"};
  EXPECT_EQ(autotune(forgetful_sum(), o)[blocks_of(1000)].tune(x, out, 1000).rows[2].error, "");
}

TEST_F(Autotune, TheFirstRunsBeginAlike) {
  Tensor x = zeros({100});
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 64}}});  // each adds to x: without a common beginning they would differ
  TuneResult r = autotune(add_to_all(), o)[blocks_of(100)].tune(x, 1.0, 100);
  EXPECT_EQ(r.rows[0].error + r.rows[1].error, "");
}

// --- races, by times that are made up

using strider::testing::Race;
using strider::testing::Times;

/// Samples around a time, alike in every run.
Times around(double time, double noise, int count, int& seed) {
  Times t;
  for (int k = 0; k < count; ++k) t.samples.push_back(time * (1 + noise * ((seed++ * 7919 % 101) / 50.0 - 1)));
  return t;
}

/// A race of calls that take these times, measured with noise; counts the rounds.
Race raced(const std::vector<double>& times, double noise, int* rounds) {
  int seed = 1;
  return strider::testing::race(times.size(), [&](std::span<const size_t> open) {
    ++*rounds;
    std::vector<Times> samples;
    for (size_t k : open) samples.push_back(around(times[k], noise, 9, seed));
    return samples;
  }, 6);
}

TEST(Race, ClearOrderTakesOneRound) {
  int rounds = 0;
  Race r = raced({3, 1, 2}, 0.01, &rounds);
  EXPECT_EQ(r.best, 1u);
  EXPECT_TRUE(r.is_certain);
  EXPECT_EQ(rounds, 1);
}

TEST(Race, NoiseTakesMoreAndIsSaid) {
  int rounds = 0;
  Race r = raced({1, 1.001, 5}, 0.5, &rounds);
  EXPECT_NE(r.best, 2u);
  EXPECT_GT(rounds, 1);
  EXPECT_LT(r.times[2].samples.size(), r.times[r.best].samples.size()) << "what is out of the race is not timed again";
  EXPECT_TRUE(r.is_certain || rounds == 6);
}

TEST(Race, EqualCallsWithoutNoiseAreCertain) {
  int rounds = 0;
  EXPECT_TRUE(raced({1, 1}, 0.001, &rounds).is_certain) << "neither is faster by what matters";
  EXPECT_EQ(rounds, 1);
}

TEST_F(Autotune, AConfigurationThatFailsIsShown) {
  Tensor x = zeros({100});
  Autotuned tuned = autotune(add_to_all(), options({{{"BLOCK", 1 << 30}}, {{"BLOCK", 64}}}));
  tuned[blocks_of(100)](x, 1.0, 100);
  TuneResult r = tuned.results()[0];
  EXPECT_EQ(r.best()["BLOCK"], 64);
  ASSERT_EQ(r.rows.size(), 2u);
  EXPECT_NE(r.rows[1].error.find("add_to_all"), std::string::npos);
  EXPECT_NE(tuned.table().find(r.rows[1].error), std::string::npos);
}

TEST_F(Autotune, IfAllFailThatIsAnError) {
  Tensor x = zeros({100});
  TuneOptions o = options({{{"BLOCK", 1 << 30}}, {{"BLOCK", 1 << 29}}});
  o.restore = {"x"};
  std::string message = error_of([&] { autotune(add_to_all(), o)[blocks_of(100)](x, 1.0, 100); });
  EXPECT_NE(message.find("kernel add_to_all: none of 2 configurations runs"), std::string::npos) << message;
}

/// Functions of the user's may ask for results; to tune what is being tuned is an error.
TEST_F(Autotune, CallbacksMayAskForResults) {
  Tensor x = zeros({100});
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 64}}});
  Autotuned* own = nullptr;
  size_t known = 99;
  std::string error;
  o.prune = [&](const std::vector<TuneConfig>& all, const TuneArguments&) {
    known = own->results().size();
    own->table();
    error = error_of([&] { (*own)[blocks_of(100)](x, 1.0, 100); });
    return all;
  };
  Autotuned tuned = autotune(add_to_all(), o);
  own = &tuned;
  tuned[blocks_of(100)](x, 1.0, 100);
  EXPECT_EQ(known, 0u);
  EXPECT_NE(error.find("it is being tuned, and a function of its own calls it"), std::string::npos) << error;
  EXPECT_EQ(tuned.results().size(), 1u);
}

// --- on disk

TuneOptions kept() {
  TuneOptions o = options({{{"BLOCK", 16}}, {{"BLOCK", 64}}});
  o.keep = true;
  return o;
}

TuneResult tune_kept(const TuneOptions& o = kept()) {
  Tensor x = zeros({100});
  return autotune(add_to_all(), o)[blocks_of(100)].tune(x, 1.0, 100);
}

std::filesystem::path note_in(const test::CacheFolder& folder) {
  for (const auto& file : folder.files())
    if (file.extension() == ".note") return file;
  ADD_FAILURE() << "there is no file of results";
  return {};
}

TEST_F(Autotune, ResultsAreFoundAgain) {
  TuneResult first = tune_kept(), second = tune_kept();
  EXPECT_FALSE(first.from_disk);
  EXPECT_TRUE(second.from_disk);
  EXPECT_EQ(second.best(), first.best());
  EXPECT_EQ(second.rows[1].median, first.rows[1].median);
  TuneOptions other = kept();
  other.configs = {{{"BLOCK", 16}}, {{"BLOCK", 32}}};
  EXPECT_FALSE(tune_kept(other).from_disk) << "other configurations are another question";
}

TEST_F(Autotune, DamagedAndForeignFilesAreRewritten) {
  tune_kept();
  std::filesystem::path note = note_in(folder_);
  for (const char* content :
       {"", "{\"strider_tuning\": 1", "[]", "{\"strider_tuning\": 1, \"kernel\": \"other\", \"key\": \"\"}",
        "{\"strider_tuning\": 1, \"kernel\": \"add_to_all\", \"key\": \"cpu, n 100, x f32\", \"left_out\": 0, "
        "\"rows\": [{\"constants\": [[\"BLOCK\", 7]], \"ms\": 1, \"low\": 1, \"high\": 1, \"error\": \"\"}]}"}) {
    std::ofstream(note) << "STRIDER1\n" << content;
    EXPECT_FALSE(tune_kept().from_disk) << content;
    EXPECT_TRUE(tune_kept().from_disk) << content;
  }
}

TEST_F(Autotune, KeepsNothingIfToldSo) {
  TuneOptions o = kept();
  o.keep = false;
  tune_kept(o);
  EXPECT_FALSE(tune_kept(o).from_disk);
  test::Environment off("STRIDER_CACHE", "0");
  tune_kept();
  EXPECT_FALSE(tune_kept().from_disk);
}

TEST_F(Autotune, ManyThreadsTuneOnce) {
  Autotuned tuned = autotune(add_to_all(), options({{{"BLOCK", 16}}, {{"BLOCK", 64}}}));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] {
    Tensor x = zeros({100});
    for (int i = 0; i < 20; ++i) tuned[blocks_of(100)](x, 1.0, 100);
  });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(tuned.results().size(), 1u);
}

TEST_F(Autotune, ManyProcessesTuneAtTheSameTime) {
  tune_kept();  // so that children find the code, and threads need not be started before the fork
  std::filesystem::remove(note_in(folder_));
  std::vector<pid_t> children;
  for (int k = 0; k < 4; ++k) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(tune_kept().rows.size() == 2 ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(tune_kept().from_disk);
  for (const auto& file : folder_.files()) EXPECT_FALSE(file.filename().string().starts_with(".new-")) << file;
}

// --- mistakes

TEST_F(Autotune, SaysWhatIsWrong) {
  Tensor x = zeros({100});
  auto of = [&](auto change) {
    TuneOptions o = options({{{"BLOCK", 16}}});
    change(o);
    return error_of([&] { autotune(add_to_all(), o)[blocks_of(100)](x, 1.0, 100); });
  };
  EXPECT_EQ(of([](auto&) {}), "");
  EXPECT_NE(of([](auto& o) { o.configs.clear(); }).find("kernel add_to_all: there are no configurations"), std::string::npos);
  EXPECT_NE(of([](auto& o) { o.configs = {{{"TILE", 16}}}; }).find("TILE"), std::string::npos);
  EXPECT_NE(of([](auto& o) { o.configs.push_back(TuneConfig{}); }).find("sets other constants than BLOCK 16"), std::string::npos);
  EXPECT_NE(of([](auto& o) { o.key = {"m"}; }).find("there is no parameter m; there are x, step, n, BLOCK"), std::string::npos);
  EXPECT_NE(of([](auto& o) { o.restore = {"n"}; }).find("n is no tensor"), std::string::npos);
  Autotuned tuned = autotune(add_to_all(), options({{{"BLOCK", 16}}}));
  tuned[blocks_of(100)](x, arg("n", 100), 1.0);
  EXPECT_NE(error_of([&] { tuned[blocks_of(100)](x, 1.0, arg("BLOCK", 3)); }).find("BLOCK is given twice, or is tuned"),
            std::string::npos);
  EXPECT_NE(error_of([&] { tuned[blocks_of(100)](x, 1.0); }).find("2 arguments given, expected 3"), std::string::npos);
}

}  // namespace
}  // namespace strider
