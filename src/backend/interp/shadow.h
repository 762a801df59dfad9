// SPDX-License-Identifier: Apache-2.0
// Who touched which byte: one cell a byte, in pages made at the first touch. Finds accesses of two actors (programs,
// threads, or lanes of one store) whose order matters and that nothing orders.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "ir/function.h"

namespace strider::interp {

/// How a statement touches memory, weakest first; a set of them is a mask of bits.
enum class Touch : uint8_t { Load = 1, Atomic = 2, Store = 4 };

/// The earlier access that an access raced with.
struct Conflict {
  static constexpr uint32_t kMany = (1u << 28) - 1;
  uint32_t actor;  // kMany: several
  ir::Value statement;
};

class Shadow {
 public:
  struct Access {
    uint64_t address;
    int bytes;
    Touch touch;
    uint32_t actor;
    ir::Value statement;
    bool harmless;  // a store of what is there already: no conflict with other stores
  };

  /// Actors from here on are ordered after all so far: a barrier, or a new statement.
  void forget() { ++epoch_; }
  /// Notes an access. Gives the first conflict among its bytes.
  std::optional<Conflict> note(const Access& access);

 private:
  static constexpr int kPageBits = 10;
  static constexpr uint64_t kPageSize = 1 << kPageBits;
  struct Cell {
    uint32_t epoch;
    uint32_t actor : 28;
    uint32_t touches : 4;
    uint32_t statement;
  };
  using Page = std::array<Cell, kPageSize>;
  struct Recent {
    uint64_t number = UINT64_MAX;
    Page* page = nullptr;
  };

  Page& page(uint64_t number);
  static bool note(Cell& cell, const Access& access, uint32_t epoch);

  uint32_t epoch_ = 1;  // cells start in epoch 0: forgotten
  std::array<Recent, 64> recent_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace strider::interp
