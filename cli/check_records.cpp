// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.hpp"

namespace vranks::cli {

namespace {

// The keys of a comparison for programs, and their values.
List record_of(const CheckRun& run, const Comparison& each) {
  const Problem& problem = each.what.problem;
  const PeerFinding& found = each.found;
  const Deviation& d = found.deviation;
  const bool has_data = problem.collective != Collective::barrier;
  const bool has_worst = d.worst >= 0;
  const auto if_worst = [&](const Value& value) { return has_worst ? value : Value(); };
  return {"mpi",
          run.library,
          run.processes,
          name(problem.collective),
          reduces(problem.collective) ? Value(name(problem.op)) : Value(),
          has_data ? Value(name(problem.dtype)) : Value(),
          value_of(each.shape),
          has_root(problem.collective) ? Value(problem.root) : Value(),
          takes_counts(problem.collective) ? value_of(each.what.options.counts) : Value(),
          has_data ? Value(name(each.data)) : Value(),
          each.data == Data::file || !has_data ? Value() : Value(run.seed),
          text_or_null(run.input),
          found.calls,
          each.what.forced ? Value(each.what.forced->id) : Value(),
          text_or_null(found.forced_name),
          found.provenance.algorithm,
          text_or_null(found.provenance.reason),
          found.provenance.device,
          text_or_null(reduces(problem.collective) ? found.provenance.accumulate : ""),
          text_or_null(found.provenance.mean),
          text_or_null(found.provenance.nan),
          text_or_null(found.provenance.fp8),
          found.rule,
          d.compared,
          found.elements - d.compared,
          d.different,
          d.over_bound,
          d.max_abs,
          d.max_ulp,
          d.max_bound_used,
          if_worst(found.worst_rank),
          if_worst(d.worst),
          if_worst(d.worst_y),
          if_worst(d.worst_exact),
          if_worst(found.our_bits),
          if_worst(found.their_bits),
          found.unlike_ranks,
          verdict_of(found.is_agreement)};
}

}  // namespace

Table check_records(const CheckRun& run, const std::vector<Comparison>& all) {
  Table table{.name = "comparisons",
              .columns = {"against",
                          "library",
                          "processes",
                          "collective",
                          "op",
                          "dtype",
                          "shape",
                          "root",
                          "counts",
                          "data",
                          "seed",
                          "input",
                          "mpi_calls",
                          "forced_id",
                          "forced_name",
                          "algorithm",
                          "reason",
                          "device",
                          "accumulate",
                          "mean",
                          "nan",
                          "fp8",
                          "bound",
                          "compared",
                          "left_out",
                          "different",
                          "over_bound",
                          "max_abs",
                          "max_ulp",
                          "max_bound_used",
                          "worst_rank",
                          "worst_element",
                          "worst_ours",
                          "worst_theirs",
                          "worst_ours_bits",
                          "worst_theirs_bits",
                          "unlike_ranks",
                          "verdict"},
              .rows = {}};
  for (const Comparison& each : all) table.rows.push_back(record_of(run, each));
  return table;
}

}  // namespace vranks::cli
