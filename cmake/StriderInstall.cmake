# SPDX-License-Identifier: Apache-2.0
#
# make install: headers, the two libraries, the tool, and what find_package(strider) needs.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/strider)

install(TARGETS strider strider_testing EXPORT strider-targets)
if(STRIDER_STATIC)
  # For programs that are to be one file; they link LLVM's static libraries themselves.
  add_library(strider_static STATIC ${strider_all_objects})
  target_compile_features(strider_static PUBLIC cxx_std_20)
  target_include_directories(strider_static PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(strider_static INTERFACE ${llvm_libraries} Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(strider_static PROPERTIES OUTPUT_NAME strider EXPORT_NAME static)
  install(TARGETS strider_static EXPORT strider-targets)
endif()
install(DIRECTORY include/strider DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT strider-targets NAMESPACE strider:: DESTINATION ${package_dir})

configure_package_config_file(cmake/strider-config.cmake.in strider-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(strider-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strider-config.cmake ${PROJECT_BINARY_DIR}/strider-config-version.cmake
  DESTINATION ${package_dir})
