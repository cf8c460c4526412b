// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How right a result is: copies against the input, reductions against the exact result, group after
// group. Nothing here looks at schedules.
#include <cmath>
#include <cstring>

#include "cli/outcome.hpp"
#include "collectives/float_grid.hpp"
#include "collectives/layout.hpp"
#include "collectives/peers/agreement.hpp"
#include "collectives/processes/communicator.hpp"

namespace vranks::cli {

namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Where blocks lie in a row that holds several: as said, or one behind the other.
class Blocks {
 public:
  // lengths(k): of block k of R; starts: empty or R numbers from `first` on.
  Blocks(std::int64_t ranks, const Counts& starts, std::int64_t first, const auto& lengths) {
    std::int64_t end = 0;
    for (std::int64_t k = 0; k < ranks; ++k) {
      starts_.push_back(starts.empty() ? end : starts[index(first + k)]);
      end += lengths(k);
    }
  }
  std::int64_t start(std::int64_t k) const { return starts_[index(k)]; }

 private:
  Counts starts_;
};

// One group of a collective that copies, seen from what it means.
class Copies {
 public:
  Copies(Outcome& outcome, std::size_t group)
      : outcome_(outcome),
        problem_(group_problem(outcome.key, group)),
        members_(members(outcome.key, group)),
        group_(static_cast<std::int64_t>(group)),
        in_row_(outcome.in.bytes() / outcome.problem().ranks) {}

  void judge() {
    const Collective collective = problem_.collective;
    const std::int64_t ranks = problem_.ranks;
    if (collective == Collective::permute) {
      for (std::int64_t d = 0; d < ranks; ++d) {
        const std::int64_t s = problem_.sources[index(d)];
        check(d, [&] { piece(s, 0, 0, problem_.elements); });
      }
    } else if (collective == Collective::broadcast) {
      for (std::int64_t d = 0; d < ranks; ++d)
        check(d, [&] { piece(problem_.root, 0, 0, problem_.elements); });
    } else if (even_form(collective) == Collective::scatter) {
      const Blocks in(ranks, problem_.send_displacements, 0, [&](auto k) { return block(k); });
      for (std::int64_t d = 0; d < ranks; ++d)
        check(d, [&] { piece(problem_.root, in.start(d), 0, block(d)); });
    } else if (even_form(collective) == Collective::all_to_all) {
      for (std::int64_t d = 0; d < ranks; ++d) check(d, [&] { exchange(d); });
    } else if (collective != Collective::barrier) {  // all_gather, gather
      const Blocks out(ranks, problem_.receive_displacements, 0, [&](auto k) { return block(k); });
      for (std::int64_t d = 0; d < (ends_at_root(collective) ? 1 : ranks); ++d)
        check(d, [&] {
          for (std::int64_t s = 0; s < ranks; ++s) piece(s, 0, out.start(s), block(s));
        });
    }
  }

 private:
  bool cuts() const {
    return problem_.collective == Collective::scatter ||
           problem_.collective == Collective::all_to_all;
  }
  // Elements of rank k's block.
  std::int64_t block(std::int64_t k) const {
    if (takes_counts(problem_.collective)) return problem_.counts[index(k)];
    return cuts() ? problem_.elements / problem_.ranks : problem_.elements;
  }
  std::int64_t block(std::int64_t source, std::int64_t destination) const {
    return takes_counts(problem_.collective)
               ? problem_.counts[index(source * problem_.ranks + destination)]
               : block(destination);
  }

  // What rank d of an all-to-all gets.
  void exchange(std::int64_t d) {
    const std::int64_t ranks = problem_.ranks;
    const Blocks out(ranks, problem_.receive_displacements, d * ranks,
                     [&](auto s) { return block(s, d); });
    for (std::int64_t s = 0; s < ranks; ++s) {
      const Blocks in(ranks, problem_.send_displacements, s * ranks,
                      [&](auto k) { return block(s, k); });
      piece(s, in.start(d), out.start(s), block(s, d));
    }
  }

  // Calls compare() for everything that lands in row d, and counts the row if all is right.
  void check(std::int64_t d, const auto& compare) {
    const std::int64_t before = outcome_.deviation.different;
    row_ = ends_at_root(problem_.collective) ? group_ : members_[index(d)];
    compare();
    outcome_.equal_rows += outcome_.deviation.different == before;
  }

  // `count` elements of rank s's input, zeros if s < 0, should be in this row.
  void piece(std::int64_t s, std::int64_t in_first, std::int64_t out_first, std::int64_t count) {
    const auto width = static_cast<std::int64_t>(size_bytes(problem_.dtype));
    const std::int64_t step = outcome_.element_bytes();
    const std::int64_t bytes = count * width;
    outcome_.deviation.compared += bytes / step;
    if (bytes == 0) return;
    const std::byte* const got =
        outcome_.out.data() + row_ * outcome_.row_bytes() + out_first * width;
    const std::vector<std::byte> zeros(s < 0 ? index(bytes) : 0);
    const std::byte* const right =
        s < 0 ? zeros.data() : outcome_.in.data() + members_[index(s)] * in_row_ + in_first * width;
    if (std::memcmp(got, right, index(bytes)) == 0) return;
    for (std::int64_t at = 0; at < bytes; at += step)
      outcome_.deviation.different += std::memcmp(got + at, right + at, index(step)) != 0;
  }

  Outcome& outcome_;
  Problem problem_;  // of the group
  Group members_;
  std::int64_t group_, in_row_;
  std::int64_t row_ = 0;
};

// One group of a collective that combines.
class Reductions {
 public:
  Reductions(Outcome& outcome, std::size_t group)
      : outcome_(outcome),
        problem_(group_problem(outcome.key, group)),
        choice_(choose(outcome.key, group)),
        members_(members(outcome.key, group)),
        group_(static_cast<std::int64_t>(group)) {
    const Rows all = rows_of(outcome.in.view(), "input");
    rows_ = all;
    rows_.ranks = problem_.ranks;
    if (outcome.key.groups.empty()) return;
    gathered_.resize(index(problem_.ranks * all.row_bytes()));
    for (std::size_t k = 0; k < members_.size(); ++k)
      if (all.row_bytes() != 0)
        std::memcpy(gathered_.data() + static_cast<std::int64_t>(k) * all.row_bytes(),
                    all.data + members_[k] * all.stride_bytes, index(all.row_bytes()));
    rows_.data = gathered_.data();
    rows_.stride_bytes = all.row_bytes();
  }

  void judge() {
    outcome_.equal_rows += 1;
    if (is_prefix(problem_.collective)) return judge_prefixes();
    const ErrorBound bound = bound_of(problem_);
    if (bound.steps >= outcome_.bound.steps) outcome_.bound = bound;
    if (even_form(problem_.collective) == Collective::reduce_scatter) {
      judge_one(joined(outcome_.out).data(), joined(outcome_.ranks).data(), bound);
      outcome_.equal_rows += problem_.ranks - 1;
      return;
    }
    const std::int64_t first = problem_.collective == Collective::reduce ? group_ : members_[0];
    judge_one(row(outcome_.out, first), row(outcome_.ranks, first), bound);
    if (problem_.collective == Collective::reduce) return;
    for (std::int64_t k = 1; k < problem_.ranks; ++k)
      outcome_.equal_rows += is_like(first, members_[index(k)]);
  }

 private:
  ErrorBound bound_of(const Problem& problem) const {
    // Over processes the MPI library may choose any order.
    const bool is_any_order = outcome_.provenance.executor == name(Engine::mpi) ||
                              outcome_.provenance.executor == name(Engine::nccl);
    return !is_any_order && is_tree_fold(*choice_.selection.algorithm, choice_.rules)
               ? direct_bound(problem, choice_.rules.fp8)
               : fold_bound(problem, choice_.rules);
  }

  const std::byte* row(const Tensor& tensor, std::int64_t r) const {
    return tensor.bytes() == 0 ? nullptr : tensor.data() + r * (tensor.bytes() / outcome_.rows());
  }
  bool is_like(std::int64_t first, std::int64_t other) const {
    for (const Tensor* tensor : {&outcome_.out, &outcome_.ranks})
      if (tensor->bytes() != 0 && std::memcmp(row(*tensor, first), row(*tensor, other),
                                              index(tensor->bytes() / outcome_.rows())) != 0)
        return false;
    return true;
  }

  // The blocks of the group's ranks one behind the other: the whole reduction.
  std::vector<std::byte> joined(const Tensor& tensor) const {
    std::vector<std::byte> all;
    if (tensor.bytes() == 0) return all;
    const auto width = static_cast<std::int64_t>(size_bytes(tensor.dtype()));
    for (std::int64_t k = 0; k < problem_.ranks; ++k) {
      const std::byte* const begin = row(tensor, members_[index(k)]);
      all.insert(all.end(), begin, begin + row_elements(problem_, Slot::output, k) * width);
    }
    return all;
  }

  // Row k against the reduction over ranks 0 to k, or k - 1.
  void judge_prefixes() {
    outcome_.equal_rows += problem_.ranks - 1;
    outcome_.bound = bound_of(problem_);
    const bool is_exclusive = problem_.collective == Collective::exscan;
    if (is_exclusive)
      judge_identity(row(outcome_.out, members_[0]), row(outcome_.ranks, members_[0]));
    std::vector<const std::byte*> results, ranks;
    for (std::int64_t k = is_exclusive; k < problem_.ranks; ++k) {
      results.push_back(row(outcome_.out, members_[index(k)]));
      ranks.push_back(row(outcome_.ranks, members_[index(k)]));
    }
    rows_.ranks = static_cast<std::int64_t>(results.size());
    const auto bound_over = [&](std::int64_t count) {
      Problem prefix = problem_;
      prefix.ranks = count;
      return bound_of(prefix);
    };
    outcome_.deviation =
        merged(outcome_.deviation, scan_deviation_from_exact(problem_, rows_, results, bound_over));
    if (outcome_.ranks.bytes() != 0) judge_running_ranks(results, ranks);
  }

  // What a row names is the rank of the row above, or the row's own where that one holds another
  // number: no rank below has that either, or else the row above is wrong, which has been noted.
  void judge_running_ranks(const std::vector<const std::byte*>& results,
                           const std::vector<const std::byte*>& ranks) {
    std::int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (std::int64_t i = 0; i < problem_.elements; ++i) {
      std::int32_t holder = -1;
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (holder < 0 || !holds(holder, results[k], i, outcome_.bound)) {
          const auto own = static_cast<std::int32_t>(k);
          holder = holds(own, results[k], i, outcome_.bound) ? own : -1;
        }
        wrong += reinterpret_cast<const std::int32_t*>(ranks[k])[i] != holder;
      }
    }
    outcome_.wrong_ranks += wrong;
  }

  void judge_identity(const std::byte* result, const std::byte* ranks) {
    const auto element = identity(choice_.rules, problem_);
    const Parts parts = parts_of(problem_);
    const std::size_t width = size_bytes(parts.dtype);
    Deviation found{.compared = problem_.elements * parts.count};
    for (std::int64_t i = 0; i < problem_.elements * parts.count; ++i)
      found.different += std::memcmp(result + index(i) * width, element.data(), width) != 0;
    found.over_bound = found.different;
    outcome_.deviation = merged(outcome_.deviation, found);
    for (std::int64_t i = 0; ranks != nullptr && i < problem_.elements; ++i)
      outcome_.wrong_ranks += reinterpret_cast<const std::int32_t*>(ranks)[i] != -1;
  }

  void judge_one(const std::byte* result, const std::byte* ranks, const ErrorBound& bound) {
    outcome_.deviation =
        merged(outcome_.deviation, deviation_from_exact(problem_, rows_, result, bound));
    if (ranks == nullptr) return;
    const auto* const named = reinterpret_cast<const std::int32_t*>(ranks);
    std::int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (std::int64_t i = 0; i < problem_.elements; ++i)
      wrong += named[i] != lowest_holder(result, i, bound);
    outcome_.wrong_ranks += wrong;
  }

  // The lowest rank that holds element i of the result.
  std::int32_t lowest_holder(const std::byte* result, std::int64_t i,
                             const ErrorBound& bound) const {
    for (std::int32_t k = 0; k < problem_.ranks; ++k)
      if (holds(k, result, i, bound)) return k;
    return -1;
  }

  // Whether element i of the result is rank k's.
  bool holds(std::int32_t k, const std::byte* result, std::int64_t i,
             const ErrorBound& bound) const {
    const DType dtype = problem_.dtype;
    const auto width = static_cast<std::int64_t>(size_bytes(dtype));
    const std::byte* const mine = rows_.data + k * rows_.stride_bytes;
    if (is_floating(dtype)) {
      double x = element_as_double(mine, i, dtype);
      const double y = element_as_double(result, i, dtype);
      if (std::isinf(x) && bound.saturates_inputs(problem_))
        x = std::copysign(grid_of(dtype).largest, x);
      return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
    }
    if (dtype == DType::boolean) return (mine[i] != std::byte{0}) == (result[i] != std::byte{0});
    return std::memcmp(mine + i * width, result + i * width, index(width)) == 0;
  }

  Outcome& outcome_;
  Problem problem_;  // of the group
  Choice choice_;
  Group members_;
  std::int64_t group_;
  std::vector<std::byte> gathered_;  // the inputs of the group, unless it is all ranks
  Rows rows_;
};

}  // namespace

void judge(Outcome& outcome) {
  outcome.equal_rows = 0;
  outcome.deviation = {};
  outcome.bound = {.rounded_in = part_dtype(outcome.problem().dtype)};
  for (std::size_t g = 0; g < group_count(outcome.key); ++g)
    outcome.combines() ? Reductions(outcome, g).judge() : Copies(outcome, g).judge();
  if (outcome.combines()) return;
  if (outcome.collective() == Collective::barrier) outcome.equal_rows = outcome.rows();
  outcome.deviation.over_bound = outcome.deviation.different;
}

}  // namespace vranks::cli
