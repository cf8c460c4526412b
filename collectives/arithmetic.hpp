// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// From what a caller asks for to the rules of one call's arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collectives/algorithm.hpp"
#include "kernels/arithmetic_rules.hpp"

namespace vranks {

// What callers may choose; empty: as the algorithm does it.
struct Policies {
  std::optional<Accumulate> accumulate = {};
  std::optional<MeanMode> mean = {};
  std::optional<NanPolicy> nan = {};
  std::optional<Fp8Mode> fp8 = {};

  bool operator==(const Policies&) const = default;
};

// What the kernels see of an element: complex numbers are added part by part, truth values are
// bytes, and what is only copied is taken as words of its width.
struct Parts {
  DType dtype = DType::f32;
  std::int64_t count = 1;  // of an element
};
Parts parts_of(const Problem& problem);

// For messages: which group a problem is about, and its ranks among all. Nothing: the only one.
struct GroupOfRanks {
  std::size_t index = 0;
  std::span<const std::int64_t> ranks = {};
};

// The rules that `selection` follows for that problem, on the parts of its elements. Throws
// not_supported for an op that isn't for the dtype or the collective; bad_argument for a policy
// that makes no sense with its op and dtype (f32 for f64 tensors, a mean policy without a mean,
// ...), for weights that aren't finite, one a rank, with a finite sum that isn't 0, for a factor
// that isn't finite or that the dtype can't hold, and for either where nothing reads them.
Arithmetic resolve(const Problem& problem, const Selection& selection, const Policies& policies,
                   const GroupOfRanks& group = {});

// Whether the kernels' TreeFold, which is faster, does what these rules say.
bool is_tree_fold(const Algorithm& algorithm, const Arithmetic& rules);

// The bytes of an element of the parts' dtype that changes nothing: what an exscan gives rank 0; of
// what is only copied, zeros.
std::array<std::byte, 16> identity(const Arithmetic& rules, const Problem& problem);

}  // namespace vranks
