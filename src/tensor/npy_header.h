// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a magic string, a version, a length, and a Python dict as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strider/dims.h>
#include <strider/dtype.h>

namespace strider::npy {

struct Header {
  DType dtype = DType::F32;
  bool is_big_endian = false;
  bool is_fortran = false;
  Dims shape;
};

inline constexpr int64_t kPrefixBytes = 12;  // the most that must be read to know where the header ends

/// Where the text of the header lies, by the first bytes of a file (all of it, if it has fewer than kPrefixBytes).
struct TextRange {
  int64_t begin, end;
};
TextRange text_range(std::string_view prefix);

/// Reads the text of a header. User errors say what was found, without the file's name.
Header parse_header(std::string_view text);

/// A whole header of version 1.0, magic string included.
std::string print_header(const Header& header);

}  // namespace strider::npy
