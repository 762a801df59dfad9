// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/jit.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include "base/error.h"

namespace strider::cpu {
namespace {

namespace orc = llvm::orc;

template <class T>
T check(llvm::Expected<T> value) {
  if (!value) internal_error("loading code: {}", llvm::toString(value.takeError()));
  return std::move(*value);
}
void check(llvm::Error error) {
  if (error) internal_error("loading code: {}", llvm::toString(std::move(error)));
}

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

/// The linker, made at first use and kept to the end of the process.
class Linker {
 public:
  Linker() : session_(check(orc::SelfExecutorProcessControl::Create())), layer_(session_, memory()) {
    try {
      define_callables();
    } catch (...) {
      llvm::consumeError(session_.endSession());  // it must not be destroyed while it is open
      throw;
    }
  }

  orc::JITDylib& add(std::span<const char> object) {
    std::string name = fmt::format("kernel{}", count_++);
    orc::JITDylib& code = session_.createBareJITDylib(name);
    code.addToLinkOrder(library_);
    try {
      auto buffer = llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, name);
      check(layer_.add(code, std::move(buffer)));
    } catch (...) {
      remove(code);
      throw;
    }
    return code;
  }
  void* find(orc::JITDylib& code, const std::string& symbol) {
    return check(session_.lookup({&code}, session_.intern(symbol))).getAddress().toPtr<void*>();
  }
  void remove(orc::JITDylib& code) noexcept { llvm::consumeError(session_.removeJITDylib(code)); }

 private:
  void define_callables() {
    orc::SymbolMap symbols;
    for (const Callable& c : kCallables)
      symbols[session_.intern(c.name)] = {orc::ExecutorAddr::fromPtr(c.address), llvm::JITSymbolFlags::Exported};
    check(library_.define(orc::absoluteSymbols(std::move(symbols))));
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });  // lookups report as well
  }
  llvm::jitlink::JITLinkMemoryManager& memory() { return session_.getExecutorProcessControl().getMemMgr(); }

  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
  orc::JITDylib& library_ = session_.createBareJITDylib("library");
  std::atomic<uint64_t> count_{0};
};

Linker& linker() {
  static Linker& only = *new Linker;
  return only;
}

class Loaded final : public LoadedCode {
 public:
  explicit Loaded(std::span<const char> object) : code_(linker().add(object)) {}
  ~Loaded() override { linker().remove(code_); }
  void find(const std::string& symbol) { entry_ = linker().find(code_, symbol); }
  void* entry() const override { return entry_; }

 private:
  orc::JITDylib& code_;
  void* entry_ = nullptr;
};

}  // namespace

std::unique_ptr<LoadedCode> load_object(std::span<const char> object, const std::string& entry) {
  auto loaded = std::make_unique<Loaded>(object);
  loaded->find(entry);
  return loaded;
}

}  // namespace strider::cpu
