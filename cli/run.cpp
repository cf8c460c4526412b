// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks run`: one collective on real data, its result, how exact that is and how long it took.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/run_report.hpp"
#include "collectives/algorithm.hpp"
#include "ranks/error.hpp"
#include "ranks/npy.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

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

// The collective on `device`; fills `outcome` from `provenance` to `out`, and `seconds`.
void compute(Outcome& outcome, const CollectiveOptions& options, Device device) {
  const Backend& backend = backend_for(device);
  const std::size_t in_bytes = static_cast<std::size_t>(outcome.in.bytes());
  const std::size_t out_bytes = static_cast<std::size_t>(outcome.out.bytes());
  TensorView in = outcome.in.view();
  TensorView out = outcome.out.view();
  std::optional<DeviceBuffer> device_in, device_out;
  in.device = out.device = device;
  if (device.kind != DeviceKind::cpu && in_bytes != 0) {
    ProgressLine progress("copying to " + to_string(device));
    device_in.emplace(in_bytes, device);
    device_out.emplace(out_bytes, device);
    device_in->copy_from_host(in.data, in_bytes);
    in.data = device_in->data();
    out.data = device_out->data();
  }
  const auto call = [&] {
    outcome.provenance =
        outcome.is_all_reduce() ? all_reduce(in, out, options) : reduce_ranks(in, out, options);
  };
  outcome.device_name = backend.devices()[static_cast<std::size_t>(device.index)];
  {
    ProgressLine progress("computing");
    call();
    if (device_out) device_out->copy_to_host(outcome.out.data(), out_bytes);
  }
  if (in_bytes != 0) outcome.seconds = time_calls(backend, device.index, call);
}

std::int64_t count_equal_ranks(const Outcome& outcome) {
  const std::int64_t ranks = outcome.result_ranks();
  const std::int64_t bytes = outcome.out.bytes() / ranks;
  std::int64_t equal = 0;
#pragma omp parallel for reduction(+ : equal)
  for (std::int64_t r = 0; r < ranks; ++r)
    equal += std::memcmp(outcome.out.data(), outcome.out.data() + r * bytes,
                         static_cast<std::size_t>(bytes)) == 0;
  return equal;
}

class Run : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "one collective on real data: result, error, time";
  }

  bool setup(const std::vector<std::string>& arguments) override {
    OptionsDescription options = problem_options(options_);
    options.add(report_options(format_, &output_));
    return read_arguments(
        {name(), "",
         "Runs one collective over the virtual ranks of a tensor: slice r of dimension 0 is what "
         "rank r holds. Says what came out, how far that is from the exact result, and how long "
         "it took. Without options: the mean over the ranks of a random (4, 16, 48) tensor of "
         "f32."},
        options, arguments);
  }

  int run(Job& job) override {
    if (job.processes() > 1)
      throw Error(ErrorKind::not_supported,
                  "run is one process; start it without mpirun (vranks check runs under mpirun)");
    const ReduceOp op = options_.op.value_or(ReduceOp::mean);
    if (options_.nan == NanPolicy::ignore && op != ReduceOp::min && op != ReduceOp::max)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("--nan ignore is about min and max; with op {} a NaN gives NaN",
                              vranks::name(op)));
    find_algorithm(options_.algorithm, options_.collective);
    if (options_.algorithm != "direct" || (options_.collective != Collective::all_reduce &&
                                           options_.collective != Collective::reduce))
      throw Error(ErrorKind::not_supported,
                  fmt::format("run has all_reduce and reduce by algorithm direct, not {} by {}",
                              vranks::name(options_.collective), options_.algorithm));
    const Device device = usable_device(options_.device);
    if (!output_.empty()) check_writable_target(output_);

    Outcome outcome;
    outcome.in = make_input(options_);
    const Rows rows = rows_of(outcome.in.view(), input_name(options_).c_str());
    outcome.problem = {options_.collective, rows.ranks, rows.elements, outcome.in.dtype(), op,
                       options_.nan,        0};
    outcome.out = Tensor(outcome.in.dtype(),
                         outcome.is_all_reduce() ? outcome.in.shape() : outcome.slice_shape());
    compute(outcome, {.op = op, .algorithm = options_.algorithm, .nan = options_.nan}, device);
    if (!output_.empty()) {
      ProgressLine progress("writing " + output_);
      save_npy(output_, outcome.out.view(),
               [&](std::int64_t done, std::int64_t total) { progress(done, total); });
    }
    {
      ProgressLine progress("comparing with the exact result");
      outcome.equal_ranks = count_equal_ranks(outcome);
      outcome.bound = direct_bound(outcome.problem);
      outcome.deviation =
          deviation_from_exact(outcome.problem, rows, outcome.out.data(), outcome.bound);
    }
    print_run(outcome, options_, output_, format_);
    if (outcome.is_right()) return exit_ok;
    fmt::print(stderr,
               "vranks run: the result is WRONG; please report this with its command line\n");
    return exit_check_failed;
  }

 private:
  ProblemOptions options_;
  Format format_ = Format::table;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace vranks::cli
