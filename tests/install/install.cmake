# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs into the build tree, then configures, builds and runs a consumer with find_package.
set(consumer_prefix ${CMAKE_CURRENT_BINARY_DIR}/install_prefix)
set(consumer_build ${CMAKE_CURRENT_BINARY_DIR}/install_consumer)
set(consumer_flags "")
if(VRANKS_SANITIZE)
  set(consumer_flags -fsanitize=${VRANKS_SANITIZE})
endif()
add_test(NAME install.install
         COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${consumer_prefix})
add_test(NAME install.consumer
         COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test
                 ${CMAKE_CURRENT_SOURCE_DIR}/install/consumer ${consumer_build}
                 --build-generator ${CMAKE_GENERATOR}
                 --build-options -DCMAKE_PREFIX_PATH=${consumer_prefix}
                 -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                 -DCMAKE_CXX_FLAGS=${consumer_flags}
                 --test-command ${consumer_build}/consumer)
set_tests_properties(install.install PROPERTIES FIXTURES_SETUP installed)
set_tests_properties(install.consumer PROPERTIES FIXTURES_REQUIRED installed
                     PASS_REGULAR_EXPRESSION "mean over ranks: 1.5")
