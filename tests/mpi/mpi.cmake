# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# <name>_test.cpp runs under mpirun with each of these numbers of processes, or those of
# <name>_processes; <name>_test.py starts mpirun itself.
set(VRANKS_MPI_PROCESSES 1 2 3 4 7)
set(communicator_processes 1 2 3 4 7 8)
set(openmpi_orders_processes 2 3 4 5 6 7 8 9)
set(openmpi_rules_processes ${openmpi_orders_processes})
# Variables of their environment. Open MPI heeds a forced algorithm only with dynamic rules.
set(openmpi_orders_environment OMPI_MCA_coll_tuned_use_dynamic_rules=1)

if(VRANKS_HAVE_MPI)
  set(mpirun ${VRANKS_MPIRUN})
  set(mpi_environment ${VRANKS_MPIRUN_ENVIRONMENT})
  if(VRANKS_SANITIZE)
    list(APPEND mpi_environment VRANKS_SANITIZE=${VRANKS_SANITIZE})
  endif()
  set(mpi_properties LABELS mpi TIMEOUT 600)  # a job that hangs is stopped

  file(GLOB sources CONFIGURE_DEPENDS mpi/*_test.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(target ${name})
    string(REGEX REPLACE "_test$" "" name ${name})
    vranks_add_test_program(${target} ${source})
    target_sources(${target} PRIVATE mpi/mpi_main.cpp)
    if(NOT ${name}_processes)
      set(${name}_processes ${VRANKS_MPI_PROCESSES})
    endif()
    set(environment ${mpi_environment} ${${name}_environment})
    foreach(processes ${${name}_processes})
      add_test(NAME mpi.${name}.${processes}
               COMMAND ${mpirun} -np ${processes} $<TARGET_FILE:${target}>)
      set_tests_properties(mpi.${name}.${processes} PROPERTIES ${mpi_properties}
                           ENVIRONMENT "${environment}")
      vranks_skippable(mpi.${name}.${processes})
    endforeach()
  endforeach()

  if(VRANKS_BUILD_CLI)
    # Preloaded, it makes MPI's results wrong: the proof that `vranks check` can fail.
    add_library(vranks_wrong_mpi MODULE mpi/wrong_mpi.cpp)
    target_include_directories(vranks_wrong_mpi PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(vranks_wrong_mpi PRIVATE VRANKS_HAVE_MPI=1)
    target_link_libraries(vranks_wrong_mpi PRIVATE MPI::MPI_CXX)

    file(GLOB scripts CONFIGURE_DEPENDS mpi/*_test.py)
    foreach(script ${scripts})
      get_filename_component(name ${script} NAME_WE)
      string(REGEX REPLACE "_test$" "" name ${name})
      add_test(NAME mpi.${name}
               COMMAND Python3::Interpreter -B ${script} $<TARGET_FILE:vranks_cli> ${mpirun})
      set_tests_properties(mpi.${name} PROPERTIES ${mpi_properties} ENVIRONMENT
        "${mpi_environment};VRANKS_WRONG_MPI=$<TARGET_FILE:vranks_wrong_mpi>")
    endforeach()
  endif()
endif()
