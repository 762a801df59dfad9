# SPDX-License-Identifier: Apache-2.0
#
# make install: headers, libstrider.so, the tool, and what find_package(strider) needs.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/strider)

install(TARGETS strider EXPORT strider-targets)
install(DIRECTORY include/strider DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT strider-targets NAMESPACE strider:: DESTINATION ${package_dir})

configure_package_config_file(cmake/strider-config.cmake.in strider-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(strider-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strider-config.cmake ${PROJECT_BINARY_DIR}/strider-config-version.cmake
  DESTINATION ${package_dir})
