# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# `vranks check --against nccl` beside a library that passes for NCCL and is wrong: the proof that
# the check can fail. Needs a CUDA device; skipped, with the reason, where there is none.
if(VRANKS_BUILD_CLI AND VRANKS_HAVE_CUDA)
  add_library(vranks_fake_nccl MODULE ${CMAKE_CURRENT_SOURCE_DIR}/peers/fake_nccl.cpp)
  target_link_libraries(vranks_fake_nccl PRIVATE vranks_build CUDA::cudart_static)
  target_link_options(vranks_fake_nccl PRIVATE LINKER:--exclude-libs,ALL)
  add_test(NAME peers.nccl_faults
           COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/peers/nccl_faults_test.py
                   $<TARGET_FILE:vranks_cli> $<TARGET_FILE:vranks_fake_nccl>)
  set_tests_properties(peers.nccl_faults PROPERTIES LABELS gpu RESOURCE_LOCK gpu TIMEOUT 600
                       SKIP_RETURN_CODE 77)
endif()

# `vranks simulate` beside SimGrid's SMPI; skipped, with the reason, without libsimgrid-dev.
if(VRANKS_BUILD_CLI)
  add_test(NAME peers.simgrid
           COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/peers/simgrid_test.py
                   $<TARGET_FILE:vranks_cli>)
  set_tests_properties(peers.simgrid PROPERTIES LABELS peers TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
