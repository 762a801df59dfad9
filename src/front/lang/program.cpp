// SPDX-License-Identifier: Apache-2.0
#include "front/lang/program.h"

#include "ir/roots.h"

namespace strider::front {

void mark_read_only(ir::Function& f) {
  std::vector<bool> written(f.params().size());
  for (uint32_t id = 0; id < f.size(); ++id) {
    ir::Value v{id};
    if (!has(f[v].op, ir::Writes)) continue;
    ir::Value root = ir::root_of(f, f.operand(v, 0));
    if (root.valid() && f[root].op == ir::Op::Param) written[static_cast<size_t>(f[root].imm)] = true;
    else written.assign(written.size(), true);  // it may be any of them
  }
  for (size_t k = 0; k < written.size(); ++k)
    if (f.type(f.params()[k]).is_pointer()) f.param_info(static_cast<int>(k)).read_only = !written[k];
}

void mark_streaming(ir::Function& f, std::vector<bool> streams) {
  streams.resize(f.params().size());  // hidden parameters follow those of the kernel
  auto param_of = [&](ir::Value statement) {
    ir::Value root = ir::root_of(f, f.operand(statement, 0));
    return root.valid() && f[root].op == ir::Op::Param ? static_cast<size_t>(f[root].imm) : streams.size();
  };
  std::vector<ir::Value> stores;
  for (uint32_t id = 0; id < f.size(); ++id) {
    ir::Value v{id};
    if (!has(f[v].op, ir::Reads | ir::Writes)) continue;
    size_t param = param_of(v);
    if (f[v].op == ir::Op::Store && f.type(f.operand(v, 0)).shape.rank() > 0) stores.push_back(v);
    else if (param < streams.size()) streams[param] = false;
    else streams.assign(streams.size(), false);
  }
  for (ir::Value v : stores)
    if (size_t param = param_of(v); param < streams.size() && streams[param]) f.set_imm(v, f[v].imm | ir::kStreaming);
}

}  // namespace strider::front
