# SPDX-License-Identifier: Apache-2.0
#
# Fails unless compiling SOURCE fails with the words of its line `// expect: ...`. A line `// standard: 17` names another C++ than 20,
# and `// lines: 12` says how many lines the compiler may say at most.

function(line_of name variable default)
  file(STRINGS ${SOURCE} line REGEX "^// ${name}: ")
  if(line)
    string(REPLACE "// ${name}: " "" line "${line}")
    set(${variable} "${line}" PARENT_SCOPE)
  else()
    set(${variable} "${default}" PARENT_SCOPE)
  endif()
endfunction()

line_of(expect words "")
line_of(standard standard 20)
line_of(lines most 100000)
execute_process(COMMAND ${COMPILER} -std=c++${standard} -fsyntax-only -I${INCLUDE} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(FIND "${output}" "${words}" found)
string(REGEX MATCHALL "\n" ends "${output}")
list(LENGTH ends count)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles")
elseif(found EQUAL -1)
  message(FATAL_ERROR "the compiler does not say \"${words}\":\n${output}")
elseif(count GREATER most)
  message(FATAL_ERROR "the compiler says ${count} lines, expected at most ${most}:\n${output}")
endif()
