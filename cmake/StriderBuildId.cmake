# SPDX-License-Identifier: Apache-2.0
#
# A source file with the hash of all sources, part of the key of compiled code on disk. As a script (-P), writes that file.

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/include/*)
  list(SORT sources)
  set(hashes)
  foreach(source IN LISTS sources)
    file(SHA256 ${ROOT}/${source} hash)
    string(APPEND hashes "${source} ${hash}\n")
  endforeach()
  string(SHA256 id "${hashes}")
  file(WRITE ${OUTPUT} "#include \"base/version.h\"\nstd::string_view strider::build_id() { return \"${id}\"; }\n")
  return()
endif()

set(strider_build_id ${CMAKE_CURRENT_BINARY_DIR}/build_id.cpp)
strider_sources(hashed_sources . "src/*.cpp" "src/*.h" "src/*.def" "include/*.h" "include/*.def")
add_custom_command(OUTPUT ${strider_build_id}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${strider_build_id} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${hashed_sources} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
