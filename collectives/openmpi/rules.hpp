// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Which algorithm Open MPI 4.1 takes if nobody forces one: by the size of the communicator and the
// bytes, for ops that commute. Tables, as in coll_tuned_decision_fixed.c.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/algorithm.hpp"

namespace vranks::openmpi {

// The first row of a table with ranks < ranks_below and bytes < bytes_below counts.
struct Rule {
  std::int32_t ranks_below;
  std::int64_t bytes_below;
  std::int32_t id;  // as in --mca coll_tuned_<call>_algorithm
};

struct Rules {
  Collective collective;
  std::string_view call;                    // MPI_Allreduce, ...
  std::string_view parameter;               // coll_tuned_<parameter>_algorithm
  bool counts_blocks;                       // bytes of one rank's block, not of the whole vector
  std::span<const std::string_view> names;  // of the algorithms with id 1, 2, ...
  std::span<const Rule> rows;
};

const Rules& all_reduce_rules();
const Rules& reduce_rules();
const Rules& reduce_scatter_rules();
const Rules& reduce_scatter_block_rules();

// The id that those rules give.
std::int32_t choose(const Rules& rules, std::int64_t ranks, std::int64_t bytes);

// What really runs with that id forced (or chosen by rules, which make a chain a pipeline), as the
// first step of a selection.
Selection with_id(const Rules& rules, std::int32_t id, bool is_forced);

// What runs by the rules. The reason names call, ranks and bytes.
Selection by_rules(const Rules& rules, const Problem& problem);

// The algorithm called `name` with those parameters, because of `reason`.
Selection instead(std::string_view name, const Problem& problem, std::string reason,
                  const Parameters& parameters = {});

}  // namespace vranks::openmpi
