// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/call_options.hpp"

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "cli/json_option.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t most_ranks = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

// "[1, 2, 3]", or a square matrix "[[1, 2], [3, 4]]".
CountTable parse_counts(const JsonOption& option, const std::string& text) {
  CountTable table;
  const nlohmann::json document = parse_json_text(option, text);
  const JsonItem value(option, document);
  if (value.list().size() == 0) value.fail("a number a rank is needed");
  if (!value[0].is_list()) {
    read_json(value, table.numbers);
    return table;
  }
  std::vector<Counts> rows;
  read_json(value, rows);
  for (const Counts& row : rows) {
    table.row_lengths.push_back(row.size());
    table.numbers.insert(table.numbers.end(), row.begin(), row.end());
  }
  return table;
}

double parse_factor(const std::string& text) {
  double factor = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, factor);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(factor))
    refuse(fmt::format("--factor: '{}' is not a finite number", text));
  return factor;
}

// Names of the collectives for which is_one(collective).
template <class Is>
std::string collectives_that(const Is& is_one) {
  std::string all;
  for (const CollectiveInfo& each : collectives())
    if (is_one(each.collective)) (all += all.empty() ? "" : " ") += each.name;
  return all;
}

bool has_send_displacements(Collective collective) {
  return collective == Collective::scatter_v || collective == Collective::all_to_all_v;
}
bool has_receive_displacements(Collective collective) {
  return collective == Collective::gather_v || collective == Collective::all_gather_v ||
         collective == Collective::all_to_all_v;
}
bool has_pairs(Collective collective) { return collective == Collective::all_to_all_v; }

// An option that is about some collectives only.
struct Reader {
  const char* option;
  bool is_given;
  bool (*is_read)(Collective);
};

void check_table(const char* option, const std::optional<CountTable>& table,
                 Collective collective) {
  if (!table || !table->is_matrix()) return;
  if (!has_pairs(collective))
    refuse(fmt::format("{} of {} has one number a rank; a matrix is for all_to_all_v", option,
                       name(collective)));
  const std::size_t rows = table->row_lengths.size();
  for (std::size_t r = 0; r < rows; ++r)
    if (table->row_lengths[r] != rows)
      refuse(fmt::format("{}: row {} has {} numbers; a matrix of {} rows needs {} in each", option,
                         r, table->row_lengths[r], rows, rows));
}

void check_groups(const CallDetails& details) {
  if (details.groups && details.mesh)
    refuse("--groups and --mesh both say which ranks are a group; give one of them");
  if (details.axis && !details.mesh)
    refuse(fmt::format("--axis {} is about a mesh; give --mesh, too", *details.axis));
  if (details.mesh && !details.axis)
    refuse("--mesh has axes; say with --axis along which one, or ones, the groups lie");
  if (details.mesh) mesh_groups(*details.mesh, *details.axis);
  if (details.groups && details.groups->empty()) refuse("--groups: there is no group in []");
}

}  // namespace

void add_root_option(OptionsDescription& options, std::optional<std::int64_t>& root) {
  const auto parse = [](const std::string& text) { return parse_rank("--root", text); };
  options.add_options()("root", parsed(root, parse, "RANK"),
                        "the root, a rank of the group; 0 unless said");
}

void add_counts_option(OptionsDescription& options, std::optional<CountTable>& counts) {
  const auto parse = [](const std::string& text) {
    return parse_counts({"--counts", JsonNumbers::counts, "[3,0,2]"}, text);
  };
  options.add_options()(
      "counts", parsed(counts, parse, "JSON"),
      "of the _v collectives: of dimension 1, how much each rank's block has, such as [3,0,2]; of "
      "all_to_all_v a matrix: row s what rank s sends to each");
}

void add_permutation_option(OptionsDescription& options, std::optional<Permutation>& permutation) {
  const auto parse = [](const std::string& text) {
    return parse_json_option<Permutation>({"--permutation", JsonNumbers::ranks, "[[0,1],[1,2]]"},
                                          text);
  };
  options.add_options()("permutation", parsed(permutation, parse, "JSON"),
                        "of permute: pairs of source and destination, such as [[0,1],[1,2]]; who "
                        "is no destination gets zeros");
}

void add_member_options(OptionsDescription& options, CallDetails& details) {
  options.add_options()(
      "ranks",
      parsed(
          details.ranks,
          [](const std::string& text) { return parse_whole("--ranks", text, 1, most_ranks); }, "R"),
      "ranks of random data, or of a barrier; 4 unless said");
  add_root_option(options, details.root);
  options.add_options()  //
      ("groups",
       parsed(
           details.groups,
           [](const std::string& text) {
             return parse_json_option<Groups>({"--groups", JsonNumbers::ranks, "[[0,2],[1,3]]"},
                                              text);
           },
           "JSON"),
       "lists of ranks, such as [[0,2],[1,3]]: each is a group by itself; all ranks are one unless "
       "said")  //
      ("mesh",
       parsed(
           details.mesh, [](const std::string& text) { return parse_mesh(text); }, "NAME=N,..."),
       "the ranks as a box with named axes, such as dp=4,tp=2; the last one varies fastest")  //
      ("axis", parsed(details.axis, parse_text, "NAME,..."),
       "groups are the ranks that differ along these axes of the mesh alone");
}

void add_operand_options(OptionsDescription& options, CallDetails& details) {
  options.add_options()  //
      ("factor", parsed(details.factor, parse_factor, "NUMBER"),
       "of op premul_sum: every value is multiplied by it; 1 unless said")  //
      ("weights",
       parsed(
           details.weights,
           [](const std::string& text) {
             return parse_json_option<std::vector<double>>(
                 {"--weights", JsonNumbers::weights, "[1,2.5]"}, text);
           },
           "JSON"),
       "of op weighted_mean: a number for each of all ranks, such as [1,2.5]");
}

OptionsDescription call_options(CallDetails& details) {
  OptionsDescription options("Who takes part, and how much each gives", page_columns);
  add_member_options(options, details);
  const auto counts = [](const char* option) {
    return [option](const std::string& text) {
      return parse_counts({option, JsonNumbers::counts, "[3,0,2]"}, text);
    };
  };
  const auto places = [](const char* option) {
    return [option](const std::string& text) {
      return parse_counts({option, JsonNumbers::places, "[0,3,3]"}, text);
    };
  };
  add_counts_option(options, details.counts);
  options.add_options()  //
      ("send-counts", parsed(details.send_counts, counts("--send-counts"), "JSON"),
       "the same as --counts, of all_to_all_v")  //
      ("recv-counts", parsed(details.receive_counts, counts("--recv-counts"), "JSON"),
       "of all_to_all_v: row d what rank d expects from each; must be the same numbers")  //
      ("send-displacements",
       parsed(details.send_displacements, places("--send-displacements"), "JSON"),
       "of scatter_v and all_to_all_v (a matrix): where blocks start in what is sent; one behind "
       "the other unless said")  //
      ("recv-displacements",
       parsed(details.receive_displacements, places("--recv-displacements"), "JSON"),
       "of gather_v, all_gather_v and all_to_all_v (a matrix, row d of rank d): where blocks start "
       "in what is received")  //
      ("ragged", boost::program_options::bool_switch(&details.ragged),
       "of all_to_all_v: rows may be longer than what they send");
  add_permutation_option(options, details.permutation);
  add_operand_options(options, details);
  return options;
}

ReduceOp op_of(Collective collective, std::optional<ReduceOp> given) {
  return given.value_or(is_prefix(collective) ? ReduceOp::sum : ReduceOp::mean);
}

void check_op(Collective collective, std::optional<ReduceOp> given) {
  if (given && !reduces(collective))
    refuse(fmt::format("--op is about collectives that combine; {} {}", name(collective),
                       collective == Collective::barrier ? "passes no data" : "only copies"));
}

std::int64_t root_of(Collective collective, std::optional<std::int64_t> given) {
  if (given && !has_root(collective))
    refuse(fmt::format("--root is about {}; {} has none", collectives_that(has_root),
                       name(collective)));
  return given.value_or(0);
}

void check_details(const CallDetails& details, Collective collective, ReduceOp op) {
  root_of(collective, details.root);
  const Reader readers[] = {
      {"--counts", details.counts.has_value(), takes_counts},
      {"--send-counts", details.send_counts.has_value(), has_pairs},
      {"--recv-counts", details.receive_counts.has_value(), has_pairs},
      {"--send-displacements", details.send_displacements.has_value(), has_send_displacements},
      {"--recv-displacements", details.receive_displacements.has_value(),
       has_receive_displacements},
      {"--ragged", details.ragged, has_pairs},
      {"--permutation", details.permutation.has_value(),
       [](Collective each) { return each == Collective::permute; }},
  };
  for (const Reader& reader : readers)
    if (reader.is_given && !reader.is_read(collective))
      refuse(fmt::format("{} is about {}; {} doesn't read it", reader.option,
                         collectives_that(reader.is_read), name(collective)));
  if (details.counts && details.send_counts)
    refuse("--counts and --send-counts both say what ranks send; give one of them");
  if (takes_counts(collective) && !details.counts && !details.send_counts)
    refuse(fmt::format("{} needs --counts: {}", name(collective),
                       has_pairs(collective)
                           ? "for each rank a list of what it sends to each, such as [[1,2],[0,3]]"
                           : "a number a rank, such as [3,0,2]"));
  if (collective == Collective::permute && !details.permutation)
    refuse("permute needs --permutation: pairs of source and destination, such as [[0,1],[1,0]]");
  check_table("--counts", details.counts, collective);
  check_table("--send-counts", details.send_counts, collective);
  check_table("--recv-counts", details.receive_counts, collective);
  check_table("--send-displacements", details.send_displacements, collective);
  check_table("--recv-displacements", details.receive_displacements, collective);
  check_groups(details);
  const bool combines = reduces(collective);
  if (details.factor && (!combines || op != ReduceOp::premul_sum))
    refuse(fmt::format("--factor is about op premul_sum; {} {} doesn't read it",
                       combines ? "op" : "collective", combines ? name(op) : name(collective)));
  if (details.weights && (!combines || op != ReduceOp::weighted_mean))
    refuse(fmt::format("--weights is about op weighted_mean; {} {} doesn't read it",
                       combines ? "op" : "collective", combines ? name(op) : name(collective)));
  if (combines && op == ReduceOp::weighted_mean && !details.weights)
    refuse("op weighted_mean needs --weights, a number for each rank");
}

void add_details(const CallDetails& details, std::int64_t ranks, CollectiveOptions& options) {
  options.root = details.root.value_or(0);
  options.groups = details.groups.value_or(Groups{});
  if (details.mesh) {
    if (mesh_ranks(*details.mesh) != ranks)
      refuse(fmt::format("--mesh has {} ranks, but the tensor has {}", mesh_ranks(*details.mesh),
                         ranks));
    options.groups = mesh_groups(*details.mesh, *details.axis);
  }
  const auto numbers = [](const std::optional<CountTable>& table) {
    return table ? table->numbers : Counts{};
  };
  options.counts = numbers(details.counts ? details.counts : details.send_counts);
  options.receive_counts = numbers(details.receive_counts);
  options.send_displacements = numbers(details.send_displacements);
  options.receive_displacements = numbers(details.receive_displacements);
  options.ragged = details.ragged;
  options.permutation = details.permutation.value_or(Permutation{});
  options.factor = details.factor.value_or(1);
  options.weights = details.weights.value_or(std::vector<double>{});
}

}  // namespace vranks::cli
