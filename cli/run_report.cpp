// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/error_report.hpp"
#include "cli/preview.hpp"
#include "cli/rank_share.hpp"
#include "cli/report.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/processes/engine.hpp"
#include "vranks/build_info.hpp"

namespace vranks::cli {

namespace {

constexpr std::size_t text_width = page_columns - 13;  // behind the labels

// "(4, 16)" of a tensor of shape (4, 16, 12) whose elements are 12 bytes.
Shape shape_of_elements(const Shape& shape, std::int64_t opaque_bytes) {
  return opaque_bytes > 0 ? Shape(shape.begin(), shape.end() - 1) : shape;
}

// How many of dimension 0 of the saved result are each rank's.
std::vector<std::int64_t> output_counts(const Outcome& outcome) {
  std::vector<std::int64_t> counts = row_lengths(outcome, Slot::output);
  const Shape& shape = outcome.out.shape();
  const std::int64_t rest =
      std::max<std::int64_t>(element_count({shape.begin() + 2, shape.end()}), 1);
  for (std::int64_t& count : counts) count /= rest;
  return counts;
}

// "8 ranks", "8 ranks in 4 groups of 2".
std::string ranks_text(const PlanKey& key) {
  const std::int64_t ranks = key.problem.ranks;
  std::string text = fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
  if (key.groups.empty()) return text;
  const auto [least, most] = std::ranges::minmax(key.groups, {}, &Group::size);
  text += fmt::format(" in {} group{} of {}", key.groups.size(), key.groups.size() == 1 ? "" : "s",
                      least.size());
  return least.size() == most.size() ? text : text + fmt::format(" to {}", most.size());
}

template <class T>
Value list_or_null(const std::vector<T>& list) {
  List values;
  for (const T& each : list) values.emplace_back(each);
  return values.empty() ? Value() : Value(values);
}

Value pairs_or_null(const Outcome& outcome, const CollectiveOptions& call) {
  if (outcome.collective() != Collective::permute) return {};
  List values;
  for (const auto& [source, destination] : call.permutation)
    values.emplace_back(List{source, destination});
  return values;
}

// What the call was about beside op and data.
void report_call(Report& report, const Outcome& outcome, const CollectiveOptions& call) {
  const ReduceOp op = outcome.problem().op;
  const bool has_factor = outcome.combines() && op == ReduceOp::premul_sum;
  report.add("groups", call.groups.empty() ? Value() : value_of(call.groups));
  report.add("counts", list_or_null(call.counts));
  report.add("send_displacements", list_or_null(call.send_displacements));
  report.add("recv_displacements", list_or_null(call.receive_displacements));
  report.add("permutation", pairs_or_null(outcome, call));
  report.add("factor", has_factor ? Value(call.factor) : Value());
  report.add("weights", list_or_null(call.weights));
  const auto line = [&](const char* label, const Value& value) {
    report.line(label, wrapped(plain_text(value), text_width));
  };
  if (!call.groups.empty()) line("groups", value_of(call.groups));
  if (!call.counts.empty()) line("counts", list_or_null(call.counts));
  if (outcome.collective() == Collective::permute && !call.permutation.empty())
    line("pairs", pairs_or_null(outcome, call));
  if (has_factor) line("factor", Value(call.factor));
  if (!call.weights.empty()) line("weights", list_or_null(call.weights));
}

void report_data(Report& report, const Outcome& outcome, const Tensor& result,
                 const RunRequest& request) {
  const Problem& problem = outcome.problem();
  const bool has_data = problem.collective != Collective::barrier;
  const std::string dtype = element_name(problem.dtype, outcome.opaque_bytes);
  const Shape in = shape_of_elements(outcome.in.shape(), outcome.opaque_bytes);
  const Shape out = shape_of_elements(result.shape(), outcome.opaque_bytes);
  report.add("collective", name(problem.collective));
  report.add("op", outcome.combines() ? Value(name(problem.op)) : Value());
  report.add("dtype", has_data ? Value(dtype) : Value());
  report.add("ranks", problem.ranks);
  report.add("root", has_root(problem.collective) ? Value(problem.root) : Value());
  report.add("elements_per_rank", outcome.in.bytes() / outcome.element_bytes() /
                                      std::max<std::int64_t>(problem.ranks, 1));
  report.add("input", text_or_null(request.input));
  report.add("input_shape", has_data ? value_of(in) : Value());
  report.add("seed", request.input.empty() && has_data ? Value(request.seed) : Value());
  report.add("output", text_or_null(request.output));
  report.add("output_shape", has_data ? value_of(out) : Value());
  report.add("output_counts", outcome.is_ragged() ? value_of(output_counts(outcome)) : Value());
  report.add("output_ranks", text_or_null(request.output_ranks));
  report.add("steps", text_or_null(request.steps));
  report.add("in_place", text_or_null(request.in_place));
  if (has_data) {
    report.line("input",
                fmt::format("{} {}, {}", to_string(in), dtype,
                            request.input.empty() ? fmt::format("random, seed {}", request.seed)
                                                  : fmt::format("from {}", request.input)));
    std::string output = fmt::format("{} {}", to_string(out), dtype);
    if (ends_at_root(problem.collective))
      output += fmt::format(", on rank {}{}", problem.root,
                            outcome.key.groups.empty() ? "" : " of each group");
    if (!request.in_place.empty()) output += fmt::format(", in place ({})", request.in_place);
    if (!request.output.empty()) output += fmt::format(", saved as {}", request.output);
    report.line("output", output);
    if (outcome.is_ragged())
      report.line("",
                  wrapped(fmt::format("the ranks' parts one behind the other: {} of dimension 0",
                                      fmt::join(output_counts(outcome), ", ")),
                          text_width));
    if (has_root(problem.collective) && !ends_at_root(problem.collective))
      report.line("root", fmt::format("{}", problem.root));
    if (!request.output_ranks.empty())
      report.line("ranks", fmt::format("saved as {}", request.output_ranks));
  }
  if (!request.steps.empty()) report.line("steps", fmt::format("saved as {}", request.steps));
}

// What was computed, and with which roundings.
std::string arithmetic_text(const Outcome& outcome) {
  const Provenance& ran = outcome.provenance;
  if (outcome.collective() == Collective::barrier) return "messages without data";
  if (!outcome.combines()) return "copies";
  std::string text = "partial results in " + ran.accumulate;
  if (ran.mean == "divide") text += ", then one division by R";
  if (ran.mean == "premultiply") text += ", of each value times 1/R";
  if (!ran.nan.empty()) text += ", NaN: " + ran.nan;
  if (!ran.fp8.empty()) text += ", fp8: " + ran.fp8;
  return text;
}

// In which order the ranks' values are combined; nothing where none are.
std::string order_text(const Outcome& outcome) {
  if (!outcome.combines()) return "";
  if (outcome.provenance.executor == name(Engine::mpi) ||
      outcome.provenance.executor == name(Engine::nccl))
    return "the ranks of each process, then the processes in the order of the library";
  std::string order(find_algorithm(outcome.provenance.algorithm, outcome.collective()).order);
  // "tree; scan and exscan: chain"
  constexpr std::string_view scans = "; scan and exscan: ";
  if (const std::size_t at = order.find(scans); at != std::string::npos)
    order = is_prefix(outcome.collective()) ? order.substr(at + scans.size()) : order.substr(0, at);
  // An example of seven ranks says how trees go on.
  const bool is_for_seven = order.find("x6") != std::string::npos;
  const bool has_seven = outcome.problem().ranks == 7 && outcome.key.groups.empty();
  return is_for_seven && !has_seven ? "of 7 ranks: " + order : order;
}

void report_provenance(Report& report, const Outcome& outcome, const RunRequest& request) {
  const Provenance& ran = outcome.provenance;
  const std::string order = order_text(outcome);
  report.add("asked_algorithm", request.algorithm);
  report.add("algorithm", ran.algorithm);
  report.add("reason", text_or_null(ran.reason));
  report.add("order", text_or_null(order));
  report.add("layout", ran.layout);
  report.add("protocol", text_or_null(ran.protocol));
  report.add("channels", ran.channels == 0 ? Value() : Value(ran.channels));
  report.add("executor", ran.executor);
  report.add("processes", request.processes == 0 ? Value() : Value(request.processes));
  report.add("engine", request.processes == 0 ? Value() : Value(ran.executor));
  report.add("library", text_or_null(request.library));
  report.add("device", ran.device);
  report.add("device_name", outcome.device_name);
  report.add("accumulate", text_or_null(ran.accumulate));
  report.add("mean", text_or_null(ran.mean));
  report.add("nan", text_or_null(ran.nan));
  report.add("fp8", text_or_null(ran.fp8));
  report.line("algorithm", fmt::format("{}: {}", ran.algorithm, arithmetic_text(outcome)));
  if (!ran.reason.empty())
    report.line("", wrapped(fmt::format("not {}: {}", request.algorithm, ran.reason), text_width));
  if (!order.empty() && !is_ordered(outcome.problem().op))
    report.line("order", wrapped(order, text_width));
  std::string layout = fmt::format("{}, {} {}", ran.layout,
                                   request.processes == 0 ? "executor" : "engine", ran.executor);
  if (!ran.protocol.empty()) {
    layout += fmt::format(", protocol {}", ran.protocol);
    if (ran.channels != 0)
      layout += fmt::format(", {} channel{}", ran.channels, ran.channels == 1 ? "" : "s");
  }
  report.line("layout", layout);
  if (request.processes != 0)
    report.line(
        "processes",
        wrapped(fmt::format("{}, {}", shares_text(outcome.problem().ranks, request.processes),
                            request.library),
                text_width));
  report.line("device", fmt::format("{}: {}", ran.device, outcome.device_name));
}

// The first and last elements of rank 0's result, or of all where ranks hold parts of their own.
void report_ends(Report& report, const std::string& what, const Tensor& tensor, std::int64_t count,
                 std::int64_t opaque_bytes) {
  constexpr std::int64_t shown = 3;
  report.add("first_" + what,
             elements_of(tensor.data(), tensor.dtype(), 0, std::min(count, shown), opaque_bytes));
  report.add("last_" + what,
             elements_of(tensor.data(), tensor.dtype(), std::max<std::int64_t>(0, count - shown),
                         count, opaque_bytes));
}

void report_result(Report& report, const Outcome& outcome, const Tensor& result,
                   const Tensor& ranks) {
  const bool shows_all = outcome.is_spread() || ends_at_root(outcome.collective());
  const Shape& shape = result.shape();
  const Shape shown = shows_all ? shape : Shape(shape.begin() + 1, shape.end());
  const std::int64_t bytes = result.bytes() / (shows_all ? 1 : outcome.rows());
  const std::int64_t count = bytes / outcome.element_bytes();
  report_ends(report, "elements", result, count, outcome.opaque_bytes);
  if (ranks.bytes() != 0) {
    report_ends(report, "ranks", ranks, count, 0);
  } else {
    report.add("first_ranks", Value());
    report.add("last_ranks", Value());
  }
  report.add("equal_ranks", outcome.compares_rows() || outcome.collective() == Collective::reduce
                                ? Value(outcome.equal_rows)
                                : Value());
  if (outcome.collective() == Collective::barrier) return;
  report.line("", "");
  report.line("result",
              preview(result.data(), result.dtype(), shown, text_width, outcome.opaque_bytes));
  if (ranks.bytes() != 0)
    report.line("ranks", preview(ranks.data(), DType::i32, shown, text_width));
  if (count == 0) return;
  if (outcome.is_spread() && !outcome.is_ragged())
    report.line("", fmt::format("dimension 0 counts the {}",
                                ends_at_root(outcome.collective()) ? "groups" : "ranks"));
  if (!outcome.compares_rows() || outcome.rows() == 1) return;
  const std::int64_t rows = outcome.rows();
  if (outcome.equal_rows != rows)
    report.line("", fmt::format("WRONG: only {} of {} ranks have the {}", outcome.equal_rows, rows,
                                outcome.combines() ? "bits of the first" : "input's bits"));
  else if (!outcome.is_spread())
    report.line("", fmt::format("the same bits on all {} ranks", rows));
  else if (outcome.collective() == Collective::all_reduce)
    report.line("", "the same bits on all ranks of a group");
}

void report_time(Report& report, const Outcome& outcome) {
  const bool has_run = !outcome.seconds.empty();
  const Traffic traffic = traffic_of(outcome);
  const auto bytes = static_cast<double>(traffic.read + traffic.written);
  report.add("repeats", static_cast<std::int64_t>(outcome.seconds.size()));
  report.add("median_seconds", has_run ? Value(outcome.median_seconds()) : Value());
  report.add("bytes_moved", traffic.read + traffic.written);
  report.add("gigabytes_per_second",
             has_run ? Value(bytes / outcome.median_seconds() * 1e-9) : Value());
  report.line("", "");
  if (!has_run)
    return report.line("time", outcome.collective() == Collective::barrier
                                   ? "none: a barrier moves nothing here, where ranks share memory"
                                   : "none: there are no elements");
  report.line("time", fmt::format("{}, the median of {} calls",
                                  seconds_text(outcome.median_seconds()), outcome.seconds.size()));
  if (bytes == 0) return;
  report.line("bandwidth", fmt::format("{:.4g} GB/s: {} read and {} written",
                                       bytes / outcome.median_seconds() * 1e-9,
                                       bytes_text(static_cast<double>(traffic.read)),
                                       bytes_text(static_cast<double>(traffic.written))));
}

}  // namespace

void print_run(const Outcome& outcome, const Tensor& result, const Tensor& ranks,
               const RunRequest& request, Format format) {
  const Problem& problem = outcome.problem();
  Report report(fmt::format("{}{}{} over {}", name(problem.collective),
                            outcome.combines() ? " " : "",
                            outcome.combines() ? name(problem.op) : "", ranks_text(outcome.key)));
  report.add("version", build::version);
  report_data(report, outcome, result, request);
  report_call(report, outcome, request.call);
  report_provenance(report, outcome, request);
  report_result(report, outcome, result, ranks);
  report_error(report, outcome);
  report_time(report, outcome);
  report.print(format);
}

}  // namespace vranks::cli
