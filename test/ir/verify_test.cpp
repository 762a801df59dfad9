// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/samples.h"

namespace strider::ir {
namespace {

std::string refusal(const Function& f, Form form) {
  try {
    verify(f, form);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Internal);
    return e.what();
  }
  return "accepted";
}

/// The first statement of that op, anywhere.
Value find(const Function& f, Op op) {
  for (uint32_t id = 0; id < f.size(); ++id)
    if (f[Value{id}].op == op) return Value{id};
  ADD_FAILURE() << "no " << name_of(op);
  return {};
}

void expect_refused(const Function& f, Form form, std::string_view words) {
  std::string found = refusal(f, form);
  EXPECT_NE(found.find(words), std::string::npos) << "expected " << words << "\nfound " << found;
}

// --- which op belongs to which form

TEST(Verify, FormsDoNotMix) {
  EXPECT_EQ(refusal(samples::tile_kernel(), Form::Tile), "accepted");
  EXPECT_EQ(refusal(samples::scheduled_kernel(), Form::Scheduled), "accepted");
  EXPECT_EQ(refusal(samples::lane_kernel(), Form::Lanes), "accepted");
  expect_refused(samples::tile_kernel(), Form::Lanes, "0 threads");
  expect_refused(samples::scheduled_kernel(), Form::Tile, "nest does not occur in this form");
  expect_refused(samples::lane_kernel(), Form::Tile, "alloc does not occur in this form");
  expect_refused(samples::lane_kernel(), Form::Scheduled, "alloc does not occur in this form");
}

TEST(Verify, TellsFormFunctionAndLine) {
  EXPECT_EQ(refusal(parse("kernel k(%a: f32) threads=2 {\n  nest [4] {\n    %v = broadcast %a : f32[4]\n  }\n}"), Form::Lanes),
            "internal error: lane form of k: nest does not occur in this form, in\n  nest [4]");
}

/// Statements that reduce or scan a tile by `combine` of %x and %y.
std::string fold(const std::string& left, const std::string& combine) {
  return "%v = broadcast %n : i32[4]\n%s = " + left + " (%x: i32, %y: i32) {\n" + combine + "\n}";
}
std::string reduce_by(const std::string& combine) { return fold("reduce %v axis=0 : i32", combine); }
std::string scan_by(const std::string& combine) { return fold("scan %v axis=0 : i32[4]", combine); }

struct FormCase {
  std::string body;
  Form form;
  const char* words;
};
const FormCase kFormCases[] = {
    {"%v = broadcast %n : i32[8]\n%w = broadcast %v : i32[8]", Form::Lanes, "a broadcast of a vector"},
    {"%v = broadcast %n : i32[3]", Form::Lanes, "i32[3] is neither a scalar nor a vector"},
    {"%v = broadcast %n : i32[128]", Form::Lanes, "i32[128] is neither"},
    {"%v = broadcast %n : i32[2, 2]", Form::Lanes, "i32[2, 2] is neither"},
    {"%v = broadcast %n : i32[4]\n%w = reshape %v : i32[2, 2]", Form::Lanes, "reshape does not occur"},
    {reduce_by("yield %x"), Form::Lanes, "reduce does not occur"},
    {scan_by("yield %x"), Form::Lanes, "scan does not occur"},
    {"%v = expand_dims %n axis=0 : i32[1]", Form::Lanes, "expand_dims does not occur"},
    {"%v = neg %n inline : i32", Form::Tile, "a flag outside scheduled form"},
    {"%v = neg %n keep shared : i32", Form::Lanes, "a flag outside scheduled form"},
    {"%v = thread_id : i32", Form::Tile, "thread_id does not occur"},
    {"barrier", Form::Scheduled, "barrier does not occur"},
    {"%v = const 0x0 : *shared f32", Form::Tile, "a pointer to shared memory"},
    {"%v = const 0x0 : *local f32", Form::Scheduled, "a pointer to local memory"},
    {"nest [4] {\nnest [4] {\n}\n}", Form::Scheduled, "a nest inside a nest"},
    {"nest [4] {\nif %c {\nnest [2] {\n}\n} else {\n}\n}", Form::Scheduled, "a nest inside a nest"},
    {"yield %n", Form::Scheduled, "a program that yields values"},
    {"yield %n", Form::Lanes, "a program that yields values"},
    {"%v = alloc count=100 offset=16 : *shared f32", Form::Lanes, "beyond the 400 bytes of scratch"},
    {reduce_by("%l = load %p : i32\nyield %l"), Form::Tile, "load in the combine function"},
    {scan_by("%t = broadcast %x : i32[2]\nyield %y"), Form::Tile, "a tile in the combine function"},
    {scan_by("if %c {\nstore %p, %x\n} else {\n}\nyield %y"), Form::Tile, "store in the combine function"},
};

TEST(Verify, RulesOfTheForms) {
  for (const FormCase& c : kFormCases) {
    std::string text = "kernel k(%n: i32, %p: *i32, %c: bool) threads=4 scratch=400 {\n" + c.body + "\n}\n";
    expect_refused(parse(text), c.form, c.words);
  }
}

TEST(Verify, AScalarFunctionYieldsItsResults) {
  EXPECT_EQ(refusal(parse("kernel gelu(%x: f32) {\n%y = erf %x : f32\nyield %y\n}"), Form::Tile), "accepted");
}

TEST(Verify, AnythingPureMayStandInACombineFunction) {
  std::string scan = scan_by("%r = if %c : i32 {\nyield %n\n} else {\n%z = add %x, %y : i32\nyield %z\n}\nyield %r");
  Function f = parse("kernel k(%n: i32, %c: bool) {\n" + scan + "\n}");
  EXPECT_EQ(refusal(f, Form::Tile), "accepted");
}


// --- faults that text cannot express

Function twice(const std::function<void(Function&)>& damage) {
  Builder b("twice");
  Value x = b.param(Type::scalar(DType::F32), {.name = "x"});
  Value c = b.param(Type::scalar(DType::Bool), {.name = "c"});
  Value y = b.add(x, x);
  b.if_else(
      c, [&](auto) { return Builder::Values{b.mul(y, y)}; }, [&](auto) { return Builder::Values{b.sub(y, x)}; });
  Function f = b.finish();
  damage(f);
  return f;
}

TEST(Verify, CatchesDamagedNodes) {
  struct Case {
    std::function<void(Function&)> damage;
    const char* words;
  };
  const Case cases[] = {
      {[](Function&) {}, "accepted"},
      {[](Function& f) { f.set_type(find(f, Op::Add), Type::scalar(DType::F64)); }, "add: the result is f64, expected f32"},
      {[](Function& f) { f.set_imm(find(f, Op::Add), 7); }, "add: a number 7 without meaning"},
      {[](Function& f) { f.set_type(find(f, Op::If), Type::scalar(DType::F32)); }, "if: the result is f32, expected none"},
      {[](Function& f) { f.set_imm(find(f, Op::Result), 1); }, "result: 1 is outside 0 to 0"},
      {[](Function& f) { f.set_type(find(f, Op::Result), Type::scalar(DType::I8)); }, "result: the result is i8, expected f32"},
      {[](Function& f) { f.set_flags(find(f, Op::Add), kKeepShared); }, "a flag outside scheduled form"},
      {[](Function& f) { f.threads = -1; }, "-1 threads"},
      {[](Function& f) { f.scratch_bytes = -8; }, "-8 bytes of scratch"},
      {[](Function& f) { f.set_imm(f.params()[0], 1); }, "expected parameter 0 of its region"},
      {[](Function& f) { f.set_type(f.params()[0], Type::tile(DType::F32, {4})); }, "a parameter of type f32[4]"},
  };
  for (const Case& c : cases) {
    std::string found = refusal(twice(c.damage), Form::Tile);
    EXPECT_NE(found.find(c.words), std::string::npos) << "expected " << c.words << "\nfound " << found;
  }
}

TEST(Verify, CatchesDamagedBodies) {
  using Body = std::vector<Value>;
  struct Case {
    std::function<void(const Function&, Body& program, Body& then)> damage;
    const char* words;
  };
  const Case cases[] = {
      {[](const Function&, Body& program, Body&) { std::swap(program[0], program[1]); }, "here, in\n  %0 = mul %2, %2 : f32"},
      {[](const Function&, Body& program, Body&) { std::swap(program[1], program[2]); }, "an operand is not visible here"},
      {[](const Function&, Body& program, Body& then) { program.push_back(then[0]); }, "(mul) stands in two places"},
      {[](const Function&, Body& program, Body&) { program.push_back(program[2]); }, "a result that does not follow its op"},
      {[](const Function&, Body& program, Body&) { program.push_back(program[0]); }, "(add) stands in two places"},
      {[](const Function&, Body& program, Body&) { program.push_back(Value{1000}); }, "no node 1000"},
      {[](const Function&, Body&, Body& then) { std::swap(then[0], then[1]); }, "an operand is not visible here"},
      {[](const Function&, Body&, Body& then) { then.pop_back(); }, "if: region 0 does not end in yield"},
      {[](const Function& f, Body&, Body& then) { then.insert(then.begin(), find(f, Op::If)); }, "(if) stands in two places"},
      {[](const Function& f, Body& program, Body&) { program.push_back(f.params()[0]); }, "a parameter among the statements"},
      {[](const Function&, Body& program, Body& then) { program.insert(program.begin() + 1, then[1]); }, "is not visible here"},
  };
  for (const Case& c : cases) {
    Function f = twice([&](Function& g) {
      RegionId then = g.region_of(find(g, Op::If), 0);
      c.damage(g, g.mutable_region(0).body, g.mutable_region(then).body);
    });
    std::string found = refusal(f, Form::Tile);
    EXPECT_NE(found.find(c.words), std::string::npos) << "expected " << c.words << "\nfound " << found;
  }
}

TEST(Verify, AValueOfOneBranchIsNotSeenInTheOther) {
  Builder b("leak");
  Value x = b.param(Type::scalar(DType::F32), {.name = "x"});
  Value c = b.param(Type::scalar(DType::Bool), {.name = "c"});
  Value inner;
  auto define = [&](auto) {
    inner = b.add(x, x);
    return Builder::Values{};
  };
  auto use = [&](auto) {
    b.mul(inner, inner);
    return Builder::Values{};
  };
  b.if_else(c, define, use);
  expect_refused(b.finish(), Form::Tile, "an operand is not visible here, in\n  %1 = mul %0, %0 : f32");
}

TEST(Verify, WhatANestDefinesIsSeenAfterItButNotOutsideItsRegion) {
  Builder b("nests");
  Value x = b.param(Type::scalar(DType::F32), {.name = "x"});
  Value c = b.param(Type::scalar(DType::Bool), {.name = "c"});
  Value inner;
  b.if_else(
      c,
      [&](auto) {
        b.nest({4}, [&] { inner = b.broadcast(x, {4}); });
        b.nest({4}, [&] { b.add(inner, inner); });
        return Builder::Values{};
      },
      [](auto) { return Builder::Values{}; });
  Function good = b.function();
  EXPECT_EQ(refusal(good, Form::Scheduled), "accepted");
  b.nest({4}, [&] { b.mul(inner, inner); });
  expect_refused(b.finish(), Form::Scheduled, "an operand is not visible here");
}

TEST(Verify, CatchesRegionsThatDoNotFit) {
  struct Case {
    std::function<void(Builder& b, Value x)> write;
    const char* words;
  };
  const Type f32 = Type::scalar(DType::F32), i32 = Type::scalar(DType::I32);
  auto region = [](Builder& b, Value owner, int k, std::vector<Type> params, std::vector<Value> yields) {
    b.begin_region(owner, k, params);
    b.yield(yields);
    b.end_region();
  };
  const Case cases[] = {
      {[&](Builder& b, Value) {
         Value c = b.boolean(true);
         region(b, b.open(Op::If, {{c}}, 0, Type::none(), 1), 0, {}, {});
       }, "if: 1 regions, expected 2"},
      {[&](Builder& b, Value) {
         Value zero = b.i32(0);
         region(b, b.open(Op::For, {{zero, zero, zero}}, 0, Type::none(), 1), 0, {f32}, {});
       }, "for: region 0 takes 1 parameters"},
      {[&](Builder& b, Value x) {
         Value zero = b.i32(0);
         region(b, b.open(Op::For, {{zero, zero, zero, x}}, 0, Type::none(), 1), 0, {i32, f32}, {});
       }, "for: yielded values are (), expected (f32)"},
      {[&](Builder& b, Value x) {
         Value tile = b.broadcast(x, {4});
         region(b, b.open(Op::Reduce, {{tile}}, 1, Type::none(), 1), 0, {f32, f32}, {x});
       }, "reduce: axis 1 is out of range"},
      {[&](Builder& b, Value x) {
         Value tile = b.broadcast(x, {4});
         region(b, b.open(Op::Reduce, {{tile}}, int64_t{1} << 32, Type::none(), 1), 0, {f32, f32}, {x});
       }, "reduce: 4294967296 is outside 0 to 5"},
      {[&](Builder& b, Value x) {
         Value tile = b.broadcast(x, {4});
         region(b, b.open(Op::Scan, {{tile}}, 0, Type::none(), 1), 0, {f32}, {x});
       }, "scan: region 0 takes 1 parameters"},
      {[&](Builder& b, Value x) { b.result(b.unary(Op::Neg, x), 0, f32); }, "result: of neg, which has none"},
      {[&](Builder& b, Value x) { b.open(Op::For, {{x}}, 0, Type::none(), 1); }, "for: got 1 operands, expected 3 to 64"},
  };
  for (const Case& c : cases) {
    Builder b("regions");
    c.write(b, b.param(f32, {.name = "x"}));
    expect_refused(b.finish(), Form::Tile, c.words);
  }
}

TEST(Verify, RandomProgramsAreAccepted) {
  for (uint32_t seed = 1000; seed < 1100; ++seed)
    EXPECT_EQ(refusal(samples::random_tile_program(seed, 30), Form::Tile), "accepted") << seed;
}

}  // namespace
}  // namespace strider::ir
