// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a schedule on symbols: the fold of every output chunk.
#pragma once

#include <functional>
#include <vector>

#include "collectives/fold.hpp"
#include "collectives/schedule.hpp"

namespace vranks {

struct Folds {
  FoldGraph graph;
  // Of output chunk `index` of rank r: outputs[r * output_chunks + index]; no_fold if unwritten.
  std::vector<FoldId> outputs;

  FoldId output(const ScheduleShape& shape, std::int32_t rank, std::int32_t index) const {
    return outputs[static_cast<std::size_t>(rank) *
                       static_cast<std::size_t>(shape.slot_chunks(Slot::output)) +
                   static_cast<std::size_t>(index)];
  }
};

// Told of a read of a chunk that nothing has written: step, the transfer, the chunk. What is read
// then has no fold, nor has what is made of it.
using UnwrittenRead = std::function<void(std::size_t step, const Transfer&, const ChunkRef&)>;

Folds interpret(const Schedule& schedule, const UnwrittenRead& unwritten = {});

}  // namespace vranks
