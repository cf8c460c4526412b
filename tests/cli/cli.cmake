# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# The program as a user meets it: <name>_test.py drives the built binary and compares with numpy.
if(VRANKS_BUILD_CLI)
  file(GLOB scripts CONFIGURE_DEPENDS cli/*_test.py)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    string(REGEX REPLACE "_test$" "" name ${name})
    add_test(NAME cli.${name} COMMAND Python3::Interpreter -B ${script} $<TARGET_FILE:vranks_cli>)
    set(environment VRANKS_SANITIZE=${VRANKS_SANITIZE})
    if(name MATCHES "^(bad_input|report)$")
      list(APPEND environment ASAN_OPTIONS=detect_leaks=0)  # they start MPI, and Open MPI leaks
    endif()
    set_tests_properties(cli.${name} PROPERTIES ENVIRONMENT "${environment}")
  endforeach()
endif()
