# SPDX-License-Identifier: Apache-2.0
#
# Fails when a library exports a name that is not Strider's own.

string(REPLACE "," ";" libraries "${LIBRARIES}")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ${NM} -D --defined-only ${library} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" names "${names}")
  list(FILTER names EXCLUDE REGEX " (_Z(T[ISVT]|GV|Th[n0-9]*_)?NK?7strider|strider_)")
  if(names)
    list(JOIN names "\n" text)
    message(FATAL_ERROR "foreign names exported by ${library}:\n${text}")
  endif()
endforeach()
