# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# vranks_build: how this project's own sources are compiled. Consumers don't inherit it.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# -Wno-restrict: gcc 12 reports std::string + const char* (gcc bug 105651); -Wno-psabi: notes on
# vector arguments whose calls never cross a library border.
add_library(vranks_build INTERFACE)
# Bits are promised, so no compiler may contract a * b + c or reassociate.
# CMake 3.25 takes C++20 for nvcc 13's default, which is C++17, and leaves the option out.
target_compile_options(vranks_build INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-fast-math;-Wall;-Wextra;-Wpedantic;-Wshadow>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wconversion;-Wno-psabi;-Wno-restrict>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off,-Wall>)
if(VRANKS_WERROR)
  target_compile_options(vranks_build INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(VRANKS_SANITIZE)
  target_compile_options(vranks_build INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${VRANKS_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
  target_link_options(vranks_build INTERFACE -fsanitize=${VRANKS_SANITIZE})
endif()
