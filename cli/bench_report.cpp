// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench_error.hpp"
#include "cli/bench_table.hpp"
#include "cli/progress.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

// What the trials found.
struct Trials {
  std::int64_t count = 0, right = 0, wrong_elements = 0;
  double max_ulp = 0, max_bound_used = 0;
  ErrorSums errors;
};

Trials run_trials(BenchCase& bench, Place place, std::int64_t count) {
  ProgressLine progress("trials");
  Trials trials{.count = count, .errors = {}};
  for (std::int64_t t = 0; t < count; ++t) {
    progress(t, count);
    bench.try_once(place);
    const Outcome& outcome = bench.outcome();
    trials.right += outcome.is_right();
    trials.wrong_elements += bench.wrong_elements();
    trials.max_ulp = std::max(trials.max_ulp, outcome.deviation.max_ulp);
    trials.max_bound_used = std::max(trials.max_bound_used, outcome.deviation.max_bound_used);
    if (outcome.combines()) trials.errors.add(outcome);
  }
  return trials;
}

void report_problem(Report& report, const BenchOptions& options, const BenchSize& size,
                    const Outcome& outcome, std::string_view place) {
  const Problem& problem = outcome.problem();
  const Provenance& ran = outcome.provenance;
  const std::string dtype = element_name(problem.dtype, outcome.opaque_bytes);
  report.add("version", build::version);
  report.add("device", ran.device);
  report.add("device_name", outcome.device_name);
  report.add("collective", name(problem.collective));
  report.add("op", outcome.combines() ? Value(name(problem.op)) : Value());
  report.add("dtype", dtype);
  report.add("ranks", problem.ranks);
  report.add("root", has_root(problem.collective) ? Value(problem.root) : Value());
  report.add("size", size.bytes);
  report.add("count", size.count);
  report.add("elements_per_rank", size.elements);
  report.add("in_place", text_or_null(place));
  report.add("asked_algorithm", outcome.key.algorithm);
  report.add("algorithm", ran.algorithm);
  report.add("reason", text_or_null(ran.reason));
  report.add("layout", ran.layout);
  report.line("problem",
              fmt::format("{} elements of {} a rank, {}", size.elements, dtype,
                          place.empty() ? "out of place" : fmt::format("in place ({})", place)));
  report.line("size", fmt::format("{} ({} elements), as nccl-tests count it",
                                  bytes_text(static_cast<double>(size.bytes)), size.count));
  report.line("algorithm", fmt::format("{}, layout {}", ran.algorithm, ran.layout));
  if (!ran.reason.empty())
    report.line("", wrapped(fmt::format("not {}: {}", outcome.key.algorithm, ran.reason),
                            page_columns - 15));
  report.line("device", fmt::format("{}: {}", ran.device, outcome.device_name));
  report.add("seed", options.problem.seed);
}

void report_trials(Report& report, const Trials& trials, const Outcome& outcome) {
  const bool combines = outcome.combines();
  const ErrorSums& errors = trials.errors;
  const auto number = [&](double value) { return combines ? Value(value) : Value(); };
  report.add("trials", trials.count);
  report.add("trials_right", trials.right);
  report.add("wrong", trials.wrong_elements);
  report.add("errors_compared", combines ? Value(errors.compared()) : Value());
  report.add("max_abs", number(errors.max_absolute()));
  report.add("mean_abs", number(errors.mean_absolute()));
  report.add("max_relative", number(errors.max_relative()));
  report.add("mean_relative", number(errors.mean_relative()));
  report.add("max_ulp", number(trials.max_ulp));
  report.add("max_bound_used", number(trials.max_bound_used));
  report.line("", "");
  report.line("correct", fmt::format("{} of {} random trials, {} elements wrong", trials.right,
                                     trials.count, trials.wrong_elements));
  if (!combines) {
    report.line("error", trials.right == trials.count ? "none: all elements are the input's bits"
                                                      : "elements that aren't the input's bits");
    return;
  }
  report.line("error", fmt::format("absolute: at most {:.4g}, on average {:.4g}",
                                   errors.max_absolute(), errors.mean_absolute()));
  report.line("", fmt::format("relative: at most {:.4g}, on average {:.4g}", errors.max_relative(),
                              errors.mean_relative()));
  report.line("", fmt::format("from the exact result, over {} elements; {:.3g} % of the order's "
                              "bound at most",
                              errors.compared(), 100 * trials.max_bound_used));
}

void report_memory(Report& report, const Outcome& outcome, const CollectiveOptions& call,
                   bool is_apart) {
  const auto workspace = static_cast<std::int64_t>(workspace_bytes(
      outcome.collective(), outcome.in.shape(), outcome.in.dtype(), outcome.key.device, call));
  const std::int64_t in = outcome.in.bytes(), out = outcome.out.bytes();
  // In place every rank has room for the longer of the two.
  const std::int64_t ranks = outcome.problem().ranks;
  const std::int64_t data = is_apart ? in + out : ranks * std::max(in / ranks, outcome.row_bytes());
  report.add("input_bytes", in);
  report.add("output_bytes", out);
  report.add("workspace_bytes", workspace);
  report.add("peak_bytes", data + workspace);
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  report.line("", "");
  report.line("memory",
              fmt::format("{}: input {}, output {}{}, workspace {}", text(data + workspace),
                          text(in), text(out), is_apart ? "" : " in one", text(workspace)));
}

void report_times(Report& report, const BenchRow& row, const Measured& measured, double factor) {
  const double seconds = median(measured.seconds), copy = median(measured.copy_seconds);
  const Bandwidths found = bandwidths_of(row, measured, factor);
  report.add("iterations", static_cast<std::int64_t>(measured.seconds.size()));
  report.add("buffers", measured.buffers);
  report.add("median_seconds", seconds);
  report.add("min_seconds", measured.seconds.front());
  report.add("max_seconds", measured.seconds.back());
  report.add("copy_median_seconds", copy);
  report.add("copy_min_seconds", measured.copy_seconds.front());
  report.add("copy_max_seconds", measured.copy_seconds.back());
  report.add("algbw", found.algorithm);
  report.add("busbw", found.bus);
  report.add("bytes_moved", row.traffic.read + row.traffic.written);
  report.add("gigabytes_per_second", found.memory);
  report.add("copy_ratio", measured.copy_ratio);
  report.line("time", fmt::format("{}, the median of {} calls; {} to {}", seconds_text(seconds),
                                  measured.seconds.size(), seconds_text(measured.seconds.front()),
                                  seconds_text(measured.seconds.back())));
  report.line("copy", fmt::format("{}, as many bytes by a plain copy, in turns with the calls",
                                  seconds_text(copy)));
  report.line("bandwidth",
              fmt::format("{:.4g} GB/s, {:.3g} times the copy's: {} read, {} written", found.memory,
                          measured.copy_ratio, bytes_text(static_cast<double>(row.traffic.read)),
                          bytes_text(static_cast<double>(row.traffic.written))));
  report.line("algbw", fmt::format("{:.4g} GB/s; busbw {:.4g} GB/s", found.algorithm, found.bus));
}

}  // namespace

BenchReport report_bench(BenchCase& bench, const BenchOptions& options, const BenchSize& size,
                         std::int64_t trials) {
  const Place place = options.in_place.value_or(Place::apart);
  const Trials found = run_trials(bench, place, trials);
  Measured measured;
  {
    ProgressLine progress("timing");
    measured = bench.measure(place);
  }
  const Outcome& outcome = bench.outcome();
  const Problem& problem = outcome.problem();
  BenchReport result{
      .report = Report(fmt::format("{}{}{} over {} ranks", name(problem.collective),
                                   outcome.combines() ? " " : "",
                                   outcome.combines() ? name(problem.op) : "", problem.ranks)),
      .is_right = found.right == found.count};
  const BenchRow row{.size = size,
                     .algorithm = outcome.key.algorithm,
                     .ran = outcome.provenance,
                     .traffic = traffic_of(outcome),
                     .apart = {},
                     .in_place = {}};
  report_problem(result.report, options, size, outcome, name(place));
  report_trials(result.report, found, outcome);
  report_memory(result.report, outcome, bench.call(), place == Place::apart);
  report_times(result.report, row, measured, bus_factor(problem.collective, problem.ranks));
  return result;
}

}  // namespace vranks::cli
