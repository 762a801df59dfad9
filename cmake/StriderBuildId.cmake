# SPDX-License-Identifier: Apache-2.0
#
# A source file with the hash of all sources and of what they were compiled with, part of the key of compiled code on disk. As a
# script (-P), writes that file.

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/include/*)
  list(SORT sources)
  set(hashes "${BUILT_WITH}\n")
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
string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
string(JOIN " " strider_built_with ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_SYSTEM_PROCESSOR}
  "${CMAKE_CXX_FLAGS}" "${CMAKE_CXX_FLAGS_${config}}" "sanitize=${STRIDER_SANITIZE}" "shared-llvm=${STRIDER_SHARED_LLVM}"
  "llvm=${LLVM_PACKAGE_VERSION} ${LLVM_INSTALL_PREFIX}")
add_custom_command(OUTPUT ${strider_build_id}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${strider_build_id} "-DBUILT_WITH=${strider_built_with}"
    -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${hashed_sources} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
