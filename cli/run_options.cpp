// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>

#include "cli/option_values.hpp"
#include "cli/rank_share.hpp"
#include "cli/report.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

struct ExecutorInfo {
  std::string_view name;
  std::string_view aliases;
  bool is_steps;
};
constexpr ExecutorInfo executors[] = {{"fused", "", false}, {"steps", "", true}};

// "mpi: ...; schedule: ...".
std::string engine_text() {
  std::string text;
  for (const EngineInfo& engine : engines())
    text += fmt::format("{}: {}; ", engine.name, engine.meaning);
  return text + fmt::format("{} unless said", name(Engine::schedule));
}

bool parse_executor(const std::string& text) {
  return find_by_name(std::span<const ExecutorInfo>(executors), text, "executor").is_steps;
}

void check_data(const RunOptions& options) {
  if (options.details.ranks && (options.problem.shape || !options.problem.input.empty()))
    refuse(fmt::format("--ranks and --{} both say how many ranks there are; give one of them",
                       options.problem.shape ? "shape" : "input"));
  if (options.problem.collective != Collective::barrier) return;
  const std::pair<const char*, bool> about_data[] = {
      {"shape", options.problem.shape.has_value()},
      {"input", !options.problem.input.empty()},
      {"dtype", options.problem.dtype.has_value() || options.problem.opaque_bytes > 0},
      {"seed", options.problem.says_seed},
      {"output", !options.output.empty()},
      {"in-place", options.place != Place::apart}};
  for (const auto& [option, is_given] : about_data)
    if (is_given)
      refuse(fmt::format("--{} is about data, and a barrier has none; --ranks says who takes part",
                         option));
}

}  // namespace

OptionsDescription run_options(RunOptions& options) {
  OptionsDescription all = problem_options(options.problem);
  OptionsDescription how("How to run it", page_columns);
  how.add_options()  //
      ("executor", parsed(options.by_steps, parse_executor, "NAME"),
       "fused: one pass over memory; steps: the algorithm's steps one by one, slow, the same "
       "bits; fused unless --steps is given")  //
      ("in-place", parsed(options.place, parse_place, "nccl|mpi"),
       "the result goes into the input's memory, at the place of that library");
  OptionsDescription processes("Over the processes that mpirun started", page_columns);
  processes.add_options()                                                              //
      ("engine", parsed(options.engine, parse_engine, "NAME"), engine_text().c_str())  //
      ("nccl-library", parsed(options.nccl_library, parse_path, "PATH"),
       "of engine nccl; else the system's libnccl.so.2")  //
      ("timeout", parsed(options.timeout, parse_seconds, "SECONDS")->default_value("600"),
       timeout_help);
  OptionsDescription report = report_options(options.format);
  report.add_options()  //
      ("output", parsed(options.output, parse_path, "Y.npy"),
       "saves the result: of all ranks, but where only the root has one of the root alone")  //
      ("output-ranks", parsed(options.output_ranks, parse_path, "Y.npy"),
       "of min_loc and max_loc: saves the ranks that hold the result, as i32")  //
      ("steps", parsed(options.steps, parse_path, "OUT.json"),
       "saves what every rank holds after each step, who added what, and the bytes moved");
  all.add(call_options(options.details));
  all.add(parameter_options(options.parameters))
      .add(policy_options(options.policies))
      .add(how)
      .add(processes);
  all.add(report);
  return all;
}

void check_run_options(RunOptions& options) {
  const Collective collective = options.problem.collective;
  const ReduceOp op = op_of(collective, options.problem.op);
  check_parameters(find_algorithm(options.problem.algorithm, collective), options.parameters);
  const std::string* const files[] = {&options.output, &options.output_ranks, &options.steps};
  const char* const names[] = {"--output", "--output-ranks", "--steps"};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      if (!files[a]->empty() && *files[a] == *files[b])
        refuse(fmt::format("{} and {} both name '{}'; one would replace the other", names[a],
                           names[b], *files[a]));
  check_op(collective, options.problem.op);
  check_details(options.details, collective, op);
  if (!options.output_ranks.empty() && (!reduces(collective) || !finds_rank(op)))
    refuse(fmt::format("--output-ranks is about ops min_loc and max_loc, not {}",
                       reduces(collective) ? name(op) : name(collective)));
  if (!options.steps.empty() && options.by_steps == false)
    refuse("--steps shows the steps, which --executor fused doesn't take; give one of them");
  if (!options.nccl_library.empty() && options.engine != Engine::nccl)
    refuse("--nccl-library is about --engine nccl");
  check_data(options);
  if (!options.steps.empty()) options.by_steps = true;
}

void check_over_processes(const RunOptions& options, int processes) {
  const std::pair<const char*, bool> about_one[] = {
      {"executor", options.by_steps && options.steps.empty()},
      {"steps", !options.steps.empty()},
      {"in-place", options.place != Place::apart}};
  for (const auto& [option, is_given] : about_one)
    if (is_given)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("--{} is about ranks that share the memory of one process, and here {} do "
                      "the work{}",
                      option, processes == 1 ? "an engine's messages" : processes_text(processes),
                      processes == 1 ? "; leave --engine out" : "; start one"));
}

CollectiveOptions run_call(const RunOptions& options, const Shape& shape, DType dtype,
                           std::int64_t opaque_bytes) {
  CollectiveOptions call{.op = op_of(options.problem.collective, options.problem.op),
                         .algorithm = options.problem.algorithm,
                         .parameters = options.parameters.values,
                         .nan = options.policies.nan,
                         .accumulate = options.policies.accumulate,
                         .mean = options.policies.mean,
                         .fp8 = options.policies.fp8};
  add_details(options.details, shape[0], call);
  if (opaque_bytes == 0) return call;
  const std::string element = element_name(dtype, opaque_bytes);
  if (reduces(options.problem.collective))
    throw Error(ErrorKind::not_supported,
                fmt::format("op {} is not for elements of {}, which are only copied", name(call.op),
                            element));
  if (!options.steps.empty())
    throw Error(ErrorKind::not_supported,
                fmt::format("--steps shows elements of a dtype, not of {}", element));
  // Counts and messages are about elements, not about their bytes.
  (void)output_shape(options.problem.collective, {shape.begin(), shape.end() - 1}, call);
  return call;
}

}  // namespace vranks::cli
