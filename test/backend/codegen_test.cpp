// SPDX-License-Identifier: Apache-2.0
// The LLVM emitter's texts: what must and must not occur in PTX and assembly, and what is refused before LLVM sees it.
#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "backend/lane_cases.h"
#include "base/deep_stack.h"
#include "base/error.h"
#include "backend/backend.h"
#include "codegen/llvm/codegen.h"
#include "ir/builder.h"
#include "support/ptxas.h"

namespace strider::backend_test {
namespace {

using namespace ir;

int64_t count(const std::string& text, const std::string& pattern) {
  std::regex expression(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator());
}

std::string message_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

std::string text(const Function& f, const Target& target, std::string_view stage) { return compiler_for(target).text(f, target, stage); }
std::vector<char> compile(const Function& f, const Target& target) { return compiler_for(target).compile(f, target).code; }

std::string asm_of(const Function& f, std::string_view target = "cpu:x86-64-v3") { return text(f, target_named(target), "asm"); }
std::string ptx_of(const Function& f, std::string_view target = "cuda:sm_80") { return text(f, target_named(target), "ptx"); }

using Body = std::function<Value(Builder&, Value)>;

/// y[block] = body(x[block]), blocks of `lanes` aligned elements.
Function block_kernel(DType dtype, int lanes, const Body& body, int threads = 1, int64_t access = 0) {
  Builder b("block");
  Value x = b.param(Type::pointer(dtype), {.name = "x", .divisible = 64, .read_only = true, .no_alias = true});
  Value y = b.param(Type::pointer(dtype), {.name = "y", .divisible = 64, .no_alias = true});
  Value first = b.mul(b.cast(b.add(b.program_id(0), b.thread_id()), DType::I64), b.i64(lanes));
  int log2_align = std::countr_zero(static_cast<unsigned>(lanes * size_of(dtype)));
  Value value = body(b, b.load_block(b.ptr_add(x, first), dtype, lanes, log2_align));
  b.store_block(b.ptr_add(y, first), value, log2_align, {}, access);
  Function f = b.finish();
  f.threads = threads;
  return f;
}
Value itself(Builder&, Value x) { return x; }

// --- PTX

TEST(Ptx, IsAcceptedByPtxas) {
  if (!support::has_ptxas()) GTEST_SKIP() << "no ptxas";
  for (const char* name : {"cuda:sm_70", "cuda:sm_80", "cuda:sm_90"}) {
    std::vector<std::string> modules;
    for (int threads : {1, 64})
      for (const Case& c : lane_cases(threads)) modules.push_back(ptx_of(c.lanes, name));
    EXPECT_EQ(support::assemble(modules, target_named(name).processor), "") << name;
  }
}

TEST(Ptx, AccessesSixteenBytesAtOnce) {
  for (auto [dtype, lanes] : {std::pair(DType::F32, 4), std::pair(DType::I32, 4), std::pair(DType::I8, 16), std::pair(DType::U16, 8),
                              std::pair(DType::F16, 8), std::pair(DType::BF16, 8), std::pair(DType::Bool, 16)}) {
    std::string text = ptx_of(block_kernel(dtype, lanes, itself, 32));
    EXPECT_EQ(count(text, R"(ld\.global\.nc\.v4)"), 1) << text;
    EXPECT_EQ(count(text, R"(st\.global\.v4)"), 1) << text;
    EXPECT_EQ(count(text, R"((ld|st)\.global)"), 2) << text;
  }
  std::string wide = ptx_of(block_kernel(DType::F64, 4, itself, 32));
  EXPECT_EQ(count(wide, R"(ld\.global\.nc\.v2\.(f|b|u)64)"), 2) << wide;
  EXPECT_EQ(count(wide, R"(st\.global\.v2\.(f|b|u)64)"), 2) << wide;
}

TEST(Ptx, KeepsSixteenByteAccessesAroundArithmetic) {
  auto twice = [](Builder& b, Value x) { return b.add(x, x); };
  auto by_f32 = [](Builder& b, Value x) { return b.cast(b.add(b.cast(x, DType::F32), b.cast(x, DType::F32)), b.type(x).dtype); };
  for (const Function& f : {block_kernel(DType::I8, 16, twice, 32), block_kernel(DType::F16, 8, by_f32, 32), block_kernel(DType::BF16, 8, by_f32, 32)}) {
    std::string text = ptx_of(f);
    EXPECT_EQ(count(text, R"((ld|st)\.global(\.nc)?\.v4)"), 2) << text;
    EXPECT_EQ(count(text, R"((ld|st)\.global)"), 2) << text;
    EXPECT_EQ(count(text, R"(\.local)"), 0) << text;
  }
}

TEST(Ptx, NeitherContractsNorFlushes) {
  Function f = block_kernel(DType::F32, 4, [](Builder& b, Value x) { return b.add(b.mul(x, x), x); }, 32);
  std::string text = ptx_of(f);
  EXPECT_EQ(count(text, R"(mul\.rn\.f32)"), 4) << text;
  EXPECT_EQ(count(text, R"(add\.rn\.f32)"), 4) << text;
  EXPECT_EQ(count(text, "fma"), 0) << text;
  Function asked = block_kernel(DType::F32, 4, [](Builder& b, Value x) { return b.fma(x, x, x); }, 32);
  EXPECT_EQ(count(ptx_of(asked), R"(fma\.rn\.f32)"), 4);
}

TEST(Ptx, DividesAndTakesRootsExactly) {
  auto f = [](DType dtype) {
    return ptx_of(block_kernel(dtype, 1, [](Builder& b, Value x) { return b.binary(Op::Div, b.unary(Op::Sqrt, x), b.add(x, x)); }, 32));
  };
  EXPECT_EQ(count(f(DType::F64), R"(sqrt\.rn\.f64)"), 1) << f(DType::F64);
  for (DType dtype : {DType::F32, DType::F64}) EXPECT_EQ(count(f(dtype), R"(div\.rn\.f\d\d)"), 1) << f(dtype);
}

/// Roots begin with an estimate (library tests show that they end correctly rounded); nothing else is approximate.
TEST(Ptx, NeverFlushesSubnormalsNorUsesApproximations) {
  for (const Case& c : lane_cases(32)) {
    if (!c.name.starts_with("pointwise") && !c.name.starts_with("cast")) continue;
    EXPECT_EQ(count(ptx_of(c.lanes), R"(\s(?!rsqrt\.)\w[\w.]*\.(ftz|approx)|call)"), 0) << c.name;
  }
}

/// A promise that no other pointer reaches x says nothing about other threads.
TEST(Ptx, ReadsAgainAfterABarrier) {
  Builder b("again");
  Value x = b.param(Type::pointer(DType::I32), {.name = "x", .no_alias = true});
  Value theirs = b.ptr_add(x, b.binary(Op::Xor, b.thread_id(), b.i32(1)));
  Value before = b.load(theirs);
  b.barrier();
  b.store(b.ptr_add(x, b.thread_id()), before);
  b.barrier();
  b.store(b.ptr_add(x, b.add(b.thread_id(), b.i32(64))), b.load(theirs));
  Function f = b.finish();
  f.threads = 64;
  EXPECT_EQ(count(ptx_of(f), R"(ld\.global\.)"), 2);
}

TEST(Ptx, KeepsTheBitsOfNaN) {
  auto f = [](auto unary) { return ptx_of(block_kernel(DType::F32, 4, unary, 32)); };
  EXPECT_EQ(count(f([](Builder& b, Value x) { return b.unary(Op::Abs, x); }), R"(abs\.f32)"), 0);
  EXPECT_EQ(count(f([](Builder& b, Value x) { return b.unary(Op::Neg, x); }), R"(neg\.f32)"), 0);
  EXPECT_EQ(count(f([](Builder& b, Value x) { return b.add(b.unary(Op::Abs, x), x); }), R"(abs\.f32)"), 4);
}

TEST(Ptx, NamesTheThreadsOfAProgram) {
  EXPECT_EQ(count(ptx_of(block_kernel(DType::F32, 4, itself, 96)), R"(\.reqntid 96)"), 1);
}

// --- assembly

TEST(Assembly, CallsNothingOnProcessorsWithFma) {
  for (const Case& c : lane_cases(1)) EXPECT_EQ(count(asm_of(c.lanes), R"(\bcall)"), 0) << c.name;
}

TEST(Assembly, UsesFmaOnlyWhenAsked) {
  EXPECT_EQ(count(asm_of(block_kernel(DType::F32, 8, [](Builder& b, Value x) { return b.add(b.mul(x, x), x); })), "vfmadd"), 0);
  EXPECT_EQ(count(asm_of(block_kernel(DType::F32, 8, [](Builder& b, Value x) { return b.fma(x, x, x); })), "vfmadd"), 1);
}

TEST(Assembly, UsesWholeVectors) {
  std::string text = asm_of(block_kernel(DType::F32, 8, [](Builder& b, Value x) { return b.add(x, x); }));
  EXPECT_EQ(count(text, R"(vaddps\s.*%ymm)"), 1) << text;
  EXPECT_EQ(count(text, R"(vmovaps\s.*%ymm)"), 2) << text;
}

TEST(Assembly, StreamsAlignedStoresOnly) {
  Function aligned = block_kernel(DType::F32, 8, itself, 1, kStreaming);
  EXPECT_EQ(count(asm_of(aligned), R"(vmovntps\s.*%ymm)"), 1);
  Builder b("unaligned");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"});
  b.store_block(x, b.constant(Type::vector(DType::F32, 8), 1), 2, {}, kStreaming);
  Function f = b.finish();
  f.threads = 1;
  EXPECT_EQ(count(asm_of(f), "movnt"), 0);
}

TEST(Assembly, MasksWithoutBranches) {
  Builder b("masked");
  Value x = b.param(Type::pointer(DType::F32), {.name = "x"}), n = b.param(Type::scalar(DType::I32), {.name = "n"});
  Value mask = b.binary(Op::Lt, b.arange(DType::I32, 0, 8), b.broadcast(n, {8}));
  Value value = b.load_block(x, DType::F32, 8, 2, mask);
  b.store_block(x, b.add(value, value), 2, mask);
  Function f = b.finish();
  f.threads = 1;
  std::string text = asm_of(f);
  EXPECT_EQ(count(text, "vmaskmovps"), 2) << text;
  EXPECT_EQ(count(text, R"(\tj[a-z]+\s)"), 0) << text;
}

// --- stages

TEST(Stages, AreNamedInTheErrorForAnUnknownOne) {
  Function f = block_kernel(DType::F32, 4, itself);
  EXPECT_EQ(message_of([&] { text(f, target_named("cpu:x86-64-v3"), "ptx"); }, ErrorKind::User),
            "target cpu:x86-64-v3 has no stage ptx; it has llvm and asm");
  EXPECT_EQ(message_of([&] { text(f, target_named("cuda:sm_80"), "asm"); }, ErrorKind::User),
            "target cuda:sm_80 has no stage asm; it has llvm and ptx");
  EXPECT_EQ(count(text(f, target_named("cuda:sm_80"), "llvm"), "define"), 1);
}

TEST(Stages, AreTheSameEveryTime) {
  for (const char* name : {"cpu:x86-64-v3", "cuda:sm_90"}) {
    Function f = block_kernel(DType::BF16, 8, [](Builder& b, Value x) { return b.cast(b.cast(x, DType::F32), DType::BF16); });
    EXPECT_EQ(compile(f, target_named(name)), compile(f, target_named(name)));
  }
}

// --- what is refused

struct Refusal {
  const char* what;
  std::function<void(Builder&, Value pointer)> write;
  const char* message;
};

Function refused_kernel(const Refusal& r, int threads) {
  Builder b("refused");
  Value p = b.param(Type::pointer(DType::F32), {.name = "p"});
  r.write(b, p);
  Function f = b.finish();
  f.threads = threads;
  return f;
}

TEST(Legality, NamesOpTypeAndTarget) {
  const Refusal refusals[] = {
      {"functions", [](Builder& b, Value p) { b.store(p, b.unary(Op::Exp, b.load(p))); },
       "refused: exp on f32 is not available on target cuda:sm_80: it must be decomposed first"},
      {"half arithmetic", [](Builder& b, Value p) { Value h = b.cast(b.load(p), DType::F16); b.store(p, b.cast(b.add(h, h), DType::F32)); },
       "refused: add on f16 is not available on target cuda:sm_80: it must be decomposed first"},
      {"float remainder", [](Builder& b, Value p) { Value x = b.load(p); b.store(p, b.binary(Op::Rem, x, x)); },
       "refused: rem on f32 is not available on target cuda:sm_80: it must be decomposed first"},
      {"tile ops", [](Builder& b, Value p) { b.store(p, b.reduce(b.broadcast(b.load(p), {8}), 0, Op::Add)); },
       "refused: reduce on none is not available on target cuda:sm_80: the op does not occur in lane form"},
      {"tiles", [](Builder& b, Value p) { b.broadcast(b.load(p), {128}); },
       "refused: broadcast on f32[128] is not available on target cuda:sm_80: values are scalars or vectors of a power of two of at most 64 lanes"},
      {"odd vectors", [](Builder& b, Value p) { b.broadcast(b.load(p), {3}); },
       "refused: broadcast on f32[3] is not available on target cuda:sm_80: values are scalars or vectors of a power of two of at most 64 lanes"},
      {"phases", [](Builder& b, Value) { b.phase(); },
       "refused: phase on none is not available on target cuda:sm_80: the op does not occur in lane form"},
      {"far exchanges", [](Builder& b, Value p) { b.store(p, b.exchange(b.load(p), 32)); },
       "refused: exchange on f32 is not available on target cuda:sm_80: thread ids differ by 32, threads exchange within 32"},
      {"scratch beyond its end", [](Builder& b, Value p) { b.store(p, b.load(b.alloc(Space::Shared, DType::F32, 4))); },
       "refused: alloc on *shared f32 is not available on target cuda:sm_80: it ends at byte 16 of 0 bytes of scratch"},
  };
  for (const Refusal& r : refusals)
    EXPECT_EQ(message_of([&] { compile(refused_kernel(r, 64), target_named("cuda:sm_80")); }, ErrorKind::Unsupported), r.message) << r.what;
}

TEST(Legality, BoundsThreadsAndScratch) {
  Function f = block_kernel(DType::F32, 4, itself, 2);
  EXPECT_EQ(message_of([&] { compile(f, target_named("cpu:x86-64-v3")); }, ErrorKind::Unsupported),
            "block: 2 threads a program, target cpu:x86-64-v3 runs 1 to 1");
  f.threads = 0;
  EXPECT_EQ(message_of([&] { compile(f, target_named("cuda:sm_70")); }, ErrorKind::Unsupported),
            "block: 0 threads a program, target cuda:sm_70 runs 1 to 1024");
  f.threads = 32;
  f.scratch_bytes = 1 << 20;
  EXPECT_EQ(message_of([&] { compile(f, target_named("cuda:sm_70")); }, ErrorKind::Unsupported),
            "block: 1048576 bytes of scratch, target cuda:sm_70 has 98304");
}

/// A target that claims what its processor lacks: LLVM gives up, and we must not. What it held then is lost.
TEST(Legality, TurnsLlvmsLastWordIntoAnError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer reports what LLVM held";
#endif
  Target old = target_named("cuda:sm_70");
  old.processor = "sm_20";
  old.features = "+ptx32";
  Function f = block_kernel(DType::F32, 1, [](Builder& b, Value x) { return b.exchange(x, 1); }, 32);
  EXPECT_NE(message_of([&] { compile(f, old); }, ErrorKind::Internal).find("internal error: llvm: "), std::string::npos);
  EXPECT_EQ(count(ptx_of(f), "shfl.sync.bfly"), 1);
}

TEST(Targets, AreListedInTheErrorForAnUnknownOne) {
  std::string message = message_of([] { target_named("cuda:sm_20"); }, ErrorKind::User);
  EXPECT_EQ(message.find("there is no target cuda:sm_20; there are cpu, cpu:x86-64, "), 0u) << message;
}

TEST(DeepStack, PassesResultsAndErrorsOn) {
  EXPECT_EQ(on_deep_stack([] { return on_deep_stack([] { return 7; }); }), 7);
  EXPECT_EQ(message_of([] { on_deep_stack([]() -> int { user_error("deep"); }); }, ErrorKind::User), "deep");
}

int64_t depth(int64_t left) {
  volatile char frame[1024] = {};
  return left == 0 ? frame[0] : depth(left - 1) + 1 + frame[512];
}
TEST(DeepStack, HasRoomForDeepRecursion) { EXPECT_EQ(on_deep_stack([] { return depth(40'000); }), 40'000); }

}  // namespace
}  // namespace strider::backend_test
