# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# How tests start processes: VRANKS_MPIRUN with its options, and the variables of their environment.
set(VRANKS_MPIRUN)
if(VRANKS_HAVE_MPI)
  set(VRANKS_MPIRUN ${MPIEXEC_EXECUTABLE} --oversubscribe)
  execute_process(COMMAND id -u OUTPUT_VARIABLE user_id OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user_id EQUAL 0)
    list(APPEND VRANKS_MPIRUN --allow-run-as-root)  # Open MPI refuses root otherwise
  endif()
endif()
# Open MPI leaks; and a test asks for more memory than there is.
set(VRANKS_MPIRUN_ENVIRONMENT OMP_NUM_THREADS=1
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1)
