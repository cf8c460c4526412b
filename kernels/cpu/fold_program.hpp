// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One piece of CPU work of a fold program: some columns of one of its pieces.
#pragma once

#include "kernels/cpu/tree_fold.hpp"
#include "kernels/fold_program.hpp"
#include "kernels/hop.hpp"
#include "kernels/hop_arithmetic.hpp"

namespace vranks::cpu {

struct ProgramTask {
  const FoldProgram* program = nullptr;
  FoldPiece piece;  // cut to the columns of this task
  FoldRows rows;
  std::byte* scratch = nullptr;  // program_scratch_bytes()
  bool stream_stores = false;    // write around the cache
};

// One tile for each value of the stack, and one for the elements that are written.
inline std::int64_t program_scratch_bytes(const FoldProgram& program) {
  return (program.stack + 1) * tile_bytes;
}

// Ops that have a vector form: sums and means of floats whose partial results are carried in the
// same type as the elements, min and max of floats; of 16 bits or more.
template <class Op>
inline constexpr bool in_vectors = false;
template <class T, class S>
inline constexpr bool in_vectors<arithmetic::FloatHop<T, S, false>> =
    sizeof(T) > 1 && std::is_same_v<arithmetic::Wide<T>, arithmetic::Wide<S>>;
template <class T>
inline constexpr bool in_vectors<arithmetic::MinMaxHop<T>> = sizeof(T) > 1;

// A piece that copies or fills.
void run_copy_task(const ProgramTask& task);
void run_vector_task(const ProgramTask& task);
// All other ops: compiled once, for the build's baseline.
void run_scalar_task(const ProgramTask& task);

void run(const ProgramTask& task);

// Elements [first, first + elements) of a hop.
void run_hop(const Hop& hop, const Arithmetic& rules, std::int64_t first, std::int64_t elements);

}  // namespace vranks::cpu
