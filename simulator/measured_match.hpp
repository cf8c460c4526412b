// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What to simulate for a published timing: the machine, the problem, the algorithm and what it is
// told. Words translate by the tables of measured_rules.hpp; who writes names of topologies and
// algorithms needs none of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "simulator/measured.hpp"

namespace vranks {

// A way in which a row may have come about.
struct Candidate {
  const Algorithm* algorithm = nullptr;  // select() may still choose another one
  Parameters parameters = {};
  // Whose software costs count; in the parameters, too, if the algorithm reads it.
  Protocol protocol = Protocol::simple;
  // Of MSCCL programs and pinned NCCL runs: chunk i goes by channel i mod `channels`, on
  // `instances` lanes side by side. 0: not said, or each pair of ranks has its own.
  std::int32_t channels = 0;
  std::int32_t instances = 1;
};

struct Match {
  std::string reason = {};  // why the row can't be judged; nothing below is set then
  std::string topology = {};
  Problem problem = {};
  std::int32_t ranks_per_node = 0;  // 0: not said
  bool in_place = false;
  std::vector<Candidate> candidates = {};  // the fastest counts
};

// `topologies`: the names of all there are. Throws nothing on account of the row.
Match match(const MeasuredRow& row, std::span<const std::string> topologies);

}  // namespace vranks
