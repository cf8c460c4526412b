// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages by MPI point to point. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <vector>

#include "collectives/interpreters/messages.hpp"
#include "collectives/processes/mpi_wait.hpp"

namespace vranks {

class MpiMessages : public Messages {
 public:
  MpiMessages(MPI_Comm communicator, MpiWait& wait) : communicator_(communicator), wait_(wait) {}

  Ticket send(int process, int tag, std::span<const std::byte> bytes) override {
    const Ticket ticket = new_ticket();
    VR_MPI(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, process, tag,
                     communicator_, &request(ticket)));
    return ticket;
  }
  Ticket receive(int process, int tag, std::span<std::byte> bytes) override {
    const Ticket ticket = new_ticket();
    VR_MPI(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, process, tag,
                     communicator_, &request(ticket)));
    return ticket;
  }
  bool done(Ticket ticket) override {
    int is_done = 0;
    VR_MPI(MPI_Test(&request(ticket), &is_done, MPI_STATUS_IGNORE));
    if (!is_done) return false;
    free_.push_back(ticket);
    wait_.happened();
    return true;
  }
  void wait() override { wait_.turn(); }

 private:
  MPI_Request& request(Ticket ticket) { return requests_[static_cast<std::size_t>(ticket)]; }
  Ticket new_ticket() {
    if (free_.empty()) {
      requests_.push_back(MPI_REQUEST_NULL);
      return static_cast<Ticket>(requests_.size()) - 1;
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    return ticket;
  }

  MPI_Comm communicator_;
  MpiWait& wait_;
  std::vector<MPI_Request> requests_;
  std::vector<Ticket> free_;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
