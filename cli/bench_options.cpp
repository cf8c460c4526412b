// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>

#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "collectives/plan.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t most_turns = 1'000'000;

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

Place parse_place_or_none(const std::string& text) {
  return parse_or("none", parse_place)(text).value_or(Place::apart);
}

auto number_parser(const char* option, std::int64_t least, std::int64_t most) {
  return [=](const std::string& text) { return parse_whole(option, text, least, most); };
}
auto size_parser(const char* option) {
  return [=](const std::string& text) { return parse_size(option, text); };
}

// Ranks that --groups or --mesh have; 0 if neither is there.
std::int64_t ranks_of_groups(const CallDetails& details) {
  if (details.mesh) return mesh_ranks(*details.mesh);
  std::int64_t ranks = 0;
  if (details.groups)
    for (const Group& group : *details.groups) ranks += static_cast<std::int64_t>(group.size());
  return ranks;
}

void fill_in_ranks(CallDetails& details) {
  const std::int64_t ranks = ranks_of_groups(details);
  if (details.ranks && ranks != 0 && *details.ranks != ranks)
    refuse(fmt::format("--ranks {} is not the {} ranks of --{}", *details.ranks, ranks,
                       details.mesh ? "mesh" : "groups"));
  details.ranks = details.ranks.value_or(ranks == 0 ? 4 : ranks);
  if (!details.groups) return;
  const auto [least, most] = std::ranges::minmax(*details.groups, {}, &Group::size);
  if (least.size() != most.size())
    refuse(
        fmt::format("--groups: sizes and bandwidths are those of groups of equal length, but "
                    "there are ones of {} and of {} ranks",
                    least.size(), most.size()));
}

// A copy with counts and pairs, so that what needs them is not refused: bench makes them itself.
void check_call(const BenchOptions& options) {
  CallDetails details = options.details;
  if (takes_counts(options.collective())) details.counts = CountTable{};
  check_details(details, options.collective(), options.op());
  check_op(options.collective(), options.problem.op);
  if (options.problem.opaque_bytes > 0 && reduces(options.collective()))
    refuse(fmt::format("op {} is not for elements of bytes{}, which are only copied",
                       name(options.op()), options.problem.opaque_bytes));
}

// As nccl-tests' sendrecv: each rank sends to the next.
Permutation to_the_next(std::int64_t ranks) {
  Permutation pairs;
  for (std::int64_t r = 0; r < ranks; ++r) pairs.emplace_back(r, (r + 1) % ranks);
  return pairs;
}

void check_report(const BenchOptions& options, const BenchRequest& request) {
  if (!request.report) {
    if (request.says_trials) refuse("--trials is about --report; give that, too");
    return;
  }
  if (options.algorithms.size() != 1)
    refuse(fmt::format("--report is about one algorithm, not {}", options.algorithms.size()));
  if (sizes_of(options.sizes).size() != 1)
    refuse(fmt::format("--report is about one size, but --bytes {}:{} are several",
                       options.sizes.begin, *options.sizes.end));
  if (options.details.groups || options.details.mesh)
    refuse("--report is about all ranks as one group, without --groups and --mesh");
  if (!options.check) refuse("--report is about correctness, too, which --check 0 leaves out");
}

}  // namespace

OptionsDescription bench_options(BenchOptions& options, BenchRequest& request) {
  OptionsDescription what("What to run", page_columns);
  add_collective_options(what, options.problem);
  what.add_options()(
      "algorithm",
      parsed(options.algorithms, parse_list(parse_text), "NAME,...")->default_value("direct"),
      (names(algorithms()) + "; several, separated by commas, or all").c_str());
  add_data_options(what, options.problem, "");

  OptionsDescription sizes("Sizes and repeats, with nccl-tests' letters", page_columns);
  sizes.add_options()  //
      ("bytes,b", parsed(options.sizes, parse_size_range, "BEGIN:END")->default_value("32M"),
       "from BEGIN to END, or one size; K, M, G and T are powers of 1024")  //
      ("end-bytes,e", parsed(request.end_bytes, size_parser("--end-bytes"), "SIZE"),
       "END, if --bytes doesn't say it")  //
      ("step-factor,f",
       parsed(request.step_factor, number_parser("--step-factor", 2, 1 << 20), "N"),
       "each size is N times the one before; 2 unless said")  //
      ("step-bytes,i", parsed(request.step_bytes, size_parser("--step-bytes"), "SIZE"),
       "each size is that much more than the one before")  //
      ("iterations,n",
       parsed(options.iterations, number_parser("--iterations", 1, most_turns), "N")
           ->default_value("20"),
       "timed calls of each row")  //
      ("warmup,w",
       parsed(options.warmup, number_parser("--warmup", 0, most_turns), "N")->default_value("5"),
       "calls before them that don't count")  //
      ("check,c", parsed(options.check, number_parser("--check", 0, 1), "0|1")->default_value("1"),
       "whether a result is compared with the exact one")  //
      ("in-place", parsed(options.in_place, parse_place_or_none, "nccl|mpi|none"),
       "the second half of the columns: the result goes into the input's memory, at the place of "
       "that library; nccl unless said, with --report none")  //
      ("hot", boost::program_options::bool_switch(&options.hot),
       "one buffer, again and again, which caches may hold; otherwise buffers rotate")  //
      ("cache-bytes", parsed(options.cache_bytes, size_parser("--cache-bytes"), "SIZE"),
       "what the last-level cache may hold; what the system says, or 128M, unless said");

  OptionsDescription report = report_options(request.format);
  report.add_options()  //
      ("report", boost::program_options::bool_switch(&request.report),
       "one configuration: trials, errors, memory, time")  //
      ("trials",
       parsed(
           request.trials,
           [&request](const std::string& text) {
             request.says_trials = true;
             return parse_whole("--trials", text, 1, most_turns);
           },
           "N"),
       "of --report: calls on random data that are judged; 10 unless said")  //
      ("output", parsed(request.output, parse_path, "OUT.json"),
       "saves the JSON, whatever is printed");

  OptionsDescription who("Who takes part", page_columns);
  add_member_options(who, options.details);
  add_permutation_option(who, options.details.permutation);
  add_operand_options(who, options.details);
  what.add(sizes).add(who).add(parameter_options(options.parameters));
  what.add(policy_options(options.policies)).add(report);
  return what;
}

void check_bench_options(BenchOptions& options, BenchRequest& request) {
  if (options.collective() == Collective::barrier)
    refuse("a barrier has no data, and bench is about bytes; vranks run times it");
  if (request.end_bytes && options.sizes.end)
    refuse("--bytes with a colon and --end-bytes both say where sizes end; give one of them");
  if (request.end_bytes) options.sizes.end = request.end_bytes;
  options.sizes.step_factor = request.step_factor;
  options.sizes.step_bytes = request.step_bytes;
  sizes_of(options.sizes);
  if (options.hot && options.cache_bytes)
    refuse("--cache-bytes says what data must not fit into, and --hot that it may; give one");
  CallDetails& details = options.details;
  if (options.collective() == Collective::permute && !details.permutation)
    details.permutation = Permutation{};
  check_call(options);
  fill_in_ranks(details);
  if (details.permutation && details.permutation->empty())
    details.permutation = to_the_next(options.group_ranks());

  request.all_algorithms = options.algorithms == std::vector<std::string>{"all"};
  if (request.all_algorithms) {
    options.algorithms.clear();
    for (const Algorithm& algorithm : algorithms())
      if (supports(algorithm, options.collective()))
        options.algorithms.emplace_back(algorithm.name);
  }
  std::vector<std::string> seen;
  for (std::string& text : options.algorithms) {
    const Algorithm& algorithm = find_algorithm(text, options.collective());
    text = algorithm.name;
    if (std::ranges::find(seen, text) != seen.end())
      refuse(fmt::format("--algorithm names {} twice", text));
    seen.push_back(text);
    if (!request.all_algorithms) check_parameters(algorithm, options.parameters);
  }
  check_report(options, request);
  if (request.report) options.check = false;  // the trials do
}

void check_bench_calls(const BenchOptions& options, const std::string& algorithm,
                       const std::vector<BenchSize>& sizes, Device device) {
  check_parameters(find_algorithm(algorithm, options.collective()), options.parameters);
  const DType dtype =
      options.problem.opaque_bytes > 0 ? DType::u8 : options.problem.dtype.value_or(DType::f32);
  std::vector<const Algorithm*> built;  // schedules don't depend on sizes, but libraries' choices
  for (const BenchSize& size : sizes) {
    const CollectiveOptions call = bench_call(options, algorithm, size);
    const PlanKey key{
        .problem = problem_of(options.collective(), bench_shape(options, size), dtype, call),
        .groups = call.groups,
        .algorithm = algorithm,
        .parameters = options.parameters.values,
        .policies = options.policies,
        .device = device};
    const Choice choice = choose(key);
    if (std::ranges::find(built, choice.selection.algorithm) != built.end()) continue;
    built.push_back(choice.selection.algorithm);
    if (is_tree_fold(*choice.selection.algorithm, choice.rules)) continue;  // needs none
    build_schedule(group_problem(key, 0), choice.selection);
  }
}

}  // namespace vranks::cli
