# SPDX-License-Identifier: Apache-2.0
#
# Sources by folder, so that adding a file changes no build script.

# Sets `variable` to the files under `folder` that match the patterns; an absent folder gives an empty list.
function(strider_sources variable folder)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${ARGN})
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Moves the files in the given sub-folders of `root` from list `rest` to list `chosen`.
function(strider_split rest chosen root)
  set(picked)
  foreach(folder IN LISTS ARGN)
    set(part ${${rest}})
    list(FILTER part INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${root}/${folder}/")
    list(APPEND picked ${part})
  endforeach()
  set(others ${${rest}})
  list(REMOVE_ITEM others ${picked})
  set(${rest} ${others} PARENT_SCOPE)
  set(${chosen} ${picked} PARENT_SCOPE)
endfunction()

# Makes one program of each source directly in `folder`; it lands in the folder of that name in the build tree. The target named by
# the folder builds them all.
function(strider_programs folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  add_custom_target(${folder})
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(target ${folder}_${name})
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE ${ARGN})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    add_dependencies(${folder} ${target})
  endforeach()
endfunction()

# Makes a shared library that exports the names marked STRIDER_API alone, installed and used as strider::<name>.
function(strider_shared_library target name)
  add_library(${target} SHARED ${ARGN})
  add_library(strider::${name} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Worker threads outlive dlclose, so the code must stay mapped.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/strider.map)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/strider.map)
endfunction()
