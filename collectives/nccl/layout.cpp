// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the chunks of NCCL's rings and trees lie. With K channels:
//   ring all-reduce                K * R chunks: chunk c of channel k, in all its windows, is k*R +
//   c ring reduce-scatter, all-gather   R * K chunks: channel k's part of block d is d*K + k ring
//   reduce, tree all-reduce   K chunks: the parts
#include "collectives/layout.hpp"

#include <fmt/format.h>

#include "collectives/nccl/constants.hpp"
#include "collectives/nccl/partition.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

void check_chunks(const ScheduleShape& shape, std::int64_t chunks, const Parameters& parameters) {
  if (shape.chunks != chunks)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("NCCL's layout of {} over {} ranks and {} channels has {} chunks, not {}",
                    name(shape.collective), shape.ranks, parameters.channels, chunks,
                    shape.chunks));
}

std::vector<std::int64_t> parts_of(const Problem& problem, std::int64_t elements,
                                   const Parameters& parameters, bool tree) {
  return nccl::part_lengths(nccl::constants_of(parameters.nccl_version),
                            {.collective = problem.collective,
                             .ranks = problem.ranks,
                             .elements = elements,
                             .element_bytes = static_cast<std::int64_t>(size_bytes(problem.dtype)),
                             .protocol = parameters.protocol,
                             .tree = tree,
                             .channels = parameters.channels});
}

// One chunk a part, one part after the other.
void add_parts(std::vector<std::vector<Interval>>& chunks, std::int64_t begin,
               const std::vector<std::int64_t>& parts) {
  for (const std::int64_t part : parts) {
    chunks.push_back({{begin, begin + part, begin}});
    begin += part;
  }
}

}  // namespace

Layout nccl_ring_layout(const Problem& problem, const ScheduleShape& shape,
                        const Parameters& parameters) {
  std::vector<std::vector<Interval>> chunks;
  if (problem.collective == Collective::reduce) {
    check_chunks(shape, parameters.channels, parameters);
    add_parts(chunks, 0, parts_of(problem, problem.elements, parameters, false));
    return {problem.elements, chunks};
  }
  check_chunks(shape, problem.ranks * parameters.channels, parameters);
  if (shape.has_parts()) {
    const std::int64_t block = block_elements(problem);
    const auto parts = parts_of(problem, block, parameters, false);
    for (std::int64_t d = 0; d < problem.ranks; ++d) add_parts(chunks, d * block, parts);
    return {whole_elements(problem), chunks};
  }
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  chunks.resize(ranks * static_cast<std::size_t>(parameters.channels));
  std::int64_t begin = 0;
  std::span<std::vector<Interval>> rest(chunks);
  for (const std::int64_t part : parts_of(problem, problem.elements, parameters, false)) {
    nccl::add_windows(nccl::constants_of(parameters.nccl_version), parameters.protocol,
                      static_cast<std::int64_t>(size_bytes(problem.dtype)), begin, part,
                      rest.first(ranks));
    begin += part;
    rest = rest.subspan(ranks);
  }
  return {problem.elements, chunks};
}

Layout nccl_tree_layout(const Problem& problem, const ScheduleShape& shape,
                        const Parameters& parameters) {
  check_chunks(shape, parameters.channels, parameters);
  std::vector<std::vector<Interval>> chunks;
  add_parts(chunks, 0, parts_of(problem, problem.elements, parameters, true));
  return {problem.elements, chunks};
}

}  // namespace vranks
