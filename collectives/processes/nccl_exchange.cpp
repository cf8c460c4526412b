// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of NCCL, of device memory; copies as one group of sends and receives.
#include <fmt/format.h>

#include "collectives/arithmetic.hpp"
#include "collectives/processes/exchange.hpp"
#include "collectives/processes/nccl_processes.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// NCCL's type of carried values, or nothing.
std::optional<int> carried_type(const Arithmetic& rules) {
  if (rules.op == ReduceOp::weighted_mean || finds_rank(rules.op) ||
      rules.op == ReduceOp::log_sum_exp)
    return {};
  if (rules.accumulate == Accumulate::f32) return nccl_dtype(DType::f32);
  if (rules.accumulate == Accumulate::f64) return nccl_dtype(DType::f64);
  if (rules.accumulate != Accumulate::exact) return nccl_dtype(rules.dtype);
  if (size_bytes(rules.dtype) == 8) return {};
  const bool has_sign = info(rules.dtype).kind == DTypeKind::signed_integer;
  return nccl_dtype(has_sign ? DType::i64 : DType::u64);
}

class NcclExchange : public Exchange {
 public:
  NcclExchange(const ProcessCall& call, const Arithmetic* rules) : call_(call), nccl_(*call.nccl) {
    if (call.key.device.kind != DeviceKind::cuda)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("engine nccl passes memory of CUDA devices, and the tensors are on {}",
                      to_string(call.key.device)));
    nccl_.load();
    nccl_.need_device(call.key.device);
    if (rules == nullptr) return;
    const Problem& problem = call.key.problem;
    if (is_prefix(problem.collective))
      throw Error(ErrorKind::not_supported,
                  fmt::format("NCCL has no {}; --engine mpi does it", name(problem.collective)));
    const bool is_sum = rules->op == ReduceOp::mean || rules->op == ReduceOp::premul_sum;
    const std::optional<int> op = nccl_op(is_sum ? ReduceOp::sum : rules->op);
    const std::optional<int> type = carried_type(*rules);
    if (!op || !type)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("NCCL has no op {} of {}, as it is carried here; --engine mpi does it",
                      name(problem.op), name(problem.dtype)));
    if (is_ordered(rules->op) && has_nan(rules->dtype) && rules->nan != NanPolicy::ignore)
      throw Error(ErrorKind::not_supported,
                  fmt::format("NCCL's {} ignores NaNs: engine nccl does it with --nan ignore alone",
                              name(problem.op)));
    op_ = *op;
    type_ = *type;
  }

  Device device() const override { return call_.key.device; }
  void begin() override { nccl_.join(call_.communicator, *call_.wait, call_.key.device); }

  void start_reduction(int slot, const std::byte* from, std::byte* to, std::int64_t values,
                       int owner) override {
    nccl_.follow_device();
    const Nccl& n = nccl_.nccl();
    const auto count = static_cast<std::size_t>(values);
    nccl_.check(
        owner < 0
            ? n.all_reduce(from, to, count, type_, op_, nccl_.communicator(), nccl_.stream())
            : n.reduce(from, to, count, type_, op_, owner, nccl_.communicator(), nccl_.stream()),
        "reducing");
    nccl_.set_mark(slot);
  }
  void start_prefix(int, const std::byte*, std::byte*, std::int64_t) override {}  // refused before
  void finish(int slot) override { nccl_.wait_for_mark(slot, *call_.wait); }

  void pass(Collective collective, const std::byte* sent, const Portions& out, std::byte* got,
            const Portions& in) override {
    nccl_.follow_device();
    const Nccl& n = nccl_.nccl();
    const auto width = static_cast<std::int64_t>(size_bytes(call_.key.problem.dtype));
    const int bytes = *nccl_dtype(DType::u8);
    const int root = call_.process_of(call_.key.problem.root);
    if (collective == Collective::barrier) return meet();
    const bool is_for_all =
        collective == Collective::all_gather || collective == Collective::broadcast;
    nccl_.group([&] {
      for (int p = 0; p < call_.processes(); ++p) {
        const auto i = static_cast<std::size_t>(p);
        // To all goes all that there is; a gather's portion is the root's.
        const std::int64_t to_send = is_for_all ? out.total : out.counts[i];
        const std::int64_t at = is_for_all ? 0 : out.offsets[i];
        if (to_send > 0 && (collective != Collective::broadcast || call_.process == root))
          nccl_.check(n.send(sent + at * width, static_cast<std::size_t>(to_send * width), bytes, p,
                             nccl_.communicator(), nccl_.stream()),
                      "sending");
        if (in.counts[i] > 0)
          nccl_.check(
              n.recv(got + in.offsets[i] * width, static_cast<std::size_t>(in.counts[i] * width),
                     bytes, p, nccl_.communicator(), nccl_.stream()),
              "receiving");
      }
    });
    nccl_.set_mark(0);
    finish(0);
  }

 private:
  void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    VR_MPI(MPI_Ibarrier(call_.communicator, &request));
    call_.wait->until_done(request);
  }

  const ProcessCall& call_;
  NcclProcesses& nccl_;
  int op_ = 0, type_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_nccl_exchange(const ProcessCall& call, const Arithmetic* rules) {
  return std::make_unique<NcclExchange>(call, rules);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
