// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>

#include "cli/call_options.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "ranks/names.hpp"
#include "simulator/costs.hpp"

namespace vranks::cli {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

std::pair<std::string, std::string> parse_named_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    refuse(fmt::format("--set: '{}' is not name=value, such as launch=8us", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

OptionsDescription simulate_options(SimulateOptions& options) {
  OptionsDescription what("What to time", page_columns);
  what.add_options()  //
      ("collective",
       parsed(options.collective, parse_collective, "NAME")->default_value("all_reduce"),
       names(collectives()).c_str())  //
      ("algorithm",
       parsed(options.algorithms, parse_list(parse_text), "NAME,...")->default_value("all"),
       (names(algorithms()) + "; several, separated by commas, or all").c_str())  //
      ("ranks",
       parsed(
           options.ranks,
           [](const std::string& text) { return parse_whole("--ranks", text, 1, 1 << 20); }, "R"),
       "how many ranks; 8 unless said")  //
      ("bytes", parsed(options.sizes, parse_size_range, "BEGIN:END")->default_value("1K:1G"),
       "from BEGIN to END, or one size, as nccl-tests count it; K, M, G and T are powers of "
       "1024")  //
      ("step-factor",
       parsed(
           options.step_factor,
           [](const std::string& text) { return parse_whole("--step-factor", text, 2, 1 << 20); },
           "N"),
       "each size is N times the one before; 2 unless said")  //
      ("dtype", parsed(options.dtype, parse_dtype, "NAME")->default_value("f32"),
       names(dtypes()).c_str())  //
      ("op", parsed(options.op, parse_reduce_op, "NAME"),
       "sum unless said; no op takes longer than another one");
  add_root_option(what, options.root);
  OptionsDescription machine("On which machine", page_columns);
  machine.add_options()  //
      ("topology",
       parsed(
           options.topology,
           [&options](const std::string& text) {
             options.says_topology = true;
             return text;
           },
           "NAME|FILE.yaml"),
       "nvswitch_h100 unless said; one of `vranks list topologies`, or a file of the same form")  //
      ("set", parsed(options.costs, parse_list(parse_named_value), "NAME=VALUE,..."),
       ("other costs than the machine's, such as launch=8us: " + cost_names()).c_str())  //
      ("measured", parsed(options.measured, parse_path, "TIMES.csv"),
       "compares with published times instead, row by row: docs/accuracy.md");
  OptionsDescription report = report_options(options.format);
  report.add_options()  //
      ("trace", parsed(options.trace, parse_path, "OUT.json"),
       "of one size and one algorithm: every message, for ui.perfetto.dev");
  what.add(machine).add(parameter_options(options.parameters)).add(report);
  return what;
}

void check_simulate_options(SimulateOptions& options) {
  options.sizes.step_factor = options.step_factor;
  if (!options.measured.empty()) {
    if (!options.trace.empty()) refuse("--trace is about one call, and --measured about many");
    const SimulateOptions unsaid;
    if (options.algorithms != unsaid.algorithms || options.collective != unsaid.collective ||
        options.ranks || options.op || options.root || options.step_factor ||
        options.sizes.begin != unsaid.sizes.begin || options.sizes.end != unsaid.sizes.end ||
        options.dtype != unsaid.dtype || !options.parameters.names.empty())
      refuse(
          "--measured says what to time, row by row; besides, it reads --topology, --set and "
          "--format alone");
    return;
  }
  if (takes_counts(options.collective))
    refuse(fmt::format("simulate times equal blocks; {} has them as {}", name(options.collective),
                       name(even_form(options.collective))));
  if (options.collective == Collective::permute)
    refuse("simulate times no permute: one message a rank needs no algorithm");
  root_of(options.collective, options.root);
  check_op(options.collective, options.op);
  const std::size_t sizes =
      options.collective == Collective::barrier ? 1 : sizes_of(options.sizes).size();
  const bool is_one = options.algorithms.size() == 1 && options.algorithms[0] != "all";
  if (options.algorithms.size() > 1 && std::ranges::count(options.algorithms, "all") > 0)
    refuse("--algorithm: all stands for every one; give it alone");
  if (!options.trace.empty() && (sizes != 1 || !is_one))
    refuse("--trace is about one call: give --algorithm NAME and one size, such as --bytes 1M");
  if (!options.parameters.names.empty() && !is_one)
    refuse(fmt::format("--{} is about single algorithms; give --algorithm, too",
                       options.parameters.names[0]));
}

}  // namespace vranks::cli
