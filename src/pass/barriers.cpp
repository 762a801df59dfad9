// SPDX-License-Identifier: Apache-2.0
#include "pass/barriers.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "ir/rewrite.h"
#include "ir/roots.h"
#include "pass/alias.h"

namespace strider::pass {

using namespace ir;

namespace {

struct Access {
  Value root;
  bool reads, writes;
  bool operator==(const Access&) const = default;
};

using Accesses = std::vector<Access>;

void add(Accesses& set, const Access& a) {
  if (std::find(set.begin(), set.end(), a) == set.end()) set.push_back(a);
}
void add(Accesses& set, const Accesses& more) {
  for (const Access& a : more) add(set, a);
}

/// What may have happened since the last barrier on some path to here.
struct State {
  Accesses earlier;  // before `mark`
  Accesses current;  // since
  Value mark;        // the last mark, if one lies on every path since the last region with marks
  void join(const State& other) {
    add(earlier, other.earlier);
    add(current, other.current);
  }
};

class Finder {
 public:
  explicit Finder(const Function& f) : f_(f) {
    State state;
    walk(0, state);
  }
  bool needed(Value mark) const { return needed_.contains(mark.id); }

 private:
  void walk(RegionId region, State& state);
  void visit(Value v, State& state);
  void visit_branches(Value v, State& state);
  void visit_loop(Value v, State& state);
  void access(Value v, State& state);
  bool conflict(const Access& a, const Access& b) const;
  bool has_marks(Value v) const;

  const Function& f_;
  std::unordered_set<uint32_t> needed_;
};

bool meet_in_scratch(const Function& f, Value a, Value b) {
  int64_t begin_a = f[a].aux, begin_b = f[b].aux;
  int64_t end_a = begin_a + f[a].imm * size_of(f[a].type.dtype), end_b = begin_b + f[b].imm * size_of(f[b].type.dtype);
  return begin_a < end_b && begin_b < end_a;
}

bool Finder::conflict(const Access& a, const Access& b) const {
  if (!(a.writes || b.writes)) return false;
  bool both_scratch = a.root.valid() && b.root.valid() && f_[a.root].op == Op::Alloc && f_[b.root].op == Op::Alloc;
  return both_scratch ? meet_in_scratch(f_, a.root, b.root) : roots_may_alias(f_, a.root, b.root);
}

void Finder::access(Value v, State& state) {
  if (!has(f_[v].op, Reads | Writes)) return;
  Value pointer = f_.operand(v, 0);
  if (f_.type(pointer).space == Space::Local) return;
  Access a{root_of(f_, pointer), has(f_[v].op, Reads), has(f_[v].op, Writes)};
  bool meets = std::any_of(state.earlier.begin(), state.earlier.end(), [&](const Access& e) { return conflict(a, e); });
  if (meets) {
    STRIDER_CHECK(state.mark.valid());  // the lanes pass marks every new group of accesses
    needed_.insert(state.mark.id);
    state.earlier.clear();
  }
  add(state.current, a);
}

bool Finder::has_marks(Value v) const {
  if (f_[v].op == Op::Phase) return true;
  for (int k = 0; k < f_[v].region_count; ++k)
    for (Value inner : f_.region(v, k).body)
      if (has_marks(inner)) return true;
  return false;
}

void Finder::visit(Value v, State& state) {
  const Node& n = f_[v];
  access(v, state);
  if (n.op == Op::Phase) {
    if (needed_.contains(v.id)) state.earlier.clear();
    else add(state.earlier, state.current);
    state.current.clear();
    state.mark = v;
  }
  if (n.op == Op::For || n.op == Op::While) visit_loop(v, state);
  else if (n.region_count > 0) visit_branches(v, state);
}

void Finder::visit_branches(Value v, State& state) {
  State after{{}, {}, has_marks(v) ? Value{} : state.mark};
  for (int k = 0; k < f_[v].region_count; ++k) {
    State branch = state;
    walk(f_.region_of(v, k), branch);
    after.join(branch);
  }
  state = after;
}

/// The end of one iteration meets the begin of the next: around until no new barrier is needed.
void Finder::visit_loop(Value v, State& state) {
  State before = state, after;
  if (has_marks(v)) before.mark = {};
  size_t known;
  State begin = before;
  do {
    known = needed_.size();
    State inside = begin;
    after = {{}, {}, before.mark};
    for (int k = 0; k < f_[v].region_count; ++k) {
      walk(f_.region_of(v, k), inside);
      bool may_leave = f_[v].op == Op::For || k == 0;  // a while loop ends after its condition
      if (may_leave) after.join(inside);
    }
    size_t size = begin.earlier.size() + begin.current.size();
    begin.join(inside);
    if (begin.earlier.size() + begin.current.size() != size) known = SIZE_MAX;
  } while (known != needed_.size());
  if (f_[v].op == Op::For) after.join(before);  // it may not run at all
  state = after;
}

void Finder::walk(RegionId region, State& state) {
  for (Value v : f_.region(region).body) visit(v, state);
}

struct Writer : Rewriter {
  Writer(const Function& f, const Finder& finder) : Rewriter(f), finder_(finder) { b.set_literal(true); }
  void visit(Value v) override {
    if (from[v].op != Op::Phase) return copy(v);
    if (finder_.needed(v)) b.barrier();
  }
  const Finder& finder_;
};

}  // namespace

Function insert_barriers(const Function& lanes) {
  Finder finder(lanes);
  return Writer(lanes, finder).run();
}

}  // namespace strider::pass
