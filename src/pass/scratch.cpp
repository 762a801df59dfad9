// SPDX-License-Identifier: Apache-2.0
#include "pass/scratch.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace strider::pass {

using namespace ir;

namespace {

constexpr int64_t kAlignment = 64;

struct Life {
  Value alloc;
  int64_t bytes = 0;
  int first = 0, last = 0;  // phases
  int depth = 0;            // loops around the allocation
  int64_t offset = 0;
};

/// Walks the program in order, numbering phases, and notes when each allocation is first and last used.
class Lives {
 public:
  explicit Lives(const Function& f) : f_(f) {
    walk(0, 0);
    for (auto& [id, life] : lives_) all_.push_back(life);
    std::sort(all_.begin(), all_.end(), [](const Life& a, const Life& b) { return a.alloc.id < b.alloc.id; });
  }
  std::vector<Life>& all() { return all_; }

 private:
  void walk(RegionId region, int depth);
  void use(Value operand);
  void walk_loop(Value v, int depth);

  const Function& f_;
  std::unordered_map<uint32_t, Life> lives_;
  std::unordered_map<uint32_t, Value> origin_;  // the allocation that a pointer comes from
  std::vector<Life> all_;
  int now_ = 0;
};

void Lives::use(Value operand) {
  auto from = origin_.find(operand.id);
  if (from == origin_.end()) return;
  Life& life = lives_[from->second.id];
  life.first = std::min(life.first, now_);
  life.last = std::max(life.last, now_);
}

void Lives::walk(RegionId region, int depth) {
  for (Value v : f_.region(region).body) {
    const Node& n = f_[v];
    if (n.op == Op::Phase) ++now_;
    if (n.op == Op::Alloc && n.type.space == Space::Shared) {
      int64_t bytes = (n.imm * size_of(n.type.dtype) + kAlignment - 1) / kAlignment * kAlignment;
      lives_[v.id] = {v, bytes, now_, now_, depth, 0};
      origin_[v.id] = v;
    }
    for (Value o : f_.operands(v)) {
      use(o);
      auto from = origin_.find(o.id);
      if (n.type.is_pointer() && from != origin_.end()) origin_[v.id] = from->second;
    }
    if (n.op == Op::For || n.op == Op::While) walk_loop(v, depth);
    else
      for (int k = 0; k < n.region_count; ++k) walk(f_.region_of(v, k), depth);
  }
}

/// The next iteration may read what this one wrote, so what comes from outside lives from the loop's begin to its end.
void Lives::walk_loop(Value v, int depth) {
  int begin = now_;
  for (int k = 0; k < f_[v].region_count; ++k) walk(f_.region_of(v, k), depth + 1);
  for (auto& [id, life] : lives_) {
    bool used_inside = life.last >= begin;
    if (life.depth > depth || !used_inside) continue;
    life.first = std::min(life.first, begin);
    life.last = now_;
  }
}

/// First fit: the lowest offset at which nothing that lives at the same time lies.
void place(Life& life, std::span<const Life> placed) {
  std::vector<const Life*> meeting;
  for (const Life& other : placed)
    if (other.first <= life.last && life.first <= other.last) meeting.push_back(&other);
  std::sort(meeting.begin(), meeting.end(), [](const Life* a, const Life* b) { return a->offset < b->offset; });
  for (const Life* other : meeting)
    if (other->offset < life.offset + life.bytes) life.offset = std::max(life.offset, other->offset + other->bytes);
}

}  // namespace

void assign_scratch(Function& lanes, const Target& target) {
  std::vector<Life> lives = Lives(lanes).all();
  lanes.scratch_bytes = 0;
  for (size_t k = 0; k < lives.size(); ++k) {
    place(lives[k], std::span(lives).first(k));
    lanes.set_aux(lives[k].alloc, static_cast<uint32_t>(lives[k].offset));
    lanes.scratch_bytes = std::max(lanes.scratch_bytes, lives[k].offset + lives[k].bytes);
  }
  if (lanes.scratch_bytes > target.scratch_limit)
    unsupported_error("kernel {} needs {} bytes of scratch a program, {} has {}; use smaller tiles", lanes.name, lanes.scratch_bytes,
                      target.name, target.scratch_limit);
}

}  // namespace strider::pass
