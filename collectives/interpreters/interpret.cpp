// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/interpret.hpp"

#include <fmt/format.h>

#include <new>

#include "ranks/error.hpp"

namespace vranks {

namespace {

class Machine {
 public:
  Machine(const Schedule& schedule, const UnwrittenRead& unwritten)
      : schedule_(schedule),
        shape_(schedule.shape()),
        unwritten_(unwritten),
        output_chunks_(static_cast<std::size_t>(shape_.slot_chunks(Slot::output))),
        scratch_chunks_(static_cast<std::size_t>(shape_.scratch_chunks)),
        graph_(shape_.ranks, shape_.slot_chunks(Slot::input)),
        outputs_(static_cast<std::size_t>(shape_.ranks) * output_chunks_, no_fold),
        scratch_(static_cast<std::size_t>(shape_.ranks) * scratch_chunks_, no_fold) {}

  Folds run() && {
    std::vector<std::pair<FoldId*, FoldId>> writes;
    for (std::size_t step = 0; step < schedule_.steps(); ++step) {
      writes.clear();
      schedule_.for_each(step, [&](const Transfer& t) {
        for (std::int32_t k = 0; k < t.dst.count; ++k)
          writes.emplace_back(cell(t.dst, k), result(step, t, k));
      });
      for (const auto& [to, fold] : writes) *to = fold;
    }
    return {std::move(graph_), std::move(outputs_)};
  }

 private:
  FoldId* cell(const ChunkRef& ref, std::int32_t k) {
    const auto rank = static_cast<std::size_t>(ref.rank);
    const auto index = static_cast<std::size_t>(ref.index + k);
    return ref.slot == Slot::output ? &outputs_[rank * output_chunks_ + index]
                                    : &scratch_[rank * scratch_chunks_ + index];
  }

  FoldId read(std::size_t step, const Transfer& t, const ChunkRef& ref, std::int32_t k) {
    if (ref.slot == Slot::input) return graph_.leaf(ref.rank, ref.index + k);
    const FoldId fold = *cell(ref, k);
    if (fold == no_fold && unwritten_) {
      ChunkRef one = ref;
      one.index += k;
      one.count = 1;
      unwritten_(step, t, one);
    }
    return fold;
  }

  FoldId result(std::size_t step, const Transfer& t, std::int32_t k) {
    const FoldId a = read(step, t, t.a, k);
    if (t.action == Action::copy) return a;
    const FoldId b = read(step, t, t.b, k);
    if (a == no_fold || b == no_fold) return no_fold;
    const auto is_own = [&](const ChunkRef& ref) {
      return ref.slot == Slot::input && ref.rank == t.dst.rank;
    };
    return graph_.combine(a, b, is_own(t.b) ? Own::right : is_own(t.a) ? Own::left : Own::none);
  }

  const Schedule& schedule_;
  const ScheduleShape& shape_;
  const UnwrittenRead& unwritten_;
  std::size_t output_chunks_, scratch_chunks_;
  FoldGraph graph_;
  std::vector<FoldId> outputs_, scratch_;
};

}  // namespace

Folds interpret(const Schedule& schedule, const UnwrittenRead& unwritten) {
  try {
    return Machine(schedule, unwritten).run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::not_available,
                fmt::format("no memory to follow {} transfers over {} ranks symbolically",
                            schedule.transfers(), schedule.shape().ranks));
  }
}

}  // namespace vranks
