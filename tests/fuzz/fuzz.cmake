# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# <name>_fuzz.cpp with corpus/<name>/ becomes the test fuzz.<name>, which replays the corpus and
# mutations of it. With clang, <name>_fuzz is also a libFuzzer program:
#   build/tsan/tests/npy_fuzz tests/fuzz/corpus/npy -max_total_time=60
file(GLOB sources CONFIGURE_DEPENDS fuzz/*_fuzz.cpp)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  vranks_add_test_program(fuzz_${name}_replay ${source})
  target_sources(fuzz_${name}_replay PRIVATE fuzz/replay.cpp)
  add_test(NAME fuzz.${name}
           COMMAND fuzz_${name}_replay ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT VRANKS_SANITIZE)
    vranks_add_test_program(${name}_fuzz ${source})
    target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
  endif()
endforeach()
