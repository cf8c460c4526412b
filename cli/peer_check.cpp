// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/peer_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cli/progress.hpp"
#include "collectives/peers/agreement.hpp"
#include "collectives/peers/mpi.hpp"
#include "kernels/backend.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

Shape with_ranks(Shape shape, std::int64_t ranks) {
  shape[0] = ranks;
  return shape;
}

// make(tensor of the share's shape, first rank) fills a block.
template <class Make>
PeerData made_data(const Job& job, DType dtype, const Shape& shape, Make&& make) {
  PeerData data;
  data.shape = shape;
  job.together([&] {
    const RankRange share = share_of(shape[0], job.processes(), job.process());
    data.block = Tensor(dtype, with_ranks(shape, share.count));
    make(data.block.view(), share.first);
    if (!job.is_first()) return;
    data.whole = Tensor(dtype, shape);
    make(data.whole.view(), 0);
  });
  return data;
}

// A tensor of `shape` on `device`: `host` itself on the CPU, else memory of its own.
class OnDevice {
 public:
  OnDevice(const Tensor& host, Device device)
      : host_(host), bytes_(static_cast<std::size_t>(host.bytes())), view_(host.view()) {
    view_.device = device;
    if (device.kind == DeviceKind::cpu) return;
    buffer_.emplace(bytes_, device);
    view_.data = buffer_->data();
  }

  const TensorView& view() const { return view_; }
  void send() const {
    if (buffer_) buffer_->copy_from_host(host_.data(), bytes_);
  }
  void fetch() const {
    if (buffer_) buffer_->copy_to_host(host_.data(), bytes_);
  }

 private:
  const Tensor& host_;
  std::size_t bytes_;
  std::optional<DeviceBuffer> buffer_;
  TensorView view_;
};

// Our result in CPU memory: (R, d0, ...) of an all_reduce, (d0, ...) of a reduce.
Tensor our_result(const PeerCase& check, const Tensor& whole, Provenance& provenance) {
  const bool is_reduce = check.problem.collective == Collective::reduce;
  const Shape& shape = whole.shape();
  Tensor result(whole.dtype(), is_reduce ? Shape(shape.begin() + 1, shape.end()) : shape);
  const OnDevice in(whole, check.device);
  const OnDevice out(result, check.device);
  in.send();
  const ReduceOp op = check.problem.op;
  CollectiveOptions options{.op = op, .algorithm = check.algorithm};
  if (is_ordered(op) && has_nan(check.problem.dtype)) options.nan = check.problem.nan;
  provenance = is_reduce ? reduce_ranks(in.view(), out.view(), options)
                         : all_reduce(in.view(), out.view(), options);
  out.fetch();
  return result;
}

// How many ranks hold other bits than rank 0.
std::int64_t ranks_unlike_the_first(const Tensor& result, std::int64_t row_bytes) {
  std::int64_t unlike = 0;
  for (std::int64_t r = 1; row_bytes > 0 && r < result.shape()[0]; ++r)
    unlike += std::memcmp(result.data() + r * row_bytes, result.data(),
                          static_cast<std::size_t>(row_bytes)) != 0;
  return unlike;
}

}  // namespace

RankRange share_of(std::int64_t ranks, int processes, int process) {
  if (ranks < 1)
    throw Error(ErrorKind::bad_argument,
                "R = 0: dimension 0 of the shape counts the ranks, and there must be one at least");
  if (ranks < processes)
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} processes can't share {} rank{}: each holds at least one; start at "
                            "most {}, or give more ranks",
                            processes, ranks, ranks == 1 ? "" : "s", ranks));
  const std::int64_t longer = ranks % processes;
  return {.first = process * (ranks / processes) + std::min<std::int64_t>(process, longer),
          .count = ranks / processes + (process < longer ? 1 : 0)};
}

PeerData random_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed) {
  return made_data(job, dtype, shape, [&](const TensorView& tensor, std::int64_t first) {
    fill_random(tensor, seed, first);
  });
}

PeerData whole_number_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                           ReduceOp op) {
  PeerData data = made_data(job, dtype, shape, [&](const TensorView& tensor, std::int64_t first) {
    fill_whole_numbers(tensor, seed, shape[0], op, first);
  });
  data.is_exact = true;
  return data;
}

PeerData load_data(const Job& job, const std::string& path, std::optional<DType> dtype) {
  NpyHeader header;
  job.together([&] {
    header = read_npy_header(path);
    if (header.opaque_bytes > 0)
      throw Error(ErrorKind::not_supported,
                  fmt::format("'{}' holds elements of {} bytes, which no op combines", path,
                              header.opaque_bytes));
  });
  // Each process opens the path on its own machine and in its own folder.
  job.agree("headers in " + path, {std::string(name(header.dtype)), to_string(header.shape)});

  PeerData data;
  data.shape = header.shape;
  job.together([&] {
    const RankRange share = share_of(header.shape[0], job.processes(), job.process());
    data.block = load_npy(path, dtype, share);
    if (!job.is_first()) return;
    ProgressLine progress("reading " + path);
    data.whole = load_npy(path, dtype, {},
                          [&](std::int64_t done, std::int64_t total) { progress(done, total); });
  });
  return data;
}

PeerFinding compare_with_mpi(const Job& job, const PeerCase& check, const PeerData& data) {
  const Problem& problem = check.problem;
  const auto n = static_cast<std::size_t>(problem.elements);
  PeerFinding finding;
  std::vector<double> most;
  Tensor ours, theirs, partial;
  job.together([&] {
    most.resize(n);
    theirs = Tensor(problem.dtype, {problem.elements});
    partial = mpi_reduce_rows(problem, rows_of(data.block.view(), "input"));
    if (!job.is_first()) {
      ours = Tensor(problem.dtype, {problem.elements});
      return;
    }
    ours = our_result(check, data.whole, finding.provenance);
    if (problem.collective == Collective::all_reduce)
      finding.unlike_ranks = ranks_unlike_the_first(ours, theirs.bytes());
    AgreementBound bound =
        agreement_bound(problem, rows_of(data.whole.view(), "input"), data.is_exact);
    most = std::move(bound.most);
    finding.rule = std::move(bound.rule);
    finding.left_out = std::move(bound.left_out);
  });
  job.broadcast(ours.data(), theirs.bytes());
  job.broadcast(most.data(), problem.elements * static_cast<std::int64_t>(sizeof(double)));
  mpi_reduce_processes(problem, partial, theirs.data());

  Deviation mine;
  if (problem.collective == Collective::all_reduce || job.is_first())
    mine = deviation_between(problem.dtype, ours.data(), theirs.data(), most);
  for (const Deviation& each : job.gather(mine))
    finding.deviation = merged(finding.deviation, each);
  for (const std::int64_t each : job.gather(finding.unlike_ranks))
    finding.unlike_ranks = std::max(finding.unlike_ranks, each);
  finding.is_agreement =
      finding.unlike_ranks == 0 && is_agreement(finding.deviation, problem.elements);
  return finding;
}

}  // namespace vranks::cli
