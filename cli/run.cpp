// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks run`: one collective on real data, its result, how exact that is and how long it took.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "cli/call_memory.hpp"
#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/process_run.hpp"
#include "cli/progress.hpp"
#include "cli/rank_share.hpp"
#include "cli/run_input.hpp"
#include "cli/run_options.hpp"
#include "cli/run_report.hpp"
#include "cli/steps_document.hpp"
#include "cli/timing.hpp"
#include "ranks/error.hpp"
#include "ranks/npy.hpp"

namespace vranks::cli {

namespace {

class Run : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "one collective on real data: result, error, time";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
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

  RunOptions options_;
};

bool Run::setup(const std::vector<std::string>& arguments) {
  if (!read_arguments(
          {name(), "",
           "Runs one collective over the virtual ranks of a tensor: slice r of dimension 0 is what "
           "rank r holds. Says what came out, how far that is from the exact result (also in ULP: "
           "units in the last place of the result), and how long it took. Without options: the "
           "mean over the ranks of a random (4, 16, 48) tensor of "
           "f32. Under mpirun the ranks are spread over the processes."},
          run_options(options_), arguments))
    return false;
  check_run_options(options_);
  return true;
}

PlanKey Run::key_for(const Shape& shape, DType dtype, const CollectiveOptions& call,
                     Device device) const {
  return {.problem = problem_of(options_.problem.collective, shape, dtype, call),
          .groups = call.groups,
          .algorithm = options_.problem.algorithm,
          .parameters = options_.parameters.values,
          .policies = options_.policies,
          .device = device};
}

void Run::plan(Outcome& outcome, const CollectiveOptions& call, Device device) const {
  const Collective collective = options_.problem.collective;
  const Shape& shape = outcome.in.shape();
  outcome.out = Tensor(outcome.in.dtype(), output_shape(collective, shape, call));
  outcome.key = key_for(shape, outcome.in.dtype(), call, device);
  if (!call.groups.empty() && !options_.steps.empty())
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
    memory.emplace(key, outcome.in, outcome.out, outcome.ranks, options_.place);
    memory->send();
  }
  const Backend& backend = backend_for(key.device);
  outcome.device_name = backend.devices()[static_cast<std::size_t>(key.device.index)];
  const auto run_once = [&](const StepObserver& observer = {}) {
    return options_.by_steps.value_or(false) ? memory->run_steps(call, observer)
                                             : memory->run(call);
  };
  {
    ProgressLine progress("computing");
    if (options_.steps.empty()) {
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
  OutputFile file(options_.steps);
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
  if (options_.engine) job.need_mpi();
  job.set_timeout(options_.timeout);
  if (job.processes() == 1 && !options_.engine) return run_alone(job);
  return run_over_processes(job);
}

int Run::run_alone(Job& job) {
  const Device device = usable_device(options_.problem.device);
  for (const std::string& path : {options_.output, options_.output_ranks, options_.steps})
    if (!path.empty()) check_writable_target(path);
  if (device.kind == DeviceKind::cpu) limit_memory();  // a device maps memory of its own

  Outcome outcome;
  RunInput input = make_input(options_.problem, options_.details.ranks.value_or(0));
  outcome.in = std::move(input.tensor);
  outcome.opaque_bytes = input.opaque_bytes;
  rows_of(outcome.in.view(), input_name(options_.problem).c_str());
  const CollectiveOptions call =
      run_call(options_, outcome.in.shape(), outcome.in.dtype(), outcome.opaque_bytes);
  plan(outcome, call, device);
  with_memory_for(
      fmt::format("{} over {} ranks", options_.problem.algorithm, outcome.problem().ranks), [&] {
        compute(outcome, call);
        return 0;
      });
  return finish(job, outcome, call, "");
}

// Every process owns a block of the ranks. The first one holds all of them too, to say how right
// the result is.
int Run::run_over_processes(Job& job) {
  ProcessCallRequest request{.collective = options_.problem.collective,
                             .engine = options_.engine.value_or(Engine::schedule),
                             .timeout = options_.timeout,
                             .nccl_library = options_.nccl_library};
  InputKind kind;
  RankRange share;
  job.together([&] {
    check_over_processes(options_, job.processes());
    kind = input_kind(options_.problem, options_.details.ranks.value_or(0));
    share = share_of(kind.shape[0], job.processes(), job.process());
    if (job.is_first())
      for (const std::string& path : {options_.output, options_.output_ranks})
        if (!path.empty()) check_writable_target(path);
  });
  // Each process opens the path on its own machine and in its own folder.
  job.agree("inputs", {std::string(vranks::name(kind.dtype)), to_string(kind.shape)});

  Outcome outcome;
  Tensor block;
  std::optional<ProcessRun> processes;
  job.together([&] {
    request.device = device_of_process(job, options_.problem.device);
    if (request.engine == Engine::nccl) allow_shared_devices(job, request.device);
    if (request.device.kind == DeviceKind::cpu) limit_memory();
    outcome.opaque_bytes = kind.opaque_bytes;
    request.shape = kind.shape;
    request.call = run_call(options_, kind.shape, kind.dtype, kind.opaque_bytes);
    // What is wrong with the call all of them find.
    (void)choose_all(key_for(kind.shape, kind.dtype, request.call, request.device));
    block = make_input_of(options_.problem, kind, share);
    if (!job.is_first()) return;
    outcome.in = make_input_of(options_.problem, kind, {.first = 0, .count = kind.shape[0]});
    rows_of(outcome.in.view(), input_name(options_.problem).c_str());
    plan(outcome, request.call, request.device);
  });
  job.together([&] { processes.emplace(job, request, block.view()); });
  outcome.provenance = processes->run();
  processes->collect(outcome.out, outcome.ranks);
  if (element_count(kind.shape) != 0 || options_.problem.collective == Collective::barrier)
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
  save(options_.output, result, outcome.opaque_bytes);
  save(options_.output_ranks, ranks, 0);
  {
    ProgressLine progress("comparing with the exact result");
    judge(outcome);
  }
  print_run(
      outcome, result, ranks,
      {.algorithm = find_algorithm(options_.problem.algorithm, options_.problem.collective).name,
       .input = options_.problem.input,
       .seed = options_.problem.seed,
       .in_place = vranks::cli::name(options_.place),
       .output = options_.output,
       .output_ranks = options_.output_ranks,
       .steps = options_.steps,
       .processes = options_.engine || job.processes() > 1 ? job.processes() : 0,
       .library = library,
       .call = call},
      options_.format);
  if (outcome.is_right()) return exit_ok;
  fmt::print(stderr, "vranks run: the result is WRONG; please report this with its command line\n");
  return exit_check_failed;
}

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace vranks::cli
