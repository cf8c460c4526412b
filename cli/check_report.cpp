// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/rank_share.hpp"
#include "cli/report.hpp"

namespace vranks::cli {

namespace {

// What `kind` is, for people.
std::string meaning(Data kind, bool is_forced, const CheckRun& run) {
  switch (kind) {
    case Data::whole:
      return fmt::format(
          "whole numbers, seed {}: exact in any order, so all bits must be equal;\n"
          "no 8- or 16-bit sum overflows, for Open MPI's vector code saturates there",
          run.seed);
    case Data::random:
      return fmt::format("random numbers, seed {}{}", run.seed,
                         is_forced ? ": another order shows in their sums and products" : "");
    case Data::special:
      return "the same with zeros, subnormals, infinities and NaN among them";
    case Data::file:
      return run.input;
  }
  __builtin_unreachable();
}

bool is_forced(const Comparison& comparison) { return comparison.what.forced.has_value(); }

// "equal", "31 of 4000 differ: 2 ULP, 8 % of the bound".
std::string in_words(const PeerFinding& found) {
  const Deviation& d = found.deviation;
  std::string text = d.compared == 0 && found.elements > 0 ? "nothing compared" : "equal";
  if (d.different > 0)
    text = fmt::format("{} of {} differ: {:.3g} ULP, {:.2g} % of the bound", d.different,
                       d.compared, d.max_ulp, 100 * d.max_bound_used);
  if (d.over_bound > 0) text = fmt::format("{} of {} WRONG", d.over_bound, d.compared);
  if (d.compared > 0 && d.compared < found.elements)
    text += fmt::format(", {} left out", found.elements - d.compared);
  if (found.unlike_ranks > 0) text += fmt::format(", {} RANKS UNLIKE rank 0", found.unlike_ranks);
  return text;
}

// "MPI_Allreduce, made to use algorithm 4 (ring)".
std::string their_calls(const Comparison& of) {
  std::string text = of.found.calls;
  if (!is_forced(of)) return text;
  const ForcedAlgorithm& forced = *of.what.forced;
  if (forced.id == 0) return text + ", by the rules of the library";
  text += fmt::format(", made to use algorithm {} ({})", forced.id, of.found.forced_name);
  if (forced.segment_bytes != 0)
    text += fmt::format(", segments of {} bytes", forced.segment_bytes);
  if (forced.reduce_id != 0) text += fmt::format(", algorithm {} of MPI_Reduce", forced.reduce_id);
  return text;
}

std::string our_algorithm(const Provenance& ours) {
  return ours.reason.empty() ? ours.algorithm : fmt::format("{} ({})", ours.algorithm, ours.reason);
}

Value op_text(const Problem& problem) {
  return reduces(problem.collective) ? name(problem.op) : std::string_view("-");
}

// One line an op and dtype, a column a kind of data.
Table by_op(const std::vector<Comparison>& all) {
  Table table{.name = "ours against theirs", .columns = {"dtype", "op"}, .rows = {}};
  for (const Comparison& each : all)
    if (std::ranges::find(table.columns, name(each.data)) == table.columns.end())
      table.columns.emplace_back(name(each.data));
  table.columns.push_back("verdict");
  for (std::size_t i = 0; i < all.size();) {
    const Problem& problem = all[i].what.problem;
    const bool has_data = problem.collective != Collective::barrier;
    List row = {has_data ? vranks::name(problem.dtype) : std::string_view("-"), op_text(problem)};
    bool is_agreement = true;
    for (std::size_t c = 2; c + 1 < table.columns.size(); ++c) {
      const bool is_here = i < all.size() && all[i].what.problem.op == problem.op &&
                           all[i].what.problem.dtype == problem.dtype &&
                           name(all[i].data) == table.columns[c];
      row.push_back(is_here ? in_words(all[i].found) : "-");
      if (is_here) is_agreement &= all[i++].found.is_agreement;
    }
    row.push_back(verdict_of(is_agreement));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// One line a collective.
Table by_collective(const std::vector<Comparison>& all) {
  Table table{
      .name = "ours against theirs",
      .columns = {"collective", "shape", "theirs", "agree", "elements", "of the bound", "verdict"},
      .rows = {}};
  for (std::size_t i = 0; i < all.size();) {
    const Comparison& first = all[i];
    std::int64_t count = 0, agreements = 0, compared = 0;
    double used = 0;
    for (; i < all.size() && all[i].what.problem.collective == first.what.problem.collective; ++i) {
      ++count;
      agreements += all[i].found.is_agreement;
      compared += all[i].found.deviation.compared;
      used = std::max(used, all[i].found.deviation.max_bound_used);
    }
    table.rows.push_back({name(first.what.problem.collective), to_string(first.shape),
                          their_calls(first), fmt::format("{} of {}", agreements, count), compared,
                          used == 0 ? std::string("equal") : fmt::format("{:.2g} %", 100 * used),
                          verdict_of(agreements == count)});
  }
  return table;
}

// The worst element of each comparison in which some are too far apart.
Table wrong_elements(const std::vector<Comparison>& all) {
  Table table{.name = "worst elements",
              .columns = {"collective", "dtype", "op", "data", "rank", "element", "ours", "theirs",
                          "may differ by"},
              .rows = {}};
  for (const Comparison& each : all) {
    const Problem& problem = each.what.problem;
    const PeerFinding& found = each.found;
    const Deviation& d = found.deviation;
    if (d.over_bound == 0 || d.worst < 0) continue;
    table.rows.push_back({name(problem.collective), name(problem.dtype), op_text(problem),
                          name(each.data), found.worst_rank, d.worst,
                          fmt::format("{} ({})", d.worst_y, found.our_bits),
                          fmt::format("{} ({})", d.worst_exact, found.their_bits), d.worst_bound});
  }
  return table;
}

bool is_one_collective(const std::vector<Comparison>& all) {
  return std::ranges::all_of(all, [&](const Comparison& each) {
    return each.what.problem.collective == all[0].what.problem.collective;
  });
}

// What is said of one collective alone.
void add_collective(Report& report, const CheckRun& run, const Comparison& of) {
  const Problem& problem = of.what.problem;
  std::string text = fmt::format(
      "{} over {} ranks of {} elements, shape {}", name(problem.collective), problem.ranks,
      element_count({of.shape.begin() + 1, of.shape.end()}), to_string(of.shape));
  if (has_root(problem.collective)) text += fmt::format(", root {}", problem.root);
  if (takes_counts(problem.collective))
    text += fmt::format(",\ncounts {}", plain_text(value_of(of.what.options.counts)));
  report.line("problem", text);
  report.line("ours", fmt::format("process 0 with all {} ranks on {}, algorithm {}", problem.ranks,
                                  of.found.provenance.device, our_algorithm(of.found.provenance)));
  report.line("theirs",
              fmt::format("{}:\n{}", shares_text(problem.ranks, run.processes), their_calls(of)));
  report.line("compared",
              ends_at_root(problem.collective) ? "on the root's process" : "on every process");
}

void add_bounds(Report& report, const std::vector<Comparison>& all) {
  constexpr std::size_t few = 10;
  std::set<std::string> rules;
  for (const Comparison& each : all) rules.insert(each.found.rule);
  if (rules.size() == 1 && all[0].data != Data::whole) return report.line("bound", *rules.begin());
  if (all.size() > few)
    return report.line(
        "bound",
        is_forced(all[0])
            ? "equal bits, but that a NaN is a NaN and that -0 and +0 are equal in min and max"
            : "of random floats: the steps of both orders times the rounding of one and sum|x|;\n"
              "copies: equal bits; integers, min and max: equal; --format json says each");
  for (const Comparison& each : all)
    if (each.data != Data::whole)
      report.line("bound", fmt::format("{} {}: {}", name(each.what.problem.dtype),
                                       plain_text(op_text(each.what.problem)), each.found.rule));
}

void print_for_people(const CheckRun& run, const std::vector<Comparison>& all) {
  Report report("check against " + run.library);
  const bool is_one = is_one_collective(all);
  if (is_one)
    add_collective(report, run, all[0]);
  else
    report.line("ours", fmt::format("process 0 with all ranks on {}, algorithm {}",
                                    all[0].found.provenance.device, all[0].what.algorithm));
  std::set<Data> kinds;
  for (const Comparison& each : all)
    if (each.what.problem.collective != Collective::barrier) kinds.insert(each.data);
  for (const Data kind : kinds)
    report.line(std::string(name(kind)), meaning(kind, is_forced(all[0]), run));
  std::set<std::string> left_out;
  for (const Comparison& each : all)
    if (each.found.deviation.compared < each.found.elements) left_out.insert(each.found.left_out);
  for (const std::string& why : left_out) report.line("left out", "elements where " + why);
  for (const LeftOut& each : run.left_out)
    report.line("left out", each.reason.find(name(each.collective)) == std::string::npos
                                ? fmt::format("{}: {}", name(each.collective), each.reason)
                                : each.reason);
  add_bounds(report, all);
  report.print(Format::table);
  fmt::print("\n");
  std::vector<Table> tables = {is_one ? by_op(all) : by_collective(all)};
  if (Table wrong = wrong_elements(all); !wrong.rows.empty()) tables.push_back(std::move(wrong));
  print_tables(tables, Format::table);

  const auto agreements =
      std::ranges::count_if(all, [](const Comparison& each) { return each.found.is_agreement; });
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  fmt::print("\n{}: {} of {} comparisons agree\n", verdict_of(agreements == count), agreements,
             count);
}

}  // namespace

void print_check(const CheckRun& run, const std::vector<Comparison>& all, Format format) {
  if (format == Format::table)
    print_for_people(run, all);
  else
    print_tables({check_records(run, all)}, format);
}

}  // namespace vranks::cli
