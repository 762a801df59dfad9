// SPDX-License-Identifier: Apache-2.0
// Programs that a review of the passes found to be lowered wrongly, or feared for; written as text to keep their exact form.
#include <fmt/format.h>

#include "ir/parse.h"
#include "lowering/kernels.h"

namespace strider::lowering {

namespace {

Kernel text_kernel(std::string name, std::vector<Argument> arguments, std::string_view text) {
  return {std::move(name), ir::parse(text), {1, 1, 1}, std::move(arguments)};
}

template <class T>
Argument counting(int64_t count) {
  return formula<T>(count, [](int64_t i) { return i; });
}

/// Lanes share addresses and all write what all have read: every lane is read before any is written.
Kernel pairs_of_lanes_load_and_store_one_place() {
  return text_kernel("pairs_of_lanes_load_and_store_one_place", {counting<int>(256)}, R"(
kernel pairs_of_lanes_load_and_store_one_place(%x: *i32) {
  %i = arange begin=0 : i32[256]
  %c = const 16 : i32[256]
  %j = div %i, %c : i32[256]
  %b = broadcast %x : *i32[256]
  %p = ptr_add %b, %j : *i32[256]
  %v = load %p : i32[256]
  %one = const 1 : i32[256]
  %w = add %v, %one : i32[256]
  store %p, %w
}
)");
}

/// No lane may see what another one has added.
Kernel lanes_add_what_they_loaded_before() {
  return text_kernel("lanes_add_what_they_loaded_before", {counting<int>(256)}, R"(
kernel lanes_add_what_they_loaded_before(%x: *i32) {
  %i = arange begin=0 : i32[256]
  %c = const 16 : i32[256]
  %j = div %i, %c : i32[256]
  %b = broadcast %x : *i32[256]
  %p = ptr_add %b, %j : *i32[256]
  %v = load %p : i32[256]
  %w = atomic_add %p, %v : i32[256]
}
)");
}

/// Every lane sees the sum of all lanes that share its address.
Kernel lanes_load_what_all_have_added() {
  return text_kernel("lanes_load_what_all_have_added", {counting<int>(256), output<int>(256)}, R"(
kernel lanes_load_what_all_have_added(%x: *i32, %y: *i32 no_alias) {
  %i = arange begin=0 : i32[256]
  %c = const 16 : i32[256]
  %j = div %i, %c : i32[256]
  %b = broadcast %x : *i32[256]
  %p = ptr_add %b, %j : *i32[256]
  %one = const 1 : i32[256]
  %w = atomic_add %p, %one : i32[256]
  %v = load %p : i32[256]
  %by = broadcast %y : *i32[256]
  %q = ptr_add %by, %i : *i32[256]
  store %q, %v
}
)");
}

/// The pointer is one of two that stand alone, so it meets accesses through that one.
Kernel store_through_a_chosen_pointer() {
  return text_kernel("store_through_a_chosen_pointer",
                     {counting<int>(64), counting<int>(64), output<int>(64), number<int>(1)}, R"(
kernel store_through_a_chosen_pointer(%x: *i32 no_alias, %y: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %a = arange begin=0 : i32[64]
  %k = const 63 : i32[64]
  %r = sub %k, %a : i32[64]
  %zero = const 0 : i32
  %c = gt %n, %zero : bool
  %s = where %c, %x, %y : *i32
  %b = broadcast %s : *i32[64]
  %p = ptr_add %b, %a : *i32[64]
  %seven = const 7 : i32[64]
  %v7 = mul %a, %seven : i32[64]
  %bx = broadcast %x : *i32[64]
  %px = ptr_add %bx, %r : *i32[64]
  store %p, %v7
  %v = load %px : i32[64]
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %a : *i32[64]
  store %q, %v
}
)");
}

/// Carried pointers meet accesses through the arguments that they come from.
Kernel pointers_swapped_in_a_loop() {
  return text_kernel("pointers_swapped_in_a_loop", {counting<int>(100), counting<int>(100), output<int>(100), number<int>(3)}, R"(
kernel pointers_swapped_in_a_loop(%x: *i32 no_alias, %y: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %a = arange begin=0 : i32[100]
  %k = const 99 : i32[100]
  %ra = sub %k, %a : i32[100]
  %z0 = const 0 : i32
  %one = const 1 : i32
  %bx = broadcast %x : *i32[100]
  %px = ptr_add %bx, %ra : *i32[100]
  %before = load %px : i32[100]
  %r1, %r2 = for %z0, %n, %one, %x, %y : *i32, *i32 (%i: i32, %p: *i32, %q: *i32) {
    %bp = broadcast %p : *i32[100]
    %bq = broadcast %q : *i32[100]
    %pp = ptr_add %bp, %ra : *i32[100]
    %qq = ptr_add %bq, %a : *i32[100]
    %v = load %pp : i32[100]
    %w = mul %v, %k : i32[100]
    %w2 = load %px : i32[100]
    %w3 = add %w, %w2 : i32[100]
    store %qq, %w3
    yield %q, %p
  }
  %after = load %px : i32[100]
  %s = sub %after, %before : i32[100]
  %bz = broadcast %z : *i32[100]
  %qz = ptr_add %bz, %a : *i32[100]
  store %qz, %s
}
)");
}

/// Addresses are no indices: the bound of a mask is a pointer.
Kernel pointers_compared_lane_by_lane() {
  return text_kernel("pointers_compared_lane_by_lane", {mixed<int>(64), output<int>(64)}, R"(
kernel pointers_compared_lane_by_lane(%x: *i32 divisible=64, %y: *i32 no_alias) {
  %a = arange begin=0 : i32[64]
  %k = const 40 : i32
  %e = ptr_add %x, %k : *i32
  %b = broadcast %x : *i32[64]
  %p = ptr_add %b, %a : *i32[64]
  %be = broadcast %e : *i32[64]
  %m = lt %p, %be : bool[64]
  %v = load %p, %m : i32[64]
  %by = broadcast %y : *i32[64]
  %q = ptr_add %by, %a : *i32[64]
  store %q, %v
}
)");
}

/// Division rounds towards zero, so blocks of lanes below zero do not share a quotient.
Kernel quotients_below_zero() {
  return text_kernel("quotients_below_zero", {output<int>(64), output<int>(64)}, R"(
kernel quotients_below_zero(%x: *i32 no_alias, %y: *i32 no_alias) {
  %i = arange begin=-64 : i32[64]
  %a = arange begin=0 : i32[64]
  %c = const 4 : i32[64]
  %j = div %i, %c : i32[64]
  %r = rem %i, %c : i32[64]
  %b = broadcast %x : *i32[64]
  %p = ptr_add %b, %a : *i32[64]
  store %p, %j
  %by = broadcast %y : *i32[64]
  %q = ptr_add %by, %a : *i32[64]
  store %q, %r
}
)");
}

/// The constant is also used before the loop.
Kernel bound_in_a_loop_that_is_a_tile_constant() {
  return text_kernel("bound_in_a_loop_that_is_a_tile_constant", {counting<int>(400), output<int>(64)}, R"(
kernel bound_in_a_loop_that_is_a_tile_constant(%x: *i32 no_alias, %z: *i32 no_alias) {
  %a = arange begin=0 : i32[64]
  %c = const 200 : i32[64]
  %m0 = lt %a, %c : bool[64]
  %z0 = const 0 : i32[64]
  %bx = broadcast %x : *i32[64]
  %s = where %m0, %c, %z0 : i32[64]
  %lo = const 0 : i32
  %hi = const 300 : i32
  %st = const 64 : i32
  %f = for %lo, %hi, %st, %z0 : i32[64] (%i: i32, %acc: i32[64]) {
    %bi = broadcast %i : i32[64]
    %o = add %bi, %a : i32[64]
    %m = lt %o, %c : bool[64]
    %p = ptr_add %bx, %o : *i32[64]
    %v = load %p, %m : i32[64]
    %n = add %acc, %v : i32[64]
    yield %n
  }
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %a : *i32[64]
  store %q, %f
}
)");
}

/// No iteration is full: what is left of the bound does not fit 64 bits.
Kernel bound_in_a_loop_near_the_least_integer() {
  return text_kernel("bound_in_a_loop_near_the_least_integer",
                     {counting<int64_t>(4096), output<int64_t>(64), number<int64_t>(INT64_MIN), number<int64_t>(4)}, R"(
kernel bound_in_a_loop_near_the_least_integer(%x: *i64 no_alias, %z: *i64 no_alias, %n: i64, %hi: i64) {
  %a = arange begin=0 : i64[64]
  %lo = const 0 : i64
  %st = const 1 : i64
  %c64 = const 64 : i64
  %bx = broadcast %x : *i64[64]
  %z0 = const 0 : i64[64]
  %g = for %lo, %hi, %st, %z0 : i64[64] (%i: i64, %acc: i64[64]) {
    %k = mul %i, %c64 : i64
    %bk = broadcast %k : i64[64]
    %o = add %bk, %a : i64[64]
    %bn = broadcast %n : i64[64]
    %m = lt %o, %bn : bool[64]
    %p = ptr_add %bx, %o : *i64[64]
    %v = load %p, %m : i64[64]
    %nn = add %acc, %v : i64[64]
    yield %nn
  }
  %bz = broadcast %z : *i64[64]
  %q = ptr_add %bz, %a : *i64[64]
  store %q, %g
}
)");
}

/// The index wraps in 8 bits: lanes in the middle are out of bounds, the first and the last are not.
Kernel index_that_wraps_before_it_is_widened() {
  return text_kernel("index_that_wraps_before_it_is_widened", {counting<int>(1024), output<int>(65), number<uint32_t>(1000)}, R"(
kernel index_that_wraps_before_it_is_widened(%x: *i32 no_alias, %z: *i32 no_alias, %n: u32) {
  %a = arange begin=0 : i8[65]
  %c4 = const 4 : i8[65]
  %i8 = mul %a, %c4 : i8[65]
  %i = cast %i8 : u32[65]
  %bn = broadcast %n : u32[65]
  %m = lt %i, %bn : bool[65]
  %bx = broadcast %x : *i32[65]
  %p = ptr_add %bx, %i : *i32[65]
  %o = const -1 : i32[65]
  %v = load %p, %m, %o : i32[65]
  %bz = broadcast %z : *i32[65]
  %ai = arange begin=0 : i32[65]
  %q = ptr_add %bz, %ai : *i32[65]
  store %q, %v
}
)");
}

/// The same by the index of a loop.
Kernel index_that_wraps_in_a_loop() {
  return text_kernel("index_that_wraps_in_a_loop", {counting<int>(1024), output<int>(32)}, R"(
kernel index_that_wraps_in_a_loop(%x: *i32 no_alias, %z: *i32 no_alias) {
  %a = arange begin=0 : i8[32]
  %a32 = arange begin=0 : i32[32]
  %lo = const 0 : i32
  %hi = const 256 : i32
  %st = const 32 : i32
  %n = const 1000 : u32[32]
  %zero = const 0 : i32[32]
  %one = const -1 : i32[32]
  %bx = broadcast %x : *i32[32]
  %s = for %lo, %hi, %st, %zero : i32[32] (%k: i32, %acc: i32[32]) {
    %k8 = cast %k : i8
    %bk = broadcast %k8 : i8[32]
    %i8 = add %bk, %a : i8[32]
    %i = cast %i8 : u32[32]
    %m = lt %i, %n : bool[32]
    %p = ptr_add %bx, %i : *i32[32]
    %v = load %p, %m, %one : i32[32]
    %acc2 = add %acc, %v : i32[32]
    yield %acc2
  }
  %bz = broadcast %z : *i32[32]
  %q = ptr_add %bz, %a32 : *i32[32]
  store %q, %s
}
)");
}

/// The last lanes wrap to below the bound.
Kernel index_that_wraps_near_the_bound() {
  return text_kernel("index_that_wraps_near_the_bound",
                     {counting<int>(256), output<int>(256), number<int>(2147483600), number<int>(2147483647)}, R"(
kernel index_that_wraps_near_the_bound(%x: *i32 no_alias, %z: *i32 no_alias, %base: i32, %n: i32) {
  %a = arange begin=0 : i32[128]
  %bb = broadcast %base : i32[128]
  %bn = broadcast %n : i32[128]
  %i = add %bb, %a : i32[128]
  %m = lt %i, %bn : bool[128]
  %bx = broadcast %x : *i32[128]
  %p = ptr_add %bx, %a : *i32[128]
  %o = const -5 : i32[128]
  %v = load %p, %m, %o : i32[128]
  %m2 = le %i, %bn : bool[128]
  %bz = broadcast %z : *i32[128]
  %q = ptr_add %bz, %a : *i32[128]
  store %q, %v, %m2
}
)");
}

/// The distance from the first to the last index does not fit the dtype of the bounds.
Kernel pointers_moved_by_a_loop_over_i8() {
  return text_kernel("pointers_moved_by_a_loop_over_i8", {counting<int>(4096), output<int>(256)}, R"(
kernel pointers_moved_by_a_loop_over_i8(%x: *i32 no_alias, %z: *i32 no_alias) {
  %a = arange begin=0 : i32[64]
  %lo = const -100 : i8
  %hi = const 100 : i8
  %st = const 50 : i8
  %bx = broadcast %x : *i32[64]
  %p0 = ptr_add %bx, %a : *i32[64]
  %z0 = const 0 : i32[64]
  %d = const 64 : i32[64]
  %f, %g = for %lo, %hi, %st, %p0, %z0 : *i32[64], i32[64] (%i: i8, %p: *i32[64], %acc: i32[64]) {
    %v = load %p : i32[64]
    %n = add %acc, %v : i32[64]
    %q = ptr_add %p, %d : *i32[64]
    yield %q, %n
  }
  %w = load %f : i32[64]
  %w2 = add %w, %g : i32[64]
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %a : *i32[64]
  store %q, %w2
}
)");
}

/// Nor does the distance plus a step.
Kernel pointers_after_a_loop_over_i8() {
  return text_kernel("pointers_after_a_loop_over_i8", {counting<int>(4096), output<int>(256), number<int8_t>(120)}, R"(
kernel pointers_after_a_loop_over_i8(%x: *i32 no_alias, %z: *i32 no_alias, %hi: i8) {
  %a = arange begin=0 : i32[64]
  %lo = const 0 : i8
  %st = const 40 : i8
  %bx = broadcast %x : *i32[64]
  %p0 = ptr_add %bx, %a : *i32[64]
  %z0 = const 0 : i32[64]
  %d = const 64 : i32[64]
  %f, %g = for %lo, %hi, %st, %p0, %z0 : *i32[64], i32[64] (%i: i8, %p: *i32[64], %acc: i32[64]) {
    %v = load %p : i32[64]
    %n = add %acc, %v : i32[64]
    %q = ptr_add %p, %d : *i32[64]
    yield %q, %n
  }
  %w = load %f : i32[64]
  %w2 = add %w, %g : i32[64]
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %a : *i32[64]
  store %q, %w2
}
)");
}

/// Stores, loads and a scalar load in the condition, whose order shows.
Kernel while_condition_with_effects() {
  return text_kernel("while_condition_with_effects", {counting<int>(128), output<int>(128), number<int>(900)}, R"(
kernel while_condition_with_effects(%x: *i32, %z: *i32 no_alias, %lim: i32) {
  %a = arange begin=0 : i32[40]
  %k = const 39 : i32[40]
  %ra = sub %k, %a : i32[40]
  %bx = broadcast %x : *i32[40]
  %p = ptr_add %bx, %a : *i32[40]
  %pr = ptr_add %bx, %ra : *i32[40]
  %z0 = const 0 : i32
  %one = const 1 : i32
  %c = while %z0 : i32 (%j: i32) {
    %v = load %pr : i32[40]
    %bj = broadcast %j : i32[40]
    %w = add %v, %bj : i32[40]
    store %p, %w
    %f = load %x : i32
    %s = reduce %v axis=0 : i32 (%l: i32, %r: i32) {
      %m = add %l, %r : i32
      yield %m
    }
    %t = add %s, %f : i32
    %go = lt %t, %lim : bool
    yield %go
  } do (%j: i32) {
    %f2 = load %p : i32[40]
    %old = atomic_add %pr, %f2 : i32[40]
    %j2 = add %j, %one : i32
    store %x, %j2
    yield %j2
  }
  %bz = broadcast %z : *i32[40]
  %q = ptr_add %bz, %a : *i32[40]
  %v = load %p : i32[40]
  store %q, %v
  store %z, %c
}
)");
}

/// Every op that has a case of its own for them.
Kernel accesses_of_one_element_tiles() {
  return text_kernel("accesses_of_one_element_tiles", {counting<int>(8), output<int>(64), number<int>(3)}, R"(
kernel accesses_of_one_element_tiles(%x: *i32, %z: *i32, %n: i32) {
  %a = arange begin=2 : i32[1]
  %bx = broadcast %x : *i32[1]
  %p = ptr_add %bx, %a : *i32[1]
  %v = load %p : i32[1]
  %old = atomic_add %p, %v : i32[1]
  %s = reshape %old : i32
  %p1 = reshape %p : *i32
  store %p1, %s
  %r = reduce %v axis=0 : i32 (%l: i32, %q: i32) {
    %w = add %l, %q : i32
    yield %w
  }
  %sc = scan %v axis=0 : i32[1] (%l: i32, %q: i32) {
    %w = add %l, %q : i32
    yield %w
  }
  %v2 = load %p1 : i32
  %e = add %v2, %r : i32
  %se = reshape %sc : i32
  %e2 = add %e, %se : i32
  %bs = broadcast %e2 : i32[1, 7, 1]
  %b7 = arange begin=0 : i32[7]
  %b17 = reshape %b7 : i32[1, 7, 1]
  %bz = broadcast %z : *i32[1, 7, 1]
  %q = ptr_add %bz, %b17 : *i32[1, 7, 1]
  %rr = reduce %bs axis=0 : i32[7, 1] (%l: i32, %q2: i32) {
    %w = add %l, %q2 : i32
    yield %w
  }
  %rr2 = reduce %rr axis=1 : i32[7] (%l: i32, %q2: i32) {
    %w = add %l, %q2 : i32
    yield %w
  }
  %rrr = reshape %rr2 : i32[1, 7, 1]
  store %q, %rrr
  %k = reduce %rr2 axis=0 : i32 (%l: i32, %q2: i32) {
    %w = sub %l, %q2 : i32
    yield %w
  }
  store %z, %k
}
)");
}

/// A tile, or a scalar, that is folded with itself again and again: its expression is small, its tree is not.
Kernel bound_of_shared_operands() {
  std::string text = R"(
kernel bound_of_shared_operands(%x: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %i = arange begin=0 : i32[64]
  %c = const 7 : i32
  %bn = broadcast %n : i32[64]
  %t0 = add %i, %bn : i32[64]
  %s0 = add %n, %c : i32
)";
  for (int k = 0; k < 40; ++k) {
    text += fmt::format("  %t{} = add %t{}, %t{} : i32[64]\n", k + 1, k, k);
    text += fmt::format("  %h{} = shr %s{}, %c : i32\n  %s{} = xor %h{}, %s{} : i32\n", k, k, k + 1, k, k);
  }
  text += R"(
  %bs = broadcast %s40 : i32[64]
  %m = lt %t40, %bs : bool[64]
  %bx = broadcast %x : *i32[64]
  %p = ptr_add %bx, %i : *i32[64]
  %v = load %p, %m : i32[64]
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %i : *i32[64]
  store %q, %v
}
)";
  return text_kernel("bound_of_shared_operands", {counting<int>(64), output<int>(64), number(3)}, text);
}

/// The products of lane numbers leave 64 bits long before the chain ends; the mask lets no lane use the address.
Kernel address_of_a_long_chain() {
  std::string text = R"(
kernel address_of_a_long_chain(%x: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %s0 = arange begin=0 : i32[64]
  %c = const 1664525 : i32[64]
  %d = const 1013904223 : i32[64]
)";
  for (int k = 0; k < 25; ++k)
    text += fmt::format("  %t{} = mul %s{}, %c : i32[64]\n  %s{} = add %t{}, %d : i32[64]\n", k, k, k + 1, k);
  text += R"(
  %bn = broadcast %n : i32[64]
  %m = lt %s0, %bn : bool[64]
  %bx = broadcast %x : *i32[64]
  %p = ptr_add %bx, %s25 : *i32[64]
  %v = load %p, %m, %s25 : i32[64]
  %bz = broadcast %z : *i32[64]
  %q = ptr_add %bz, %s0 : *i32[64]
  store %q, %v
}
)";
  return text_kernel("address_of_a_long_chain", {counting<int>(64), output<int>(64), number(0)}, text);
}

/// The product of lane numbers wraps in 8 bits before it is widened: a block of lanes can not be larger than the dtype.
Kernel narrow_product_is_widened_u8() {
  return text_kernel("narrow_product_is_widened_u8", {output<int>(1024)}, R"(
kernel narrow_product_is_widened_u8(%z: *i32 no_alias) {
  %a = arange begin=0 : i32[1024]
  %o8 = cast %a : u8[1024]
  %c = const 128 : u8[1024]
  %w = mul %o8, %c : u8[1024]
  %ww = cast %w : i32[1024]
  %bz = broadcast %z : *i32[1024]
  %q = ptr_add %bz, %a : *i32[1024]
  store %q, %ww
}
)");
}

/// The same in 16 bits, signed.
Kernel narrow_product_is_widened_i16() {
  return text_kernel("narrow_product_is_widened_i16", {output<int>(1024)}, R"(
kernel narrow_product_is_widened_i16(%z: *i32 no_alias) {
  %a = arange begin=0 : i32[1024]
  %o8 = cast %a : i16[1024]
  %c = const 16384 : i16[1024]
  %w = mul %o8, %c : i16[1024]
  %ww = cast %w : i32[1024]
  %bz = broadcast %z : *i32[1024]
  %q = ptr_add %bz, %a : *i32[1024]
  store %q, %ww
}
)");
}

/// The same by the index of a loop.
Kernel narrow_product_is_widened_in_a_loop() {
  return text_kernel("narrow_product_is_widened_in_a_loop", {counting<int>(512), output<int>(256)}, R"(
kernel narrow_product_is_widened_in_a_loop(%x: *i32 no_alias, %z: *i32 no_alias) {
  %a = arange begin=0 : i32[64]
  %lo = const 0 : i32
  %hi = const 4 : i32
  %st = const 1 : i32
  %c64 = const 64 : i32
  for %lo, %hi, %st (%k: i32) {
    %h = mul %k, %c64 : i32
    %bh = broadcast %h : i32[64]
    %o = add %bh, %a : i32[64]
    %o8 = cast %o : i8[64]
    %sixtyfour = const 64 : i8[64]
    %w = mul %o8, %sixtyfour : i8[64]
    %ww = cast %w : i32[64]
    %bz = broadcast %z : *i32[64]
    %q = ptr_add %bz, %o : *i32[64]
    store %q, %ww
  }
}
)");
}

/// The same for a shift by more than the width: wrong with vectors of 8 lanes and more (old_cpu).
Kernel narrow_product_is_shifted_away() {
  return text_kernel("narrow_product_is_shifted_away", {counting<int>(512), output<int>(256)}, R"(
kernel narrow_product_is_shifted_away(%x: *i32 no_alias, %z: *i32 no_alias) {
  %a = arange begin=0 : i32[64]
  %lo = const 0 : i32
  %hi = const 4 : i32
  %st = const 1 : i32
  %c64 = const 64 : i32
  for %lo, %hi, %st (%k: i32) {
    %h = mul %k, %c64 : i32
    %bh = broadcast %h : i32[64]
    %o = add %bh, %a : i32[64]
    %o8 = cast %o : i8[64]
    %six = const 6 : i8[64]
    %w = shl %o8, %six : i8[64]
    %nine = const 9 : i8[64]
    %ww = shr %w, %nine : i8[64]
    %www = cast %ww : i32[64]
    %bz = broadcast %z : *i32[64]
    %q = ptr_add %bz, %o : *i32[64]
    store %q, %www
  }
}
)");
}

/// One commutative op, but not of both parameters: does not commute.
Kernel combine_with_a_scalar_from_outside() {
  return text_kernel("combine_with_a_scalar_from_outside", {counting<int>(256), output<int>(256), number<int>(5)}, R"(
kernel combine_with_a_scalar_from_outside(%x: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %a = arange begin=0 : i32[256]
  %b = broadcast %x : *i32[256]
  %p = ptr_add %b, %a : *i32[256]
  %v = load %p : i32[256]
  %s = reduce %v axis=0 : i32 (%l: i32, %r: i32) {
    %w = add %l, %n : i32
    yield %w
  }
  %bs = broadcast %s : i32[256]
  %bz = broadcast %z : *i32[256]
  %q = ptr_add %bz, %a : *i32[256]
  store %q, %bs
}
)");
}

/// The same, where the lower operand is not looked at.
Kernel combine_that_keeps_the_higher_one() {
  return text_kernel("combine_that_keeps_the_higher_one", {counting<float>(300), output<float>(300), number<float>(1000)}, R"(
kernel combine_that_keeps_the_higher_one(%x: *f32 no_alias, %z: *f32 no_alias, %n: f32) {
  %a = arange begin=0 : i32[256]
  %b = broadcast %x : *f32[256]
  %p = ptr_add %b, %a : *f32[256]
  %v = load %p : f32[256]
  %s = reduce %v axis=0 : f32 (%l: f32, %r: f32) {
    %w = maximum %r, %n : f32
    yield %w
  }
  %t = reduce %v axis=0 : f32 (%l: f32, %r: f32) {
    %w = minimum %n, %r : f32
    yield %w
  }
  %st = add %t, %t : f32
  %bs = broadcast %st : f32[256]
  %bz = broadcast %z : *f32[256]
  %q = ptr_add %bz, %a : *f32[256]
  store %q, %bs
}
)");
}

/// The same: threads take different branches, and never meet at the barrier.
Kernel combine_with_a_scalar_then_branch() {
  return text_kernel("combine_with_a_scalar_then_branch", {counting<int>(300), output<int>(300), number<int>(40)}, R"(
kernel combine_with_a_scalar_then_branch(%x: *i32 no_alias, %z: *i32 no_alias, %n: i32) {
  %a = arange begin=0 : i32[256]
  %b = broadcast %x : *i32[256]
  %p = ptr_add %b, %a : *i32[256]
  %v = load %p : i32[256]
  %s = reduce %v axis=0 : i32 (%l: i32, %r: i32) {
    %w = add %l, %n : i32
    yield %w
  }
  %c = const 321 : i32
  %g = gt %s, %c : bool
  %y = if %g : i32 {
    %k = reduce %v axis=0 : i32 (%l: i32, %r: i32) {
      %w = add %l, %r : i32
      yield %w
    }
    yield %k
  } else {
    yield %s
  }
  store %z, %y
}
)");
}

/// The narrow part of the index wraps; the whole one would not if all were 64 bits wide.
Kernel bound_of_narrow_part_that_falls() {
  return text_kernel("bound_of_narrow_part_that_falls", {counting<int>(8192), output<int>(64), number<int64_t>(10000)}, R"(
kernel bound_of_narrow_part_that_falls(%x: *i32 no_alias, %z: *i32 no_alias, %n: i64) {
  %a = arange begin=0 : i64[32]
  %a32 = arange begin=0 : i32[32]
  %lo = const 0 : i32
  %hi = const 5000 : i32
  %st = const 100 : i32
  %z0 = const 0 : i32[32]
  %minus = const -1048576 : i32
  %plus = const 1048577 : i64
  %bx = broadcast %x : *i32[32]
  %bn = broadcast %n : i64[32]
  %f = for %lo, %hi, %st, %z0 : i32[32] (%k: i32, %acc: i32[32]) {
    %e = mul %k, %minus : i32
    %e64 = cast %e : i64
    %k64 = cast %k : i64
    %g = mul %k64, %plus : i64
    %h = add %e64, %g : i64
    %bh = broadcast %h : i64[32]
    %o = add %bh, %a : i64[32]
    %m = lt %o, %bn : bool[32]
    %p = ptr_add %bx, %a : *i32[32]
    %other = const 100000 : i32[32]
    %v = load %p, %m, %other : i32[32]
    %nn = add %acc, %v : i32[32]
    yield %nn
  }
  %bz = broadcast %z : *i32[32]
  %q = ptr_add %bz, %a32 : *i32[32]
  store %q, %f
}
)");
}

/// index * 4 wraps in 64 bits at the first index: it is 0 there, and no sign that the lanes are in bounds.
Kernel bound_in_a_loop_that_begins_far_below() {
  return text_kernel("bound_in_a_loop_that_begins_far_below", {counting<int>(8192), output<int>(64), number<int64_t>(1000)}, R"(
kernel bound_in_a_loop_that_begins_far_below(%x: *i32 no_alias, %z: *i32 no_alias, %n: i64) {
  %a = arange begin=0 : i64[32]
  %a32 = arange begin=0 : i32[32]
  %lo = const -4611686018427387904 : i64
  %hi = const -4611686018427386904 : i64
  %st = const 100 : i64
  %z0 = const 0 : i32[32]
  %four = const 4 : i64
  %bx = broadcast %x : *i32[32]
  %bn = broadcast %n : i64[32]
  %f = for %lo, %hi, %st, %z0 : i32[32] (%k: i64, %acc: i32[32]) {
    %h = mul %k, %four : i64
    %bh = broadcast %h : i64[32]
    %o = add %bh, %a : i64[32]
    %m = lt %o, %bn : bool[32]
    %p = ptr_add %bx, %a : *i32[32]
    %other = const 100000 : i32[32]
    %v = load %p, %m, %other : i32[32]
    %nn = add %acc, %v : i32[32]
    yield %nn
  }
  %bz = broadcast %z : *i32[32]
  %q = ptr_add %bz, %a32 : *i32[32]
  store %q, %f
}
)");
}

}  // namespace

Kernels review_kernels() {
  return {
      pairs_of_lanes_load_and_store_one_place(), lanes_add_what_they_loaded_before(), lanes_load_what_all_have_added(),
      store_through_a_chosen_pointer(), pointers_swapped_in_a_loop(), pointers_compared_lane_by_lane(), quotients_below_zero(),
      bound_in_a_loop_that_is_a_tile_constant(), bound_in_a_loop_near_the_least_integer(),
      index_that_wraps_before_it_is_widened(), index_that_wraps_in_a_loop(), index_that_wraps_near_the_bound(),
      pointers_moved_by_a_loop_over_i8(), pointers_after_a_loop_over_i8(), while_condition_with_effects(),
      accesses_of_one_element_tiles(), bound_of_shared_operands(), address_of_a_long_chain(),
      narrow_product_is_widened_u8(), narrow_product_is_widened_i16(), narrow_product_is_widened_in_a_loop(),
      narrow_product_is_shifted_away(), combine_with_a_scalar_from_outside(), combine_that_keeps_the_higher_one(),
      combine_with_a_scalar_then_branch(), bound_of_narrow_part_that_falls(), bound_in_a_loop_that_begins_far_below(),
  };
}

}  // namespace strider::lowering
