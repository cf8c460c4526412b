// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives that only copy: blocks are packed in the order in which one collective over processes
// wants them, and unpacked to where each rank gets them.
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/processes/exchange.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// A block: from which rank to which (-1: all), where it lies in both rows, in elements.
struct Block {
  std::int64_t from, to;
  std::int64_t from_at, to_at, length;
};

class Copies : public EngineRun {
 public:
  Copies(const ProcessCall& call, MakeExchange make)
      : call_(call),
        problem_(call.key.problem),
        collective_(even_form(problem_.collective)),
        backend_(backend_for(call.key.device)),
        width_(static_cast<std::int64_t>(size_bytes(problem_.dtype))),
        exchange_(make(call, nullptr)),
        sent_counts_(call.processes()),
        got_counts_(call.processes()) {
    make_blocks();
    for (const Block& block : blocks_) {
      if (is_here(block.from)) count_sent(block);
      if (gets(block)) got_counts_.add(call_.process_of(block.from), block.length);
    }
    sent_counts_.place();
    got_counts_.place();
    const auto bytes = [&](const Portions& portions) {
      return static_cast<std::size_t>(portions.total * width_);
    };
    sent_ = call.memory->of(0, bytes(sent_counts_), exchange_->device());
    got_ = call.memory->of(1, bytes(got_counts_), exchange_->device());
    if (collective_ == Collective::permute)
      zeros_.resize(static_cast<std::size_t>(problem_.elements * width_));
  }

  void run() override {
    exchange_->begin();
    pack();
    exchange_->pass(collective_, sent_, sent_counts_, got_, got_counts_);
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
      move(sent_ + position * width_,
           call_.in[static_cast<std::size_t>(block.from)] + block.from_at * width_, block.length,
           &Backend::copy_to_host);
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
        move(call_.out[static_cast<std::size_t>(row)] + block.to_at * width_,
             got_ + position * width_, block.length, &Backend::copy_from_host);
      position += block.length;
    }
    if (collective_ != Collective::permute) return;
    for (std::int64_t r = call_.first(); r < call_.behind(); ++r)
      if (problem_.sources[static_cast<std::size_t>(r)] < 0)
        backend_.copy_from_host(call_.out[static_cast<std::size_t>(r)], zeros_.data(),
                                zeros_.size(), call_.key.device.index);
  }
  static std::vector<std::int64_t> positions(const Portions& counts) {
    return {counts.offsets.begin(), counts.offsets.end()};
  }

  // Between the call's device and the memory that is passed, which may be the same.
  void move(std::byte* to, const std::byte* from, std::int64_t elements,
            void (Backend::*copy)(void*, const void*, std::size_t, int) const) const {
    if (elements == 0) return;
    const std::int64_t bytes = elements * width_;
    if (exchange_->device() != call_.key.device || call_.key.device.kind == DeviceKind::cpu)
      return (backend_.*copy)(to, from, static_cast<std::size_t>(bytes), call_.key.device.index);
    backend_.copy({.from = from,
                   .to = to,
                   .element_bytes = width_,
                   .extents = {elements},
                   .from_strides = {width_},
                   .to_strides = {width_}},
                  call_.key.device.index, nullptr);
  }

  const ProcessCall& call_;
  Problem problem_;
  Collective collective_;
  const Backend& backend_;
  std::int64_t width_;
  std::vector<Block> blocks_;
  std::unique_ptr<Exchange> exchange_;
  Portions sent_counts_, got_counts_;
  std::byte *sent_ = nullptr, *got_ = nullptr;
  std::vector<std::byte> zeros_;
};

}  // namespace

std::unique_ptr<EngineRun> make_copies(const ProcessCall& call, MakeExchange make) {
  return std::make_unique<Copies>(call, make);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
