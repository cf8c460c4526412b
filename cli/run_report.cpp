// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/preview.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

constexpr std::size_t text_width = page_columns - 13;  // behind the labels

// "4 * 2^-24 * mean|x|": the promise in exact.hpp; "equal" where that is nothing.
std::string bound_text(const Problem& problem, ErrorBound bound) {
  if (bound.steps == 0 && bound.rounded_in == problem.dtype) return "equal";
  const std::string unit =
      fmt::format("2^{}", static_cast<int>(std::log2(ulp_at(1, bound.rounded_in))) - 1);
  const bool compounds = bound.compounds || problem.op == ReduceOp::prod;
  std::string text = fmt::format("{} * {}",
                                 compounds ? fmt::format("((1 + {})^{} - 1)", unit, bound.steps)
                                           : fmt::format("{} * {}", bound.steps, unit),
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

void report_problem(Report& report, const Outcome& outcome, const RunRequest& request) {
  const Problem& problem = outcome.problem;
  report.add("collective", name(problem.collective));
  report.add("op", outcome.combines() ? Value(name(problem.op)) : Value());
  report.add("dtype", name(problem.dtype));
  report.add("ranks", problem.ranks);
  report.add("root", problem.collective == Collective::reduce ? Value(problem.root) : Value());
  report.add("elements_per_rank", problem.elements);
  report.add("input", text_or_null(request.input));
  report.add("input_shape", value_of(outcome.in.shape()));
  report.add("seed", request.input.empty() ? Value(request.seed) : Value());
  report.add("output", text_or_null(request.output));
  report.add("output_shape", value_of(outcome.out.shape()));
  report.add("steps", text_or_null(request.steps));
  report.add("in_place", text_or_null(request.in_place));
  report.line("input",
              fmt::format("{} {}, {}", to_string(outcome.in.shape()), name(problem.dtype),
                          request.input.empty() ? fmt::format("random, seed {}", request.seed)
                                                : fmt::format("from {}", request.input)));
  std::string output = fmt::format("{} {}", to_string(outcome.out.shape()), name(problem.dtype));
  if (problem.collective == Collective::reduce) output += fmt::format(", on rank {}", problem.root);
  if (!request.in_place.empty()) output += fmt::format(", in place ({})", request.in_place);
  if (!request.output.empty()) output += fmt::format(", saved as {}", request.output);
  report.line("output", output);
  if (!request.steps.empty()) report.line("steps", fmt::format("saved as {}", request.steps));
}

// What was computed, and with which roundings.
std::string arithmetic_text(const Outcome& outcome) {
  const Provenance& ran = outcome.provenance;
  if (!outcome.combines()) return "copies";
  std::string text = "partial results in " + ran.accumulate;
  if (ran.mean == "divide") text += ", then one division by R";
  if (ran.mean == "premultiply") text += ", of each value times 1/R";
  if (!ran.nan.empty()) text += ", NaN: " + ran.nan;
  return text;
}

void report_provenance(Report& report, const Outcome& outcome, const RunRequest& request) {
  const Provenance& ran = outcome.provenance;
  const std::string order(find_algorithm(ran.algorithm, outcome.problem.collective).order);
  report.add("asked_algorithm", request.algorithm);
  report.add("algorithm", ran.algorithm);
  report.add("reason", text_or_null(ran.reason));
  report.add("order", order);
  report.add("layout", ran.layout);
  report.add("protocol", text_or_null(ran.protocol));
  report.add("channels", ran.channels == 0 ? Value() : Value(ran.channels));
  report.add("executor", ran.executor);
  report.add("device", ran.device);
  report.add("device_name", outcome.device_name);
  report.add("accumulate", text_or_null(ran.accumulate));
  report.add("mean", text_or_null(ran.mean));
  report.add("nan", text_or_null(ran.nan));
  report.line("algorithm", fmt::format("{}: {}", ran.algorithm, arithmetic_text(outcome)));
  if (!ran.reason.empty())
    report.line("", wrapped(fmt::format("not {}: {}", request.algorithm, ran.reason), text_width));
  const ReduceOp op = outcome.problem.op;
  const bool has_order = outcome.combines() && op != ReduceOp::min && op != ReduceOp::max;
  if (has_order) report.line("order", wrapped(order, text_width));
  std::string layout = fmt::format("{}, executor {}", ran.layout, ran.executor);
  if (!ran.protocol.empty()) {
    layout += fmt::format(", protocol {}", ran.protocol);
    if (ran.channels != 0)
      layout += fmt::format(", {} channel{}", ran.channels, ran.channels == 1 ? "" : "s");
  }
  report.line("layout", layout);
  report.line("device", fmt::format("{}: {}", ran.device, outcome.device_name));
}

void report_result(Report& report, const Outcome& outcome) {
  const std::int64_t ranks = outcome.problem.ranks;
  const DType dtype = outcome.problem.dtype;
  // A reduce-scatter's ranks hold blocks of their own, so all of them are shown.
  const bool is_scattered = outcome.is_scattered();
  const std::int64_t of_rank_0 =
      outcome.out.elements() / (is_scattered ? ranks : outcome.result_ranks());
  const Shape& shape = outcome.out.shape();
  const bool has_ranks = outcome.problem.collective != Collective::reduce;
  constexpr std::int64_t shown = 3;
  report.add("first_elements",
             elements_of(outcome.out.data(), dtype, 0, std::min(of_rank_0, shown)));
  report.add("last_elements", elements_of(outcome.out.data(), dtype,
                                          std::max<std::int64_t>(0, of_rank_0 - shown), of_rank_0));
  report.add("equal_ranks", is_scattered ? Value() : Value(outcome.equal_ranks));
  report.line("", "");
  report.line("result",
              preview(outcome.out.data(), dtype,
                      has_ranks && !is_scattered ? Shape(shape.begin() + 1, shape.end()) : shape,
                      text_width));
  if (is_scattered && of_rank_0 > 0) report.line("", "dimension 0 counts the ranks");
  if (outcome.result_ranks() == 1 || of_rank_0 == 0) return;
  const std::string_view what = outcome.combines() ? "bits of rank 0" : "input's bits";
  report.line("", outcome.equal_ranks == ranks
                      ? fmt::format("the same bits on all {} ranks", ranks)
                      : fmt::format("WRONG: only {} of {} ranks have the {}", outcome.equal_ranks,
                                    ranks, what));
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
    report.line("error", outcome.combines() ? "none: all elements are exact"
                                            : "none: every rank holds the input's bits");
    return;
  }
  // Next to an exact 0 units are so small that their number says nothing.
  const std::string ulps = d.max_ulp < 1e6 ? fmt::format(", or {:.3g} ULP,", d.max_ulp) : "";
  report.line("error", fmt::format("at most {:.3g}{} from the exact result", d.max_abs, ulps));
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

void print_run(const Outcome& outcome, const RunRequest& request, Format format) {
  const Problem& problem = outcome.problem;
  Report report(fmt::format("{}{}{} over {} {}", name(problem.collective),
                            outcome.combines() ? " " : "",
                            outcome.combines() ? name(problem.op) : "", problem.ranks,
                            problem.ranks == 1 ? "rank" : "ranks"));
  report.add("version", build::version);
  report_problem(report, outcome, request);
  report_provenance(report, outcome, request);
  report_result(report, outcome);
  report_error(report, outcome);
  report_time(report, outcome);
  report.print(format);
}

}  // namespace vranks::cli
