// SPDX-License-Identifier: Apache-2.0
//
// A cell holds the one actor that touched the byte, or "many" where only loads, only atomics, or only harmless stores did. An access by another actor fits if the byte can become, or stay, of "many".
#include "backend/interp/shadow.h"

namespace strider::interp {

Shadow::Page& Shadow::page(uint64_t number) {
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return *recent.page;
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  recent = {number, page.get()};
  return *page;
}

/// True when the byte's earlier access conflicts; the cell is left unchanged then.
bool Shadow::note(Cell& cell, const Access& access, uint32_t epoch) {
  const uint32_t touch = static_cast<uint32_t>(access.touch);
  if (cell.epoch != epoch) {
    cell = {epoch, access.actor, touch, access.statement.id};
    return false;
  }
  const uint32_t touches = cell.touches | touch;
  if (cell.actor != access.actor) {
    const bool store = touch == static_cast<uint32_t>(Touch::Store);
    if (touches != touch || (store && !access.harmless)) return true;
    cell.actor = Conflict::kMany;
  }
  // The strongest touch is part of any later conflict, so its statement is the one to name.
  if (2 * touch > cell.touches) cell.statement = access.statement.id;
  cell.touches = touches;
  return false;
}

std::optional<Conflict> Shadow::note(const Access& access) {
  std::optional<Conflict> conflict;
  uint64_t at = access.address & (kPageSize - 1);
  Cell* cells = page(access.address >> kPageBits).data();
  for (int k = 0; k < access.bytes; ++k, ++at) {
    if (at == kPageSize) {
      cells = page((access.address + static_cast<uint64_t>(k)) >> kPageBits).data();
      at = 0;
    }
    Cell& cell = cells[at];
    if (!note(cell, access, epoch_)) continue;
    if (!conflict) conflict = Conflict{cell.actor, ir::Value{cell.statement}};
    cell = {epoch_, access.actor, static_cast<uint32_t>(access.touch), access.statement.id};
  }
  return conflict;
}

}  // namespace strider::interp
