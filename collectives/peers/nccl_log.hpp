// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's log (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING) tells of a communicator:
// the lists that decide in which order it combines, and what it chose for a call. Lines behind
// their prefix "host:pid:tid [device] NCCL INFO ":
//
//   Channel 00/02 : 0 1 2 3                                   ring of channel 0 of 2, from rank 0
//   Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1               a rank's children, rank, parent
//   AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
//
// NCCL 2.30.7, src/graph/rings.cc, src/init.cc and src/enqueue.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/trees.hpp"

namespace vranks {

struct NcclLists {
  std::vector<nccl::Ring> rings;  // one a channel
  std::vector<nccl::Tree> trees;  // one a channel; empty where the log names none
  std::int32_t channels() const { return static_cast<std::int32_t>(rings.size()); }
};

// The lists of the one communicator over `ranks` ranks whose start `log` holds. Throws bad_input,
// naming channel and rank, if some are missing, contradict each other or are cut off by NCCL.
NcclLists parse_nccl_lists(std::string_view log, std::int64_t ranks);

// What NCCL chose for a call.
struct NcclChoice {
  std::string algorithm;           // "ring", "tree", ...
  std::string protocol;            // "simple", "ll", "ll128"
  std::int32_t first_channel = 0;  // that it used
  std::int32_t last_channel = 0;

  // "ring ll, channels 0 to 1"
  std::string text() const;
};

// The last choice in `log`; nothing where NCCL logged none.
std::optional<NcclChoice> parse_nccl_choice(std::string_view log);

}  // namespace vranks
