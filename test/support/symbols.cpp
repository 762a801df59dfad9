// SPDX-License-Identifier: Apache-2.0
#include "support/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace strider::test {
namespace {

struct Symbol {
  uintptr_t begin, end;
  const char* name;
};

struct Symbols {
  std::vector<char> file;
  std::vector<Symbol> functions;  // in the order of addresses
};

/// How far the program lies from where its file says.
uintptr_t load_offset() {
  uintptr_t offset = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<uintptr_t*>(data) = info->dlpi_addr;
        return 1;  // the program is the first
      },
      &offset);
  return offset;
}

const Symbols& symbols() {
  static const Symbols& all = *[] {
    auto* made = new Symbols;
    std::ifstream in("/proc/self/exe", std::ios::binary);
    made->file.assign(std::istreambuf_iterator<char>(in), {});
    const char* base = made->file.data();
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(base + header->e_shoff);
    const uintptr_t offset = load_offset();
    for (size_t k = 0; k < header->e_shnum; ++k) {
      if (sections[k].sh_type != SHT_SYMTAB) continue;
      const auto* first = reinterpret_cast<const ElfW(Sym)*>(base + sections[k].sh_offset);
      const char* names = base + sections[sections[k].sh_link].sh_offset;
      for (size_t s = 0; s < sections[k].sh_size / sizeof(ElfW(Sym)); ++s)
        if (ELF64_ST_TYPE(first[s].st_info) == STT_FUNC && first[s].st_size > 0)
          made->functions.push_back({offset + first[s].st_value, offset + first[s].st_value + first[s].st_size, names + first[s].st_name});
    }
    std::sort(made->functions.begin(), made->functions.end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
    return made;
  }();
  return all;
}

const char* name_at(uintptr_t address) {
  const std::vector<Symbol>& all = symbols().functions;
  auto after = std::upper_bound(all.begin(), all.end(), address, [](uintptr_t a, const Symbol& s) { return a < s.begin; });
  if (after != all.begin() && address < std::prev(after)->end) return std::prev(after)->name;
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(address), &info) && info.dli_fname ? info.dli_fname : "";
}

struct Walk {
  std::string_view part;
  bool found = false;
};

}  // namespace

bool load_symbols() { return !symbols().functions.empty(); }

bool is_called_from(std::string_view part) {
  Walk walk{part};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& w = *static_cast<Walk*>(data);
        const std::string_view name = name_at(_Unwind_GetIP(context) - 1);
        const bool is_ours = name.substr(0, 14).find("7strider") != std::string_view::npos;
        w.found = !is_ours && (name.find(w.part) != std::string_view::npos || name.find("libLLVM") != std::string_view::npos);
        return w.found ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &walk);
  return walk.found;
}

}  // namespace strider::test
