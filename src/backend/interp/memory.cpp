// SPDX-License-Identifier: Apache-2.0
#include "backend/interp/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "ir/roots.h"
#include "ir/semantics.h"

namespace strider::interp {

using ir::Function;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Value;

static_assert(std::endian::native == std::endian::little, "elements travel as their low bytes");

ProgramMemory::ProgramMemory(const Function& f, const Values& values, std::span<const uint64_t> args,
                             const InterpOptions& options, Reports& reports)
    : function_(f), values_(values), args_(args), options_(options), reports_(reports), roots_(ir::pointer_roots(f)),
      site_index_(f.size()) {
  for (uint32_t id = 0; id < f.size(); ++id) {
    if (!ir::has(f[Value{id}].op, ir::Reads | ir::Writes)) continue;
    site_index_[id] = static_cast<uint32_t>(sites_.size());
    sites_.push_back(make_site(Value{id}));
  }
  scratch_.resize(static_cast<size_t>(f.scratch_bytes));
  local_.resize(static_cast<size_t>(values.local_bytes() * std::max(f.threads, 1)));
  scratch_writers_.resize(scratch_.size());
  local_writers_.resize(local_.size());
}

// --- what each statement may reach

namespace {
Touch touch_of(Op op) {
  if (ir::has(op, ir::Atomic)) return Touch::Atomic;
  return ir::has(op, ir::Writes) ? Touch::Store : Touch::Load;
}
}  // namespace

Site ProgramMemory::make_site(Value statement) const {
  const Value pointer = function_.operand(statement, 0);
  const DType dtype = accessed_type(function_, statement).dtype;
  const Touch touch = touch_of(function_[statement].op);
  Site site{statement, touch, dtype, size_of(dtype), function_.type(pointer).space, roots_[pointer.id]};
  if (site.space == Space::Global) bound_global(site);
  else bound_scratch(site);
  return site;
}

void ProgramMemory::bound_scratch(Site& site) const {
  const bool shared = site.space == Space::Shared;
  site.bounded = true;
  site.size = static_cast<uint64_t>(shared ? function_.scratch_bytes : values_.local_bytes());
  if (!site.root.valid()) return;
  site.begin = *values_[site.root].data;
  site.size = static_cast<uint64_t>(function_[site.root].imm * size_of(function_.type(site.root).dtype));
}

void ProgramMemory::bound_global(Site& site) const {
  if (!site.root.valid()) return;
  site.read_only = site.touch != Touch::Load && function_.param_info(static_cast<int>(index_of(site.root))).read_only;
  if (options_.memories.empty()) return;
  site.bounded = true;
  const Memory* memory = memory_of(site.root);
  if (!memory) return;
  site.begin = reinterpret_cast<uint64_t>(memory->base);
  site.size = static_cast<uint64_t>(memory->bytes);
}

const Memory* ProgramMemory::memory_of(Value param) const {
  const int64_t index = index_of(param);
  const std::string& name = function_.param_info(static_cast<int>(index)).name;
  for (const Memory& m : options_.memories)
    if (m.param == index) return &m;
  for (const Memory& m : options_.memories)
    if (m.param < 0 && !name.empty() && m.name && m.name == name) return &m;
  for (const Memory& m : options_.memories)
    if (m.param < 0 && args_[index] - reinterpret_cast<uint64_t>(m.base) < static_cast<uint64_t>(m.bytes)) return &m;
  return nullptr;
}

// --- a program's life

void ProgramMemory::begin_program(int64_t linear) {
  constexpr char kPoison = static_cast<char>(0xA5);
  program_ = static_cast<uint32_t>(linear);
  std::ranges::fill(scratch_, kPoison);
  std::ranges::fill(local_, kPoison);
  std::ranges::fill(scratch_writers_, 0u);
  std::ranges::fill(local_writers_, 0u);
  barrier();
}

void ProgramMemory::barrier() {
  threads_.forget();
  shared_threads_.forget();
}

char* ProgramMemory::host(const Site& site, int64_t thread, uint64_t pointer) const {
  if (site.space == Space::Global) return reinterpret_cast<char*>(pointer);
  if (site.space == Space::Shared) return const_cast<char*>(scratch_.data()) + pointer;
  return const_cast<char*>(local_.data()) + thread * values_.local_bytes() + pointer;
}

// --- checks

bool ProgramMemory::in_bounds(const Site& site, uint64_t pointer) const {
  const auto fits = [&](uint64_t begin, uint64_t size) {
    const uint64_t bytes = static_cast<uint64_t>(site.bytes);
    return size >= bytes && pointer - begin <= size - bytes;
  };
  if (site.bounded) return fits(site.begin, site.size);
  return options_.memories.empty() || std::ranges::any_of(options_.memories, [&](const Memory& m) {
           return fits(reinterpret_cast<uint64_t>(m.base), static_cast<uint64_t>(m.bytes));
         });
}

bool ProgramMemory::permitted(const Site& site, Actor at, uint64_t pointer) {
  if (site.read_only) {
    reports_.add(ReportKind::Misuse, site.statement, at,
                 [&] { return found(site, pointer, fmt::format("writes {}, which is declared read-only", address_text(site, pointer))); });
    return false;
  }
  if (in_bounds(site, pointer)) return true;
  report_bounds(site, at, pointer);
  return false;
}

/// `repeats_value`: the store leaves memory as it is, which is no conflict between threads: tile form allows lanes to
/// agree on what they store.
void ProgramMemory::note(const Site& site, Actor at, uint64_t pointer, bool repeats_value) {
  if (!options_.check_races || site.space == Space::Local) return;
  Shadow::Access access{pointer, site.bytes, site.touch, program_, site.statement, false};
  if (site.space == Space::Global)
    if (auto other = programs_.note(access)) report_program_race(site, at, pointer, *other);
  if (function_.threads <= 1) return;
  access.actor = static_cast<uint32_t>(at.thread);
  access.harmless = repeats_value && site.space == Space::Global;
  Shadow& threads = site.space == Space::Global ? threads_ : shared_threads_;
  if (auto other = threads.note(access)) report_thread_race(site, at, pointer, *other);
}

void ProgramMemory::claim_lane(const Site& site, Actor at, uint64_t pointer, uint64_t bits) {
  if (!options_.check_races || site.read_only || !in_bounds(site, pointer)) return;
  const Shadow::Access access{pointer, site.bytes, site.touch, static_cast<uint32_t>(at.lane), site.statement,
                              holds(site, at, pointer, bits)};
  if (!lanes_.note(access)) return;
  reports_.add(ReportKind::Race, site.statement, at,
               [&] { return found(site, pointer, "two lanes write different values to " + address_text(site, pointer)); });
}

uint32_t* ProgramMemory::writers(const Site& site, int64_t thread, uint64_t pointer) {
  if (site.space == Space::Global) return nullptr;
  if (site.space == Space::Shared) return scratch_writers_.data() + pointer;
  return local_writers_.data() + thread * values_.local_bytes() + pointer;
}

void ProgramMemory::note_written(const Site& site, Actor at, uint64_t pointer) {
  uint32_t* writer = writers(site, at.thread, pointer);
  if (writer) std::fill_n(writer, site.bytes, site.root.valid() ? site.root.id + 1 : UINT32_MAX);
}

/// Scratch may be reused by another allocation, whose bytes are as good as poison.
void ProgramMemory::check_written(const Site& site, Actor at, uint64_t pointer) {
  const uint32_t* writer = writers(site, at.thread, pointer);
  if (!writer || !options_.check_uninitialised) return;
  const uint32_t wanted = site.root.valid() ? site.root.id + 1 : UINT32_MAX;
  for (int k = 0; k < site.bytes; ++k) {
    const bool written = writer[k] == wanted || (writer[k] != 0 && (writer[k] == UINT32_MAX || wanted == UINT32_MAX));
    if (written) continue;
    return reports_.add(ReportKind::Uninitialised, site.statement, at,
                        [&] { return fmt::format("reads {}, which was not written", address_text(site, pointer)); });
  }
}

bool ProgramMemory::holds(const Site& site, Actor at, uint64_t pointer, uint64_t bits) const {
  return std::memcmp(host(site, at.thread, pointer), &bits, site.bytes) == 0;
}

// --- accesses

uint64_t ProgramMemory::load(const Site& site, Actor at, uint64_t pointer) {
  if (!permitted(site, at, pointer)) return 0;
  note(site, at, pointer, false);
  check_written(site, at, pointer);
  uint64_t bits = 0;
  std::memcpy(&bits, host(site, at.thread, pointer), site.bytes);
  return site.dtype == DType::Bool ? bits != 0 : bits;
}

void ProgramMemory::store(const Site& site, Actor at, uint64_t pointer, uint64_t bits) {
  if (!permitted(site, at, pointer)) return;
  note(site, at, pointer, function_.threads > 1 && holds(site, at, pointer, bits));
  note_written(site, at, pointer);
  std::memcpy(host(site, at.thread, pointer), &bits, site.bytes);
}

uint64_t ProgramMemory::atomic(ir::AtomicKind kind, const Site& site, Actor at, uint64_t pointer, uint64_t value,
                               uint64_t compare) {
  if (!permitted(site, at, pointer)) return 0;
  note(site, at, pointer, false);
  check_written(site, at, pointer);
  note_written(site, at, pointer);
  uint64_t old = 0;
  std::memcpy(&old, host(site, at.thread, pointer), site.bytes);
  if (site.dtype == DType::Bool) old = old != 0;
  const uint64_t left = ir::evaluate_atomic(kind, site.dtype, old, value, compare);
  std::memcpy(host(site, at.thread, pointer), &left, site.bytes);
  return old;
}

// --- words

namespace {
std::string offset_text(const std::string& name, int64_t bytes) {
  return fmt::format("{} {} {}", name, bytes < 0 ? '-' : '+', bytes < 0 ? 0 - static_cast<uint64_t>(bytes) : bytes);
}
}  // namespace

std::string ProgramMemory::address_text(const Site& site, uint64_t pointer) const {
  if (site.space != Space::Global) {
    const std::string name = site.root.valid() ? value_name(function_, site.root) : "scratch";
    return offset_text(name, static_cast<int64_t>(pointer - site.begin));
  }
  if (!site.root.valid()) return fmt::format("address {:#x}", pointer);
  const int64_t index = index_of(site.root), offset = static_cast<int64_t>(pointer - args_[static_cast<size_t>(index)]);
  const std::string& name = function_.param_info(static_cast<int>(index)).name;
  return offset % site.bytes == 0 ? "element " + offset_text(name, offset / site.bytes) : "byte " + offset_text(name, offset);
}

std::string ProgramMemory::reach_text(const Site& site) const {
  if (!site.bounded) return "no memory of the launch holds it";
  if (site.space != Space::Global) return fmt::format("it has {} bytes", site.size);
  const int64_t index = index_of(site.root);
  const std::string& name = function_.param_info(static_cast<int>(index)).name;
  const Memory* memory = memory_of(site.root);
  if (!memory) return fmt::format("{} points to no memory of the launch", name);
  if (memory->bytes == 0) return fmt::format("{} has no elements", name);
  const int64_t first = static_cast<int64_t>(site.begin - args_[static_cast<size_t>(index)]), end = first + static_cast<int64_t>(site.size);
  if (first % site.bytes != 0 || end % site.bytes != 0) return fmt::format("{} reaches bytes {} to {}", name, first, end - 1);
  const std::string span = fmt::format("{} to {}", first / site.bytes, end / site.bytes - 1);
  if (memory->elements < 0) return fmt::format("{} reaches elements {}", name, span);
  return fmt::format("the tensor has {} elements, {}", memory->elements, span);
}

Found ProgramMemory::found(const Site& site, uint64_t pointer, std::string what) const {
  Found f(std::move(what));
  if (site.space != Space::Global || !site.root.valid()) return f;
  const int64_t index = index_of(site.root);
  f.argument = function_.param_info(static_cast<int>(index)).name;
  f.element = static_cast<int64_t>(pointer - args_[static_cast<size_t>(index)]) / site.bytes;
  return f;
}

void ProgramMemory::report_bounds(const Site& site, Actor at, uint64_t pointer) {
  reports_.add(ReportKind::OutOfBounds, site.statement, at, [&] {
    return found(site, pointer, fmt::format("{} is out of bounds, {}", address_text(site, pointer), reach_text(site)));
  });
}

void ProgramMemory::report_program_race(const Site& site, Actor at, uint64_t pointer, const Conflict& other) {
  reports_.add(ReportKind::Race, site.statement, at, [&] {
    const std::string who = other.actor == Conflict::kMany ? "several programs" : reports_.program_text(other.actor);
    return found(site, pointer, fmt::format("{} races with {} of {}", address_text(site, pointer),
                                            statement_text(function_, other.statement), who));
  });
}

void ProgramMemory::report_thread_race(const Site& site, Actor at, uint64_t pointer, const Conflict& other) {
  reports_.add(ReportKind::Race, site.statement, at, [&] {
    const std::string who = other.actor == Conflict::kMany ? "several threads" : fmt::format("thread {}", other.actor);
    return found(site, pointer, fmt::format("{} races with {} of {}, no barrier lies between", address_text(site, pointer),
                                            statement_text(function_, other.statement), who));
  });
}

}  // namespace strider::interp
