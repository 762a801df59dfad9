# SPDX-License-Identifier: Apache-2.0
#
# strider_tests holds every test; each folder of test/ is one ctest entry, chosen by where a test's source lies.
# Folders with programs of their own (they are no part of strider_tests) are named in `separate`.

find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)

set(STRIDER_TEST_FOLDERS "" CACHE STRING "Folders of test/ to build, for a quick build while working on one; empty: all")
set(separate c compile_fail fuzz package programs)
strider_sources(test_sources test "*.cpp")
strider_split(test_sources separate_sources test ${separate})
if(STRIDER_TEST_FOLDERS)
  set(chosen_sources ${PROJECT_SOURCE_DIR}/test/main.cpp)
  foreach(folder IN LISTS STRIDER_TEST_FOLDERS ITEMS support)
    strider_split(test_sources of_folder test ${folder})
    list(APPEND chosen_sources ${of_folder})
  endforeach()
  set(test_sources ${chosen_sources})
endif()

add_executable(strider_tests ${test_sources})
target_link_libraries(strider_tests PRIVATE
  strider_suites GTest::gtest rapidcheck ${MPFR_LIBRARY} ${GMP_LIBRARY} nlohmann_json::nlohmann_json)
target_include_directories(strider_tests PRIVATE ${PROJECT_SOURCE_DIR}/test)
# Only this file says where the build lies, so that a compiler's cache serves every checkout.
configure_file(test/support/paths.cpp.in ${PROJECT_BINARY_DIR}/test_paths.cpp @ONLY)
target_sources(strider_tests PRIVATE ${PROJECT_BINARY_DIR}/test_paths.cpp)
set_source_files_properties(${PROJECT_BINARY_DIR}/test_paths.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Programs that tests run: they see what users see.
strider_sources(program_sources test/programs "*.cpp")
foreach(source IN LISTS program_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(test_program_${name} ${source})
  target_link_libraries(test_program_${name} PRIVATE strider::strider strider_flags Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(test_program_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test_programs)
  add_dependencies(strider_tests test_program_${name})
endforeach()

# Most of the time that a test takes to compile goes into these.
target_precompile_headers(strider_tests PRIVATE
  <gtest/gtest.h> <algorithm> <cmath> <functional> <map> <memory> <string> <unordered_map> <vector> <fmt/format.h>)

# The tests' own code need not be fast, but it should compile fast.
target_compile_options(strider_tests PRIVATE $<IF:$<CONFIG:Release>,-O1,-O0>)

set(test_folders)
foreach(source IN LISTS test_sources)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/test ${source})
  if(path MATCHES "^([^/]+)/.*_test\\.cpp$")
    list(APPEND test_folders ${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES test_folders)

# Sanitizers look at our code: what LLVM writes for other processors is the business of the release build.
set(test_flags)
if(STRIDER_SANITIZE)
  # Tests that measure a process from outside, or make its memory fail, would measure the sanitizers.
  set(test_flags --gtest_filter=-*__sm_*:*__old_cpu:Ptx.*:Assembly.*:LateCalls.ThreadsGive*:*/Life.*:LifeSe*:Processes.ColdStart*:OutOfMemory.*)
endif()

# The long folders run in parts, so that several processors share them.
set(parts_of_lowering 4)
set(parts_of_pass 2)
foreach(folder IN LISTS test_folders)
  set(parts 1)
  if(DEFINED parts_of_${folder})
    set(parts ${parts_of_${folder}})
  endif()
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    set(name ${folder})
    if(parts GREATER 1)
      set(name ${folder}_${part})
    endif()
    add_test(NAME ${name} COMMAND strider_tests --folder=${folder} ${test_flags})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS ${folder}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part}")
  endforeach()
endforeach()

# strider/c.h, by a program in plain C.
add_executable(strider_c_test ${PROJECT_SOURCE_DIR}/test/c/c_test.c)
target_link_libraries(strider_c_test PRIVATE strider::strider)
set_target_properties(strider_c_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(strider_c_test PRIVATE -Wall -Wextra -Werror -pedantic)
add_test(NAME c COMMAND strider_c_test)

if(TARGET strider_tool)
  add_test(NAME demo COMMAND strider_tool demo)
  add_test(NAME show COMMAND strider_tool show add_scaled --operands "f32(64,128)" "f16(128,64):t" 0.5 --stage plan)
  set_tests_properties(show PROPERTIES PASS_REGULAR_EXPRESSION "y: f16, strides M 1, N 64; contiguous along M")
  add_test(NAME check COMMAND strider_tool check abs l1_norm --dtype f32 i8 --quick --speed 0)
  set_tests_properties(check PROPERTIES PASS_REGULAR_EXPRESSION "3 of 3 passed")
  add_test(NAME bench COMMAND strider_tool bench overhead --quick --json ${PROJECT_BINARY_DIR}/bench_test.json)
  set_tests_properties(bench PROPERTIES PASS_REGULAR_EXPRESSION "add of 8 elements, out=")
endif()
if(STRIDER_EXAMPLES)
  add_test(NAME example_readme COMMAND examples_readme)
  file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  foreach(source IN LISTS example_sources)
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME example_${name} COMMAND examples_${name})
    add_test(NAME example_${name}_interpreted COMMAND examples_${name})
    set_tests_properties(example_${name}_interpreted PROPERTIES ENVIRONMENT "STRIDER_BACKEND=interp;STRIDER_LINTS=masked,overflow")
  endforeach()
endif()
add_test(NAME exported_symbols
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} "-DLIBRARIES=$<TARGET_FILE:strider>,$<TARGET_FILE:strider_testing>"
    -P ${PROJECT_SOURCE_DIR}/cmake/check_exports.cmake)

# Sanitized libraries cannot serve programs that are not.
if(NOT STRIDER_SANITIZE)
  set(compilers ${CMAKE_CXX_COMPILER})
  find_program(STRIDER_CLANG NAMES clang++-19 clang++-18 clang++-17 clang++-16 clang++)
  if(STRIDER_CLANG)
    string(APPEND compilers ,${STRIDER_CLANG})
  endif()
  add_test(NAME package
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}/test/package -DREADELF=${CMAKE_READELF}
      -DSONAME=libstrider.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} -DCOMPILERS=${compilers}
      -P ${PROJECT_SOURCE_DIR}/cmake/check_package.cmake)
  set_tests_properties(package PROPERTIES TIMEOUT 300)
endif()

# Programs that must not compile, each with the words that the compiler has to say.
file(GLOB compile_fail_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/compile_fail/*.cpp)
foreach(source IN LISTS compile_fail_sources)
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME compile_fail_${name}
    COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER} -DSOURCE=${source} -DINCLUDE=${PROJECT_SOURCE_DIR}/include
      -P ${PROJECT_SOURCE_DIR}/cmake/check_compile_fail.cmake)
endforeach()
