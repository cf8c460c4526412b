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
#include "cli/call_options.hpp"
#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/option_values.hpp"
#include "cli/process_run.hpp"
#include "cli/progress.hpp"
#include "cli/rank_share.hpp"
#include "cli/report.hpp"
#include "cli/run_input.hpp"
#include "cli/run_report.hpp"
#include "cli/steps_document.hpp"
#include "cli/timing.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"
#include "ranks/npy.hpp"

namespace vranks::cli {

namespace {

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

class Run : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "one collective on real data: result, error, time";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
  void check() const;
  void check_data() const;
  void check_processes(const Job& job) const;
  CollectiveOptions call_for(const Shape& shape, DType dtype, std::int64_t opaque_bytes) const;
  PlanKey key_for(const Shape& shape, DType dtype, const CollectiveOptions& call,
                  Device device) const;
  void plan(Outcome& outcome, const CollectiveOptions& call, Device device) const;
  void compute(Outcome& outcome, const CollectiveOptions& call) const;
  int run_alone(Job& job);
  int run_over_processes(Job& job);
  void write_steps(const Outcome& outcome, StepsDocument&& document) const;
  int finish(Job& job, Outcome& outcome, const CollectiveOptions& call,
             const std::string& library) const;
  void save(const std::string& path, const Tensor& tensor, std::int64_t opaque_bytes) const;

  ProblemOptions options_;
  CallDetails details_;
  GivenParameters parameters_;
  Policies policies_;
  std::optional<bool> by_steps_;
  std::optional<Engine> engine_;
  double timeout_ = Job::default_timeout;
  std::string nccl_library_;
  Place place_ = Place::apart;
  Format format_ = Format::table;
  std::string output_, output_ranks_, steps_;
};

bool Run::setup(const std::vector<std::string>& arguments) {
  OptionsDescription options = problem_options(options_);
  OptionsDescription how("How to run it", page_columns);
  how.add_options()  //
      ("executor", parsed(by_steps_, parse_executor, "NAME"),
       "fused: one pass over memory; steps: the algorithm's steps one by one, slow, the same "
       "bits; fused unless --steps is given")  //
      ("in-place", parsed(place_, parse_place, "nccl|mpi"),
       "the result goes into the input's memory, at the place of that library");
  OptionsDescription processes("Over the processes that mpirun started", page_columns);
  processes.add_options()                                                       //
      ("engine", parsed(engine_, parse_engine, "NAME"), engine_text().c_str())  //
      ("nccl-library", parsed(nccl_library_, parse_path, "PATH"),
       "of engine nccl; else the system's libnccl.so.2")  //
      ("timeout", parsed(timeout_, parse_seconds, "SECONDS")->default_value("600"), timeout_help);
  OptionsDescription report = report_options(format_);
  report.add_options()  //
      ("output", parsed(output_, parse_path, "Y.npy"),
       "saves the result: of all ranks, but where only the root has one of the root alone")  //
      ("output-ranks", parsed(output_ranks_, parse_path, "Y.npy"),
       "of min_loc and max_loc: saves the ranks that hold the result, as i32")  //
      ("steps", parsed(steps_, parse_path, "OUT.json"),
       "saves what every rank holds after each step, who added what, and the bytes moved");
  options.add(call_options(details_));
  options.add(parameter_options(parameters_))
      .add(policy_options(policies_))
      .add(how)
      .add(processes);
  options.add(report);
  if (!read_arguments(
          {name(), "",
           "Runs one collective over the virtual ranks of a tensor: slice r of dimension 0 is what "
           "rank r holds. Says what came out, how far that is from the exact result (also in ULP: "
           "units in the last place of the result), and how long it took. Without options: the "
           "mean over the ranks of a random (4, 16, 48) tensor of "
           "f32. Under mpirun the ranks are spread over the processes."},
          options, arguments))
    return false;
  check();
  if (!steps_.empty()) by_steps_ = true;
  return true;
}

// What can be said before data is there.
void Run::check() const {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorKind::bad_argument, problem);
  };
  const Collective collective = options_.collective;
  const ReduceOp op = op_of(collective, options_.op);
  check_parameters(find_algorithm(options_.algorithm, collective), parameters_);
  const std::string* const files[] = {&output_, &output_ranks_, &steps_};
  const char* const names[] = {"--output", "--output-ranks", "--steps"};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      if (!files[a]->empty() && *files[a] == *files[b])
        refuse(fmt::format("{} and {} both name '{}'; one would replace the other", names[a],
                           names[b], *files[a]));
  if (options_.op && !reduces(collective))
    refuse(fmt::format("--op is about collectives that combine; {} {}", vranks::name(collective),
                       collective == Collective::barrier ? "passes no data" : "only copies"));
  check_details(details_, collective, op);
  if (!output_ranks_.empty() && (!reduces(collective) || !finds_rank(op)))
    refuse(fmt::format("--output-ranks is about ops min_loc and max_loc, not {}",
                       reduces(collective) ? vranks::name(op) : vranks::name(collective)));
  if (!steps_.empty() && by_steps_ == false)
    refuse("--steps shows the steps, which --executor fused doesn't take; give one of them");
  if (!nccl_library_.empty() && engine_ != Engine::nccl)
    refuse("--nccl-library is about --engine nccl");
  check_data();
}

void Run::check_data() const {
  const auto refuse = [](const std::string& problem) {
    throw Error(ErrorKind::bad_argument, problem);
  };
  if (details_.ranks && (options_.shape || !options_.input.empty()))
    refuse(fmt::format("--ranks and --{} both say how many ranks there are; give one of them",
                       options_.shape ? "shape" : "input"));
  if (options_.collective != Collective::barrier) return;
  const std::pair<const char*, bool> about_data[] = {
      {"shape", options_.shape.has_value()},
      {"input", !options_.input.empty()},
      {"dtype", options_.dtype.has_value() || options_.opaque_bytes > 0},
      {"seed", options_.says_seed},
      {"output", !output_.empty()},
      {"in-place", place_ != Place::apart}};
  for (const auto& [option, is_given] : about_data)
    if (is_given)
      refuse(fmt::format("--{} is about data, and a barrier has none; --ranks says who takes part",
                         option));
}

// What is about the memory of one process.
void Run::check_processes(const Job& job) const {
  const std::pair<const char*, bool> about_one[] = {{"executor", by_steps_ && steps_.empty()},
                                                    {"steps", !steps_.empty()},
                                                    {"in-place", place_ != Place::apart}};
  for (const auto& [option, is_given] : about_one)
    if (is_given)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("--{} is about ranks that share the memory of one process, and here {} "
                      "do the work{}",
                      option,
                      job.processes() == 1 ? "an engine's messages"
                                           : fmt::format("{} processes", job.processes()),
                      job.processes() == 1 ? "; leave --engine out" : "; start one"));
}

CollectiveOptions Run::call_for(const Shape& shape, DType dtype, std::int64_t opaque_bytes) const {
  CollectiveOptions call{.op = op_of(options_.collective, options_.op),
                         .algorithm = options_.algorithm,
                         .parameters = parameters_.values,
                         .nan = policies_.nan,
                         .accumulate = policies_.accumulate,
                         .mean = policies_.mean,
                         .fp8 = policies_.fp8};
  add_details(details_, shape[0], call);
  if (opaque_bytes == 0) return call;
  const std::string element = element_name(dtype, opaque_bytes);
  if (reduces(options_.collective))
    throw Error(ErrorKind::not_supported,
                fmt::format("op {} is not for elements of {}, which are only copied",
                            vranks::name(call.op), element));
  if (!steps_.empty())
    throw Error(ErrorKind::not_supported,
                fmt::format("--steps shows elements of a dtype, not of {}", element));
  // Counts and messages are about elements, not about their bytes.
  (void)output_shape(options_.collective, {shape.begin(), shape.end() - 1}, call);
  return call;
}

PlanKey Run::key_for(const Shape& shape, DType dtype, const CollectiveOptions& call,
                     Device device) const {
  return {.problem = problem_of(options_.collective, shape, dtype, call),
          .groups = call.groups,
          .algorithm = options_.algorithm,
          .parameters = parameters_.values,
          .policies = policies_,
          .device = device};
}

void Run::plan(Outcome& outcome, const CollectiveOptions& call, Device device) const {
  const Collective collective = options_.collective;
  const Shape& shape = outcome.in.shape();
  outcome.out = Tensor(outcome.in.dtype(), output_shape(collective, shape, call));
  outcome.key = key_for(shape, outcome.in.dtype(), call, device);
  if (!call.groups.empty() && !steps_.empty())
    throw Error(ErrorKind::not_supported,
                "--steps shows all ranks as one group, in their order; take a group's ranks as the "
                "input instead of --groups and --mesh");
  outcome.key.problem.nan = choose(outcome.key).rules.nan;
  if (reduces(collective) && finds_rank(call.op))
    outcome.ranks = Tensor(DType::i32, outcome.out.shape());
  // Gaps between blocks that lie apart.
  if (takes_counts(collective) && outcome.out.bytes() != 0)
    std::memset(outcome.out.data(), 0, static_cast<std::size_t>(outcome.out.bytes()));
}

void Run::compute(Outcome& outcome, const CollectiveOptions& call) const {
  const PlanKey& key = outcome.key;
  std::optional<CallMemory> memory;
  {
    ProgressLine progress("copying to " + to_string(key.device));
    memory.emplace(key, outcome.in, outcome.out, outcome.ranks, place_);
    memory->send();
  }
  const Backend& backend = backend_for(key.device);
  outcome.device_name = backend.devices()[static_cast<std::size_t>(key.device.index)];
  const auto run_once = [&](const StepObserver& observer = {}) {
    return by_steps_.value_or(false) ? memory->run_steps(call, observer) : memory->run(call);
  };
  {
    ProgressLine progress("computing");
    if (steps_.empty()) {
      outcome.provenance = run_once();
      memory->fetch();
    } else {
      const Choice choice = choose(key);
      const Problem problem = group_problem(key, 0);
      const Schedule schedule = build_schedule(problem, choice.selection);
      const Layout layout = make_layout(problem, schedule, choice.selection);
      StepsDocument document(problem, choice, schedule, layout, outcome.in);
      outcome.provenance = run_once(
          [&](std::size_t step, const std::vector<SlotState>& all) { document.add(step, all); });
      memory->fetch();
      write_steps(outcome, std::move(document));
    }
  }
  if (outcome.in.bytes() != 0)
    outcome.seconds = time_calls(backend, key.device.index, [&] { run_once(); });
}

void Run::write_steps(const Outcome& outcome, StepsDocument&& document) const {
  const std::string text = std::move(document).text(outcome.out);
  OutputFile file(steps_);
  file.write(std::as_bytes(std::span(text)));
  file.finish();
}

void Run::save(const std::string& path, const Tensor& tensor, std::int64_t opaque_bytes) const {
  if (path.empty()) return;
  ProgressLine progress("writing " + path);
  save_npy(
      path, tensor.view(), [&](std::int64_t done, std::int64_t total) { progress(done, total); },
      opaque_bytes);
}

int Run::run(Job& job) {
  if (engine_) job.need_mpi();
  job.set_timeout(timeout_);
  if (job.processes() == 1 && !engine_) return run_alone(job);
  return run_over_processes(job);
}

int Run::run_alone(Job& job) {
  const Device device = usable_device(options_.device);
  for (const std::string& path : {output_, output_ranks_, steps_})
    if (!path.empty()) check_writable_target(path);
  if (device.kind == DeviceKind::cpu) limit_memory();  // a device maps memory of its own

  Outcome outcome;
  RunInput input = make_input(options_, details_.ranks.value_or(0));
  outcome.in = std::move(input.tensor);
  outcome.opaque_bytes = input.opaque_bytes;
  rows_of(outcome.in.view(), input_name(options_).c_str());
  const CollectiveOptions call =
      call_for(outcome.in.shape(), outcome.in.dtype(), outcome.opaque_bytes);
  plan(outcome, call, device);
  with_memory_for(fmt::format("{} over {} ranks", options_.algorithm, outcome.problem().ranks),
                  [&] {
                    compute(outcome, call);
                    return 0;
                  });
  return finish(job, outcome, call, "");
}

// Every process owns a block of the ranks. The first one holds all of them too, to say how right
// the result is.
int Run::run_over_processes(Job& job) {
  ProcessCallRequest request{.collective = options_.collective,
                             .engine = engine_.value_or(Engine::schedule),
                             .timeout = timeout_,
                             .nccl_library = nccl_library_};
  InputKind kind;
  RankRange share;
  job.together([&] {
    check_processes(job);
    kind = input_kind(options_, details_.ranks.value_or(0));
    share = share_of(kind.shape[0], job.processes(), job.process());
    if (job.is_first())
      for (const std::string& path : {output_, output_ranks_})
        if (!path.empty()) check_writable_target(path);
  });
  // Each process opens the path on its own machine and in its own folder.
  job.agree("inputs", {std::string(vranks::name(kind.dtype)), to_string(kind.shape)});

  Outcome outcome;
  Tensor block;
  std::optional<ProcessRun> processes;
  if (request.engine == Engine::nccl) job.together([&] { allow_shared_devices(job); });
  job.together([&] {
    request.device = device_of_process(job, options_.device);
    if (request.device.kind == DeviceKind::cpu) limit_memory();
    outcome.opaque_bytes = kind.opaque_bytes;
    request.shape = kind.shape;
    request.call = call_for(kind.shape, kind.dtype, kind.opaque_bytes);
    // What is wrong with the call all of them find.
    (void)choose_all(key_for(kind.shape, kind.dtype, request.call, request.device));
    block = make_input_of(options_, kind, share);
    if (!job.is_first()) return;
    outcome.in = make_input_of(options_, kind, {.first = 0, .count = kind.shape[0]});
    rows_of(outcome.in.view(), input_name(options_).c_str());
    plan(outcome, request.call, request.device);
  });
  job.together([&] { processes.emplace(job, request, block.view()); });
  outcome.provenance = processes->run();
  processes->collect(outcome.out, outcome.ranks);
  if (element_count(kind.shape) != 0 || options_.collective == Collective::barrier)
    outcome.seconds = processes->time();
  int exit_code = exit_ok;
  job.together([&] {
    if (!job.is_first()) return;
    const Backend& backend = backend_for(request.device);
    outcome.device_name = backend.devices()[static_cast<std::size_t>(request.device.index)];
    exit_code = finish(job, outcome, request.call, processes->library());
  });
  return job.gather(exit_code).front();
}

int Run::finish(Job& job, Outcome& outcome, const CollectiveOptions& call,
                const std::string& library) const {
  const Tensor flat = outcome.is_ragged() ? packed(outcome, outcome.out) : Tensor();
  const Tensor flat_ranks =
      outcome.is_ragged() && outcome.ranks.bytes() != 0 ? packed(outcome, outcome.ranks) : Tensor();
  const Tensor& result = outcome.is_ragged() ? flat : outcome.out;
  const Tensor& ranks = outcome.is_ragged() ? flat_ranks : outcome.ranks;
  save(output_, result, outcome.opaque_bytes);
  save(output_ranks_, ranks, 0);
  {
    ProgressLine progress("comparing with the exact result");
    judge(outcome);
  }
  print_run(outcome, result, ranks,
            {.algorithm = find_algorithm(options_.algorithm, options_.collective).name,
             .input = options_.input,
             .seed = options_.seed,
             .in_place = vranks::cli::name(place_),
             .output = output_,
             .output_ranks = output_ranks_,
             .steps = steps_,
             .processes = engine_ || job.processes() > 1 ? job.processes() : 0,
             .library = library,
             .call = call},
            format_);
  if (outcome.is_right()) return exit_ok;
  fmt::print(stderr, "vranks run: the result is WRONG; please report this with its command line\n");
  return exit_check_failed;
}

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace vranks::cli
