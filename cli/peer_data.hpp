// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of `vranks check`: every process holds a block of the ranks, process 0 all of them too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/job.hpp"
#include "ranks/npy.hpp"
#include "ranks/reduce_op.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

// What a process holds of the input.
struct PeerData {
  Shape shape;            // of all ranks: (R, d0, ...)
  Tensor block;           // its share of the ranks
  Tensor whole;           // all ranks; on process 0 only
  bool is_exact = false;  // whole numbers, for which every order is exact
};

// Every process calls these with the same arguments, and finds the same or throws the same.
PeerData random_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed);
PeerData whole_number_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                           ReduceOp op);
// Data that tells orders apart (fill_order_data), or with special values among it. Each process
// makes all of it and keeps its block.
PeerData order_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                    ReduceOp op, bool is_special);
// Processes read the file for themselves; throws if they find different headers.
PeerData load_data(const Job& job, const std::string& path, std::optional<DType> dtype);

}  // namespace vranks::cli
