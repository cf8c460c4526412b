// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// VR_MPI(call) makes one MPI call and turns its error code into an MpiError. The only way to
// <mpi.h>, and empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

// The C++ bindings left the standard in 2012; only the C interface is used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "ranks/error.hpp"

namespace vranks {

// MPI itself failed. Other processes may be waiting inside the same call, so nothing collective
// can be done any more but MPI_Abort.
class MpiError : public Error {
 public:
  using Error::Error;
};

// Throws MpiError unless `code` is MPI_SUCCESS; `call` is the source text of what returned it.
void check_mpi(int code, const char* call);

// Makes failing calls return codes instead of ending the process (MPI's default) or throwing.
void return_mpi_errors();

}  // namespace vranks

#define VR_MPI(call) ::vranks::check_mpi((call), #call)

#endif  // VRANKS_HAVE_MPI
