// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The algorithm's own messages: its schedule, lowered to sends and receives.
#include <algorithm>
#include <optional>

#include "collectives/interpreters/execute_program.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/processes/mpi_messages.hpp"
#include "collectives/processes/process_call.hpp"
#include "collectives/processes/process_rescue.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// One group's program, and the rows of its ranks.
class GroupRun {
 public:
  GroupRun(const ProcessCall& call, std::size_t group, Messages& messages)
      : problem_(group_problem(call.key, group)),
        choice_(choose(call.key, group)),
        schedule_(build_schedule(problem_, choice_.selection)),
        layout_(
            make_layout(problem_, schedule_, choice_.selection).in_parts(parts_of(problem_).count)),
        program_(lower(schedule_)),
        filling_(identity(choice_.rules, problem_)) {
    const auto ranks = static_cast<std::size_t>(problem_.ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::int64_t rank =
          call.key.groups.empty() ? static_cast<std::int64_t>(r) : call.key.groups[group][r];
      const auto row = static_cast<std::size_t>(rank);
      places_.processes.push_back(call.process_of(rank));
      in_.push_back(call.in[row]);
      if (ends_at_root(problem_.collective)) continue;
      out_.push_back(call.out[row]);
      ranks_.push_back(call.ranks[row]);
    }
    if (ends_at_root(problem_.collective)) {
      out_.push_back(call.out[group]);
      ranks_.push_back(call.ranks[group]);
    }
    places_.here = call.process;
    rows_ = {.in = {.table = in_}, .out = {.table = out_}};
    if (std::ranges::any_of(ranks_, [](const std::byte* row) { return row != nullptr; }))
      rows_.ranks = {.table = ranks_};
    if (choice_.rules.rescues && problem_.ranks > 1)
      rescue_.emplace(call, problem_, places_, rows_);
    run_.emplace(program_, layout_, choice_.rules, rows_, call.key.device, places_, messages,
                 call.piece_bytes);
  }

  void run() {
    run_->run(filling_);
    if (rescue_) rescue_->run();
  }

 private:
  Problem problem_;
  Choice choice_;
  Schedule schedule_;
  Layout layout_;
  Program program_;
  std::array<std::byte, 16> filling_;
  RankPlaces places_;
  std::vector<std::byte*> in_, out_, ranks_;
  FoldRows rows_;
  std::optional<ProcessRescue> rescue_;
  std::optional<ProgramRun> run_;
};

class ScheduleEngine : public EngineRun {
 public:
  explicit ScheduleEngine(const ProcessCall& call) : messages_(call.communicator, *call.wait) {
    for (std::size_t g = 0; g < group_count(call.key); ++g)
      groups_.push_back(std::make_unique<GroupRun>(call, g, messages_));
  }
  void run() override {
    for (const auto& group : groups_) group->run();
  }

 private:
  MpiMessages messages_;
  std::vector<std::unique_ptr<GroupRun>> groups_;
};

}  // namespace

std::unique_ptr<EngineRun> make_schedule_engine(const ProcessCall& call) {
  return std::make_unique<ScheduleEngine>(call);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
