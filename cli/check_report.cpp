// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/report.hpp"

namespace vranks::cli {

namespace {

// Elements that a comparison looks at, over all processes; a reduce ends in one of them.
std::int64_t elements(const CheckRun& run, const Problem& problem) {
  return problem.elements * (problem.collective == Collective::reduce ? 1 : run.processes);
}

// What `kind` is, for people.
std::string meaning(Data kind, std::uint64_t seed, const std::string& input) {
  switch (kind) {
    case Data::whole:
      return fmt::format(
          "whole numbers, seed {}: exact in any order, so all bits must be equal;\n"
          "no 8- or 16-bit sum overflows, for Open MPI's vector code saturates there",
          seed);
    case Data::random:
      return fmt::format("random numbers, seed {}", seed);
    case Data::file:
      return input;
  }
  __builtin_unreachable();
}

std::string_view verdict(bool is_agreement) { return is_agreement ? "PASS" : "FAIL"; }

// "equal", "31 of 4000 differ: 2 ULP, 8 % of the bound".
std::string in_words(const Comparison& comparison, std::int64_t all) {
  const PeerFinding& found = comparison.found;
  const Deviation& d = found.deviation;
  std::string text = d.compared == 0 && all > 0 ? "nothing compared" : "equal";
  if (d.different > 0)
    text = fmt::format("{} of {} differ: {:.3g} ULP, {:.2g} % of the bound", d.different,
                       d.compared, d.max_ulp, 100 * d.max_bound_used);
  if (d.over_bound > 0) text = fmt::format("{} of {} WRONG", d.over_bound, d.compared);
  if (d.compared > 0 && d.compared < all) text += fmt::format(", {} left out", all - d.compared);
  if (found.unlike_ranks > 0) text += fmt::format(", {} RANKS UNLIKE rank 0", found.unlike_ranks);
  return text;
}

// "4 processes, 1 with 3 ranks and 3 with 2".
std::string blocks(const CheckRun& run) {
  const std::int64_t most = share_of(run.shape[0], run.processes, 0).count;
  const std::int64_t longer = run.shape[0] % run.processes;
  if (run.processes == 1) return fmt::format("1 process with all {} ranks", most);
  if (longer == 0)
    return fmt::format("{} processes with {} rank{} each", run.processes, most,
                       most == 1 ? "" : "s");
  return fmt::format("{} processes, {} with {} ranks and {} with {}", run.processes, longer, most,
                     run.processes - longer, most - 1);
}

Table for_programs(const CheckRun& run, const std::vector<Comparison>& all) {
  Table table{
      .name = "comparisons",
      .columns = {"against",    "library",      "processes",    "collective",     "op",
                  "dtype",      "shape",        "data",         "seed",           "input",
                  "algorithm",  "device",       "accumulate",   "mean",           "nan",
                  "fp8",        "bound",        "compared",     "left_out",       "different",
                  "over_bound", "max_abs",      "max_ulp",      "max_bound_used", "worst_element",
                  "worst_ours", "worst_theirs", "unlike_ranks", "verdict"},
      .rows = {}};
  for (const Comparison& each : all) {
    const Problem& problem = each.what.problem;
    const PeerFinding& found = each.found;
    const Deviation& d = found.deviation;
    table.rows.push_back({"mpi",
                          run.library,
                          run.processes,
                          name(problem.collective),
                          vranks::name(problem.op),
                          vranks::name(problem.dtype),
                          value_of(run.shape),
                          name(each.data),
                          each.data == Data::file ? Value() : Value(run.seed),
                          text_or_null(run.input),
                          found.provenance.algorithm,
                          found.provenance.device,
                          found.provenance.accumulate,
                          text_or_null(found.provenance.mean),
                          text_or_null(found.provenance.nan),
                          text_or_null(found.provenance.fp8),
                          found.rule,
                          d.compared,
                          elements(run, problem) - d.compared,
                          d.different,
                          d.over_bound,
                          d.max_abs,
                          d.max_ulp,
                          d.max_bound_used,
                          d.worst < 0 ? Value() : Value(d.worst),
                          d.worst < 0 ? Value() : Value(d.worst_y),
                          d.worst < 0 ? Value() : Value(d.worst_exact),
                          found.unlike_ranks,
                          verdict(found.is_agreement)});
  }
  return table;
}

// One line an op and dtype, a column a kind of data.
Table for_people(const CheckRun& run, const std::vector<Comparison>& all) {
  Table table{.name = "ours against theirs", .columns = {"dtype", "op"}, .rows = {}};
  for (const Comparison& each : all)
    if (std::ranges::find(table.columns, name(each.data)) == table.columns.end())
      table.columns.emplace_back(name(each.data));
  table.columns.push_back("verdict");
  for (std::size_t i = 0; i < all.size();) {
    const Problem& problem = all[i].what.problem;
    List row = {vranks::name(problem.dtype), vranks::name(problem.op)};
    bool is_agreement = true;
    for (std::size_t c = 2; c + 1 < table.columns.size(); ++c) {
      const bool is_here = i < all.size() && all[i].what.problem.op == problem.op &&
                           all[i].what.problem.dtype == problem.dtype &&
                           name(all[i].data) == table.columns[c];
      row.push_back(is_here ? in_words(all[i], elements(run, problem)) : "-");
      if (is_here) is_agreement &= all[i++].found.is_agreement;
    }
    row.push_back(verdict(is_agreement));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The worst element of each comparison in which some are too far apart.
Table wrong_elements(const std::vector<Comparison>& all) {
  Table table{.name = "worst elements",
              .columns = {"dtype", "op", "data", "element", "ours", "theirs", "may differ by"},
              .rows = {}};
  for (const Comparison& each : all) {
    const Problem& problem = each.what.problem;
    const Deviation& d = each.found.deviation;
    if (d.over_bound > 0)
      table.rows.push_back({vranks::name(problem.dtype), vranks::name(problem.op), name(each.data),
                            d.worst, d.worst_y, d.worst_exact, d.worst_bound});
  }
  return table;
}

void print_for_people(const CheckRun& run, const std::vector<Comparison>& all) {
  const PeerCase& first = all[0].what;
  const bool is_reduce = first.problem.collective == Collective::reduce;
  Report report("check against " + run.library);
  report.line("problem", fmt::format("{} over {} ranks of {} elements, shape {}",
                                     name(first.problem.collective), first.problem.ranks,
                                     first.problem.elements, to_string(run.shape)));
  report.line("ours",
              fmt::format("process 0 with all {} ranks on {}, algorithm {}", first.problem.ranks,
                          all[0].found.provenance.device, all[0].found.provenance.algorithm));
  report.line("theirs", fmt::format("{}:\nMPI_Reduce_local in each, then {}", blocks(run),
                                    is_reduce ? "MPI_Reduce" : "MPI_Allreduce"));
  report.line("compared", is_reduce ? "on process 0" : "on every process");
  std::set<Data> kinds;
  for (const Comparison& each : all) kinds.insert(each.data);
  for (const Data kind : kinds)
    report.line(std::string(name(kind)), meaning(kind, run.seed, run.input));
  std::set<std::string> left_out;
  for (const Comparison& each : all)
    if (each.found.deviation.compared < elements(run, each.what.problem))
      left_out.insert(each.found.left_out);
  for (const std::string& why : left_out) report.line("left out", "elements where " + why);
  constexpr std::size_t few = 10;
  for (const Comparison& each : all)
    if (all.size() <= few && each.data != Data::whole)
      report.line("bound", fmt::format("{} {}: {}", vranks::name(each.what.problem.dtype),
                                       vranks::name(each.what.problem.op), each.found.rule));
  if (all.size() > few)
    report.line("bound",
                "of random floats: the steps of both orders times the rounding of one and sum|x|;\n"
                "--format json says each; integers, min and max: equal");
  report.print(Format::table);
  fmt::print("\n");
  std::vector<Table> tables = {for_people(run, all)};
  if (Table wrong = wrong_elements(all); !wrong.rows.empty()) tables.push_back(std::move(wrong));
  print_tables(tables, Format::table);

  const auto agreements =
      std::ranges::count_if(all, [](const Comparison& each) { return each.found.is_agreement; });
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  fmt::print("\n{}: {} of {} comparisons agree\n", verdict(agreements == count), agreements, count);
}

}  // namespace

std::string_view name(Data data) {
  switch (data) {
    case Data::whole:
      return "whole";
    case Data::random:
      return "random";
    case Data::file:
      return "file";
  }
  __builtin_unreachable();
}

void print_check(const CheckRun& run, const std::vector<Comparison>& all, Format format) {
  if (format == Format::table)
    print_for_people(run, all);
  else
    print_tables({for_programs(run, all)}, format);
}

}  // namespace vranks::cli
