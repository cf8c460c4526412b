// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks verify`: proves schedules, of algorithms or from files, for all sizes and data.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/option_values.hpp"
#include "cli/progress.hpp"
#include "cli/proof.hpp"
#include "cli/report.hpp"
#include "cli/schedule_options.hpp"
#include "collectives/interpreters/progress.hpp"
#include "ranks/error.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

// An algorithm's schedule that is to be proved.
struct Task {
  const Algorithm* algorithm;
  Collective collective;
  std::int64_t ranks;
};

class Verify : public Command {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override {
    return "schedules proved: contract, races, deadlocks; of algorithms or from a file";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job&) override;

 private:
  std::vector<Task> tasks() const;
  Proof prove_file() const;
  Proof prove_task(const Task& task) const;

  ScheduleOptions options_;
  std::optional<std::vector<std::int64_t>> ranks_;
  std::int32_t depth_ = default_depth;
  Format format_ = Format::table;
};

bool Verify::setup(const std::vector<std::string>& arguments) {
  OptionsDescription options = schedule_options(options_);
  OptionsDescription how("How to prove it", page_columns);
  how.add_options()  //
      ("ranks",
       parsed(
           ranks_,
           [](const std::string& text) { return parse_ranges("--ranks", text, 1, most_ranks); },
           "LIST"),
       "numbers of ranks, such as 1..17,32; 1..17,31,32 unless said")  //
      ("depth",
       parsed(
           depth_,
           [](const std::string& text) {
             return static_cast<std::int32_t>(
                 parse_whole("--depth", text, 0, std::numeric_limits<std::int32_t>::max()));
           },
           "NUMBER")
           ->default_value("1"),
       "messages that a channel holds; 0: a send ends when it is received (rendezvous)");
  options.add(how).add(report_options(format_));
  if (!read_arguments(
          {name(), "",
           "Proves that each chunk of the result holds every contribution exactly once, and of the "
           "program that ranks run: no read of what nothing wrote, no races, no message without "
           "sender or receiver, no cycles, no blocking. For any size and data. Without options "
           "every algorithm of every collective (a permute reverses the ranks); --collective, "
           "--algorithm and --ranks narrow it down. Exit code 1 if something is wrong."},
          options, arguments))
    return false;
  check_schedule_options(options_, ranks_.has_value());
  if (!options_.parameters.names.empty() && options_.algorithm.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("--{} is about single algorithms; give --algorithm, too",
                            options_.parameters.names[0]));
  return true;
}

std::vector<Task> Verify::tasks() const {
  const Algorithm* named = nullptr;
  if (!options_.algorithm.empty())
    named = options_.collective ? &find_algorithm(options_.algorithm, *options_.collective)
                                : &find_by_name(algorithms(), options_.algorithm, "algorithm");
  std::vector<std::int64_t> ranks = ranks_.value_or(parse_ranges("", "1..17,31,32", 1, most_ranks));
  std::vector<Task> all;
  for (const CollectiveInfo& collective : collectives())
    for (const Algorithm& algorithm : algorithms()) {
      // A _v form has the schedules of its even one.
      if (options_.collective ? *options_.collective != collective.collective
                              : takes_counts(collective.collective))
        continue;
      if (named != nullptr && named != &algorithm) continue;
      if (!supports(algorithm, collective.collective)) continue;
      for (const std::int64_t each : ranks)
        all.push_back({&algorithm, collective.collective, each});
    }
  return all;
}

Proof Verify::prove_file() const {
  const std::variant<Schedule, Program> loaded = load_schedule(options_.input);
  Proof proof{.input = options_.input};
  std::visit(
      [&](const auto& each) {
        proof.collective = each.shape().collective;
        proof.ranks = each.shape().ranks;
        prove(each, depth_, proof);
      },
      loaded);
  return proof;
}

// One that has all that can be: every distance, a rank that keeps its slice, one that gets none.
Permutation reversal(std::int64_t ranks) {
  if (ranks == 1) return {{0, 0}};  // a permutation has a pair
  Permutation pairs;
  for (std::int64_t r = 0; r + 1 < ranks; ++r) pairs.push_back({r, ranks - 1 - r});
  return pairs;
}

Proof Verify::prove_task(const Task& task) const {
  ScheduleOptions options = options_;
  if (task.collective == Collective::permute && !options.permutation)
    options.permutation = reversal(task.ranks);
  Proof proof{.algorithm = std::string(task.algorithm->name),
              .collective = task.collective,
              .ranks = task.ranks};
  try {
    const BuiltSchedule built =
        build_schedule_for(*task.algorithm, task.collective, task.ranks, options);
    proof.runs = built.selection.algorithm->name;
    prove(built.schedule, depth_, proof);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_supported) throw;
    proof.not_there = error.what();
  }
  return proof;
}

int Verify::run(Job&) {
  limit_memory();
  using Clock = std::chrono::steady_clock;
  ProgressLine progress("proving");
  std::vector<Proof> proofs;
  const auto timed = [&](const std::string& what, const auto& make) {
    const auto start = Clock::now();
    proofs.push_back(with_memory_for("the proof of " + what, make));
    proofs.back().seconds = std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (!options_.input.empty()) {
    timed(options_.input, [&] { return prove_file(); });
  } else {
    const std::vector<Task> all = tasks();
    for (const Task& task : all) {
      timed(fmt::format("{} over {} ranks", task.algorithm->name, task.ranks),
            [&] { return prove_task(task); });
      progress(static_cast<std::int64_t>(proofs.size()), static_cast<std::int64_t>(all.size()));
    }
  }
  if (std::ranges::none_of(proofs, [](const Proof& proof) { return proof.not_there.empty(); }))
    throw Error(ErrorKind::not_supported, proofs.front().not_there);
  print_proofs(proofs, depth_, format_);
  return std::ranges::any_of(proofs, &Proof::is_wrong) ? exit_check_failed : exit_ok;
}

}  // namespace

std::unique_ptr<Command> make_verify() { return std::make_unique<Verify>(); }

}  // namespace vranks::cli
