# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into a folder of its own, looks at what came out, and builds and runs a project that uses it (test/package)
# with every compiler that is named and can read the headers.
#
#   cmake -DBUILD=folder -DSOURCE=test/package -DSONAME=libstrider.so.0.1 -DREADELF=readelf -DCOMPILERS=g++,clang++
#     -P check_package.cmake

set(prefix ${BUILD}/package/prefix)
file(REMOVE_RECURSE ${BUILD}/package)

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

# ---- the installed tree ----
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB_RECURSE libraries ${prefix}/*/${SONAME})
list(LENGTH libraries count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "expected one ${SONAME} under ${prefix}, found ${count}")
endif()
run(${READELF} -d ${libraries})
if(NOT text MATCHES "SONAME[^\n]*\\[${SONAME}\\]")
  message(FATAL_ERROR "${libraries} has another SONAME than ${SONAME}:\n${text}")
endif()
if(text MATCHES "RPATH|RUNPATH")
  message(FATAL_ERROR "${libraries} looks for libraries where it was built:\n${text}")
endif()
file(GLOB_RECURSE headers ${prefix}/include/*)
foreach(header IN LISTS headers)
  file(STRINGS ${header} foreign REGEX "#include *[<\"](llvm|cuda|CL/|fmt)")
  if(foreign)
    message(FATAL_ERROR "${header} includes what users need not have: ${foreign}")
  endif()
endforeach()

# ---- a project that uses it ----
file(WRITE ${BUILD}/package/probe.cpp "#include <source_location>\nstd::source_location here;\n")
string(REPLACE "," ";" compilers "${COMPILERS}")
foreach(compiler IN LISTS compilers)
  execute_process(COMMAND ${compiler} -std=c++20 -fsyntax-only ${BUILD}/package/probe.cpp
    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(STATUS "${compiler} is left out: it has no std::source_location")
    continue()
  endif()
  get_filename_component(name ${compiler} NAME)
  set(folder ${BUILD}/package/${name})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${compiler}
    -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${folder})
  run(${folder}/consumer)
  message(STATUS "${compiler}:\n${text}")
  run(${folder}/tester)
endforeach()
