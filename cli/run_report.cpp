// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/preview.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

// "4 * 2^-24 * mean|x|": the promise in exact.hpp; "equal" where that is nothing.
std::string bound_text(const Problem& problem, ErrorBound bound) {
  if (bound.steps == 0 && bound.rounded_in == problem.dtype) return "equal";
  const int digits = bound.rounded_in == DType::f64 ? 53 : 24;
  std::string text = fmt::format("{} * 2^-{} * {}", bound.steps, digits,
                                 problem.op == ReduceOp::mean  ? "mean|x|"
                                 : problem.op == ReduceOp::sum ? "sum|x|"
                                                               : "|product|");
  if (bound.rounded_in != problem.dtype)
    text += fmt::format(" + half a unit of {}", name(problem.dtype));
  return text;
}

// Where element i lies in a slice: " at [3, 7]"; nothing where a slice is one number.
std::string index_text(const Shape& shape, std::int64_t i) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d])
    text = fmt::format("{}{}{}", i % shape[d], text.empty() ? "" : ", ", text);
  return shape.empty() ? "" : " at [" + text + "]";
}

void report_problem(Report& report, const Outcome& outcome, const ProblemOptions& options,
                    const std::string& output) {
  const Problem& problem = outcome.problem;
  report.add("collective", name(problem.collective));
  report.add("op", name(problem.op));
  report.add("dtype", name(problem.dtype));
  report.add("ranks", problem.ranks);
  report.add("elements_per_rank", problem.elements);
  report.add("input", text_or_null(options.input));
  report.add("input_shape", value_of(outcome.in.shape()));
  report.add("seed", options.input.empty() ? Value(options.seed) : Value());
  report.add("output", text_or_null(output));
  report.add("output_shape", value_of(outcome.out.shape()));
  report.line("input",
              fmt::format("{} {}, {}", to_string(outcome.in.shape()), name(problem.dtype),
                          options.input.empty() ? fmt::format("random, seed {}", options.seed)
                                                : "from " + options.input));
  report.line("output",
              fmt::format("{} {}{}{}", to_string(outcome.out.shape()), name(problem.dtype),
                          output.empty() ? "" : ", saved as ", output));
}

void report_provenance(Report& report, const Outcome& outcome) {
  const Provenance& ran = outcome.provenance;
  report.add("algorithm", ran.algorithm);
  const std::string order(find_algorithm(ran.algorithm, outcome.problem.collective).order);
  report.add("order_of_seven_ranks", order);
  report.add("device", ran.device);
  report.add("device_name", outcome.device_name);
  report.add("accumulate", ran.accumulate);
  report.add("mean", text_or_null(ran.mean));
  report.add("nan", text_or_null(ran.nan));
  std::string arithmetic = "partial results in " + ran.accumulate;
  if (!ran.mean.empty())
    arithmetic += ran.mean == "divide" ? ", then one division by R" : ", mean by " + ran.mean;
  if (!ran.nan.empty()) arithmetic += ", NaN: " + ran.nan;
  report.line("algorithm", fmt::format("{}: {}", ran.algorithm, arithmetic));
  const bool has_order = outcome.problem.op != ReduceOp::min && outcome.problem.op != ReduceOp::max;
  if (has_order) report.line("order", order + " for seven ranks");
  report.line("device", fmt::format("{}: {}", ran.device, outcome.device_name));
}

void report_result(Report& report, const Outcome& outcome) {
  const std::int64_t n = outcome.problem.elements;
  const DType dtype = outcome.problem.dtype;
  constexpr std::int64_t shown = 3;
  report.add("first_elements", elements_of(outcome.out.data(), dtype, 0, std::min(n, shown)));
  report.add("last_elements",
             elements_of(outcome.out.data(), dtype, std::max<std::int64_t>(0, n - shown), n));
  report.add("equal_ranks", outcome.equal_ranks);
  report.line("", "");
  report.line("result",
              preview(outcome.out.data(), dtype, outcome.slice_shape(), page_columns - 13));
  if (outcome.result_ranks() == 1 || n == 0) return;
  report.line("", outcome.equal_ranks == outcome.problem.ranks
                      ? fmt::format("the same bits on all {} ranks", outcome.problem.ranks)
                      : fmt::format("WRONG: only {} of {} ranks have the bits of rank 0",
                                    outcome.equal_ranks, outcome.problem.ranks));
}

void report_error(Report& report, const Outcome& outcome) {
  const Deviation& d = outcome.deviation;
  const std::string bound = bound_text(outcome.problem, outcome.bound);
  report.add("compared", d.compared);
  report.add("different", d.different);
  report.add("over_bound", d.over_bound);
  report.add("max_abs", d.max_abs);
  report.add("max_ulp", d.max_ulp);
  report.add("max_bound_used", d.max_bound_used);
  report.add("bound", bound);
  report.add("worst_element", d.worst < 0 ? Value() : Value(d.worst));
  report.add("worst_result", d.worst < 0 ? Value() : Value(d.worst_y));
  report.add("worst_exact", d.worst < 0 ? Value() : Value(d.worst_exact));
  report.add("worst_bound", d.worst < 0 ? Value() : Value(d.worst_bound));
  if (d.compared == 0) return;
  report.line("", "");
  const std::string at = d.worst < 0 ? "" : index_text(outcome.slice_shape(), d.worst);
  if (d.over_bound > 0) {
    report.line("error", fmt::format("WRONG: {} of {} elements are outside the bound, {}",
                                     d.over_bound, d.compared, bound));
    report.line("", fmt::format("worst{}: {} where {}{} is right", at, d.worst_y, d.worst_exact,
                                d.worst_bound > 0 ? fmt::format(" +- {:.3g}", d.worst_bound) : ""));
    return;
  }
  if (d.worst < 0) {
    report.line("error", "none: all elements are exact");
    return;
  }
  report.line("error", fmt::format("at most {:.3g}, or {:.3g} ULP, from the exact result",
                                   d.max_abs, d.max_ulp));
  report.line("",
              fmt::format("bound {}; {:.3g} % of it used{}", bound, 100 * d.max_bound_used, at));
  report.line("", fmt::format("{} of {} elements are the exact result rounded once",
                              d.compared - d.different, d.compared));
}

void report_time(Report& report, const Outcome& outcome) {
  const bool has_run = !outcome.seconds.empty();
  const double bytes = outcome.bytes_moved();
  report.add("repeats", static_cast<std::int64_t>(outcome.seconds.size()));
  report.add("median_seconds", has_run ? Value(outcome.median_seconds()) : Value());
  report.add("bytes_moved", outcome.in.bytes() + outcome.out.bytes());
  report.add("gigabytes_per_second",
             has_run ? Value(bytes / outcome.median_seconds() * 1e-9) : Value());
  if (!has_run) return;
  report.line("", "");
  report.line("time", fmt::format("{}, the median of {} calls",
                                  seconds_text(outcome.median_seconds()), outcome.seconds.size()));
  report.line("bandwidth", fmt::format("{:.4g} GB/s: {} read and {} written",
                                       bytes / outcome.median_seconds() * 1e-9,
                                       bytes_text(static_cast<double>(outcome.in.bytes())),
                                       bytes_text(static_cast<double>(outcome.out.bytes()))));
}

}  // namespace

void print_run(const Outcome& outcome, const ProblemOptions& options, const std::string& output,
               Format format) {
  const Problem& problem = outcome.problem;
  Report report(fmt::format("{} {} over {} {}", name(problem.collective), name(problem.op),
                            problem.ranks, problem.ranks == 1 ? "rank" : "ranks"));
  report.add("version", build::version);
  report_problem(report, outcome, options, output);
  report_provenance(report, outcome);
  report_result(report, outcome);
  report_error(report, outcome);
  report_time(report, outcome);
  report.print(format);
}

}  // namespace vranks::cli
