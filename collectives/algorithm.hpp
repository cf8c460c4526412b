// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The registry of algorithms: who combines what with whom, in which order. To add one: a file in
// algorithms/ that defines `Algorithm <file name>()`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"
#include "collectives/schedule.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks {

struct Algorithm;

// What really runs for one problem: libraries fall back by size.
struct Selection {
  const Algorithm* algorithm = nullptr;
  Parameters parameters;
  std::string reason;  // empty if it is what was asked for
};

// The rules of its arithmetic where the caller says nothing.
struct ArithmeticDefaults {
  // Empty: as wide as needed (f32 for f16 and bf16, exact for integer means).
  std::optional<Accumulate> accumulate = Accumulate::storage;
  // Empty: premultiply where partial results are rounded to a 16-bit float, which a sum of halves
  // overflows; divide otherwise.
  std::optional<MeanMode> mean = {};
  NanPolicy nan = NanPolicy::propagate;
};

// What an algorithm takes for some of its collectives, from root 0: the steps in which a rank
// sends, and the bytes that the rank that sends most sends. Formulas in the letters that `vranks
// list costs` explains: "A", "at most A", or "A; other R: B" where A holds for powers of two. A
// barrier's bytes are "0, in A messages". What depends on a size has words: "the chosen
// algorithm's" of both, or "the reduce's + A" steps.
struct Costs {
  std::string_view collectives;  // names, separated by spaces; no _v forms
  std::string_view steps;
  std::string_view bytes;
};

struct Algorithm {
  std::string_view name;
  std::string_view aliases;
  std::string_view collectives;  // names, separated by spaces; no _v forms, see supports()
  std::string_view order;        // of the arithmetic of an element, in words or for seven ranks
  std::vector<Costs> costs;      // of each of its collectives
  std::string_view source;       // paper and section, or library and version
  std::string_view parameters;   // names of those it reads, separated by spaces

  // Builds the schedule; reads of the problem its collective, ranks and root alone. Throws
  // not_supported, naming R and the rule, if it can't.
  Schedule (*build)(const Problem&, const Parameters&) = nullptr;
  LayoutFunction layout = even_layout;
  // Whether blocks may be of unequal length, as the _v forms of its collectives have them, though
  // the layout isn't `even`.
  bool takes_counts = false;
  // What runs instead for that problem (may read elements, dtype and op). Null: always itself.
  Selection (*select)(const Problem&, const Parameters&) = nullptr;

  ArithmeticDefaults arithmetic = {};
  // How a rank's own scaled input meets the partial result of a premultiplied mean, and which of
  // two NaNs survives. Null: never fused, one pattern for all NaNs.
  void (*refine)(const Problem&, const Parameters&, Arithmetic&) = nullptr;
  // Whether its order is that of TreeFold, whose means never overflow.
  bool is_tree_fold = false;
  // Whether a rank ends what it has to do in a step before it begins the next, as exchanges that
  // block do; others wait for data alone. The clock's matter alone.
  bool takes_turns = false;
  // Whether switches sum the inputs that a rank reads, and copy the results that ranks send: such
  // bytes pass each link once. The clock's matter alone.
  bool is_in_network = false;
};

// Every algorithm, in the order users should see them.
std::span<const Algorithm> algorithms();

// Whether the algorithm is for that collective, which may be a _v form.
bool supports(const Algorithm& algorithm, Collective collective);

// Those for that collective; of a _v form those of its even one, which it has if counts are equal.
// Precondition: supports().
const Costs& costs_of(const Algorithm& algorithm, Collective collective);

// The algorithm called `text` for that collective. Throws bad_argument with what there is.
const Algorithm& find_algorithm(std::string_view text, Collective collective);

// What runs if `algorithm` is asked for: follows select() until it stays. Throws bad_argument for
// a parameter that the algorithm doesn't read.
Selection select(const Algorithm& algorithm, const Problem& problem, const Parameters& parameters);

}  // namespace vranks
