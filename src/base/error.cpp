// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

namespace strider {

void fail(ErrorKind kind, fmt::string_view format, fmt::format_args args) {
  std::string text = fmt::vformat(format, args);
  if (kind == ErrorKind::Internal) text = "internal error: " + text;
  throw Error(kind, text);
}

}  // namespace strider
