// SPDX-License-Identifier: Apache-2.0
// A processor is data: what runs on what, hosts of another family, limits, ops that a processor lacks, and the interpreter as a
// back end like the others.
#include <gtest/gtest.h>

#include <numeric>

#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "ir/builder.h"
#include "ir/print.h"
#include "pass/pipeline.h"
#include "support/errors.h"
#include "support/scalar_program.h"

#include <strider/strider.h>

namespace strider::backend_test {
namespace {

using namespace ir;
using ir::Value;
namespace st = strider;
using support::error_of;
using Args = std::span<const Value>;

// --- which code runs where

TEST(Targets, LevelsAreOrderedAsNumbers) {
  Target future = target_named("cuda:sm_90");
  future.processor = "sm_100";
  future.level = 100;
  EXPECT_TRUE(future.runs(target_named("cuda:sm_90")));
  EXPECT_TRUE(future.runs(target_named("cuda:sm_70")));
  EXPECT_FALSE(target_named("cuda:sm_90").runs(future));
  EXPECT_TRUE(target_named("cpu:x86-64-v3").runs(target_named("cpu:x86-64-v2")));
  EXPECT_FALSE(target_named("cpu:x86-64-v3").runs(target_named("cpu:x86-64-v4")));
  EXPECT_FALSE(target_named("cpu:x86-64-v4").runs(target_named("cuda:sm_70")));
  EXPECT_FALSE(target_named("interp:tile").runs(target_named("interp:lanes")));
}

TEST(Targets, SayWhatTheyAre) {
  EXPECT_EQ(host_target().kind, TargetKind::Cpu);
  EXPECT_EQ(target_named("cuda:sm_80").kind, TargetKind::Gpu);
  EXPECT_EQ(target_named("cuda:sm_80").output, Output::Assembly);
  for (const char* name : {"interp:tile", "interp:lanes"}) {
    EXPECT_EQ(target_named(name).kind, TargetKind::Interpreter);
    EXPECT_EQ(target_named(name).output, Output::Source);
  }
  for (const std::string& name : known_targets()) EXPECT_NO_THROW(compiler_for(target_named(name))) << name;
}

/// x[0] = x[0] + 1, in lane form.
Function increment(DType dtype = DType::F32) {
  Builder b("increment");
  Value x = b.param(Type::pointer(dtype), {.name = "x"});
  b.store(x, b.add(b.load(x), b.constant(Type::scalar(dtype), 1)));
  Function f = b.finish();
  f.threads = 1;
  return f;
}

/// A machine of another family has code of its own family only, and there is no compiler for it yet.
TEST(Targets, OtherHostsAreToldTheTruth) {
  Target arm = cpu_target("aarch64", 0);
  EXPECT_EQ(arm.triple, "aarch64-unknown-linux-gnu");
  for (const char* name : {"cpu:x86-64", "cpu:x86-64-v4", "cuda:sm_80"}) {
    EXPECT_FALSE(arm.runs(target_named(name))) << name;
    EXPECT_FALSE(target_named(name).runs(arm)) << name;
  }
  EXPECT_TRUE(arm.runs(arm));
  EXPECT_EQ(error_of(ErrorKind::Unsupported, [&] { compiler_for(arm).compile(increment(), arm); }),
            "target cpu: there is no code for aarch64-unknown-linux-gnu, only for x86-64");
  EXPECT_EQ(error_of(ErrorKind::Unsupported, [&] { compiler_for(arm).text(increment(), arm, "asm"); }),
            "target cpu: there is no code for aarch64-unknown-linux-gnu, only for x86-64");
}

// --- limits

TEST(Targets, GridsObeyTheirProcessorAlone) {
  auto mark = st::kernel("mark", [](tl::Ptr<int> y) {
    auto k = tl::program_id(1);
    tl::store(y + k, k);
  }, {{"y"}});
  constexpr int64_t kPrograms = 70'000;  // more than an axis of a GPU has
  Tensor y = st::zeros({kPrograms}, {i32, "cpu"});
  mark[{1, kPrograms}](y);
  EXPECT_EQ(y.select(0, kPrograms - 1).item<int>(), kPrograms - 1);
  EXPECT_EQ(target_named("cuda:sm_80").grid_limit, (Grid{INT32_MAX, 65535, 65535}));
}

TEST(Targets, ParametersAreCounted) {
  auto with_parameters = [](int count) {
    Builder b("many");
    for (int k = 0; k < count; ++k) b.param(Type::pointer(DType::F32), {.name = "p" + std::to_string(k)});
    Function f = b.finish();
    f.threads = 32;
    return f;
  };
  Target gpu = target_named("cuda:sm_80");
  EXPECT_NO_THROW(compiler_for(gpu).compile(with_parameters(512), gpu));
  EXPECT_EQ(error_of(ErrorKind::Unsupported, [&] { compiler_for(gpu).compile(with_parameters(513), gpu); }),
            "many: 513 parameters, target cuda:sm_80 takes 512");
}

// --- ops that a processor lacks

Function program_of(const std::vector<DType>& arguments, const support::ExpressionFn& expression) {
  return support::scalar_program(arguments, expression);
}

Target without(DType dtype) {
  Target t = target_named("cuda:sm_80");
  t.name = "cuda:small";
  t.lose(dtype);
  return t;
}

TEST(MissingOps, WithoutF64OtherProgramsStayAsTheyAre) {
  Function f = program_of({DType::F32, DType::F32}, [](Builder& b, Args x) { return b.unary(Op::Exp, b.mul(x[0], x[1])); });
  EXPECT_EQ(ir::print(pass::prepare(f, without(DType::F64))), ir::print(pass::prepare(f, target_named("cuda:sm_80"))));
}

TEST(MissingOps, AreNamedInTheErrorWhereNothingElseWillDo) {
  Function f = program_of({DType::F64, DType::F64}, [](Builder& b, Args x) { return b.add(x[0], x[1]); });
  std::string text = error_of(ErrorKind::Unsupported, [&] { pass::prepare(f, without(DType::F64)); });
  EXPECT_NE(text.find("on f64 is not available on target cuda:small, which has no code for it"), std::string::npos) << text;
  // lgamma of f32 is computed in f64.
  f = program_of({DType::F32}, [](Builder& b, Args x) { return b.unary(Op::Lgamma, x[0]); });
  text = error_of(ErrorKind::Unsupported, [&] { pass::prepare(f, without(DType::F64)); });
  EXPECT_NE(text.find("f64 is not available on target cuda:small"), std::string::npos) << text;
  // The compiler asks as well, for lane form that no pass has seen.
  Target small = without(DType::F64);
  Function lanes = increment(DType::F64);
  lanes.threads = 32;
  text = error_of(ErrorKind::Unsupported, [&] { compiler_for(small).compile(lanes, small); });
  EXPECT_NE(text.find("increment: "), std::string::npos) << text;
  EXPECT_NE(text.find("f64 is not available on target cuda:small"), std::string::npos) << text;
}

/// All integer ops of short types are done in 32 bits, and give the bits that they have in their own.
TEST(MissingOps, OfShortIntegersAreDoneInWords) {
  int tried = 0;
  for (DType dtype : {DType::I8, DType::U8, DType::I16, DType::U16})
    for (Op op : {Op::Neg, Op::Abs, Op::Not, Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Minimum, Op::Maximum, Op::And, Op::Or,
                  Op::Xor, Op::Shl, Op::Shr, Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
      SCOPED_TRACE(std::string(name_of(op)) + " on " + std::string(name_of(dtype)));
      Target target = host_target();
      target.lose(op, dtype);
      std::vector<DType> arguments(static_cast<size_t>(info(op).least), dtype);
      Function f = program_of(arguments, [op](Builder& b, Args x) { return b.emit(op, x); });
      Function prepared = pass::prepare(f, target);
      for (uint32_t id = 0; id < prepared.size(); ++id) {
        const Node& node = prepared[Value{id}];
        if (node.op != op) continue;
        EXPECT_NE(prepared.type(prepared.operand(Value{id}, 0)).dtype, dtype);
      }
      support::expect_same_answers(f, prepared, arguments);
      ++tried;
    }
  EXPECT_EQ(tried, 84);
}

TEST(MissingOps, FmaOfF32IsDoneInF64) {
  Target target = host_target();
  target.lose(Op::Fma, DType::F32);
  std::vector<DType> arguments(3, DType::F32);
  Function f = program_of(arguments, [](Builder& b, Args x) { return b.fma(x[0], x[1], x[2]); });
  Function prepared = pass::prepare(f, target);
  EXPECT_EQ(support::count_op(prepared, Op::Fma), 0);
  support::expect_same_answers(f, prepared, arguments);
  target.lose(DType::F64);
  EXPECT_NE(error_of(ErrorKind::Unsupported, [&] { pass::prepare(f, target); }).find("fma on f32 is not available"), std::string::npos);
}

// --- the interpreter as a back end

TEST(InterpreterAsBackEnd, RunsOperatorsAndKernelsOnItsOwnMemory) {
  auto total = st::kernel("total", [](tl::Ptr<float> x, tl::Ptr<float> y, tl::i32 n) {
    auto k = tl::arange(0, 64);
    tl::store(y, tl::sum(tl::load(x + k, k < n, 0.0f)));
  }, {{"x", "y", "n"}});
  Tensor x = st::arange(50);
  for (const char* name : {"interp:tile", "interp:lanes"}) {
    Tensor there = x.to(name), sum = st::zeros({}, {f32, name});
    EXPECT_EQ(there.device(), name);
    EXPECT_EQ(st::ops::add(there, there).to("cpu").to_doubles(), st::ops::add(x, x).to_doubles()) << name;
    total[1](there, sum, 50);
    EXPECT_EQ(sum.item(), 50 * 49 / 2) << name;
  }
}

TEST(InterpreterAsBackEnd, IsFoundByNameAndNotListed) {
  EXPECT_EQ(device_named("interp:lanes").target().kind, TargetKind::Interpreter);
  EXPECT_EQ(&device_named("interp"), &device_named("interp:tile"));
  for (const std::string& name : available_devices()) EXPECT_NE(device_named(name).target().kind, TargetKind::Interpreter);
  EXPECT_NE(error_of([] { device_named("interp:none"); }).find("there is no device interp:none"), std::string::npos);
}

}  // namespace
}  // namespace strider::backend_test
