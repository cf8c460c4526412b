// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Means that overflow are formed again from the inputs of all ranks, which live in several
// processes. Empty in builds without MPI.
#pragma once

#if VRANKS_HAVE_MPI

#include <vector>

#include "collectives/interpreters/execute_program.hpp"
#include "collectives/processes/process_call.hpp"

namespace vranks {

class ProcessRescue {
 public:
  // Keeps the inputs of this process, which the results may overwrite. `problem` is that of a
  // group, whose ranks live at `places`.
  ProcessRescue(const ProcessCall& call, const Problem& problem, const RankPlaces& places,
                const FoldRows& rows);
  // Every process calls it, once its results are there.
  void run();

 private:
  // An output row, and the columns of the input that it holds: the first, and how many.
  struct Row {
    std::byte* data;
    std::int64_t first, elements;
  };
  std::vector<std::int64_t> overflowed() const;
  std::vector<std::int64_t> of_all(const std::vector<std::int64_t>& own) const;
  std::vector<std::byte> columns_of_all(std::span<const std::int64_t> columns) const;
  void replace(std::span<const std::int64_t> columns) const;
  std::vector<std::byte> to_host(const Row& row) const;

  const ProcessCall& call_;
  const RankPlaces& places_;
  DType dtype_;
  std::int64_t width_;
  std::vector<std::vector<std::byte>> inputs_;  // of each rank; empty: it lives elsewhere
  std::vector<Row> rows_;
};

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
