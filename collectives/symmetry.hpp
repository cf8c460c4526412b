// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that do alike. In a ring each rank does what its neighbour does, with the next chunk: with
// all ranks, and their chunks, renumbered the schedule is the same. Such renumberings form a group;
// what one rank of each orbit does, the leader, says what all do.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule.hpp"

namespace vranks {

// The renumberings have numbers too: the multiples of `step` below the number of ranks, 0 that
// which changes nothing. Number e takes rank r to r + e (modulo the number of ranks) in a rotation,
// and to r xor e in an exchange, where ranks and step are powers of two.
struct Symmetry {
  enum class Kind : std::uint8_t { rotation, exchange };

  Kind kind = Kind::rotation;
  std::int32_t ranks = 1;
  std::int32_t step = 1;       // also the number of leaders, which are the first ranks
  bool moves_chunks = false;   // block r of the whole vector goes with rank r; so it does in any
                               // case where slots are parts of it
  bool moves_scratch = false;  // and so does block r of each rank's scratch chunks

  bool operator==(const Symmetry&) const = default;

  std::int32_t copies() const { return ranks / step; }  // of a leader, itself included
  std::int32_t leader(std::int32_t rank) const { return rank % step; }
  // The renumbering that takes the leader of a rank to it.
  std::int32_t number(std::int32_t rank) const { return rank - rank % step; }
  std::int32_t rank(std::int32_t rank, std::int32_t number) const {
    return kind == Kind::rotation ? (rank + number) % ranks : rank ^ number;
  }
  std::int32_t inverse(std::int32_t number) const {
    return kind == Kind::rotation ? (ranks - number) % ranks : number;
  }
  // All others follow from these.
  std::vector<std::int32_t> generators() const;

  // Where a chunk of the whole vector goes.
  std::int32_t whole_chunk(const ScheduleShape& shape, std::int32_t chunk,
                           std::int32_t number) const;
  // Where a chunk of a slot goes, in the slot of its rank's image.
  std::int32_t slot_chunk(const ScheduleShape& shape, Slot slot, std::int32_t index,
                          std::int32_t number) const;

 private:
  std::int32_t moved(std::int32_t chunk, std::int32_t chunks, std::int32_t number) const {
    const std::int32_t block = chunks / ranks;
    return rank(chunk / block, number) * block + chunk % block;
  }
};

// Those that a schedule may have, more copies before fewer: only a look at it can tell.
std::vector<Symmetry> possible_symmetries(const ScheduleShape& shape);

// Whether the schedule is the same after each of the renumberings, but for what stands on the left
// where two operands are combined. False also where a rank sends several messages to the same one
// in a step, whose order renumbering could change.
bool is_symmetric(const Schedule& schedule, const Symmetry& symmetry);

}  // namespace vranks
