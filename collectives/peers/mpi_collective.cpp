// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/mpi_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "collectives/peers/mpi_call.hpp"
#include "collectives/peers/mpi_operator.hpp"
#include "collectives/peers/openmpi_forced.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// The call for one rank a process, and the one for blocks of ranks; empty: there is none.
struct Calls {
  Collective collective;
  std::string_view one_each, blocks;
};
constexpr Calls all_calls[] = {
    {Collective::all_reduce, "MPI_Allreduce", "MPI_Allreduce"},
    {Collective::reduce, "MPI_Reduce", "MPI_Reduce"},
    {Collective::reduce_scatter, "MPI_Reduce_scatter_block", "MPI_Reduce_scatter"},
    {Collective::all_gather, "MPI_Allgather", "MPI_Allgatherv"},
    {Collective::broadcast, "MPI_Bcast", "MPI_Bcast"},
    {Collective::gather, "MPI_Gather", "MPI_Gatherv"},
    {Collective::scatter, "MPI_Scatter", "MPI_Scatterv"},
    {Collective::all_to_all, "MPI_Alltoall", ""},
    {Collective::scan, "MPI_Scan", ""},
    {Collective::exscan, "MPI_Exscan", ""},
    {Collective::barrier, "MPI_Barrier", ""},
    {Collective::reduce_scatter_v, "MPI_Reduce_scatter", "MPI_Reduce_scatter"},
    {Collective::all_gather_v, "MPI_Allgatherv", "MPI_Allgatherv"},
    {Collective::gather_v, "MPI_Gatherv", "MPI_Gatherv"},
    {Collective::scatter_v, "MPI_Scatterv", "MPI_Scatterv"},
    {Collective::all_to_all_v, "MPI_Alltoallv", ""},
};

const Calls* calls_of(Collective collective) {
  const auto found = std::ranges::find(all_calls, collective, &Calls::collective);
  return found == std::end(all_calls) ? nullptr : found;
}

}  // namespace

bool mpi_has(Collective collective) { return calls_of(collective) != nullptr; }

bool needs_a_rank_each(Collective collective) {
  const Calls* const calls = calls_of(collective);
  return calls && calls->blocks.empty();
}

std::string mpi_calls(const Problem& problem, int processes, std::string_view forced_call) {
  const Calls& calls = *calls_of(problem.collective);
  const bool is_one_each = problem.ranks == processes;
  std::string text(!forced_call.empty() ? forced_call
                   : is_one_each        ? calls.one_each
                                        : calls.blocks);
  if (reduces(problem.collective) && !is_one_each) text = "MPI_Reduce_local in each, then " + text;
  return text;
}

#if VRANKS_HAVE_MPI

namespace {

bool all_get_the_same(Collective collective) {
  const Collective form = even_form(collective);
  return form == Collective::all_reduce || form == Collective::broadcast ||
         form == Collective::all_gather;
}

constexpr std::int64_t most_elements_a_call = std::int64_t{1} << 28;

// Calls f(first, count) for pieces of `elements` that fit into an MPI count.
template <class F>
void in_pieces(std::int64_t elements, F&& f) {
  for (std::int64_t first = 0; first < elements; first += most_elements_a_call)
    f(first, static_cast<int>(std::min(most_elements_a_call, elements - first)));
}

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, starts.begin() + 1);
  return starts;
}

// Collectives whose counts name places in a whole vector can't be cut into pieces.
void refuse_long_vectors(const Problem& problem, std::int64_t elements) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (elements > most)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} of {} elements over all ranks: MPI counts them in an int, up to {}",
                            name(problem.collective), elements, most));
}

}  // namespace

MpiCollective::MpiCollective(const Problem& problem, std::vector<RankRange> blocks, int process,
                             const Rows& own)
    : problem_(problem), blocks_(std::move(blocks)), process_(process), root_process_(0) {
  return_mpi_errors();
  const auto processes = static_cast<std::int64_t>(blocks_.size());
  const Collective collective = problem.collective, form = even_form(collective);
  if (needs_a_rank_each(collective) && problem.ranks != processes)
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} is compared with {}, one rank a process: {} ranks need {} "
                            "processes, and there are {}",
                            name(collective), calls_of(collective)->one_each, problem.ranks,
                            problem.ranks, processes));
  for (std::size_t p = 0; has_root(collective) && p < blocks_.size(); ++p)
    if (problem.root >= blocks_[p].first && problem.root < blocks_[p].first + blocks_[p].count)
      root_process_ = static_cast<int>(p);
  if (form != Collective::all_reduce && form != Collective::reduce &&
      form != Collective::broadcast && !is_prefix(collective))
    refuse_long_vectors(problem, whole_elements(problem));

  const RankRange here = blocks_[static_cast<std::size_t>(process)];
  const bool has_result = !ends_at_root(collective) || process == root_process_;
  std::int64_t results = 0;
  for (std::int64_t r = here.first; r < here.first + here.count; ++r)
    if (has_result && (results == 0 || !(all_get_the_same(collective) || ends_at_root(collective))))
      results += output_elements(r);
  result_ = Tensor(problem.dtype, {results});
  if (form == Collective::barrier) return;

  if (reduces(collective)) {
    sent_ = mpi_reduce_rows(problem, own);
    received_ = Tensor(sent_.dtype(),
                       {std::max(results, form == Collective::reduce ? problem.elements : 0)});
    return;
  }
  const auto size = static_cast<std::int64_t>(size_bytes(problem.dtype));
  const bool starts_at_root = form == Collective::broadcast || form == Collective::scatter;
  std::int64_t sent = 0;
  for (std::int64_t k = 0; k < here.count; ++k)
    if (!starts_at_root || here.first + k == problem.root) sent += input_elements(here.first + k);
  sent_ = Tensor(problem.dtype, {sent});
  std::byte* to = sent_.data();
  for (std::int64_t k = 0; k < here.count; ++k) {
    if (starts_at_root && here.first + k != problem.root) continue;
    const std::int64_t bytes = input_elements(here.first + k) * size;
    to = std::copy_n(own.data + k * own.stride_bytes, bytes, to);
  }
}

std::int64_t MpiCollective::input_elements(std::int64_t rank) const {
  return row_elements(problem_, Slot::input, rank);
}
std::int64_t MpiCollective::output_elements(std::int64_t rank) const {
  return row_elements(problem_, Slot::output, rank);
}

// Elements of the rows of each process's ranks.
std::vector<int> MpiCollective::counts_of_processes(Slot slot) const {
  std::vector<int> counts;
  for (const RankRange& block : blocks_) {
    std::int64_t count = 0;
    for (std::int64_t r = block.first; r < block.first + block.count; ++r)
      count += slot == Slot::input ? input_elements(r) : output_elements(r);
    counts.push_back(static_cast<int>(count));
  }
  return counts;
}

void MpiCollective::run(const OpenMpiForced* forced) {
  if (problem_.collective == Collective::barrier)
    VR_MPI(MPI_Barrier(forced ? forced->communicator() : MPI_COMM_WORLD));
  else if (reduces(problem_.collective))
    reduce(forced);
  else
    copy(forced);
}

void MpiCollective::reduce(const OpenMpiForced* forced) {
  const MPI_Comm comm = forced ? forced->communicator() : MPI_COMM_WORLD;
  const MPI_Datatype type = mpi_type(sent_.dtype());
  const auto size = static_cast<std::int64_t>(size_bytes(sent_.dtype()));
  const MpiOperator op(sent_.dtype(), problem_.op);
  const Collective form = even_form(problem_.collective);
  std::int64_t contributions = problem_.ranks;

  if (form == Collective::reduce_scatter) {
    const std::vector<int> counts = counts_of_processes(Slot::output);
    const bool is_block_call = forced ? forced->counts_blocks()
                                      : problem_.collective == Collective::reduce_scatter &&
                                            problem_.ranks == std::ssize(blocks_);
    if (is_block_call)
      VR_MPI(MPI_Reduce_scatter_block(sent_.data(), received_.data(), counts[0], type, op.get(),
                                      comm));
    else
      VR_MPI(
          MPI_Reduce_scatter(sent_.data(), received_.data(), counts.data(), type, op.get(), comm));
  } else {
    in_pieces(problem_.elements, [&](std::int64_t first, int count) {
      const std::byte* const from = sent_.data() + first * size;
      std::byte* const to = received_.data() + first * size;
      switch (problem_.collective) {
        case Collective::all_reduce:
          return VR_MPI(MPI_Allreduce(from, to, count, type, op.get(), comm));
        case Collective::reduce:
          return VR_MPI(MPI_Reduce(from, to, count, type, op.get(), root_process_, comm));
        case Collective::scan:
          return VR_MPI(MPI_Scan(from, to, count, type, op.get(), comm));
        default:
          return VR_MPI(MPI_Exscan(from, to, count, type, op.get(), comm));
      }
    });
    if (problem_.collective == Collective::scan) contributions = process_ + 1;
    if (problem_.collective == Collective::exscan) contributions = process_;
  }
  // MPI leaves the first process's result of an exscan undefined.
  if (contributions > 0)
    mpi_finish(problem_, received_, result_.elements(), contributions, result_.data());
}

void MpiCollective::copy(const OpenMpiForced* forced) {
  const MPI_Comm comm = forced ? forced->communicator() : MPI_COMM_WORLD;
  const MPI_Datatype type = mpi_type(problem_.dtype);
  const auto size = static_cast<std::int64_t>(size_bytes(problem_.dtype));
  const bool is_one_each =
      problem_.ranks == std::ssize(blocks_) && !takes_counts(problem_.collective);
  const auto sent = static_cast<int>(sent_.elements());
  const auto received = static_cast<int>(result_.elements());
  switch (even_form(problem_.collective)) {
    case Collective::broadcast:
      if (process_ == root_process_) std::copy_n(sent_.data(), sent_.bytes(), result_.data());
      in_pieces(problem_.elements, [&](std::int64_t first, int count) {
        VR_MPI(MPI_Bcast(result_.data() + first * size, count, type, root_process_, comm));
      });
      return;
    case Collective::all_gather:
    case Collective::gather: {
      const bool to_all = even_form(problem_.collective) == Collective::all_gather;
      const std::vector<int> counts = counts_of_processes(Slot::input), starts = starts_of(counts);
      if (to_all && is_one_each)
        VR_MPI(MPI_Allgather(sent_.data(), sent, type, result_.data(), sent, type, comm));
      else if (to_all)
        VR_MPI(MPI_Allgatherv(sent_.data(), sent, type, result_.data(), counts.data(),
                              starts.data(), type, comm));
      else if (is_one_each)
        VR_MPI(
            MPI_Gather(sent_.data(), sent, type, result_.data(), sent, type, root_process_, comm));
      else
        VR_MPI(MPI_Gatherv(sent_.data(), sent, type, result_.data(), counts.data(), starts.data(),
                           type, root_process_, comm));
      return;
    }
    case Collective::scatter: {
      const std::vector<int> counts = counts_of_processes(Slot::output), starts = starts_of(counts);
      if (is_one_each)
        VR_MPI(MPI_Scatter(sent_.data(), received, type, result_.data(), received, type,
                           root_process_, comm));
      else
        VR_MPI(MPI_Scatterv(sent_.data(), counts.data(), starts.data(), type, result_.data(),
                            received, type, root_process_, comm));
      return;
    }
    default: {  // an all-to-all: row s of the blocks is what rank s sends
      const std::vector<std::int64_t> blocks = block_lengths(problem_);
      const std::size_t ranks = blocks_.size(), own = static_cast<std::size_t>(process_);
      std::vector<int> to(ranks), from(ranks);
      for (std::size_t p = 0; p < ranks; ++p) {
        to[p] = static_cast<int>(blocks[own * ranks + p]);
        from[p] = static_cast<int>(blocks[p * ranks + own]);
      }
      if (is_one_each)
        VR_MPI(MPI_Alltoall(sent_.data(), to[0], type, result_.data(), from[0], type, comm));
      else
        VR_MPI(MPI_Alltoallv(sent_.data(), to.data(), starts_of(to).data(), type, result_.data(),
                             from.data(), starts_of(from).data(), type, comm));
    }
  }
}

const std::byte* MpiCollective::row(std::int64_t rank) const {
  const RankRange here = blocks_[static_cast<std::size_t>(process_)];
  const std::byte* row = result_.data();
  if (all_get_the_same(problem_.collective) || ends_at_root(problem_.collective)) return row;
  for (std::int64_t r = here.first; r < rank; ++r)
    row += output_elements(r) * static_cast<std::int64_t>(size_bytes(problem_.dtype));
  return row;
}

#else

MpiCollective::MpiCollective(const Problem&, std::vector<RankRange>, int process, const Rows&)
    : process_(process), root_process_(0) {
  mpi_library();  // says what is missing
}
void MpiCollective::run(const OpenMpiForced*) {}
const std::byte* MpiCollective::row(std::int64_t) const { return result_.data(); }

#endif

}  // namespace vranks
