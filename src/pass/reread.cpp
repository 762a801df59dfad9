// SPDX-License-Identifier: Apache-2.0
#include "pass/reread.h"

#include "ir/rewrite.h"
#include "pass/index_map.h"

namespace strider::pass {

using namespace ir;

namespace {

class Rereader : public Rewriter {
 public:
  explicit Rereader(const Function& f) : Rewriter(f), uses_(f.size()), user_(f.size()), region_(f.size()), spread_(f.size()) { find_users(0); }

 protected:
  void visit(Value v) override;

 private:
  void find_users(RegionId region);
  std::vector<Value> way_to_broadcast(Value load) const;
  bool is_row_of(Value load, Value broadcast) const;
  Value reshaped(Value x, const std::vector<Value>& way);

  std::vector<int> uses_;
  std::vector<Value> user_;       // the last one
  std::vector<RegionId> region_;  // where a value is made
  std::vector<bool> spread_;      // on the way from a load to its broadcast
};

void Rereader::find_users(RegionId region) {
  for (Value v : from.region(region).body) {
    region_[v.id] = region;
    for (Value operand : from.operands(v)) ++uses_[operand.id], user_[operand.id] = v;
    for (int k = 0; k < from[v].region_count; ++k) find_users(from.region_of(v, k));
  }
}

/// What happens to `load` up to and including a broadcast, or nothing if other things do too. A second use, one in a loop, or one
/// at other lanes would have the whole tile kept instead of the row.
std::vector<Value> Rereader::way_to_broadcast(Value load) const {
  std::vector<Value> way;
  for (Value v = load; uses_[v.id] == 1 && region_[user_[v.id].id] == region_[load.id];) {
    if (from[v].op == Op::Broadcast) return has(from[user_[v.id]].op, Shapes) ? std::vector<Value>{} : way;
    v = user_[v.id];
    way.push_back(v);
    if (from[v].op != Op::ExpandDims && from[v].op != Op::Broadcast) break;
  }
  return {};
}

bool Rereader::is_row_of(Value load, Value broadcast) const {
  const Shape &row = from.type(load).shape, &tile = from.type(broadcast).shape;
  int last = row.rank() - 1;
  Value pointer = from.operand(load, 0);
  bool is_row = last >= 0 && row[last] > 1 && row[last] == tile[tile.rank() - 1];
  return is_row && !is_large(from, pointer) && step_along(from, pointer, last) == 1;
}

Value Rereader::reshaped(Value x, const std::vector<Value>& way) {
  for (Value v : way) x = from[v].op == Op::ExpandDims ? b.expand_dims(x, static_cast<int>(from[v].imm)) : b.broadcast(x, from.type(v).shape);
  return x;
}

void Rereader::visit(Value v) {
  if (spread_[v.id]) return;
  std::vector<Value> way = from[v].op == Op::Load ? way_to_broadcast(v) : std::vector<Value>{};
  if (way.empty() || !is_row_of(v, way.back())) return copy(v);
  std::vector<Value> operands;
  for (Value o : map(from.operands(v))) operands.push_back(reshaped(o, way));
  Value loaded = b.emit(Op::Load, operands, from[v].imm);
  b.set_flags(loaded, from[v].flags);
  for (Value w : way) spread_[w.id] = true;
  set(way.back(), loaded);
}

}  // namespace

Function reread(const Function& tile) { return Rereader(tile).run(); }

}  // namespace strider::pass
