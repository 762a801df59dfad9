# SPDX-License-Identifier: Apache-2.0
#
# strider_tests holds every test; each folder of test/ is one ctest entry, chosen by where a test's source lies.
# Folders with programs of their own (they are no part of strider_tests) are named in `separate`.

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)

set(separate compile_fail fuzz package)
strider_sources(test_sources test "*.cpp")
strider_split(test_sources separate_sources test ${separate})

add_executable(strider_tests ${test_sources})
target_link_libraries(strider_tests PRIVATE
  strider_core GTest::gtest rapidcheck ${MPFR_LIBRARY} ${GMP_LIBRARY} nlohmann_json::nlohmann_json)
target_include_directories(strider_tests PRIVATE ${PROJECT_SOURCE_DIR}/test)
target_compile_definitions(strider_tests PRIVATE STRIDER_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  STRIDER_BINARY_DIR="${PROJECT_BINARY_DIR}")

# The tests' own code need not be fast, but it should compile fast; Debug presets choose for themselves.
target_compile_options(strider_tests PRIVATE $<$<CONFIG:Release>:-O1>)

set(test_folders)
foreach(source IN LISTS test_sources)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/test ${source})
  if(path MATCHES "^([^/]+)/.*_test\\.cpp$")
    list(APPEND test_folders ${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES test_folders)
foreach(folder IN LISTS test_folders)
  add_test(NAME ${folder} COMMAND strider_tests --folder=${folder})
  set_tests_properties(${folder} PROPERTIES TIMEOUT 900)
endforeach()

add_test(NAME exported_symbols
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:strider>
    -P ${PROJECT_SOURCE_DIR}/cmake/check_exports.cmake)
