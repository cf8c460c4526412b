// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/rank_share.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ranks/error.hpp"

namespace vranks::cli {

namespace {

std::string ranks_text(std::int64_t ranks) {
  return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
}

}  // namespace

RankRange share_of(std::int64_t ranks, int processes, int process) {
  if (ranks < 1)
    throw Error(ErrorKind::bad_argument,
                "R = 0: dimension 0 of the shape counts the ranks, and there must be one at least");
  if (ranks < processes)
    throw Error(ErrorKind::bad_argument,
                fmt::format("{} can't share {}: each holds at least one; start at most {}, or give "
                            "more ranks",
                            processes_text(processes), ranks_text(ranks), ranks));
  const std::int64_t longer = ranks % processes;
  return {.first = process * (ranks / processes) + std::min<std::int64_t>(process, longer),
          .count = ranks / processes + (process < longer ? 1 : 0)};
}

std::string processes_text(std::int64_t processes) {
  return fmt::format("{} process{}", processes, processes == 1 ? "" : "es");
}

std::string shares_text(std::int64_t ranks, int processes) {
  const std::int64_t most = share_of(ranks, processes, 0).count;
  const std::int64_t longer = ranks % processes;
  const std::string all = processes_text(processes);
  if (processes == 1) return fmt::format("{} with all {}", all, ranks_text(ranks));
  if (longer == 0) return fmt::format("{} with {} each", all, ranks_text(most));
  return fmt::format("{}, {} with {} and {} with {}", all, longer, ranks_text(most),
                     processes - longer, most - 1);
}

}  // namespace vranks::cli
