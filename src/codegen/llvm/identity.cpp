// SPDX-License-Identifier: Apache-2.0
// Which LLVM runs. A static one is part of this library, whose build says what it was made with; a shared one can be replaced
// without it, and is told by the build id that its linker left in it, or else by its file.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/ErrorHandling.h>

#include "codegen/llvm/codegen.h"

namespace strider::codegen {
namespace {

struct Object {
  const void* base;
  std::string id;
};

/// The build id among the notes of a segment: each is a header, a name and a descriptor, both padded to 4 bytes.
std::string build_id_in(const char* notes, size_t bytes) {
  constexpr size_t kAlign = 4;
  auto padded = [](size_t n) { return (n + kAlign - 1) / kAlign * kAlign; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const size_t id = at + sizeof header + padded(header.n_namesz);
    if (id + header.n_descsz > bytes) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes + at + sizeof header, "GNU", 4) == 0) {
      std::string text;
      for (size_t k = 0; k < header.n_descsz; ++k) text += fmt::format("{:02x}", static_cast<unsigned char>(notes[id + k]));
      return text;
    }
    at = id + padded(header.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info* info, size_t, void* context) {
  auto& object = *static_cast<Object*>(context);
  const auto base = static_cast<uintptr_t>(info->dlpi_addr);
  if (base != reinterpret_cast<uintptr_t>(object.base)) return 0;
  for (int k = 0; k < info->dlpi_phnum && object.id.empty(); ++k) {
    const auto& segment = info->dlpi_phdr[k];
    if (segment.p_type == PT_NOTE) object.id = build_id_in(reinterpret_cast<const char*>(base + segment.p_vaddr), segment.p_memsz);
  }
  return 1;
}

std::string identity() {
  Dl_info own{}, llvm{};
  ::dladdr(reinterpret_cast<const void*>(&llvm_version), &own);
  ::dladdr(reinterpret_cast<const void*>(&llvm::install_fatal_error_handler), &llvm);
  if (!llvm.dli_fbase || llvm.dli_fbase == own.dli_fbase) return LLVM_VERSION_STRING;
  Object object{llvm.dli_fbase, ""};
  ::dl_iterate_phdr(visit, &object);
  if (!object.id.empty()) return fmt::format("{} {}", LLVM_VERSION_STRING, object.id);
  struct stat file {};
  ::stat(llvm.dli_fname, &file);
  return fmt::format("{} {} {} {}", LLVM_VERSION_STRING, llvm.dli_fname, file.st_size, file.st_mtime);
}

}  // namespace

std::string_view llvm_version() { return LLVM_VERSION_STRING; }

const std::string& llvm_identity() {
  static const std::string& text = *new std::string(identity());
  return text;
}

}  // namespace strider::codegen
