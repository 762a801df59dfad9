# SPDX-License-Identifier: Apache-2.0
#
# How every source is compiled and linked: strider_flags for all, strider_internal for what sees src/ as well.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It need not preprocess what the compiler preprocesses anyway, and must overlook what precompiled headers change.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

# Our own floating-point code must compute exactly what it says, hence no contraction.
add_library(strider_flags INTERFACE)
target_compile_options(strider_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off
  $<$<BOOL:${STRIDER_WERROR}>:-Werror> $<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>)

add_library(strider_internal INTERFACE)
target_include_directories(strider_internal INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_include_directories(strider_internal SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR}
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)  # only the headers: src/base/fmt.cpp is the body
target_compile_definitions(strider_internal INTERFACE XXH_INLINE_ALL)
target_link_libraries(strider_internal INTERFACE
  strider_flags nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})

# LLVM itself is not instrumented and keeps its own vtables, so the vptr check is left out.
if(STRIDER_SANITIZE)
  add_compile_options(-fsanitize=${STRIDER_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STRIDER_SANITIZE})
endif()

# A static LLVM makes large links: a fast linker is the difference between one second and twenty.
include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} STRIDER_LINKER_${linker})
  if(STRIDER_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  add_link_options(-Wl,--gc-sections)
endif()
