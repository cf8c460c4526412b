// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/nccl_process_ranks.hpp"

#if VRANKS_HAVE_MPI

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <exception>
#include <numeric>
#include <vector>

#include "kernels/backend.hpp"

namespace vranks {

NcclProcessRanks::NcclProcessRanks(MPI_Comm communicator, const std::string& library, Device device,
                                   double timeout)
    : communicator_(communicator),
      device_(device),
      wait_(communicator, timeout),
      nccl_(library, nullptr) {
  VR_MPI(MPI_Comm_rank(communicator, &process_));
  VR_MPI(MPI_Comm_size(communicator, &processes_));
  telling_others([&] {
    nccl_.load();
    nccl_.join(communicator, wait_, device);
  });
}

template <class Work>
void NcclProcessRanks::telling_others(Work&& work) {
  try {
    work();
  } catch (const ProcessError&) {
    throw;
  } catch (const std::exception& error) {
    wait_.tell_failure(error.what());
    throw;
  }
}

void NcclProcessRanks::run(const NcclCall& call) {
  telling_others([&] { run_own(call); });
}

void NcclProcessRanks::run_own(const NcclCall& call) {
  const auto size = static_cast<std::int64_t>(size_bytes(call.dtype));
  const std::int64_t in_bytes = call.in_elements(processes_) * size;
  const std::int64_t out_bytes = call.out_elements(processes_) * size;
  if (out_bytes > INT_MAX)
    throw Error(ErrorKind::not_supported,
                fmt::format("rows of {} bytes; check passes at most {} between processes",
                            out_bytes, INT_MAX));
  const auto* const in = static_cast<const std::byte*>(call.in) + process_ * in_bytes;
  auto* const out = static_cast<std::byte*>(call.out) + process_ * out_bytes;
  nccl_.follow_device();
  nccl_.check(enqueue(nccl_.nccl(), call, in, out, nccl_.communicator(), nccl_.stream()),
              ("calling " + nccl_name(call.collective)).c_str());
  nccl_.set_mark(0);
  nccl_.wait_for_mark(0, wait_);

  std::vector<std::byte> own(static_cast<std::size_t>(out_bytes));
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(processes_));
  const Backend& backend = backend_for(device_);
  backend.copy_to_host(own.data(), out, own.size(), device_.index);
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgather(own.data(), static_cast<int>(out_bytes), MPI_BYTE, all.data(),
                        static_cast<int>(out_bytes), MPI_BYTE, communicator_, &request));
  wait_.until_done(request);
  backend.copy_from_host(call.out, all.data(), all.size(), device_.index);
}

std::string NcclProcessRanks::texts(const std::string& mine) {
  const auto length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(processes_)), begins;
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_, &request));
  wait_.until_done(request);
  begins.resize(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
  VR_MPI(MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(),
                         MPI_CHAR, communicator_, &request));
  wait_.until_done(request);
  return all;
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
