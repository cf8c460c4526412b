// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "cli/report.hpp"

namespace vranks::cli {

namespace {

std::string_view verdict(bool is_agreement) { return is_agreement ? "PASS" : "FAIL"; }

std::string op_text(const NcclCase& what) {
  return reduces(what.collective) ? std::string(vranks::name(what.op)) : "";
}

Table for_programs(const NcclCheckOptions& options, const NcclCheckRun& run,
                   const std::vector<NcclComparison>& all) {
  Table table{
      .name = "comparisons",
      .columns = {"against",    "library",  "path",     "rules",     "collective",   "op",
                  "dtype",      "ranks",    "elements", "root",      "data",         "seed",
                  "algorithm",  "protocol", "channels", "ran",       "ran_protocol", "ran_channels",
                  "device",     "bound",    "compared", "different", "over_bound",   "max_ulp",
                  "told_apart", "first",    "mismatch", "verdict"},
      .rows = {}};
  for (const NcclComparison& each : all) {
    const NcclCase& what = each.what;
    const bool has_bound = each.deviation.compared > 0;
    table.rows.push_back({"nccl",
                          run.version,
                          run.path,
                          text_or_null(run.rules),
                          vranks::name(what.collective),
                          text_or_null(op_text(what)),
                          vranks::name(what.dtype),
                          what.ranks,
                          what.elements,
                          has_root(what.collective) ? Value(what.root) : Value(),
                          name(what.data),
                          options.seed,
                          each.ours.algorithm,
                          text_or_null(each.ours.protocol),
                          each.ours.channels > 0 ? Value(each.ours.channels) : Value(),
                          each.theirs ? Value(each.theirs->algorithm) : Value(),
                          each.theirs ? Value(each.theirs->protocol) : Value(),
                          each.theirs ? Value(std::int64_t{each.theirs->last_channel} -
                                              each.theirs->first_channel + 1)
                                      : Value(),
                          each.ours.device,
                          each.rule,
                          has_bound ? each.deviation.compared : each.bits.compared,
                          each.bits.different,
                          has_bound ? Value(each.deviation.over_bound) : Value(),
                          has_bound ? Value(each.deviation.max_ulp) : Value(),
                          each.told_apart < 0 ? Value() : Value(each.told_apart),
                          text_or_null(each.first),
                          text_or_null(each.mismatch),
                          verdict(each.is_agreement)});
  }
  return table;
}

// All comparisons of one number of ranks, dtype and op.
struct Line {
  std::int64_t rows = 0, compared = 0, different = 0, over_bound = 0, told_apart = -1;
  double max_ulp = 0;
  std::set<std::string> ran;
  bool is_agreement = true;

  void add(const NcclComparison& each) {
    ++rows;
    const bool has_bound = each.deviation.compared > 0;
    compared += has_bound ? each.deviation.compared : each.bits.compared;
    different += each.bits.different;
    over_bound += each.deviation.over_bound;
    max_ulp = std::max(max_ulp, each.deviation.max_ulp);
    if (each.told_apart >= 0) told_apart = std::max<std::int64_t>(told_apart, 0) + each.told_apart;
    if (each.theirs) ran.insert(each.theirs->algorithm + " " + each.theirs->protocol);
    is_agreement &= each.is_agreement;
  }
};

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "-" : text;
}

Table for_people(const NcclCheckOptions& options, const std::vector<NcclComparison>& all) {
  Table table{.name = "ours against theirs",
              .columns = {"ranks", "dtype", "op", "NCCL ran", "calls", "elements", "differ",
                          options.is_pinned() ? "told apart" : "max ULP", "verdict"},
              .rows = {}};
  for (std::size_t i = 0; i < all.size();) {
    const NcclCase& what = all[i].what;
    Line line;
    for (; i < all.size() && all[i].what.ranks == what.ranks && all[i].what.dtype == what.dtype &&
           all[i].what.op == what.op;
         ++i)
      line.add(all[i]);
    table.rows.push_back({what.ranks, vranks::name(what.dtype), text_or_null(op_text(what)),
                          joined(line.ran), line.rows, line.compared, line.different,
                          !options.is_pinned()  ? Value(fmt::format("{:.3g}", line.max_ulp))
                          : line.told_apart < 0 ? Value()
                                                : Value(line.told_apart),
                          verdict(line.is_agreement)});
  }
  if (options.is_pinned())
    table.note = "told apart: elements to which the order of direct gives other bits";
  return table;
}

Table wrong(const std::vector<NcclComparison>& all) {
  constexpr std::size_t most = 20;
  Table table{.name = "what differs", .columns = {"call", "differ", "first"}, .rows = {}};
  for (const NcclComparison& each : all)
    if (!each.is_agreement && table.rows.size() < most)
      table.rows.push_back(
          {each.what.text(),
           each.deviation.over_bound > 0 ? each.deviation.over_bound : each.bits.different,
           each.mismatch.empty() ? each.first : each.mismatch});
  return table;
}

// "[[0,1,2,3]] in each of 2 channels", or channel for channel.
template <class List>
std::string lists_text(const std::vector<List>& lists) {
  std::string text;
  const bool is_one =
      std::ranges::all_of(lists, [&](const List& each) { return each == lists[0]; });
  for (std::size_t k = 0; k < (is_one ? std::min<std::size_t>(lists.size(), 1) : lists.size());
       ++k) {
    std::vector<std::vector<std::int64_t>> numbers;
    if constexpr (std::is_integral_v<typename List::value_type>)
      numbers.emplace_back(lists[k].begin(), lists[k].end());
    else
      for (const auto& children : lists[k]) numbers.emplace_back(children.begin(), children.end());
    text += (text.empty() ? "" : " ") + json_text(value_of(numbers));
  }
  return is_one && lists.size() > 1 ? fmt::format("{} in each of {} channels", text, lists.size())
                                    : text;
}

void print_for_people(const NcclCheckOptions& options, const NcclCheckRun& run,
                      const std::vector<NcclComparison>& all) {
  Report report("check against NCCL " + run.version);
  report.line("library", run.path);
  report.line("problem",
              fmt::format("{} of all ranks on {}", name(options.collective), run.device));
  report.line(
      "theirs",
      options.is_pinned()
          ? fmt::format("made to run {}{} in {} channels", options.nccl_algorithm(),
                        options.protocol ? fmt::format(" {}", vranks::name(*options.protocol)) : "",
                        options.channels)
          : fmt::format("what NCCL chooses in {} channels", options.channels));
  report.line("ours", options.is_pinned()
                          ? fmt::format("{} by the rules of NCCL {}; all bits must be equal",
                                        options.algorithm, run.rules)
                          : "direct; floats within a bound for any order, all else equal");
  for (const auto& [ranks, lists] : run.lists)
    report.line(fmt::format("{} ranks", ranks), options.algorithm == "nccl_tree"
                                                    ? "children " + lists_text(lists.trees)
                                                    : "ring " + lists_text(lists.rings));
  report.line("data", options.is_pinned()
                          ? fmt::format("seed {}, between 2^-8 and 2^8; special: with NaN, "
                                        "infinities, zeros, subnormals",
                                        options.seed)
                          : fmt::format("random numbers, seed {}", options.seed));
  report.print(Format::table);
  fmt::print("\n");
  std::vector<Table> tables = {for_people(options, all)};
  if (Table table = wrong(all); !table.rows.empty()) tables.push_back(std::move(table));
  print_tables(tables, Format::table);
  const auto agreements =
      std::ranges::count_if(all, [](const NcclComparison& each) { return each.is_agreement; });
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  fmt::print("\n{}: {} of {} comparisons agree\n", verdict(agreements == count), agreements, count);
}

}  // namespace

void print_nccl_check(const NcclCheckOptions& options, const NcclCheckRun& run,
                      const std::vector<NcclComparison>& all) {
  if (options.format == Format::table)
    print_for_people(options, run, all);
  else
    print_tables({for_programs(options, run, all)}, options.format);
}

}  // namespace vranks::cli
