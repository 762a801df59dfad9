# SPDX-License-Identifier: Apache-2.0
#
# The program on README.md's first page, built like the examples: what is printed there compiles and runs.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md)
file(READ ${PROJECT_SOURCE_DIR}/README.md readme)
string(FIND "${readme}" "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(FIND "${readme}" "\n```\n" end)
math(EXPR length "${end} - 6")
string(SUBSTRING "${readme}" 7 ${length} program)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/readme/readme.cpp CONTENT "${program}" @ONLY)

add_executable(examples_readme ${PROJECT_BINARY_DIR}/readme/readme.cpp)
target_link_libraries(examples_readme PRIVATE strider::strider strider_flags)
set_target_properties(examples_readme PROPERTIES OUTPUT_NAME readme RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
add_dependencies(examples examples_readme)
