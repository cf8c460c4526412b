// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Engine::mpi for collectives that only copy: blocks are packed on the host in the order in which
// one MPI collective over processes wants them, and unpacked to where each rank gets them.
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/processes/process_call.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// A block: from which rank to which (-1: all), where it lies in both rows, in elements.
struct Block {
  std::int64_t from, to;
  std::int64_t from_at, to_at, length;
};

// What a process passes to, or gets from, each other one, in elements.
struct Counts32 {
  std::vector<int> counts, offsets;
  std::int64_t total = 0;

  explicit Counts32(int processes)
      : counts(static_cast<std::size_t>(processes)), offsets(counts.size()) {}
  void add(int process, std::int64_t elements) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    int& count = counts[static_cast<std::size_t>(process)];
    if (elements > most - count || (total += elements) > most)
      throw Error(ErrorKind::not_supported,
                  fmt::format("engine mpi passes at most {} elements from one process to another, "
                              "and {} to process {} are more; --engine schedule has no limit",
                              most, count + elements, process));
    count += static_cast<int>(elements);
  }
  void finish() {
    int at = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) offsets[p] = std::exchange(at, at + counts[p]);
  }
};

class Copies : public EngineRun {
 public:
  explicit Copies(const ProcessCall& call)
      : call_(call),
        problem_(call.key.problem),
        collective_(even_form(problem_.collective)),
        backend_(backend_for(call.key.device)),
        width_(static_cast<std::int64_t>(size_bytes(problem_.dtype))),
        sent_counts_(call.processes()),
        got_counts_(call.processes()) {
    make_blocks();
    for (const Block& block : blocks_) {
      if (is_here(block.from)) count_sent(block);
      if (gets(block)) got_counts_.add(call_.process_of(block.from), block.length);
    }
    sent_counts_.finish();
    got_counts_.finish();
    sent_.resize(static_cast<std::size_t>(sent_counts_.total * width_));
    got_.resize(static_cast<std::size_t>(got_counts_.total * width_));
    VR_MPI(MPI_Type_contiguous(static_cast<int>(width_), MPI_BYTE, &element_));
    VR_MPI(MPI_Type_commit(&element_));
  }
  ~Copies() override { MPI_Type_free(&element_); }

  void run() override {
    pack();
    MPI_Request request = MPI_REQUEST_NULL;
    start(request);
    call_.wait->until_done({&request, 1});
    unpack();
  }

 private:
  bool is_here(std::int64_t rank) const { return call_.process_of(rank) == call_.process; }
  // Whether the block goes to a rank of this process.
  bool gets(const Block& block) const { return block.to < 0 || is_here(block.to); }

  // In the order of the ranks that they come from, then of those that they go to.
  void make_blocks() {
    const std::int64_t ranks = problem_.ranks, root = problem_.root;
    if (collective_ == Collective::barrier) return;
    if (collective_ == Collective::broadcast) {
      blocks_.push_back({root, -1, 0, 0, problem_.elements});
      return;
    }
    if (collective_ == Collective::permute) {
      std::vector<std::int64_t> targets(static_cast<std::size_t>(ranks), -1);
      for (std::int64_t d = 0; d < ranks; ++d)
        if (const std::int32_t s = problem_.sources[static_cast<std::size_t>(d)]; s >= 0)
          targets[static_cast<std::size_t>(s)] = d;
      for (std::int64_t s = 0; s < ranks; ++s)
        if (const std::int64_t d = targets[static_cast<std::size_t>(s)]; d >= 0)
          blocks_.push_back({s, d, 0, 0, problem_.elements});
      return;
    }
    const std::vector<std::int64_t> lengths = block_lengths(problem_);
    const std::vector<std::int64_t> in = block_starts(problem_, Slot::input);
    const std::vector<std::int64_t> out = block_starts(problem_, Slot::output);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const auto block = static_cast<std::int64_t>(b);
      switch (collective_) {
        case Collective::all_gather:
          blocks_.push_back({block, -1, 0, out[b], lengths[b]});
          break;
        case Collective::gather:
          blocks_.push_back({block, root, 0, out[b], lengths[b]});
          break;
        case Collective::scatter:
          blocks_.push_back({root, block, in[b], 0, lengths[b]});
          break;
        default:
          blocks_.push_back({block / ranks, block % ranks, in[b], out[b], lengths[b]});
      }
    }
  }

  // To each process what it gets, in the order of the blocks; to all of them once.
  void count_sent(const Block& block) {
    sent_counts_.add(block.to < 0 ? call_.process : call_.process_of(block.to), block.length);
  }

  void pack() {
    std::vector<std::int64_t> at = positions(sent_counts_);
    for (const Block& block : blocks_) {
      if (!is_here(block.from)) continue;
      const int target = block.to < 0 ? call_.process : call_.process_of(block.to);
      std::int64_t& position = at[static_cast<std::size_t>(target)];
      backend_.copy_to_host(sent_.data() + position * width_,
                            call_.in[static_cast<std::size_t>(block.from)] + block.from_at * width_,
                            static_cast<std::size_t>(block.length * width_),
                            call_.key.device.index);
      position += block.length;
    }
  }

  void unpack() {
    std::vector<std::int64_t> at = positions(got_counts_);
    const bool at_root = ends_at_root(collective_);
    for (const Block& block : blocks_) {
      if (!gets(block)) continue;
      std::int64_t& position = at[static_cast<std::size_t>(call_.process_of(block.from))];
      const std::int64_t first = block.to < 0 ? call_.first() : at_root ? 0 : block.to;
      const std::int64_t behind = block.to < 0 ? call_.behind() : first + 1;
      for (std::int64_t row = first; row < behind; ++row)
        backend_.copy_from_host(call_.out[static_cast<std::size_t>(row)] + block.to_at * width_,
                                got_.data() + position * width_,
                                static_cast<std::size_t>(block.length * width_),
                                call_.key.device.index);
      position += block.length;
    }
    if (collective_ != Collective::permute) return;
    const std::vector<std::byte> zeros(static_cast<std::size_t>(problem_.elements * width_));
    for (std::int64_t r = call_.first(); r < call_.behind(); ++r)
      if (problem_.sources[static_cast<std::size_t>(r)] < 0)
        backend_.copy_from_host(call_.out[static_cast<std::size_t>(r)], zeros.data(), zeros.size(),
                                call_.key.device.index);
  }
  static std::vector<std::int64_t> positions(const Counts32& counts) {
    return {counts.offsets.begin(), counts.offsets.end()};
  }

  void start(MPI_Request& request) {
    const int root = call_.process_of(problem_.root);
    switch (collective_) {
      case Collective::barrier:
        VR_MPI(MPI_Ibarrier(call_.communicator, &request));
        return;
      case Collective::broadcast:
        if (call_.process == root) got_ = sent_;
        VR_MPI(MPI_Ibcast(got_.data(), static_cast<int>(problem_.elements), element_, root,
                          call_.communicator, &request));
        return;
      case Collective::all_gather:
        VR_MPI(MPI_Iallgatherv(sent_.data(), static_cast<int>(sent_counts_.total), element_,
                               got_.data(), got_counts_.counts.data(), got_counts_.offsets.data(),
                               element_, call_.communicator, &request));
        return;
      case Collective::gather:
        VR_MPI(MPI_Igatherv(sent_.data(), static_cast<int>(sent_counts_.total), element_,
                            got_.data(), got_counts_.counts.data(), got_counts_.offsets.data(),
                            element_, root, call_.communicator, &request));
        return;
      case Collective::scatter:
        VR_MPI(MPI_Iscatterv(sent_.data(), sent_counts_.counts.data(), sent_counts_.offsets.data(),
                             element_, got_.data(), static_cast<int>(got_counts_.total), element_,
                             root, call_.communicator, &request));
        return;
      default:
        VR_MPI(MPI_Ialltoallv(sent_.data(), sent_counts_.counts.data(), sent_counts_.offsets.data(),
                              element_, got_.data(), got_counts_.counts.data(),
                              got_counts_.offsets.data(), element_, call_.communicator, &request));
    }
  }

  const ProcessCall& call_;
  Problem problem_;
  Collective collective_;
  const Backend& backend_;
  std::int64_t width_;
  std::vector<Block> blocks_;
  Counts32 sent_counts_, got_counts_;
  std::vector<std::byte> sent_, got_;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
};

}  // namespace

std::unique_ptr<EngineRun> make_mpi_copy(const ProcessCall& call) {
  return std::make_unique<Copies>(call);
}

std::unique_ptr<EngineRun> make_mpi_engine(const ProcessCall& call) {
  if (!call.key.groups.empty())
    throw Error(ErrorKind::not_supported,
                "engine mpi is about one group of all ranks; --engine schedule takes groups");
  if (find_algorithm(call.key.algorithm, call.key.problem.collective).name != "direct")
    throw Error(
        ErrorKind::not_supported,
        fmt::format("engine mpi leaves the order to the MPI library; --engine schedule runs "
                    "{}",
                    call.key.algorithm));
  // One rank's bits are kept, whatever they are.
  if (call.key.problem.ranks == 1) return make_schedule_engine(call);
  return reduces(call.key.problem.collective) ? make_mpi_reduction(call) : make_mpi_copy(call);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
