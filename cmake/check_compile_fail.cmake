# SPDX-License-Identifier: Apache-2.0
#
# Fails unless compiling SOURCE fails with the words of its line `// expect: ...`.

file(STRINGS ${SOURCE} line REGEX "^// expect: ")
string(REPLACE "// expect: " "" words "${line}")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(FIND "${output}" "${words}" found)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles")
elseif(found EQUAL -1)
  message(FATAL_ERROR "the compiler does not say \"${words}\":\n${output}")
endif()
