// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Which comparisons `vranks check --against mpi` is asked for: collectives, their shapes and calls,
// and the dtypes, ops and data of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/algorithm_options.hpp"
#include "cli/call_options.hpp"
#include "cli/options.hpp"
#include "cli/peer_check.hpp"

namespace vranks::cli {

// What a comparison runs on.
enum class Data : std::uint8_t { whole, random, special, file };
std::string_view name(Data data);

struct CheckOptions {
  ProblemOptions problem;                // all but its collective
  std::optional<Collective> collective;  // none: every one that MPI has
  CallDetails details;                   // root and counts
  GivenParameters parameters;
  Policies policies;
  std::vector<Data> data;  // empty: what tells most
};

// Whether the real library has to use that algorithm: it is Open MPI's.
bool is_forced(std::string_view algorithm);

// Whether there is such an algorithm, but not for that collective.
bool is_of_others(std::string_view algorithm, Collective collective);

// Throws bad_argument for options that contradict each other.
void check_options(const CheckOptions& options);

// One collective, for whatever dtype and op.
struct CollectiveCase {
  Collective collective;
  Shape shape;
  CollectiveOptions call;  // but for algorithm and op
  std::optional<ForcedAlgorithm> forced = {};
};

// The case of that collective over `processes` processes; `file` is the shape of the input, if that
// is a file. Throws bad_argument or not_supported, naming the numbers, if there is none.
CollectiveCase case_of(const CheckOptions& options, Collective collective, int processes,
                       const std::optional<Shape>& file);

// An op on a dtype, and the kinds of data on which both are compared.
struct Variant {
  DType dtype;
  ReduceOp op;
  std::vector<Data> data;
};

// Those of that case; `file_dtype` is that of the input, if that is a file. Throws not_supported
// if MPI has none of what was asked for.
std::vector<Variant> variants_of(const CheckOptions& options, const CollectiveCase& of,
                                 std::optional<DType> file_dtype);

}  // namespace vranks::cli
