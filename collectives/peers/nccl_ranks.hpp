// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Real NCCL ranks, and those of one process, on one device or several: a communicator, a stream and
// a thread for each rank, and a watchdog, since ranks that wait for each other may wait for ever.
//
//   const Nccl nccl("libnccl.so.2");
//   NcclRanks ranks(nccl, std::vector(4, device), std::chrono::seconds(60));
//   ranks.run({.collective = Collective::all_reduce, .in = in, .out = out, .count = 1000});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/peers/nccl.hpp"
#include "collectives/problem.hpp"
#include "ranks/device.hpp"

namespace vranks {

// A collective that every rank calls.
struct NcclCall {
  Collective collective = Collective::all_reduce;  // reduce reduce_scatter all_gather broadcast
  ReduceOp op = ReduceOp::sum;
  DType dtype = DType::f32;
  std::int64_t root = 0;
  // Memory of the first rank's device: a row a rank, one behind the other. Rows are as long as
  // `count` says: see below.
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;  // NCCL's: elements a rank; of a reduce_scatter of each block

  // Elements of a row of `in` and of `out`, of that many ranks.
  std::int64_t in_elements(std::int64_t ranks) const {
    return collective == Collective::reduce_scatter ? ranks * count : count;
  }
  std::int64_t out_elements(std::int64_t ranks) const {
    return collective == Collective::all_gather ? ranks * count : count;
  }
};

// Enqueues one rank's part of a call: `in` and `out` are its rows. Throws not_supported for a
// collective, op or dtype that NCCL doesn't have.
Nccl::Result enqueue(const Nccl& nccl, const NcclCall& call, const void* in, void* out,
                     Nccl::Communicator communicator, Stream stream);

// What it is to NCCL: "ncclAllReduce". Precondition: NCCL has it.
std::string nccl_name(Collective collective);

// Real NCCL ranks, wherever they are.
class NcclRunner {
 public:
  virtual ~NcclRunner() = default;
  // One call, watched: returns when its results are there. Throws as enqueue(), and NcclError.
  virtual void run(const NcclCall& call) = 0;
};

class NcclRanks : public NcclRunner {
 public:
  // Starts a communicator of one clique for each of `devices`, which may name a device several
  // times. Rows of ranks on other devices than the first are copied there and back. This and the
  // calls below throw NcclError if NCCL fails on a rank or tells of an asynchronous error, and if
  // some ranks haven't finished after `patience`, naming them; what is waiting for them is then
  // left behind, and nothing but the destructor may be called.
  NcclRanks(const Nccl& nccl, const std::vector<Device>& devices,
            std::chrono::milliseconds patience);
  ~NcclRanks() override;
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  int ranks() const;

  void run(const NcclCall& call) override;

  // Seconds a call, of `calls` calls: by the clock from the first rank's start to the last one's
  // end, or by the events of the rank whose stream was busy for the shortest time, whichever is
  // less. All ranks have to be on the first one's device.
  double seconds(const NcclCall& call, int calls);

 private:
  struct State;
  using Work = std::function<void(State&, int rank)>;

  // Runs work on a thread of every rank; `doing` is what the message says it was.
  void on_every_rank(const std::string& doing, Work work);

  // Threads that don't come back keep it alive.
  std::shared_ptr<State> state_;
};

}  // namespace vranks
