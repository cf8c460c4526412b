// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Pairwise: in step s every rank has one partner to send to and one to receive from, so that no
// rank is crowded. In an all-to-all where R is a power of two both are rank r XOR s; otherwise r
// sends to r + s and receives from r - s (modulo R). All-to-all over R = 4; a row is a rank, rs the
// block from r for s:
//
//   rank   step 1        step 2        step 3
//   0      00 10  .  .   00 10 20  .   00 10 20 30
//   1      01 11  .  .   01 11  . 31   01 11 21 31
//   2       .  . 22 32   02  . 22 32   02 12 22 32
//   3       .  . 23 33    . 13 23 33   03 13 23 33
//
// A permute takes its messages by their distance r + s; one with a single distance, a shift, takes
// one step.
//
//                steps                                 bytes a rank (n: its input)
//   all_to_all   R - 1                                 n(R - 1)/R
//   permute      distances that there are, but for 0   n for each message
//
// R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
// MPICH", Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.3 (pairwise exchange).
#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/algorithms/shapes.hpp"

namespace vranks::algorithms_of {

namespace {

Schedule build(const Problem& problem, const Parameters&) {
  const auto ranks = static_cast<std::int32_t>(problem.ranks);
  const bool permutes = problem.collective == Collective::permute;
  const bool by_xor = !permutes && std::has_single_bit(static_cast<std::uint32_t>(ranks));
  ScheduleBuilder builder(shape_of(problem));
  // Step 0 has no messages, so it needs no step of its own.
  for (std::int32_t s = 0; s < ranks; ++s) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t from = by_xor ? r ^ s : (r - s + ranks) % ranks;
      if (!permutes)
        builder.add(copy(output(r, from), input(from, r)));
      else if (problem.sources[static_cast<std::size_t>(r)] == from)
        builder.add(copy(output(r, 0), input(from, 0)));
    }
    if (s > 0) builder.end_step();
  }
  builder.end_step();
  return std::move(builder).build();
}

}  // namespace

Algorithm pairwise() {
  return {.name = "pairwise",
          .aliases = "",
          .collectives = "all_to_all permute",
          .order = "copies only",
          .costs = {{"all_to_all", "R-1", "n(R-1)/R"}, {"permute", "D", "n"}},
          .source =
              "R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective "
              "communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), "
              "2005, section 4.3",
          .parameters = "",
          .build = build,
          .takes_turns = true};
}

}  // namespace vranks::algorithms_of
