// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks run`: one collective on real data, its result, how exact that is and how long it took.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cli/algorithm_options.hpp"
#include "cli/call_memory.hpp"
#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/option_values.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/run_report.hpp"
#include "cli/steps_document.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "ranks/npy.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

struct ExecutorInfo {
  std::string_view name;
  std::string_view aliases;
  bool is_steps;
};
constexpr ExecutorInfo executors[] = {{"fused", "", false}, {"steps", "", true}};

bool parse_executor(const std::string& text) {
  return find_by_name(std::span<const ExecutorInfo>(executors), text, "executor").is_steps;
}

// Whose fault a refused tensor is.
std::string input_name(const ProblemOptions& options) {
  return options.input.empty() ? "input" : "'" + options.input + "'";
}

Tensor make_input(const ProblemOptions& options) {
  if (options.input.empty()) {
    ProgressLine progress("making random data");
    Tensor tensor(options.dtype.value_or(DType::f32), options.shape.value_or(Shape{4, 16, 48}));
    rows_of(tensor.view(), input_name(options).c_str());
    fill_random(tensor.view(), options.seed);
    return tensor;
  }
  ProgressLine progress("reading " + options.input);
  return load_npy(options.input, options.dtype, {},
                  [&](std::int64_t done, std::int64_t total) { progress(done, total); });
}

std::vector<double> time_calls(const Backend& backend, int device,
                               const std::function<void()>& call) {
  ProgressLine progress("timing");
  std::vector<double> seconds = backend.time(3, device, call);
  const double once = std::max(*std::ranges::min_element(seconds), 1e-7);
  // As many as half a second holds, if that is more.
  const int repeats = static_cast<int>(std::clamp(0.5 / once, 3.0, 1000.0));
  if (repeats > 3) seconds = backend.time(repeats, device, call);
  std::ranges::sort(seconds);
  return seconds;
}

// How many rows of the result hold the bytes that all ranks should have: those of the input of an
// all-gather, otherwise those of rank 0.
std::int64_t count_equal_ranks(const Outcome& outcome) {
  const std::int64_t ranks = outcome.result_ranks();
  const std::int64_t bytes = outcome.out.bytes() / ranks;
  const std::byte* const right = outcome.combines() ? outcome.out.data() : outcome.in.data();
  std::int64_t equal = 0;
#pragma omp parallel for reduction(+ : equal)
  for (std::int64_t r = 0; r < ranks; ++r)
    equal +=
        std::memcmp(right, outcome.out.data() + r * bytes, static_cast<std::size_t>(bytes)) == 0;
  return equal;
}

// Of copies: every rank's elements against the input.
Deviation deviation_from_input(const Outcome& outcome) {
  const auto size = static_cast<std::int64_t>(size_bytes(outcome.problem.dtype));
  Deviation found;
  found.compared = outcome.out.elements();
  if (outcome.equal_ranks == outcome.result_ranks()) return found;
  for (std::int64_t i = 0; i < found.compared; ++i)
    found.different += std::memcmp(outcome.out.data() + i * size,
                                   outcome.in.data() + i * size % outcome.in.bytes(),
                                   static_cast<std::size_t>(size)) != 0;
  found.over_bound = found.different;
  return found;
}

class Run : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "one collective on real data: result, error, time";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
  PlanKey key_for(const Rows& rows, DType dtype, Device device) const;
  void compute(Outcome& outcome, const PlanKey& key, const Choice& choice) const;
  void judge(Outcome& outcome, const Rows& rows, const Choice& choice) const;

  ProblemOptions options_;
  GivenParameters parameters_;
  Policies policies_;
  std::optional<std::int64_t> root_;
  std::optional<bool> by_steps_;
  Place place_ = Place::apart;
  Format format_ = Format::table;
  std::string output_, steps_;
};

bool Run::setup(const std::vector<std::string>& arguments) {
  OptionsDescription options = problem_options(options_);
  add_root_option(options, root_);
  OptionsDescription how("How to run it", page_columns);
  how.add_options()  //
      ("executor", parsed(by_steps_, parse_executor, "NAME"),
       "fused: one pass over memory; steps: the algorithm's steps one by one, slow, the same "
       "bits; fused unless --steps is given")  //
      ("in-place", parsed(place_, parse_place, "nccl|mpi"),
       "the result goes into the input's memory, at the place of that library");
  OptionsDescription report = report_options(format_);
  report.add_options()  //
      ("output", parsed(output_, parse_path, "Y.npy"),
       "saves the result: of all ranks, but for a reduce of the root alone")  //
      ("steps", parsed(steps_, parse_path, "OUT.json"),
       "saves what every rank holds after each step, who added what, and the bytes moved");
  options.add(parameter_options(parameters_)).add(policy_options(policies_)).add(how).add(report);
  if (!read_arguments(
          {name(), "",
           "Runs one collective over the virtual ranks of a tensor: slice r of dimension 0 is what "
           "rank r holds. Says what came out, how far that is from the exact result, and how long "
           "it took. Without options: the mean over the ranks of a random (4, 16, 48) tensor of "
           "f32."},
          options, arguments))
    return false;
  check_parameters(find_algorithm(options_.algorithm, options_.collective), parameters_);
  if (!output_.empty() && output_ == steps_)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("--output and --steps both name '{}'; one would replace the other", output_));
  root_of(options_.collective, root_);
  if (options_.op && !reduces(options_.collective))
    throw Error(ErrorKind::bad_argument, fmt::format("--op is about collectives that combine; {} "
                                                     "only copies",
                                                     vranks::name(options_.collective)));
  if (!steps_.empty() && by_steps_ == false)
    throw Error(ErrorKind::bad_argument,
                "--steps shows the steps, which --executor fused doesn't take; give one of them");
  if (!steps_.empty()) by_steps_ = true;
  return true;
}

PlanKey Run::key_for(const Rows& rows, DType dtype, Device device) const {
  return {.problem = {.collective = options_.collective,
                      .ranks = rows.ranks,
                      .elements = rows.elements,
                      .dtype = dtype,
                      .op = options_.op.value_or(ReduceOp::mean),
                      .root = root_of(options_.collective, root_)},
          .algorithm = options_.algorithm,
          .parameters = parameters_.values,
          .policies = policies_,
          .device = device};
}

void Run::compute(Outcome& outcome, const PlanKey& key, const Choice& choice) const {
  std::optional<CallMemory> memory;
  {
    ProgressLine progress("copying to " + to_string(key.device));
    memory.emplace(outcome.problem, outcome.in, outcome.out, key.device, place_);
    memory->send();
  }
  const Backend& backend = backend_for(key.device);
  outcome.device_name = backend.devices()[static_cast<std::size_t>(key.device.index)];
  const CollectiveOptions options{.op = key.problem.op,
                                  .algorithm = key.algorithm,
                                  .parameters = key.parameters,
                                  .nan = key.policies.nan,
                                  .accumulate = key.policies.accumulate,
                                  .mean = key.policies.mean,
                                  .root = key.problem.root};
  const auto call = [&](const StepObserver& observer = {}) {
    return by_steps_.value_or(false)
               ? run_steps(key.problem.collective, memory->in(), memory->out(), options, observer)
               : vranks::run(key.problem.collective, memory->in(), memory->out(), options);
  };
  {
    ProgressLine progress("computing");
    if (steps_.empty()) {
      outcome.provenance = call();
      memory->fetch();
    } else {
      const Schedule schedule = build_schedule(key.problem, choice.selection);
      const Layout layout = make_layout(key.problem, schedule, choice.selection);
      StepsDocument document(outcome.problem, choice, schedule, layout, outcome.in);
      outcome.provenance = call(
          [&](std::size_t step, const std::vector<SlotState>& all) { document.add(step, all); });
      memory->fetch();
      const std::string text = std::move(document).text(outcome.out);
      OutputFile file(steps_);
      file.write(std::as_bytes(std::span(text)));
      file.finish();
    }
  }
  if (outcome.in.bytes() != 0)
    outcome.seconds = time_calls(backend, key.device.index, [&] { call(); });
}

void Run::judge(Outcome& outcome, const Rows& rows, const Choice& choice) const {
  ProgressLine progress("comparing with the exact result");
  outcome.equal_ranks = count_equal_ranks(outcome);
  if (!outcome.combines()) {
    outcome.bound.rounded_in = outcome.problem.dtype;
    outcome.deviation = deviation_from_input(outcome);
    return;
  }
  outcome.bound = is_tree_fold(*choice.selection.algorithm, choice.rules)
                      ? direct_bound(outcome.problem)
                      : fold_bound(outcome.problem, choice.rules);
  // The blocks of a reduce-scatter, in rank order, are the whole reduction.
  outcome.deviation =
      deviation_from_exact(outcome.problem, rows, outcome.out.data(), outcome.bound);
}

int Run::run(Job& job) {
  if (job.processes() > 1)
    throw Error(ErrorKind::not_supported,
                "run is one process; start it without mpirun (vranks check runs under mpirun)");
  const Device device = usable_device(options_.device);
  for (const std::string& path : {output_, steps_})
    if (!path.empty()) check_writable_target(path);
  if (device.kind == DeviceKind::cpu) limit_memory();  // a device maps memory of its own

  Outcome outcome;
  outcome.in = make_input(options_);
  const Rows rows = rows_of(outcome.in.view(), input_name(options_).c_str());
  const Shape shape = output_shape(options_.collective, outcome.in.shape());
  const PlanKey key = key_for(rows, outcome.in.dtype(), device);
  const Choice choice = choose(key);
  outcome.problem = key.problem;
  outcome.problem.nan = choice.rules.nan;
  outcome.out = Tensor(outcome.in.dtype(), shape);
  with_memory_for(
      fmt::format("{} over {} ranks", choice.provenance.algorithm, outcome.problem.ranks), [&] {
        compute(outcome, key, choice);
        return 0;
      });
  if (!output_.empty()) {
    ProgressLine progress("writing " + output_);
    save_npy(output_, outcome.out.view(),
             [&](std::int64_t done, std::int64_t total) { progress(done, total); });
  }
  judge(outcome, rows, choice);
  print_run(outcome,
            {.algorithm = find_algorithm(options_.algorithm, options_.collective).name,
             .input = options_.input,
             .seed = options_.seed,
             .in_place = vranks::cli::name(place_),
             .output = output_,
             .steps = steps_},
            format_);
  if (outcome.is_right()) return exit_ok;
  fmt::print(stderr, "vranks run: the result is WRONG; please report this with its command line\n");
  return exit_check_failed;
}

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace vranks::cli
