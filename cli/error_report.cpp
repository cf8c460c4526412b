// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/error_report.hpp"

#include <fmt/format.h>

#include <cmath>

namespace vranks::cli {

namespace {

// What a bound's unit is multiplied by: the size of what was combined.
std::string_view magnitude_text(ReduceOp op) {
  switch (op) {
    case ReduceOp::mean:
      return "mean|x|";
    case ReduceOp::sum:
      return "sum|x|";
    case ReduceOp::premul_sum:
      return "sum|f x|";
    case ReduceOp::weighted_mean:
      return "sum|w x| / |sum w|";
    default:
      return "|product|";
  }
}

// "4 * 2^-24 * mean|x|": the promise in exact.hpp; "equal" where that is nothing.
std::string bound_text(const Problem& problem, ErrorBound bound) {
  const DType part = part_dtype(problem.dtype);
  if (bound.steps == 0 && bound.rounded_in == part && problem.op != ReduceOp::log_sum_exp)
    return "equal";
  const std::string unit =
      fmt::format("2^{}", static_cast<int>(std::log2(ulp_at(1, bound.rounded_in))) - 1);
  std::string text;
  if (problem.op == ReduceOp::log_sum_exp) {
    text = fmt::format("{} * (|y| + {} * (8 + log R))", unit, bound.steps + 1);
  } else {
    const bool is_prod = problem.op == ReduceOp::prod;
    const std::string step =
        is_prod && is_complex(problem.dtype) ? fmt::format("sqrt(5) * {}", unit) : unit;
    text =
        fmt::format("{} * {}",
                    bound.compounds || is_prod ? fmt::format("((1 + {})^{} - 1)", step, bound.steps)
                                               : fmt::format("{} * {}", bound.steps, step),
                    magnitude_text(problem.op));
  }
  if (bound.rounded_in != part) text += fmt::format(" + half a unit of {}", name(part));
  return text;
}

// Where element i lies in a slice: " at [3, 7]"; nothing where a slice is one number.
std::string index_text(const Shape& shape, std::int64_t i) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d])
    text = fmt::format("{}{}{}", i % shape[d], text.empty() ? "" : ", ", text);
  return shape.empty() ? "" : " at [" + text + "]";
}

}  // namespace

void report_error(Report& report, const Outcome& outcome) {
  const Deviation& d = outcome.deviation;
  const std::string bound =
      outcome.combines() ? bound_text(outcome.problem(), outcome.bound) : "equal";
  report.add("compared", d.compared);
  report.add("different", d.different);
  report.add("over_bound", d.over_bound);
  report.add("unjudged", d.unjudged);
  report.add("max_abs", d.max_abs);
  report.add("max_ulp", d.max_ulp);
  report.add("max_bound_used", d.max_bound_used);
  report.add("bound", bound);
  report.add("worst_element", d.worst < 0 ? Value() : Value(d.worst));
  report.add("worst_result", d.worst < 0 ? Value() : Value(d.worst_y));
  report.add("worst_exact", d.worst < 0 ? Value() : Value(d.worst_exact));
  report.add("worst_bound", d.worst < 0 ? Value() : Value(d.worst_bound));
  report.add("wrong_ranks", outcome.ranks.bytes() == 0 ? Value() : Value(outcome.wrong_ranks));
  if (d.compared == 0) return;
  report.line("", "");
  const std::string at =
      d.worst < 0
          ? ""
          : index_text(Shape(outcome.in.shape().begin() + 1, outcome.in.shape().end()), d.worst);
  if (outcome.wrong_ranks > 0)
    report.line("error",
                fmt::format("WRONG: {} of the ranks aren't the lowest that hold the result",
                            outcome.wrong_ranks));
  if (d.over_bound > 0) {
    report.line("error", fmt::format("WRONG: {} of {} elements are outside the bound, {}",
                                     d.over_bound, d.compared, bound));
    if (d.worst >= 0)
      report.line("",
                  fmt::format("worst{}: {} where {}{} is right", at, d.worst_y, d.worst_exact,
                              d.worst_bound > 0 ? fmt::format(" +- {:.3g}", d.worst_bound) : ""));
  }
  if (d.unjudged > 0)
    report.line(d.over_bound > 0 ? "" : "error",
                fmt::format("{} of {} elements are neither the exact result nor judged: partial "
                            "results leave the range of {}, each order in its own way",
                            d.unjudged, d.compared, name(outcome.bound.rounded_in)));
  if (d.over_bound > 0) return;
  if (d.different == 0 && outcome.wrong_ranks == 0) {
    report.line("error", outcome.combines() ? "none: all elements are exact"
                                            : "none: all elements are the input's bits");
    return;
  }
  if (d.worst < 0) return;
  // Next to an exact 0 units are so small that their number says nothing.
  const std::string ulps = d.max_ulp < 1e6 ? fmt::format(", or {:.3g} ULP,", d.max_ulp) : "";
  report.line(d.unjudged > 0 ? "" : "error",
              fmt::format("{}at most {:.3g}{} from the exact result",
                          d.unjudged > 0 ? "all others " : "", d.max_abs, ulps));
  report.line("",
              fmt::format("bound {}; {:.3g} % of it used{}", bound, 100 * d.max_bound_used, at));
  report.line("", fmt::format("{} of {} elements are the exact result rounded once",
                              d.compared - d.different, d.compared));
}

}  // namespace vranks::cli
