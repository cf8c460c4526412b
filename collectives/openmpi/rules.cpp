// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as in ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of Open MPI 4.1.4.
#include "collectives/openmpi/rules.hpp"

#include <fmt/format.h>

#include <limits>

#include "ranks/error.hpp"

namespace vranks::openmpi {

namespace {

constexpr std::int32_t any_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t k = 1024, m = 1024 * 1024;

constexpr std::string_view all_reduce_names[] = {
    "ompi_linear", "ompi_nonoverlapping", "ompi_recursive_doubling",
    "ompi_ring",   "ompi_segmented_ring", "ompi_rabenseifner"};
constexpr std::string_view reduce_names[] = {
    "ompi_linear",   "ompi_chain",           "ompi_pipeline",    "ompi_binary",
    "ompi_binomial", "ompi_in_order_binary", "ompi_rabenseifner"};
constexpr std::string_view reduce_scatter_names[] = {
    "ompi_nonoverlapping", "ompi_recursive_halving", "ompi_ring", "ompi_butterfly"};
constexpr std::string_view reduce_scatter_block_names[] = {
    "ompi_linear", "ompi_recursive_doubling", "ompi_recursive_halving", "ompi_butterfly"};
// clang-format off
constexpr Rule all_reduce_rows[] = {
    {4, 8, 4}, {4, 4*k, 3}, {4, 8*k, 4}, {4, 16*k, 3}, {4, 64*k, 4}, {4, 256*k, 5}, {4, any, 6},
    {8, 16, 4}, {8, 8*k, 3}, {8, any, 6},
    {16, 8*k, 3}, {16, any, 6},
    {32, 64, 5}, {32, 4*k, 3}, {32, any, 6},
    {64, 128, 5}, {64, any, 6},
    {128, 256*k, 3}, {128, any, 6},
    {256, 128*k, 2}, {256, 256*k, 3}, {256, any, 6},
    {512, 4*k, 2}, {512, any, 6},
    {2048, 2*k, 2}, {2048, 16*k, 3}, {2048, any, 6},
    {4096, 2*k, 2}, {4096, 4*k, 5}, {4096, 16*k, 3}, {4096, any, 6},
    {any_ranks, 2*k, 2}, {any_ranks, 16*k, 5}, {any_ranks, 32*k, 3}, {any_ranks, any, 6},
};
constexpr Rule reduce_rows[] = {
    {4, 8, 7}, {4, 16, 4}, {4, 32, 3}, {4, 256*k, 1}, {4, 512*k, 3}, {4, m, 2}, {4, any, 3},
    {8, 4*k, 4}, {8, 64*k, 2}, {8, 256*k, 5}, {8, 512*k, 1}, {8, m, 5}, {8, any, 1},
    {16, 8*k, 4}, {16, any, 5},
    {32, 4*k, 4}, {32, any, 5},
    {256, any, 5},
    {512, 8*k, 5}, {512, 16*k, 6}, {512, any, 5},
    {2048, any, 5},
    {4096, 512, 5}, {4096, k, 6}, {4096, 8*k, 5}, {4096, 16*k, 6}, {4096, any, 5},
    {any_ranks, 16, 5}, {any_ranks, 32, 6}, {any_ranks, k, 5}, {any_ranks, 2*k, 6},
    {any_ranks, 8*k, 5}, {any_ranks, 16*k, 6}, {any_ranks, any, 5},
};
constexpr Rule reduce_scatter_rows[] = {
    {4, 64*k, 3}, {4, 128*k, 4}, {4, any, 3},
    {8, 8, 1}, {8, 256*k, 2}, {8, any, 3},
    {32, 256*k, 2}, {32, any, 3},
    {64, 64, 1}, {64, 2*k, 2}, {64, 512*k, 4}, {64, any, 3},
    {128, 256, 1}, {128, 512, 2}, {128, 2*k, 4}, {128, 4*k, 2}, {128, any, 4},
    {256, 256, 1}, {256, 512, 2}, {256, any, 4},
    {512, 256, 1}, {512, k, 2}, {512, any, 4},
    {1024, 512, 1}, {1024, 2*k, 2}, {1024, 8*k, 4}, {1024, 16*k, 2}, {1024, any, 4},
    {2048, 512, 1}, {2048, 4*k, 2}, {2048, 16*k, 4}, {2048, 32*k, 2}, {2048, any, 4},
    {4096, 512, 1}, {4096, 4*k, 2}, {4096, any, 4},
    {any_ranks, k, 1}, {any_ranks, 8*k, 2}, {any_ranks, any, 4},
};
constexpr Rule reduce_scatter_block_rows[] = {
    {4, 4, 2}, {4, 8, 4}, {4, 16, 3}, {4, 128, 4}, {4, 256, 3}, {4, 4*k, 4}, {4, 8*k, 3},
    {4, 128*k, 4}, {4, any, 1},
    {8, 8, 3}, {8, 32, 2}, {8, 256, 4}, {8, 8*k, 3}, {8, 16*k, 4}, {8, m, 3}, {8, any, 1},
    {16, 4, 1}, {16, 32, 3}, {16, 128, 4}, {16, 512*k, 3}, {16, 4*m, 1}, {16, any, 4},
    {32, 32, 1}, {32, 512*k, 3}, {32, 2*m, 1}, {32, 4*m, 3}, {32, any, 4},
    {any_ranks, 4, 3}, {any_ranks, 16, 1}, {any_ranks, 64*k, 4}, {any_ranks, 256*k, 1},
    {any_ranks, any, 4},
};
// clang-format on

constexpr Rules tables[] = {
    {Collective::all_reduce, "MPI_Allreduce", "allreduce", false, all_reduce_names,
     all_reduce_rows},
    {Collective::reduce, "MPI_Reduce", "reduce", false, reduce_names, reduce_rows},
    {Collective::reduce_scatter, "MPI_Reduce_scatter", "reduce_scatter", false,
     reduce_scatter_names, reduce_scatter_rows},
    {Collective::reduce_scatter, "MPI_Reduce_scatter_block", "reduce_scatter_block", true,
     reduce_scatter_block_names, reduce_scatter_block_rows},
};

}  // namespace

const Rules& all_reduce_rules() { return tables[0]; }
const Rules& reduce_rules() { return tables[1]; }
const Rules& reduce_scatter_rules() { return tables[2]; }
const Rules& reduce_scatter_block_rules() { return tables[3]; }

std::int32_t choose(const Rules& rules, std::int64_t ranks, std::int64_t bytes) {
  for (const Rule& row : rules.rows)
    if (ranks < row.ranks_below && bytes < row.bytes_below) return row.id;
  return rules.rows.back().id;
}

Selection with_id(const Rules& rules, std::int32_t id, bool is_forced) {
  if (id < 1 || static_cast<std::size_t>(id) > rules.names.size())
    throw Error(ErrorKind::bad_argument, fmt::format("{} has algorithms 1 to {}, not {}",
                                                     rules.call, rules.names.size(), id));
  std::string_view name = rules.names[static_cast<std::size_t>(id) - 1];
  // The rules pass fan-out 0 on, which becomes 1.
  if (name == "ompi_chain" && !is_forced) name = "ompi_pipeline";
  return {&find_algorithm(name, rules.collective), {}, {}};
}

Selection by_rules(const Rules& rules, const Problem& problem) {
  const std::int64_t elements = rules.counts_blocks ? block_elements(problem) : problem.elements;
  const std::int64_t bytes = elements * static_cast<std::int64_t>(size_bytes(problem.dtype));
  const std::int32_t id = choose(rules, problem.ranks, bytes);
  Selection selection = with_id(rules, id, false);
  selection.reason =
      fmt::format("Open MPI 4.1 takes algorithm {} of {} for {} bytes{} over {} ranks", id,
                  rules.call, bytes, rules.counts_blocks ? " a block" : "", problem.ranks);
  return selection;
}

Selection instead(std::string_view name, const Problem& problem, std::string reason,
                  const Parameters& parameters) {
  return {&find_algorithm(name, problem.collective), parameters, std::move(reason)};
}

}  // namespace vranks::openmpi
