// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ranks/error.hpp"

namespace vranks {

std::string_view name(Slot slot) {
  constexpr std::string_view names[] = {"input", "output", "scratch"};
  return names[static_cast<int>(slot)];
}

std::string to_string(const ChunkRef& ref) {
  if (ref.count == 1) return fmt::format("{}[{}] of rank {}", name(ref.slot), ref.index, ref.rank);
  return fmt::format("{}[{}..{}] of rank {}", name(ref.slot), ref.index, ref.index + ref.count - 1,
                     ref.rank);
}

std::string to_string(const Transfer& transfer) {
  const std::string dst = to_string(transfer.dst), a = to_string(transfer.a);
  if (transfer.action == Action::copy) return fmt::format("{} = {}", dst, a);
  return fmt::format("{} = op({}, {})", dst, a, to_string(transfer.b));
}

std::size_t Schedule::memory_bytes() const {
  return runs_.size() * sizeof(Run) + step_ends_.size() * sizeof(std::size_t);
}

std::vector<Transfer> Schedule::step(std::size_t step) const {
  std::vector<Transfer> all;
  for_each(step, [&](const Transfer& t) { all.push_back(t); });
  return all;
}

bool Schedule::operator==(const Schedule& other) const {
  if (shape_ != other.shape_ || steps() != other.steps() || transfers_ != other.transfers_)
    return false;
  for (std::size_t s = 0; s < steps(); ++s)
    if (step(s) != other.step(s)) return false;
  return true;
}

namespace {

std::size_t cells_of_rank(const ScheduleShape& shape) {
  // Inputs are never written, so they need no cell.
  return static_cast<std::size_t>(shape.slot_chunks(Slot::output)) +
         static_cast<std::size_t>(shape.scratch_chunks);
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(const ScheduleShape& shape) {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorKind::bad_argument, "a schedule " + problem);
  };
  if (shape.ranks < 1) refuse(fmt::format("needs at least one rank, not {}", shape.ranks));
  if (shape.chunks < 1) refuse(fmt::format("needs at least one chunk, not {}", shape.chunks));
  if (shape.scratch_chunks < 0)
    refuse(fmt::format("can't have {} scratch chunks", shape.scratch_chunks));
  if (shape.root < 0 || shape.root >= shape.ranks)
    refuse(fmt::format("over {} ranks has no root {}", shape.ranks, shape.root));
  if (shape.root != 0 && !has_root(shape.collective))
    refuse(fmt::format("of {} has no root, but {} is given", name(shape.collective), shape.root));
  if (takes_counts(shape.collective))
    refuse(fmt::format("knows no counts: {} uses one of {}", name(shape.collective),
                       name(even_form(shape.collective))));
  const bool is_permute = shape.collective == Collective::permute;
  if (shape.sources.size() != (is_permute ? static_cast<std::size_t>(shape.ranks) : 0))
    refuse(fmt::format("of {} over {} ranks can't have {} sources", name(shape.collective),
                       shape.ranks, shape.sources.size()));
  for (const std::int32_t source : shape.sources)
    if (source < -1 || source >= shape.ranks)
      refuse(fmt::format("over {} ranks has no source {}", shape.ranks, source));
  const std::int64_t blocks = std::int64_t{shape.ranks} * (shape.has_parts() ? shape.ranks : 1);
  if (shape.collective == Collective::all_to_all && shape.chunks % blocks != 0)
    refuse(
        fmt::format("of all_to_all cuts every rank's vector into one block a rank: {} chunks "
                    "are no multiple of {} pairs of ranks",
                    shape.chunks, blocks));
  if (shape.has_parts() && shape.chunks % shape.ranks != 0)
    refuse(
        fmt::format("of {} cuts the vector into one block a rank: {} chunks are no multiple of "
                    "{} ranks",
                    name(shape.collective), shape.chunks, shape.ranks));
  if (shape.collective == Collective::barrier && shape.chunks != 1)
    refuse(fmt::format("of a barrier passes one chunk, not {}", shape.chunks));
  // Ids of cells and leaves are 32-bit numbers.
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t a_rank =
      std::int64_t{std::max(shape.slot_chunks(Slot::input), shape.slot_chunks(Slot::output))} +
      shape.scratch_chunks;
  if (a_rank * shape.ranks > most)
    throw Error(
        ErrorKind::not_supported,
        fmt::format("a schedule over {} ranks with {} chunks each has more than 2^31 chunks",
                    shape.ranks, a_rank));
  schedule_.shape_ = shape;
  try {
    written_in_.resize(cells_of_rank(shape) * static_cast<std::size_t>(shape.ranks));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("no memory for a schedule over {} ranks with {} chunks each",
                            shape.ranks, a_rank));
  }
}

void ScheduleBuilder::fail(const std::string& problem) const {
  throw Error(ErrorKind::bad_argument,
              fmt::format("step {}, transfer {}: {}", schedule_.steps(), step_transfers_, problem));
}

void ScheduleBuilder::check(const ChunkRef& ref, const char* what) const {
  const ScheduleShape& shape = schedule_.shape_;
  if (ref.rank < 0 || ref.rank >= shape.ranks)
    fail(fmt::format("{} is on rank {}, but there are ranks 0 to {}", what, ref.rank,
                     shape.ranks - 1));
  const std::int32_t chunks = shape.slot_chunks(ref.slot);
  if (ref.count < 1 || ref.index < 0 || ref.index > chunks - ref.count)
    fail(fmt::format("{} has {} chunks from {} on, but the {} of a rank has {}", what, ref.count,
                     ref.index, name(ref.slot), chunks));
}

void ScheduleBuilder::add(const Transfer& transfer) {
  const ScheduleShape& shape = schedule_.shape_;
  const ChunkRef &a = transfer.a, &b = transfer.b, &dst = transfer.dst;
  check(a, "the left operand");
  check(b, "the right operand");
  check(dst, "the destination");
  if (a.count != dst.count || b.count != dst.count)
    fail(fmt::format("operands of {} and {} chunks for {} chunks: {}", a.count, b.count, dst.count,
                     to_string(transfer)));
  if (transfer.action == Action::copy && a != b)
    fail("a copy has one operand, but two are given: " + to_string(transfer));
  if (transfer.action == Action::reduce && a.rank != dst.rank && b.rank != dst.rank)
    fail("both operands are on other ranks: " + to_string(transfer));
  if (dst.slot == Slot::input) fail("an input is written: " + to_string(transfer));
  if (dst.slot == Slot::output && !shape.has_output(dst.rank))
    fail(fmt::format("rank {} gets no output from a {}{}: {}", dst.rank, name(shape.collective),
                     has_root(shape.collective) ? fmt::format(" to rank {}", shape.root) : "",
                     to_string(transfer)));

  const auto now = static_cast<std::int32_t>(schedule_.steps()) + 1;
  const std::size_t cell =
      static_cast<std::size_t>(dst.rank) * cells_of_rank(shape) +
      static_cast<std::size_t>(dst.index +
                               (dst.slot == Slot::scratch ? shape.slot_chunks(Slot::output) : 0));
  for (std::size_t k = 0; k < static_cast<std::size_t>(dst.count); ++k) {
    if (written_in_[cell + k] == now)
      fail(fmt::format("chunk {} is written twice in one step: {}",
                       dst.index + static_cast<std::int32_t>(k), to_string(transfer)));
    written_in_[cell + k] = now;
  }

  ++step_transfers_;
  ++schedule_.transfers_;
  auto& runs = schedule_.runs_;
  if (runs.size() > step_begin_) {
    Schedule::Run& run = runs.back();
    Transfer next = run.first;
    if (run.count == 1) {
      expected_ = {a.rank - next.a.rank,   a.index - next.a.index,   b.rank - next.b.rank,
                   b.index - next.b.index, dst.rank - next.dst.rank, dst.index - next.dst.index};
      expected_.apply(next);
    } else {
      const std::int32_t k = run.count;
      next.a.rank += k * expected_.a_rank;
      next.a.index += k * expected_.a_index;
      next.b.rank += k * expected_.b_rank;
      next.b.index += k * expected_.b_index;
      next.dst.rank += k * expected_.dst_rank;
      next.dst.index += k * expected_.dst_index;
    }
    if (next == transfer) {
      run.growth = expected_;
      ++run.count;
      return;
    }
  }
  runs.push_back({transfer, 1, {}});
}

void ScheduleBuilder::end_step() {
  if (step_transfers_ == 0) return;
  schedule_.step_ends_.push_back(schedule_.runs_.size());
  step_begin_ = schedule_.runs_.size();
  step_transfers_ = 0;
}

Schedule ScheduleBuilder::build() && {
  if (step_transfers_ != 0) fail("the step was not ended");
  schedule_.runs_.shrink_to_fit();
  return std::move(schedule_);
}

}  // namespace vranks
