// SPDX-License-Identifier: Apache-2.0
// Compiled code on disk: found again, never mistaken, and never in the way when something is wrong with it.
#include "call/disk_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/parse.h"
#include "call/compile.h"
#include "codegen/llvm/codegen.h"
#include "support/cache_folder.h"
#include "support/paths.h"

#include <strider/strider.h>

namespace strider::test {
namespace {

namespace fs = std::filesystem;
namespace st = strider;

// --- keys and entries

ir::Function sample(const char* constant = "1.0", const char* name = "f", const char* parameter = "x") {
  return ir::parse(fmt::format(
      "kernel {}(%{}: *f32) {{\n"
      "  %0 = load %{} : f32\n  %1 = const {} : f32\n  %2 = add %0, %1 : f32\n  store %{}, %2\n}}\n",
      name, parameter, parameter, constant, parameter));
}

TEST(DiskKey, IsOfWhatDecidesTheCode) {
  Target cpu = host_target();
  DiskKey key = disk_key(sample(), cpu, "");
  EXPECT_EQ(key, disk_key(sample(), cpu, ""));
  EXPECT_EQ(key, disk_key(sample("1.0", "f", "other"), cpu, "")) << "a parameter's name";
  EXPECT_NE(key, disk_key(sample("2.0"), cpu, "")) << "a constant";
  EXPECT_NE(key, disk_key(sample("1.0", "g"), cpu, "")) << "the symbol's name";
  EXPECT_NE(key, disk_key(sample(), cpu, "12080")) << "the driver";
  EXPECT_EQ(key.name().size(), 32u);
}

TEST(DiskKey, PlacesInTheSourceMakeNoDifference) {
  auto key = [](int line) {
    ir::Builder b("f");
    ir::Value p = b.param(ir::Type::pointer(DType::F32), {.name = "x"});
    b.set_span({"file.cpp", line, 1});
    b.store(p, b.load(p));
    return disk_key(b.finish(), host_target(), "");
  };
  EXPECT_EQ(key(1), key(2));
}

/// Case G7: nothing that shapes code is left out.
TEST(DiskKey, EveryPropertyOfTheTargetCounts) {
  const std::function<void(Target&)> changes[] = {
      [](Target& t) { t.name += "x"; },           [](Target& t) { t.back_end += "x"; },
      [](Target& t) { t.kind = TargetKind::Gpu; }, [](Target& t) { t.output = Output::Source; },
      [](Target& t) { t.assembly += "x"; },       [](Target& t) { t.triple += "x"; },
      [](Target& t) { t.processor += "x"; },      [](Target& t) { t.features += "+x"; },
      [](Target& t) { t.level += 1; },            [](Target& t) { t.lose(ir::Op::Fma, f32); },
      [](Target& t) { t.lose(ir::Op::Fma, f64); }, [](Target& t) { t.tile_form ^= 1; },
      [](Target& t) { t.vector_bytes *= 2; },     [](Target& t) { t.interleave += 1; },
      [](Target& t) { t.unroll_slots += 1; },     [](Target& t) { t.aligned_bytes += 1; },
      [](Target& t) { t.masked_blocks ^= 1; },    [](Target& t) { t.deinterleaves ^= 1; },
      [](Target& t) { t.streaming_stores ^= 1; }, [](Target& t) { t.max_threads += 1; },
      [](Target& t) { t.warp += 1; },             [](Target& t) { t.scratch_limit += 1; },
      [](Target& t) { t.cache_bytes += 1; },      [](Target& t) { t.local_in_scratch ^= 1; },
      [](Target& t) { t.rereads ^= 1; },          [](Target& t) { t.grid_limit[1] -= 1; },
      [](Target& t) { t.argument_limit -= 1; },   [](Target& t) { t.argument_bytes -= 1; },
      [](Target& t) { t.in_tiers ^= 1; },         [](Target& t) { t.quick ^= 1; },
  };
  std::vector<std::string> names{disk_key(sample(), host_target(), "").name()};
  for (const auto& change : changes) {
    Target target = host_target();
    change(target);
    names.push_back(disk_key(sample(), target, "").name());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

/// The hash that stands for the sources stands for the compiler's flags too; a static LLVM is one of them.
TEST(DiskKey, BuildsWithOtherFlagsAreOtherBuilds) {
  EXPECT_TRUE(codegen::llvm_identity().starts_with(codegen::llvm_version()));
  if (std::system("cmake --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no cmake";
  TempFolder folder;
  auto build_id_with = [&](const std::string& flags) {
    const fs::path file = folder.path() / "id.cpp";
    const std::string command = fmt::format("cmake -DROOT={0} -DOUTPUT={1} '-DBUILT_WITH={2}' -P {0}/cmake/StriderBuildId.cmake",
                                            kSourceDir, file.string(), flags);
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  const std::string fast = build_id_with("GNU 12 -O2");
  EXPECT_NE(fast.find("build_id"), std::string::npos);
  EXPECT_EQ(build_id_with("GNU 12 -O2"), fast);
  EXPECT_NE(build_id_with("GNU 12 -O2 -fsanitize=address"), fast);
  EXPECT_NE(build_id_with("GNU 13 -O2"), fast);
}

/// Case G7 again, from the side of the planner: streaming stores and wide offsets.
TEST(DiskKey, PlansWithOtherOptionsHaveOtherKeys) {
  CacheFolder cache;
  auto op = st::pointwise("f", [](auto x) { return x + 1; });
  st::Tensor small = st::zeros({1 << 10}), large = st::zeros({1 << 23});
  st::reset_stats();
  op(small);
  op(large);
  EXPECT_EQ(st::stats().compiles, 2);
  EXPECT_EQ(st::stats().disk_hits, 0);
  EXPECT_EQ(cache.files().size(), 2u);
}

Binary sample_binary(size_t bytes = 1000) {
  Binary b{.target = "cpu", .entry = "strider_f", .code = std::vector<char>(bytes), .slots = {8, 4}, .threads = 3};
  for (size_t k = 0; k < bytes; ++k) b.code[k] = static_cast<char>(k * 37);
  b.scratch_bytes = 12345678901;
  b.is_quick = true;
  return b;
}

DiskKey number(int n) { return disk_key(sample(fmt::format("{}.0", n).c_str()), host_target(), ""); }

TEST(DiskCache, GivesBackWhatWasStored) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 1 << 20);
  ASSERT_EQ(cache.refusal(), "");
  EXPECT_FALSE(cache.find(number(1)));
  Binary b = sample_binary();
  cache.store(number(1), b);
  auto found = cache.find(number(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target, b.target);
  EXPECT_EQ(found->entry, b.entry);
  EXPECT_EQ(found->code, b.code);
  EXPECT_EQ(found->slots, b.slots);
  EXPECT_EQ(found->threads, b.threads);
  EXPECT_EQ(found->scratch_bytes, b.scratch_bytes);
  EXPECT_EQ(found->is_quick, b.is_quick);
  EXPECT_FALSE(cache.find(number(2)));
}

TEST(DiskCache, BelongsToTheUserAlone) {
  CacheFolder folder("a new/folder");
  DiskCache cache(folder.path(), 1 << 20);
  cache.store(number(1), sample_binary());
  struct stat s;
  ASSERT_EQ(::stat(folder.path().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0700u);
  EXPECT_EQ(s.st_uid, ::geteuid());
  ASSERT_EQ(folder.files().size(), 1u);
  ASSERT_EQ(::stat(folder.files()[0].c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0600u);
}

TEST(DiskCache, CountsAndClears) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 1 << 20);
  for (int k = 0; k < 5; ++k) cache.store(number(k), sample_binary());
  std::ofstream(folder.path() / "a file of the user's") << "kept";
  EXPECT_EQ(cache.contents().entries, 5);
  EXPECT_GT(cache.contents().bytes, 5000);
  EXPECT_EQ(cache.clear().entries, 5);
  EXPECT_EQ(cache.contents().entries, 0);
  EXPECT_FALSE(cache.find(number(1)));
  EXPECT_EQ(folder.files().size(), 1u);
}

void set_age(const fs::path& file, int seconds) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

TEST(DiskCache, WhatWasNotUsedForLongestGoesFirst) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 64 << 10);
  for (int k = 0; k < 10; ++k) {
    cache.store(number(k), sample_binary());
    set_age(folder.path() / number(k).name(), 1000 - k);
  }
  for (int k = 10; k < 70; ++k) {
    ASSERT_TRUE(cache.find(number(0)));  // in use
    cache.store(number(k), sample_binary());
  }
  EXPECT_LE(cache.contents().bytes, 64 << 10);
  EXPECT_GE(cache.contents().bytes, 32 << 10);
  EXPECT_TRUE(cache.find(number(0)));
  for (int k = 1; k < 10; ++k) EXPECT_FALSE(cache.find(number(k))) << k;
  EXPECT_TRUE(cache.find(number(69)));
  cache.store(number(100), sample_binary(100 << 10));
  EXPECT_FALSE(cache.find(number(100))) << "larger than the whole folder may be";
}

TEST(DiskCache, UnfinishedFilesOfTheDeadGo) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 4 << 10);
  fs::path old = folder.path() / ".strider-new-1-2-3", young = folder.path() / ".strider-new-4-5-6";
  fs::path empty = folder.path() / ".strider-new-7-8-9", foreign = folder.path() / ".strider-new-10";
  for (const fs::path& p : {old, young}) std::ofstream(p) << "STRID";
  std::ofstream(empty) << "";
  std::ofstream(foreign) << "half";
  for (const fs::path& p : {old, empty, foreign}) set_age(p, 3600);
  for (int k = 0; k < 5; ++k) cache.store(number(k), sample_binary());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(empty));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(foreign)) << "it does not begin as ours do";
}

/// Case L6.
TEST(DiskCache, FilesOfOthersStay) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 4 << 10);
  std::string digits = "0123456789abcdef0123456789abcdef";
  std::vector<fs::path> foreign;
  for (const std::string& name : {digits, digits + ".note", digits + ".json", std::string(".new-1-2-3")}) {
    foreign.push_back(folder.path() / name);
    std::ofstream(foreign.back()) << std::string(8 << 10, 'x');
    set_age(foreign.back(), 3600);
  }
  for (int k = 0; k < 40; ++k) cache.store(number(k), sample_binary(200));
  EXPECT_GT(cache.contents().entries, 0) << "they take no room from ours";
  cache.store_note(number(1), "text");
  EXPECT_EQ(cache.find_note(number(1)), "text");
  cache.clear();
  EXPECT_EQ(folder.files().size(), foreign.size());
  for (const fs::path& file : foreign) EXPECT_TRUE(fs::exists(file)) << file;
}

// --- folders that are not used

/// What a DiskCache of the folder says, without the path.
std::string refusal(const fs::path& folder) {
  DiskCache cache(folder, 1 << 20);
  cache.store(number(1), sample_binary());
  EXPECT_FALSE(cache.find(number(1)));
  EXPECT_EQ(cache.contents().entries, 0);
  std::string text = cache.refusal();
  if (size_t at = text.find(cache.folder()); at != std::string::npos) text.erase(at, cache.folder().size() + 1);
  return text;
}

TEST(DiskCacheRefuses, FoldersThatOthersCanWrite) {
  CacheFolder folder;
  for (mode_t mode : {0770, 0702}) {
    fs::create_directory(folder.path());
    ASSERT_EQ(::chmod(folder.path().c_str(), mode), 0);
    EXPECT_EQ(refusal(folder.path()), "the cache folder can be written by others (chmod 700)");
  }
}

TEST(DiskCacheRefuses, LinksAndFiles) {
  constexpr const char* kIsLink = "the cache folder cannot be opened: it is a symbolic link; name the folder that it points to";
  CacheFolder folder;
  fs::path parent = folder.path().parent_path();
  fs::create_directory(parent / "real");
  fs::create_directory_symlink(parent / "real", folder.path());
  EXPECT_EQ(refusal(folder.path()), kIsLink);
  EXPECT_EQ(refusal(folder.path() / ""), kIsLink) << "with a slash at the end";
  EXPECT_TRUE(fs::is_empty(parent / "real"));
  std::ofstream(parent / "file") << "text";
  EXPECT_EQ(refusal(parent / "file"), "the cache folder cannot be opened: Not a directory");
  EXPECT_EQ(refusal(parent / "file" / "inside"), "the cache folder cannot be opened: Not a directory");
}

TEST(DiskCacheRefuses, FoldersOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  CacheFolder folder;
  fs::create_directory(folder.path());
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(folder.path()), "the cache folder belongs to user 12345, not to this one");
}

// --- operators

auto plus(int n) {
  return st::pointwise("f", [n](auto x) { return x + n; });
}

/// What a new operator x + n gives for 40, and how the code was found: "compiled" or "loaded".
std::string outcome(int n) {
  st::reset_stats();
  double result = plus(n)(st::tensor<float>({40, 1})).to_doubles()[0];
  st::Stats s = st::stats();
  EXPECT_EQ(s.compiles + s.disk_hits, 1);
  return fmt::format("{} {}", s.compiles ? "compiled" : "loaded", result);
}

/// Case G8 within one process: nothing of the first operator is left but the file.
TEST(DiskCacheOfOperators, TheSecondOneIsLoaded) {
  CacheFolder cache;
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(outcome(2), "loaded 42");
  EXPECT_EQ(st::stats().disk_misses, 0);
  EXPECT_EQ(st::stats().bytes_read, static_cast<int64_t>(fs::file_size(cache.files()[0])));
  EXPECT_EQ(cache.files().size(), 1u);
}

TEST(DiskCacheOfOperators, SettingTurnsItOff) {
  CacheFolder cache;
  Environment off("STRIDER_CACHE", "0");
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(st::stats().disk_misses, 0);
  EXPECT_TRUE(cache.files().empty());
}

TEST(DiskCacheOfOperators, SizesWithoutAMeaningAreErrors) {
  CacheFolder cache;
  for (const char* size : {"", "abc", "-1", "0", "10MB", "99999999999999999999"}) {
    Environment limit("STRIDER_CACHE_SIZE", size);
    if (*size == '\0') EXPECT_EQ(outcome(3), "compiled 43");
    else EXPECT_THROW(plus(3)(st::tensor<float>({1})), Error) << size;
  }
}

/// Case G3: same name, other body.
TEST(DiskCacheOfOperators, NamesDoNotDecide) {
  CacheFolder cache;
  EXPECT_EQ(outcome(1), "compiled 41");
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(outcome(1), "loaded 41");
  EXPECT_EQ(outcome(2), "loaded 42");
}

/// Case G1: kernels that differ only in which operand is repeated.
TEST(DiskCacheOfOperators, RepeatedOperandsAreToldApart) {
  CacheFolder cache;
  for (int round = 0; round < 2; ++round) {
    auto first = st::pointwise("k", [](auto a, auto b, auto c) { return (a + b) * (a + c) - (a + c); });
    auto second = st::pointwise("k", [](auto a, auto b, auto c) { return (a + b) * (a + c) - (a + b); });
    st::Tensor a = st::tensor<float>({3}), b = st::tensor<float>({5}), c = st::tensor<float>({2});
    EXPECT_EQ(first(a, b, c).item(), 35);
    EXPECT_EQ(second(a, b, c).item(), 32);
    auto same = st::pointwise("k", [](auto x, auto y) { return x * y; });
    EXPECT_EQ(same(a, a).item(), 9);
    EXPECT_EQ(same(a, b).item(), 15);
  }
}

/// Case G2: the order of operands.
TEST(DiskCacheOfOperators, TheOrderOfOperandsCounts) {
  CacheFolder cache;
  st::Tensor c = st::tensor<float>({3}), d = st::tensor<float>({1});
  for (int round = 0; round < 2; ++round) {
    auto both = [&](auto f, double forwards, double backwards) {
      EXPECT_EQ(st::pointwise("k", [f](auto x, auto y) { return f(x, y); })(c, d).item(), forwards);
      EXPECT_EQ(st::pointwise("k", [f](auto x, auto y) { return f(y, x); })(c, d).item(), backwards);
    };
    both([](auto x, auto y) { return x - y; }, 2, -2);
    both([](auto x, auto y) { return x < y; }, 0, 1);
    both([](auto x, auto y) { return x / (y + 1); }, 1.5, 0.25);
    both([](auto x, auto y) { return st::floor(x / y); }, 3, 0);
  }
}

/// Case G5: a helper is edited, and the program runs again with the same folder.
TEST(DiskCacheOfOperators, EditedHelpersAreSeen) {
  CacheFolder cache;
  bool edited = false;
  auto helper = [&](auto x, auto y) { return edited ? x + y : x * y; };
  auto program = [&] {
    st::reset_stats();
    auto op = st::pointwise("op", [&](auto x, auto y) { return helper(x, y) - 1; });
    return op(st::tensor<float>({3}), st::tensor<float>({5})).item();
  };
  EXPECT_EQ(program(), 14);
  EXPECT_EQ(program(), 14);
  EXPECT_EQ(st::stats().compiles, 0);
  edited = true;
  EXPECT_EQ(program(), 7);
  EXPECT_EQ(st::stats().compiles, 1);
}

/// Case G6: the value 1 neither leaks nor forks.
TEST(DiskCacheOfOperators, ValuesOfScalarsCompileOnce) {
  CacheFolder cache;
  auto axpy = st::pointwise("axpy", [](auto s, auto x, auto y) { return s * x + y; });
  st::reset_stats();
  for (double s : {1.0, 5.0, 16.0, 17.0, 1.0})
    EXPECT_EQ(axpy(s, st::tensor<float>({2, 3}), st::tensor<float>({10, 20})).to_doubles(),
              (std::vector<double>{2 * s + 10, 3 * s + 20}));
  EXPECT_EQ(st::stats().compiles, 1);
}

/// Case G14: a failed compile leaves no trace.
TEST(DiskCacheOfOperators, FailuresLeaveNothing) {
  CacheFolder cache;
  bool broken = true;
  auto op = st::pointwise("f", [&](auto x) {
    if (broken) throw std::runtime_error("not today");
    return x + 2;
  });
  auto bad = st::kernel("bad", [](tl::Ptr<float> x) { tl::store(x + tl::arange(0, 4), tl::arange(0, 8)); });
  st::Tensor x = st::tensor<float>({40, 1});
  EXPECT_THROW(op(x), std::exception);
  EXPECT_THROW(bad[1](x), Error);
  EXPECT_TRUE(cache.files().empty());
  broken = false;
  EXPECT_EQ(op(x).to_doubles()[0], 42);
  EXPECT_EQ(cache.files().size(), 1u);
}

/// Tile kernels go the same way.
TEST(DiskCacheOfKernels, TheSecondOneIsLoaded) {
  CacheFolder cache;
  auto run = [](float factor) {
    auto k = st::kernel("scale", [factor](tl::Ptr<float> x, tl::i64 n, tl::Constexpr BLOCK) {
      auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
      tl::store(x + i, tl::load(x + i, i < n) * factor, i < n);
    });
    st::Tensor x = st::arange(100);
    st::reset_stats();
    k[2](x, 100, {{"BLOCK", 64}});
    EXPECT_EQ(x.to_doubles()[99], 99 * factor);
    return st::stats().compiles;
  };
  EXPECT_EQ(run(2), 1);
  EXPECT_EQ(run(2), 0);
  EXPECT_EQ(run(3), 1);
}

// --- damage (case G11)

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::trunc) << text; }

class DamagedEntry : public ::testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(outcome(2), "compiled 42");
    ASSERT_EQ(cache.files().size(), 1u);
    file = cache.files()[0];
  }
  /// It is compiled again, and then as good as new if `heals`.
  void expect_compiled(bool heals = true) {
    EXPECT_EQ(outcome(2), "compiled 42");
    EXPECT_EQ(outcome(2), heals ? "loaded 42" : "compiled 42");
  }
  CacheFolder cache;
  fs::path file;
};

TEST_F(DamagedEntry, Truncated) {
  size_t whole = text_of(file).size();
  for (size_t size : {size_t{0}, size_t{1}, size_t{47}, size_t{48}, whole / 2, whole - 1}) {
    fs::resize_file(file, size);
    expect_compiled();
  }
}

TEST_F(DamagedEntry, Longer) {
  write_text(file, text_of(file) + "x");
  expect_compiled();
}

TEST_F(DamagedEntry, AnyFlippedByte) {
  DiskCache here(cache.path(), 1 << 20);
  DiskKey key = number(1);
  here.store(key, sample_binary(100));
  fs::path path = cache.path() / key.name();
  std::string whole = text_of(path);
  for (size_t k = 0; k < whole.size(); ++k) {
    std::string text = whole;
    text[k] = static_cast<char>(text[k] ^ 1);
    write_text(path, text);
    EXPECT_FALSE(here.find(key)) << k;
  }
  write_text(path, whole);
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(here.find(key));
}

TEST_F(DamagedEntry, FilesOfTwoEntriesSwapped) {
  EXPECT_EQ(outcome(5), "compiled 45");
  auto files = cache.files();
  ASSERT_EQ(files.size(), 2u);
  fs::rename(files[0], cache.path() / "aside");
  fs::rename(files[1], files[0]);
  fs::rename(cache.path() / "aside", files[1]);
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(outcome(5), "compiled 45");
  EXPECT_EQ(outcome(2), "loaded 42");
  EXPECT_EQ(outcome(5), "loaded 45");
}

TEST_F(DamagedEntry, AnEmptyFolderInItsPlace) {
  fs::remove(file);
  fs::create_directory(file);
  expect_compiled();
}

TEST_F(DamagedEntry, AFullFolderInItsPlace) {
  fs::remove(file);
  fs::create_directory(file);
  write_text(file / "inside", "text");
  expect_compiled(false);
  EXPECT_EQ(cache.files().size(), 1u) << "no unfinished file is left";
}

TEST_F(DamagedEntry, ALinkInItsPlace) {
  fs::path elsewhere = cache.path().parent_path() / "elsewhere";
  fs::rename(file, elsewhere);
  std::string text = text_of(elsewhere);
  fs::create_symlink(elsewhere, file);
  expect_compiled();
  EXPECT_EQ(text_of(elsewhere), text);
  EXPECT_FALSE(fs::is_symlink(file));
}

TEST_F(DamagedEntry, APipeInItsPlace) {
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_compiled();
}

TEST_F(DamagedEntry, WritableByOthers) {
  ::chmod(file.c_str(), 0666);
  expect_compiled();
}

TEST_F(DamagedEntry, ObjectFileThatDoesNotLoad) {
  DiskCache here(cache.path(), 1 << 20);
  auto tile = sample();
  Device& cpu = device_named("cpu");
  Binary nonsense = sample_binary();
  here.store(disk_key(tile, cpu.target(), cpu.driver_version()), nonsense);
  st::reset_stats();
  EXPECT_NE(compile(tile, cpu), nullptr);
  EXPECT_EQ(st::stats().compiles, 1);
}

// --- no place to write (case G12), and warnings

/// Runs `body` in a child process; gives what it said on stderr, or "died".
std::string warnings_of(const std::function<bool()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::_exit(body() ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "died: " + text;
}

int lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

bool works_from_memory() {
  bool right = true;
  for (int n : {2, 3, 2, 3}) right &= outcome(n) == fmt::format("compiled {}", 40 + n);
  return right;
}

TEST(NoPlaceToWrite, NoHome) {
  Environment on("STRIDER_CACHE", std::nullopt), folder("STRIDER_CACHE_DIR", std::nullopt), xdg("XDG_CACHE_HOME", std::nullopt),
      home("HOME", std::nullopt);
  EXPECT_EQ(disk_cache_folder(), "");
  EXPECT_EQ(disk_cache(), nullptr);
  EXPECT_EQ(warnings_of(works_from_memory), "");
}

TEST(NoPlaceToWrite, WhereTheFolderIs) {
  Environment folder("STRIDER_CACHE_DIR", std::nullopt), xdg("XDG_CACHE_HOME", "/x/caches"), home("HOME", "/h");
  EXPECT_EQ(disk_cache_folder(), "/x/caches/strider");
  Environment relative("XDG_CACHE_HOME", "caches");
  EXPECT_EQ(disk_cache_folder(), "/h/.cache/strider");
  Environment chosen("STRIDER_CACHE_DIR", "/chosen");
  EXPECT_EQ(disk_cache_folder(), "/chosen");
}

TEST(NoPlaceToWrite, AFileInTheWay) {
  CacheFolder cache;
  write_text(cache.path(), "text");
  std::string text = warnings_of(works_from_memory);
  EXPECT_EQ(lines(text), 1) << text;
  EXPECT_NE(text.find("strider: the cache folder " + cache.path().string() + " cannot be opened"), std::string::npos) << text;
}

TEST(NoPlaceToWrite, AFolderThatCanOnlyBeRead) {
  CacheFolder cache;
  EXPECT_EQ(outcome(4), "compiled 44");
  ::chmod(cache.path().c_str(), 0500);
  std::string text = warnings_of([] {
    if (::geteuid() == 0 && (::setegid(12345) != 0)) return false;
    return outcome(4) == "loaded 44" && (::geteuid() == 0 || works_from_memory());
  });
  ::chmod(cache.path().c_str(), 0700);
  if (::geteuid() == 0) EXPECT_EQ(text, "");  // root writes anywhere
  else EXPECT_EQ(lines(text), 1) << text;
}

TEST(NoPlaceToWrite, PathsWithSpacesAreFine) {
  CacheFolder cache("a folder/with spaces, and ünicode");
  EXPECT_EQ(outcome(2), "compiled 42");
  EXPECT_EQ(outcome(2), "loaded 42");
}

/// A limit on the size of files stands for a full disk: a write ends early and then fails.
TEST(NoPlaceToWrite, DiskFull) {
  CacheFolder cache;
  std::string text = warnings_of([] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return works_from_memory();
  });
  EXPECT_EQ(lines(text), 1) << text;
  EXPECT_NE(text.find("nothing can be written to the cache folder"), std::string::npos) << text;
  EXPECT_TRUE(cache.files().empty());
}

/// An entry that cannot be opened now is kept.
TEST(NoPlaceToWrite, NoDescriptorIsLeft) {
  CacheFolder cache;
  EXPECT_EQ(outcome(2), "compiled 42");
  std::string text = warnings_of([] {
    rlimit limit{3, 3};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return outcome(2) == "compiled 42";
  });
  EXPECT_EQ(lines(text), 1) << text;
  EXPECT_EQ(outcome(2), "loaded 42");
}

TEST(NoPlaceToWrite, TheFolderIsRemovedInBetween) {
  CacheFolder cache;
  EXPECT_EQ(outcome(2), "compiled 42");
  fs::remove_all(cache.path());
  EXPECT_EQ(lines(warnings_of(works_from_memory)), 1);
}

/// Case H5: no program is needed, warm or cold.
TEST(NoPlaceToWrite, WithoutAnyProgramInPath) {
  CacheFolder cache;
  EXPECT_EQ(outcome(2), "compiled 42");
  Environment path("PATH", "");
  EXPECT_EQ(outcome(2), "loaded 42");
  EXPECT_EQ(outcome(3), "compiled 43");
}

// --- threads (case H1)

TEST(DiskCacheOfOperators, ManyThreadsCompileOnce) {
  CacheFolder cache;
  auto op = plus(2);
  st::reset_stats();
  std::atomic<int> right{0}, waiting{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      for (++waiting; waiting < 16;) std::this_thread::yield();
      for (int k = 0; k < 10; ++k) right += op(st::tensor<float>({40, 1})).to_doubles()[0] == 42;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 160);
  EXPECT_EQ(st::stats().compiles, 1);
  EXPECT_EQ(cache.files().size(), 1u);
}

TEST(DiskCacheOfOperators, ManyThreadsUseAndEvict) {
  CacheFolder folder;
  DiskCache cache(folder.path(), 16 << 10);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  Binary binary = sample_binary();
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 200; ++k) {
        DiskKey key = number((k * 7 + t) % 40);
        auto found = cache.find(key);
        if (found) wrong += found->code != binary.code;
        else cache.store(key, binary);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.contents().bytes, (16 << 10) + 8 * 1200);
  for (const fs::path& p : folder.files()) EXPECT_FALSE(p.filename().string().starts_with(".new")) << p;
}

}  // namespace
}  // namespace strider::test
