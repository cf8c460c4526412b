# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# Lets the build of the kernels tell their registers, spills and widths of access, without compiling
# anything twice: kernel_facts.py leaves them beside each object. kernel_objects.txt names the objects.
if(VRANKS_HAVE_CUDA)
  set(launcher ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/kernel_facts.py
               ${CMAKE_CUDA_COMPILER_LAUNCHER})  # the last may be ccache
  set_target_properties(vranks_kernels PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
endif()
set(cuda_objects $<FILTER:$<TARGET_OBJECTS:vranks_kernels>,INCLUDE,[.]cu[.]>)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernel_objects.txt
     CONTENT "CUDA $<IF:$<BOOL:${VRANKS_HAVE_CUDA}>,ON,OFF>\n$<JOIN:${cuda_objects},\n>\n")
