// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/jit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/Support/MemoryBuffer.h>

#include "backend/cpu/code_memory.h"
#include "base/error.h"
#include "base/undisturbed.h"

namespace strider::cpu {
namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

/// All that compiled code may call: exact functions of which the processor may have no instruction, and moves of memory.
struct Callable {
  const char* name;
  void* address;
};
template <class F>
void* address(F* f) {
  return reinterpret_cast<void*>(f);
}
using Float = float(float);
using Double = double(double);
const Callable kCallables[] = {
    {"floorf", address<Float>(std::floor)}, {"floor", address<Double>(std::floor)},
    {"ceilf", address<Float>(std::ceil)},   {"ceil", address<Double>(std::ceil)},
    {"truncf", address<Float>(std::trunc)}, {"trunc", address<Double>(std::trunc)},
    {"rintf", address<Float>(std::rint)},   {"rint", address<Double>(std::rint)},
    {"fmaf", address<float(float, float, float)>(std::fma)},
    {"fma", address<double(double, double, double)>(std::fma)},
    {"memcpy", address(std::memcpy)},       {"memmove", address(std::memmove)},
    {"memset", address(std::memset)},
};

void* callable_named(llvm::StringRef name) {
  auto found = std::ranges::find_if(kCallables, [&](const Callable& c) { return name == c.name; });
  return found == std::end(kCallables) ? nullptr : found->address;
}

/// What a link leaves.
struct Linked {
  char* memory = nullptr;
  size_t bytes = 0;
  void* entry = nullptr;
  std::string error;            // LLVM's words
  std::exception_ptr refusal;   // the system's, which LLVM's code must not see
};

/// Memory of one object: read-only data and code beside each other in pages of CodeMemory.
class Memory final : public jitlink::JITLinkMemoryManager {
 public:
  explicit Memory(Linked& linked) : linked_(linked) {}

  void allocate(const jitlink::JITLinkDylib*, jitlink::LinkGraph& graph, OnAllocatedFunction done) override {
    jitlink::BasicLayout layout(graph);
    size_t bytes = 0;
    for (auto& [group, segment] : layout.segments()) {
      if (is_writable(group)) return done(failure("it has variables"));
      bytes = llvm::alignTo(bytes, segment.Alignment) + segment.ContentSize + segment.ZeroFillSize;
    }
    try {
      linked_.memory = CodeMemory::of_process().take(bytes);
    } catch (...) {
      linked_.refusal = std::current_exception();
      return done(failure("no memory"));
    }
    linked_.bytes = bytes;
    place(layout);
    if (llvm::Error error = layout.apply()) return done(std::move(error));
    done(std::make_unique<InFlight>(linked_));
  }

  void deallocate(std::vector<FinalizedAlloc>, OnDeallocatedFunction done) override { done(llvm::Error::success()); }

 private:
  /// LoadedCode owns the memory, before the link is done and after.
  struct InFlight final : InFlightAlloc {
    explicit InFlight(Linked& linked) : linked_(linked) {}
    void abandon(OnAbandonedFunction done) override { done(llvm::Error::success()); }
    void finalize(OnFinalizedFunction done) override {
      try {
        CodeMemory::of_process().seal(linked_.memory, linked_.bytes);
      } catch (...) {
        linked_.refusal = std::current_exception();
        return done(failure("no memory"));
      }
      done(FinalizedAlloc(orc::ExecutorAddr::fromPtr(linked_.memory)));
    }
    Linked& linked_;
  };

  static bool is_writable(const orc::AllocGroup& group) {
    return (static_cast<unsigned>(group.getMemProt()) & static_cast<unsigned>(orc::MemProt::Write)) != 0;
  }
  static llvm::Error failure(const char* why) { return llvm::createStringError(llvm::inconvertibleErrorCode(), why); }

  void place(jitlink::BasicLayout& layout) const {
    size_t offset = 0;
    for (auto& [group, segment] : layout.segments()) {
      offset = llvm::alignTo(offset, segment.Alignment);
      segment.WorkingMem = linked_.memory + offset;
      segment.Addr = orc::ExecutorAddr::fromPtr(segment.WorkingMem);
      offset += segment.ContentSize;
      std::memset(linked_.memory + offset, 0, segment.ZeroFillSize);
      offset += segment.ZeroFillSize;
    }
  }

  Linked& linked_;
};

/// What the linker asks for while it links one object; nothing outlives the link.
class Context final : public jitlink::JITLinkContext {
 public:
  Context(Linked& linked, const std::string& entry) : JITLinkContext(nullptr), linked_(linked), entry_(entry), memory_(linked) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(llvm::Error error) override { linked_.error = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> done) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : symbols) {
      void* address = callable_named(name);
      if (!address) return done->run(llvm::createStringError(llvm::inconvertibleErrorCode(), "it calls " + name));
      found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    done->run(std::move(found));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (jitlink::Symbol* symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getName() == entry_) linked_.entry = symbol->getAddress().toPtr<void*>();
    if (linked_.entry) return llvm::Error::success();
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "there is no symbol " + entry_);
  }

  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc alloc) override { alloc.release(); }

 private:
  Linked& linked_;
  const std::string& entry_;
  Memory memory_;
};

Linked link(std::span<const char> object, const std::string& entry) {
  Linked linked;
  auto graph = jitlink::createLinkGraphFromObject({llvm::StringRef(object.data(), object.size()), entry});
  if (graph) jitlink::link(std::move(*graph), std::make_unique<Context>(linked, entry));
  else linked.error = llvm::toString(graph.takeError());
  return linked;
}

}  // namespace

LoadedCode::LoadedCode(std::span<const char> object, const std::string& entry) {
  check_compiler_lives();
  const Undisturbed undisturbed;
  Linked linked = link(object, entry);
  if (linked.error.empty()) {
    memory_ = linked.memory, bytes_ = linked.bytes, entry_ = linked.entry;
    return;
  }
  if (linked.memory) CodeMemory::of_process().give_back(linked.memory, linked.bytes);
  if (linked.refusal) std::rethrow_exception(linked.refusal);
  internal_error("loading code: {}", linked.error);
}

LoadedCode::~LoadedCode() {
  if (is_thread_that_exits()) return;
  const Undisturbed undisturbed;
  CodeMemory::of_process().give_back(memory_, bytes_);
}

}  // namespace strider::cpu
