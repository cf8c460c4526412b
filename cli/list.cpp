// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks list`: everything that users can name, straight from the registries.
#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/option_values.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/problem.hpp"
#include "collectives/processes/communicator.hpp"
#include "kernels/backend.hpp"
#include "ranks/dtype.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "ranks/reduce_op.hpp"
#include "simulator/costs.hpp"
#include "simulator/read_machine.hpp"

namespace vranks::cli {

namespace {

// What --collective narrows the tables about algorithms down to.
using Only = std::optional<Collective>;

Table collective_table(Only) {
  Table table{.name = "collectives",
              .columns = {"name", "aliases", "meaning"},
              .rows = {},
              .note =
                  "R: ranks of a group; d0, ...: shape of a rank's slice; counts: what --counts "
                  "gives, sum and most are theirs. Files hold the parts of reduce_scatter_v, "
                  "scatter_v and all_to_all_v one behind the other, without the room up to most."};
  for (const CollectiveInfo& row : collectives())
    table.rows.push_back({row.name, words_of(row.aliases), row.meaning});
  return table;
}

// The kinds of dtypes of VR_REDUCE_OPS in words.
List kinds_of(const ReduceOpInfo& op) {
  List words;
  for (const char kind : op.kinds)
    words.emplace_back(kind == 'f'   ? "floating"
                       : kind == 'i' ? "integer"
                       : kind == 'b' ? "bool"
                                     : "complex");
  return words;
}

Table op_table(Only) {
  Table table{.name = "ops",
              .columns = {"name", "kinds", "meaning", "aliases", "dtypes"},
              .rows = {},
              .shown = 4};
  for (const ReduceOpInfo& row : reduce_ops()) {
    List supported;
    for (const DTypeInfo& dtype : dtypes())
      if (supports(row.op, dtype.dtype)) supported.emplace_back(dtype.name);
    table.rows.push_back(
        {row.name, kinds_of(row), row.meaning, words_of(row.aliases), std::move(supported)});
  }
  return table;
}

std::string_view kind_name(DTypeKind kind) {
  switch (kind) {
    case DTypeKind::floating:
      return "floating";
    case DTypeKind::signed_integer:
      return "signed integer";
    case DTypeKind::unsigned_integer:
      return "unsigned integer";
    case DTypeKind::boolean:
      return "bool";
    case DTypeKind::complex:
      return "complex";
  }
  __builtin_unreachable();
}

Table dtype_table(Only) {
  Table table{"dtypes", {"name", "bytes", "kind", "npy", "aliases"}, {}};
  for (const DTypeInfo& row : dtypes())
    table.rows.push_back({row.name, static_cast<std::int64_t>(row.bytes), kind_name(row.kind),
                          row.npy, words_of(row.aliases)});
  return table;
}

Table algorithm_table(Only only) {
  Table table{
      .name = "algorithms",
      .columns = {"name", "collectives", "parameters", "aliases", "order", "source", "uneven"},
      .rows = {},
      .shown = 4,
      .note = "Steps and bytes: list costs."};
  for (const Algorithm& row : algorithms()) {
    if (only && !supports(row, *only)) continue;
    List uneven;
    for (const CollectiveInfo& each : collectives())
      if (takes_counts(each.collective) && supports(row, each.collective))
        uneven.emplace_back(each.name);
    table.rows.push_back({row.name, words_of(row.collectives), words_of(row.parameters),
                          words_of(row.aliases), row.order, row.source, std::move(uneven)});
  }
  return table;
}

Table cost_table(Only only) {
  Table table{
      .name = "costs",
      .columns = {"name", "collective", "steps", "bytes"},
      .rows = {},
      .note =
          "Steps: those in which a rank sends. Bytes: sent by the rank that sends most. n: bytes "
          "of "
          "one rank's input, of a broadcast or scatter the root's, which is rank 0; R: ranks; p: "
          "the largest power of two up to R; other R: R is no power of two. K: --chunks, unless "
          "given 4 (double_binary_tree 8, ompi_segmented_ring 1); F: --fanout, unless given 4; N, "
          "L: N nodes of L ranks, --ranks-per-node, unless given one node of all. A permute sends "
          "M "
          "slices, no rank two, over D different distances; the farthest goes by H ranks."};
  for (const CollectiveInfo& each : collectives()) {
    // A _v form has the costs of its even one, if counts are equal.
    if (only ? *only != each.collective : takes_counts(each.collective)) continue;
    for (const Algorithm& algorithm : algorithms()) {
      if (!supports(algorithm, each.collective)) continue;
      const Costs& costs = costs_of(algorithm, each.collective);
      table.rows.push_back({algorithm.name, each.name, costs.steps, costs.bytes});
    }
  }
  return table;
}

Table layout_table(Only) {
  Table table{"layouts", {"name", "meaning"}, {}};
  for (const LayoutInfo& row : layouts()) table.rows.push_back({row.name, row.meaning});
  return table;
}

Table parameter_table(Only) {
  Table table{"parameters", {"name", "algorithms", "meaning"}, {}};
  for (const ParameterInfo& row : parameter_infos()) {
    List readers;
    for (const Algorithm& algorithm : algorithms())
      if (has_word(algorithm.parameters, row.name)) readers.emplace_back(algorithm.name);
    if (readers.empty()) continue;  // of layouts that callers bring along
    table.rows.push_back({row.name, readers, row.meaning});
  }
  return table;
}

std::string_view meaning(NanPolicy policy) {
  switch (policy) {
    case NanPolicy::propagate:
      return "any NaN gives NaN, whichever rank holds it";
    case NanPolicy::ignore:
      return "NaN only if every rank holds one";
  }
  __builtin_unreachable();
}

Table policy_table(Only) {
  Table table{"policies", {"name", "option", "aliases", "meaning"}, {}};
  for (const auto& row : accumulates())
    table.rows.push_back({row.name, "accumulate", words_of(row.aliases), row.meaning});
  for (const auto& row : mean_modes())
    table.rows.push_back({row.name, "mean", words_of(row.aliases), row.meaning});
  for (const NanPolicyInfo& row : nan_policies())
    table.rows.push_back({row.name, "nan", words_of(row.aliases), meaning(row.policy)});
  for (const auto& row : fp8_modes())
    table.rows.push_back({row.name, "fp8", words_of(row.aliases), row.meaning});
  return table;
}

std::string_view meaning(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return "whole buffers";
    case Protocol::ll:
      return "words of 4 bytes of data and 4 of flag";
    case Protocol::ll128:
      return "lines of 120 bytes of data and 8 of flag";
  }
  __builtin_unreachable();
}

Table protocol_table(Only) {
  Table table{"protocols", {"name", "aliases", "meaning"}, {}};
  for (const ProtocolInfo& row : protocols())
    table.rows.push_back({row.name, words_of(row.aliases), meaning(row.protocol)});
  return table;
}

Table engine_table(Only) {
  Table table{"engines", {"name", "aliases", "meaning"}, {}};
  for (const EngineInfo& row : engines())
    table.rows.push_back({row.name, words_of(row.aliases), row.meaning});
  return table;
}

Table topology_table(Only) {
  Table table{"topologies", {"name", "meaning", "calibration"}, {}};
  for (const ShippedMachine& row : shipped_machines()) {
    const auto machine = find_machine(std::string(row.name));
    table.rows.push_back({row.name, machine->title(), text_or_null(machine->calibration())});
  }
  return table;
}

std::string_view name(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return "time";
    case Quantity::bandwidth:
      return "bandwidth";
    case Quantity::bytes:
      return "bytes";
    case Quantity::ratio:
      return "ratio";
    case Quantity::count:
      return "count";
  }
  __builtin_unreachable();
}

Table machine_cost_table(Only) {
  Table table{"machine-costs", {"name", "quantity", "meaning"}, {}};
  for (const CostInfo& row : cost_infos())
    table.rows.push_back({row.name, name(row.quantity), row.meaning});
  return table;
}

Table backend_table(Only) {
  Table table{"backends", {"name", "device", "description"}, {}};
  for (const Backend* backend : backends()) {
    const auto devices = backend->devices();
    for (int i = 0; i < static_cast<int>(devices.size()); ++i)
      table.rows.push_back({backend->name(), to_string(Device{backend->kind(), i}),
                            devices[static_cast<std::size_t>(i)]});
    if (devices.empty()) table.rows.push_back({backend->name(), Value(), backend->missing()});
  }
  return table;
}

struct Topic {
  std::string_view name;
  std::string_view aliases;
  Table (*table)(Only);
};
constexpr Topic topic_table[] = {
    {"collectives", "collective", collective_table},
    {"ops", "op", op_table},
    {"dtypes", "dtype", dtype_table},
    {"algorithms", "algorithm", algorithm_table},
    {"costs", "cost", cost_table},
    {"layouts", "layout", layout_table},
    {"parameters", "parameter", parameter_table},
    {"policies", "policy accumulate mean nan fp8", policy_table},
    {"protocols", "protocol", protocol_table},
    {"engines", "engine", engine_table},
    {"backends", "backend device devices", backend_table},
    {"topologies", "topology machines", topology_table},
    {"machine-costs", "", machine_cost_table},
};
constexpr std::span<const Topic> topics = topic_table;

class ListCommand : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view summary() const override {
    return "collectives, ops, dtypes, algorithms, their costs, and all else that has a name";
  }

  bool setup(const std::vector<std::string>& arguments) override {
    OptionsDescription options = report_options(format_);
    options.add_options()  //
        ("collective", parsed(only_, parse_collective, "NAME"),
         "of algorithms and costs only those for that one")  //
        ("markdown", boost::program_options::bool_switch(&markdown_),
         "tables as in README.md, instead of --format");
    std::vector<std::string> operands;
    const std::string description =
        "Lists what can be named in other commands. TOPIC is one of: " + names(topics) +
        ". All of them unless said.";
    if (!read_arguments({name(), "[TOPIC]...", description}, options, arguments, &operands))
      return false;
    if (markdown_ && format_ != Format::table)
      throw Error(ErrorKind::bad_argument, "--markdown and --format ask for two forms; give one");
    for (const std::string& operand : operands)
      chosen_.push_back(&find_by_name(topics, operand, "topic"));
    if (chosen_.empty())
      for (const Topic& topic : topics) chosen_.push_back(&topic);
    return true;
  }

  int run(Job&) override {
    std::vector<Table> tables;
    for (const Topic* topic : chosen_) tables.push_back(topic->table(only_));
    markdown_ ? print_markdown(tables) : print_tables(tables, format_);
    return exit_ok;
  }

 private:
  Format format_ = Format::table;
  bool markdown_ = false;
  Only only_;
  std::vector<const Topic*> chosen_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<ListCommand>(); }

}  // namespace vranks::cli
