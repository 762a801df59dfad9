# SPDX-License-Identifier: Apache-2.0
#
# LLVM 19: strider_llvm_headers for the few folders that may see it, strider_llvm_libraries for the links.

find_package(LLVM 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/llvm NO_DEFAULT_PATH)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")

separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_library(strider_llvm_headers INTERFACE)
target_include_directories(strider_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(strider_llvm_headers INTERFACE ${llvm_definitions})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(strider_llvm_headers INTERFACE -fno-rtti)
endif()

add_library(strider_llvm_libraries INTERFACE)
if(STRIDER_SHARED_LLVM)
  target_link_libraries(strider_llvm_libraries INTERFACE LLVM)
else()
  llvm_map_components_to_libnames(llvm_libraries
    X86 NVPTX OrcJIT Passes Core Support TargetParser Target MC Object BitReader BitWriter IRReader Linker
    Analysis InstCombine ScalarOpts Vectorize ipo TransformUtils)
  target_link_libraries(strider_llvm_libraries INTERFACE ${llvm_libraries})
endif()
