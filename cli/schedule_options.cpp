// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cli/memory_limit.hpp"
#include "cli/option_values.hpp"
#include "cli/report.hpp"
#include "collectives/formats/json.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

// For each rank, of a problem that stands for all sizes: few, yet no library falls back to
// something simpler for the lack of elements.
constexpr std::int64_t usual_elements = 48;

BuiltSchedule build_selected(const Problem& problem, const Selection& selection) {
  return with_memory_for(
      fmt::format("the schedule of {} over {} ranks", selection.algorithm->name, problem.ranks),
      [&]() -> BuiltSchedule {
        return {problem, selection, build_schedule(problem, selection)};
      });
}

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

// A size, and what is about one, must mean something.
void check_size(Collective collective, const ScheduleOptions& options) {
  check_op(collective, options.op);
  if (!options.elements) return;
  if (takes_counts(collective))
    refuse(
        fmt::format("--elements is about equal blocks, and counts say how long those of {} are; "
                    "without it the schedule holds for any counts",
                    name(collective)));
  if (collective == Collective::barrier) refuse("--elements: a barrier passes no elements");
}

}  // namespace

OptionsDescription schedule_options(ScheduleOptions& options) {
  OptionsDescription all("Which schedule", page_columns);
  all.add_options()  //
      ("collective", parsed(options.collective, parse_collective, "NAME"),
       names(collectives()).c_str())  //
      ("algorithm", parsed(options.algorithm, parse_text, "NAME"), names(algorithms()).c_str());
  add_root_option(all, options.root);
  add_permutation_option(all, options.permutation);
  all.add_options()  //
      ("elements",
       parsed(
           options.elements,
           [](const std::string& text) {
             return parse_whole("--elements", text, 0, std::numeric_limits<std::int64_t>::max());
           },
           "NUMBER"),
       "elements of each rank's input: then what really runs for that size")  //
      ("dtype", parsed(options.dtype, parse_dtype, "NAME"),
       "of those elements; f32 unless said")  //
      ("op", parsed(options.op, parse_reduce_op, "NAME"),
       "on those elements; mean unless said, of scan and exscan sum")  //
      ("input", parsed(options.input, parse_path, "X.json"),
       "a schedule or program from a file, instead of all that");
  all.add(parameter_options(options.parameters));
  return all;
}

void check_schedule_options(const ScheduleOptions& options, bool says_ranks) {
  if (!options.input.empty()) {
    std::string_view other;
    if (!options.parameters.names.empty()) other = options.parameters.names[0];
    if (options.op) other = "op";
    if (options.dtype) other = "dtype";
    if (options.elements) other = "elements";
    if (options.root) other = "root";
    if (options.permutation) other = "permutation";
    if (says_ranks) other = "ranks";
    if (!options.algorithm.empty()) other = "algorithm";
    if (options.collective) other = "collective";
    if (!other.empty())
      refuse(
          fmt::format("--{} is about a schedule to be built, but --input brings one; give one "
                      "of them",
                      other));
  }
  const Collective collective = options.collective.value_or(Collective::all_reduce);
  if (options.root) root_of(collective, options.root);
  if (options.permutation && collective != Collective::permute)
    refuse(fmt::format("--permutation is about permute; {} doesn't read it", name(collective)));
  if (options.elements) return;
  if (options.dtype || options.op)
    refuse(fmt::format("--{} is about what runs for a size; give --elements, too",
                       options.dtype ? "dtype" : "op"));
  if (std::ranges::find(options.parameters.names, "segment-bytes") !=
      options.parameters.names.end())
    refuse("--segment-bytes cuts a vector of some size; give --elements, too");
}

BuiltSchedule build_schedule_for(const Algorithm& algorithm, Collective collective,
                                 std::int64_t ranks, const ScheduleOptions& options) {
  check_parameters(algorithm, options.parameters);
  check_size(collective, options);
  const std::int64_t root = root_of(collective, options.root);
  if (root >= ranks)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("root {} is no rank where R = {}: ranks are 0 to {}", root, ranks, ranks - 1));
  // Says of what shape slices are, and who gets whose, as a call would.
  Problem problem = problem_of(even_form(collective), {ranks, options.elements.value_or(0)},
                               options.dtype.value_or(DType::f32),
                               {.op = op_of(collective, options.op),
                                .root = root,
                                .permutation = options.permutation.value_or(Permutation{})});
  if (options.elements)
    return build_selected(problem, select(algorithm, problem, options.parameters.values));
  try {
    return build_selected(problem, {&algorithm, options.parameters.values, ""});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_available || algorithm.select == nullptr) throw;
    problem.elements = usual_elements * ranks;
    return build_selected(problem, select(algorithm, problem, options.parameters.values));
  }
}

std::variant<Schedule, Program> load_schedule(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file)
    throw Error(ErrorKind::io, fmt::format("'{}': {}", path, std::strerror(errno)));
  if (!std::filesystem::is_regular_file(status))
    throw Error(ErrorKind::io, fmt::format("'{}' is not a regular file", path));
  return with_memory_for(fmt::format("what '{}' holds", path), [&] {
    std::string text(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_json(text, fmt::format("'{}'", path));
  });
}

}  // namespace vranks::cli
