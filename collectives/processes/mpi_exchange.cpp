// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Non-blocking collectives of MPI, of host memory.
#include <optional>

#include "collectives/processes/carried_op.hpp"
#include "collectives/processes/exchange.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

class MpiExchange : public Exchange {
 public:
  MpiExchange(const ProcessCall& call, const Arithmetic* rules) : call_(call) {
    if (rules != nullptr) op_.emplace(*rules);
    VR_MPI(MPI_Type_contiguous(static_cast<int>(size_bytes(call.key.problem.dtype)), MPI_BYTE,
                               &element_));
    VR_MPI(MPI_Type_commit(&element_));
  }
  ~MpiExchange() override { MPI_Type_free(&element_); }

  Device device() const override { return {}; }
  void begin() override {
    if (op_) op_->use();
  }

  void start_reduction(int slot, const std::byte* from, std::byte* to, std::int64_t values,
                       int owner) override {
    const int count = static_cast<int>(values);
    if (owner < 0)
      VR_MPI(MPI_Iallreduce(from, to, count, op_->type(), op_->op(), call_.communicator,
                            &requests_[slot]));
    else
      VR_MPI(MPI_Ireduce(from, to, count, op_->type(), op_->op(), owner, call_.communicator,
                         &requests_[slot]));
  }
  void start_prefix(int slot, const std::byte* from, std::byte* to, std::int64_t values) override {
    VR_MPI(MPI_Iexscan(from, to, static_cast<int>(values), op_->type(), op_->op(),
                       call_.communicator, &requests_[slot]));
  }
  void finish(int slot) override { call_.wait->until_done({&requests_[slot], 1}); }

  void pass(Collective collective, const std::byte* sent, const Portions& out, std::byte* got,
            const Portions& in) override {
    MPI_Request request = MPI_REQUEST_NULL;
    start(collective, sent, out, got, in, request);
    call_.wait->until_done({&request, 1});
  }

 private:
  void start(Collective collective, const std::byte* sent, const Portions& out, std::byte* got,
             const Portions& in, MPI_Request& request) const {
    const int root = call_.process_of(call_.key.problem.root);
    const int sent_count = static_cast<int>(out.total), got_count = static_cast<int>(in.total);
    switch (collective) {
      case Collective::barrier:
        VR_MPI(MPI_Ibarrier(call_.communicator, &request));
        return;
      case Collective::broadcast:
        if (call_.process == root) std::copy_n(sent, out.total * width(), got);
        VR_MPI(MPI_Ibcast(got, got_count, element_, root, call_.communicator, &request));
        return;
      case Collective::all_gather:
        VR_MPI(MPI_Iallgatherv(sent, sent_count, element_, got, in.counts.data(), in.offsets.data(),
                               element_, call_.communicator, &request));
        return;
      case Collective::gather:
        VR_MPI(MPI_Igatherv(sent, sent_count, element_, got, in.counts.data(), in.offsets.data(),
                            element_, root, call_.communicator, &request));
        return;
      case Collective::scatter:
        VR_MPI(MPI_Iscatterv(sent, out.counts.data(), out.offsets.data(), element_, got, got_count,
                             element_, root, call_.communicator, &request));
        return;
      default:
        VR_MPI(MPI_Ialltoallv(sent, out.counts.data(), out.offsets.data(), element_, got,
                              in.counts.data(), in.offsets.data(), element_, call_.communicator,
                              &request));
    }
  }
  std::int64_t width() const {
    return static_cast<std::int64_t>(size_bytes(call_.key.problem.dtype));
  }

  const ProcessCall& call_;
  std::optional<CarriedOp> op_;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_exchange(const ProcessCall& call, const Arithmetic* rules) {
  return std::make_unique<MpiExchange>(call, rules);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
