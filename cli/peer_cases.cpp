// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/peer_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/rank_share.hpp"
#include "collectives/peers/mpi_collective.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t usual_elements = 1000;

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

// Counts that differ, with zeros among them, for rows as long as `length`.
CountTable usual_counts(Collective collective, std::int64_t ranks, std::int64_t length) {
  CountTable table;
  const auto uneven = [](std::int64_t most, std::int64_t i) { return most * ((i + 1) % 3) / 2; };
  switch (collective) {
    case Collective::all_to_all_v:
      for (std::int64_t s = 0; s < ranks; ++s)
        for (std::int64_t d = 0; d < ranks; ++d)
          table.numbers.push_back(uneven(length / ranks, s + 2 * d));
      table.row_lengths.assign(static_cast<std::size_t>(ranks), static_cast<std::size_t>(ranks));
      break;
    case Collective::reduce_scatter_v:
    case Collective::scatter_v: {  // blocks that fill the row
      std::int64_t rest = length;
      for (std::int64_t r = 0; r < ranks; ++r) {
        table.numbers.push_back(r + 1 == ranks ? rest
                                               : std::min(rest, uneven(2 * length / ranks, r)));
        rest -= table.numbers.back();
      }
      break;
    }
    default:
      for (std::int64_t r = 0; r < ranks; ++r) table.numbers.push_back(uneven(length, r));
  }
  return table;
}

// The shortest rows that hold those counts.
std::int64_t row_of(Collective collective, const Counts& counts, std::int64_t ranks) {
  switch (collective) {
    case Collective::reduce_scatter_v:
    case Collective::scatter_v:
      return std::reduce(counts.begin(), counts.end());
    case Collective::all_to_all_v: {
      std::int64_t longest = 0;
      for (auto row = counts.begin(); counts.end() - row >= ranks; row += ranks)
        longest = std::max(longest, std::reduce(row, row + ranks));
      return longest;
    }
    default:
      return counts.empty() ? 0 : *std::ranges::max_element(counts);
  }
}

Shape usual_shape(Collective collective, std::int64_t ranks, const Counts& counts) {
  switch (collective) {
    case Collective::barrier:
      return {ranks, 0};
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::all_to_all:  // blocks have to be equal
      return {ranks, (usual_elements + ranks - 1) / ranks * ranks};
    default:
      return {ranks, takes_counts(collective) ? row_of(collective, counts, ranks) : usual_elements};
  }
}

// R where nobody said it. A number of ranks that only one process divides shows what blocks of
// different lengths do.
std::int64_t usual_ranks(const CheckOptions& options, Collective collective, int processes) {
  if (options.details.counts) {
    const CountTable& counts = *options.details.counts;
    return static_cast<std::int64_t>(counts.is_matrix() ? counts.row_lengths.size()
                                                        : counts.numbers.size());
  }
  const bool is_one_each = needs_a_rank_each(collective) || is_forced(options.problem.algorithm);
  return is_one_each ? processes : 2 * processes + 1;
}

// The bound of a reduction is about the order `direct`; that of a library is compared bit by bit.
void refuse_what_has_no_bound(std::string_view algorithm, Collective collective) {
  if (!reduces(collective) || is_forced(algorithm) || algorithm == "direct") return;
  throw Error(
      ErrorKind::not_supported,
      fmt::format("check compares algorithm direct, within a bound that holds for any order of the "
                  "library, and Open MPI's own, ompi_*, bit by bit; no MPI library has {}",
                  algorithm));
}

void refuse_other_numbers_of_ranks(const CheckOptions& options, const CollectiveCase& of,
                                   int processes) {
  const std::int64_t ranks = of.shape[0];
  share_of(ranks, processes, 0);
  if (of.collective == Collective::exscan && ranks == 1)
    refuse("exscan of R = 1: MPI leaves rank 0's result undefined, and there is no other");
  if (ranks == processes) return;
  if (needs_a_rank_each(of.collective))
    refuse(
        fmt::format("{} is compared with {}, one rank a process: R = {} needs {}, and there are "
                    "{}",
                    name(of.collective), mpi_calls({.collective = of.collective}, 1), ranks,
                    processes_text(ranks), processes));
  if (is_forced(options.problem.algorithm))
    refuse(
        fmt::format("algorithm {} is compared with the real one, one rank a process: R = {} "
                    "needs {}, and there are {}",
                    options.problem.algorithm, ranks, processes_text(ranks), processes));
}

// Random 8- and 16-bit integers overflow in a sum, where Open MPI's vector code saturates.
bool is_saturating(DType dtype, ReduceOp op, Data data) {
  return data == Data::random && op == ReduceOp::sum && is_integer(dtype) && size_bytes(dtype) < 4;
}

std::vector<Data> data_of(const CheckOptions& options, const CollectiveCase& of, DType dtype,
                          ReduceOp op) {
  if (!options.problem.input.empty()) return {Data::file};
  if (of.collective == Collective::barrier) return {Data::random};
  if (!options.data.empty()) return options.data;
  if (!reduces(of.collective)) return {Data::random};
  if (of.forced && is_floating(dtype)) return {Data::random, Data::special};
  if (is_saturating(dtype, op, Data::random)) return {Data::whole};
  if (of.forced) return {Data::random};
  return {Data::whole, Data::random};
}

// Of special values only floats have some.
bool wants_special(const CheckOptions& options) {
  return std::ranges::find(options.data, Data::special) != options.data.end();
}

// Whether both can be compared.
bool has(const CollectiveCase& of, DType dtype, ReduceOp op) {
  if (!mpi_reduces(op, dtype)) return false;
  if (op == ReduceOp::mean && (is_prefix(of.collective) || of.forced)) return false;
  // With an operator of ours, their order would be compared with the arithmetic of another dtype.
  return !of.forced || !is_floating(dtype) || size_bytes(dtype) >= 4;
}

}  // namespace

std::string_view name(Data data) {
  switch (data) {
    case Data::whole:
      return "whole";
    case Data::random:
      return "random";
    case Data::special:
      return "special";
    case Data::file:
      return "file";
  }
  __builtin_unreachable();
}

bool is_of_others(std::string_view algorithm, Collective collective) {
  const auto found = std::ranges::find(algorithms(), algorithm, &Algorithm::name);
  return found != algorithms().end() && !supports(*found, collective);
}

bool is_forced(std::string_view algorithm) { return algorithm.starts_with("ompi_"); }

void check_options(const CheckOptions& options) {
  const ProblemOptions& problem = options.problem;
  if (problem.opaque_bytes > 0)
    throw Error(ErrorKind::not_supported,
                fmt::format("check compares elements of a dtype; those of {} are only copied",
                            element_name(DType::u8, problem.opaque_bytes)));
  if (options.collective && *options.collective == Collective::permute)
    throw Error(ErrorKind::not_supported, "MPI has no collective permute to compare with");
  if (!options.collective && options.details.counts)
    refuse("--counts is about one _v collective; name it by --collective");
  if (options.collective) check_op(*options.collective, problem.op);
  const auto& nan = options.policies.nan;
  if (nan && problem.op && !is_ordered(*problem.op))
    refuse(fmt::format("--nan is about min and max; op {} doesn't read it", name(*problem.op)));
  if (nan && problem.dtype && !has_nan(*problem.dtype))
    refuse(fmt::format("--nan is about floats; dtype {} has no NaN", name(*problem.dtype)));
  if (wants_special(options) && !is_forced(problem.algorithm))
    refuse(
        fmt::format("data special is for algorithms of Open MPI, whose order is known; with {} a "
                    "library may overflow on its way where we don't",
                    problem.algorithm));
  if (!problem.input.empty() && (!options.data.empty() || problem.shape))
    refuse(fmt::format("--input reads data and {} makes some; give one of them",
                       options.data.empty() ? "--shape" : "--data"));
}

CollectiveCase case_of(const CheckOptions& options, Collective collective, int processes,
                       const std::optional<Shape>& file) {
  const Algorithm& algorithm = find_algorithm(options.problem.algorithm, collective);
  refuse_what_has_no_bound(algorithm.name, collective);
  check_parameters(algorithm, options.parameters);
  CollectiveCase of{.collective = collective, .shape = {}, .call = {}};
  CallDetails details = options.details;
  if (!options.collective && !has_root(collective)) details.root.reset();
  std::int64_t ranks = usual_ranks(options, collective, processes);
  std::int64_t length = usual_elements;
  if (file || options.problem.shape) {
    const Shape& shape = file ? *file : *options.problem.shape;
    ranks = shape.at(0);
    length = shape.size() > 1 ? shape[1] : 1;
  }
  if (takes_counts(collective) && !details.counts && ranks > 0)
    details.counts = usual_counts(collective, ranks, length);
  check_details(details, collective, ReduceOp::sum);
  of.shape = file ? *file
                  : options.problem.shape.value_or(usual_shape(
                        collective, ranks, details.counts ? details.counts->numbers : Counts{}));
  refuse_other_numbers_of_ranks(options, of, processes);
  of.call.op = ReduceOp::sum;
  of.call.parameters = options.parameters.values;
  add_details(details, ranks, of.call);
  of.call.ragged = collective == Collective::all_to_all_v;
  if (collective != Collective::barrier && element_count(of.shape) == 0)
    refuse(
        fmt::format("check has nothing to compare: shape {} has no elements", to_string(of.shape)));
  if (of.call.root >= ranks)
    refuse(
        fmt::format("--root {} is no rank: there are {}, 0 to {}", of.call.root, ranks, ranks - 1));
  const Problem problem = problem_of(collective, of.shape, DType::f32, of.call);
  if (is_forced(algorithm.name))
    of.forced = forced_algorithm(problem, algorithm.name, options.parameters.values);
  return of;
}

std::vector<Variant> variants_of(const CheckOptions& options, const CollectiveCase& of,
                                 std::optional<DType> file_dtype) {
  const auto wanted_dtype = file_dtype ? file_dtype : options.problem.dtype;
  const auto wanted_op = options.problem.op;
  std::vector<Variant> all;
  for (const DTypeInfo& dtype : vranks::dtypes()) {
    if (dtype.dtype != wanted_dtype.value_or(dtype.dtype)) continue;
    if (wants_special(options) && !is_floating(dtype.dtype)) continue;
    if (!reduces(of.collective)) {
      all.push_back({dtype.dtype, ReduceOp::sum, data_of(options, of, dtype.dtype, ReduceOp::sum)});
      if (of.collective == Collective::barrier) break;
      continue;
    }
    for (const ReduceOpInfo& op : reduce_ops())
      if (op.op == wanted_op.value_or(op.op) && has(of, dtype.dtype, op.op))
        all.push_back({dtype.dtype, op.op, data_of(options, of, dtype.dtype, op.op)});
  }
  if (!all.empty()) return all;
  if (wanted_dtype && wanted_op) check_supported(*wanted_op, *wanted_dtype);
  throw Error(ErrorKind::not_supported,
              fmt::format("check has nothing to compare: MPI has no operator{} for {}{}{} of {}",
                          of.forced ? " of its own" : "",
                          wanted_op ? fmt::format("op {}", name(*wanted_op)) : "",
                          wanted_op && wanted_dtype ? " on " : "",
                          wanted_dtype ? fmt::format("dtype {}", name(*wanted_dtype)) : "",
                          name(of.collective)));
}

}  // namespace vranks::cli
