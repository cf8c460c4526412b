// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome.hpp"

#include <cstring>
#include <numeric>

#include "collectives/layout.hpp"

namespace vranks::cli {

Group members(const PlanKey& key, std::size_t group) {
  if (!key.groups.empty()) return key.groups[group];
  Group all(static_cast<std::size_t>(key.problem.ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<std::int64_t> row_lengths(const Outcome& outcome, Slot slot) {
  const bool at_root = slot == Slot::output && ends_at_root(outcome.collective());
  std::vector<std::int64_t> lengths(
      static_cast<std::size_t>(at_root ? outcome.rows() : outcome.problem().ranks));
  for (std::size_t g = 0; g < group_count(outcome.key); ++g) {
    const Group group = members(outcome.key, g);
    const Problem problem = group_problem(outcome.key, g);
    for (std::size_t k = 0; k < group.size(); ++k)
      lengths[at_root ? g : static_cast<std::size_t>(group[k])] =
          row_elements(problem, slot, at_root ? 0 : static_cast<std::int64_t>(k));
  }
  return lengths;
}

Tensor packed(const Outcome& outcome, const Tensor& tensor) {
  const std::vector<std::int64_t> lengths = row_lengths(outcome, Slot::output);
  Shape shape(tensor.shape().begin() + 1, tensor.shape().end());
  const std::int64_t rest = element_count({shape.begin() + 1, shape.end()});
  const std::int64_t all = std::reduce(lengths.begin(), lengths.end());
  shape[0] = all / std::max<std::int64_t>(rest, 1);
  Tensor result(tensor.dtype(), shape);
  const auto width = static_cast<std::int64_t>(size_bytes(tensor.dtype()));
  const std::int64_t row = tensor.bytes() / tensor.shape()[0];
  std::byte* to = result.data();
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const std::int64_t bytes = lengths[r] * width;
    if (bytes == 0) continue;
    std::memcpy(to, tensor.data() + static_cast<std::int64_t>(r) * row,
                static_cast<std::size_t>(bytes));
    to += bytes;
  }
  return result;
}

Traffic traffic_of(const Outcome& outcome) {
  const auto width = static_cast<std::int64_t>(size_bytes(outcome.problem().dtype));
  const Collective form = even_form(outcome.collective());
  Traffic traffic{outcome.in.bytes(), outcome.out.bytes()};
  for (std::size_t g = 0; takes_counts(outcome.collective()) && g < group_count(outcome.key); ++g) {
    if (g == 0) traffic = {};
    const Problem problem = group_problem(outcome.key, g);
    const std::int64_t all = std::reduce(problem.counts.begin(), problem.counts.end()) * width;
    traffic.read += form == Collective::reduce_scatter ? problem.ranks * all : all;
    traffic.written += form == Collective::all_gather ? problem.ranks * all : all;
  }
  if (takes_counts(outcome.collective())) return traffic;
  const std::int64_t row = outcome.in.bytes() / outcome.problem().ranks;
  if (form == Collective::broadcast || form == Collective::scatter)
    traffic.read = static_cast<std::int64_t>(group_count(outcome.key)) * row;
  if (form == Collective::permute) {
    traffic.read = 0;
    for (const std::int32_t source : outcome.problem().sources)
      traffic.read += source >= 0 ? static_cast<std::int64_t>(group_count(outcome.key)) * row : 0;
  }
  return traffic;
}

}  // namespace vranks::cli
