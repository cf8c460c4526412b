// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What the stack machine of fold programs does with tiles of columns: runs of leaves, merges, small
// balanced trees, and lowering.

// clang-format off
#if defined(VRANKS_FOLD_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VRANKS_FOLD_TILES_INL
#undef VRANKS_FOLD_TILES_INL
#else
#define VRANKS_FOLD_TILES_INL
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <span>

#include "kernels/cpu/fold_program.hpp"
#include "kernels/cpu/hop_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t run_leaves = 8;

// How the own input of a rank meets a partial result, at all leaves of a run.
enum class Meeting { plain, fused, fused_at };

// Up to eight leaves, one after the other, behind the top of the stack or as a new value.
template <class Op>
struct LeafRun {
  const typename Op::Element* rows[run_leaves];
  std::int32_t numbers[run_leaves];  // of those rows
  int leaves = 0;
  bool starts = false;  // rows[0] is the first operand; else the top of the stack is
  bool left = false;    // leaves are left operands
  bool own = false;
  Fuse fuse = Fuse::never;
  std::int64_t position = 0;  // of column 0, from the origin

  Meeting meeting() const {
    if (!own || fuse == Fuse::never) return Meeting::plain;
    return fuse == Fuse::own ? Meeting::fused : Meeting::fused_at;
  }
  bool fuses(std::int64_t i) const {
    return own && (fuse == Fuse::own ||
                   (fuse == Fuse::ll128 && fuses_at(position + i, sizeof(typename Op::Element))));
  }
};

// The run at one vector of columns; `top` is the value it starts from, unless it starts itself.
template <Meeting meeting, class L, class Run>
HWY_INLINE auto vector_of(const L& lanes, const Run& run, std::int64_t i, typename L::V top) {
  int k = 0;
  if (run.starts) top = lanes.load(run.rows[k++] + i);
  for (; k < run.leaves; ++k) {
    if constexpr (meeting == Meeting::plain)
      top = lanes.combine(top, lanes.load(run.rows[k] + i));
    else if constexpr (meeting == Meeting::fused)
      top = lanes.fused(run.rows[k] + i, top);
    else
      top = lanes.fused_at(run.rows[k] + i, top, run.position + i);
  }
  return top;
}

// Calls f with Meeting as a constant.
template <class Op, class F>
HWY_INLINE void with_meeting(Meeting meeting, const F& f) {
  if constexpr (HopLanes<Op>::fuses) {
    if (meeting == Meeting::fused) return f.template operator()<Meeting::fused>();
    // Elements of 16 bits are never fused by position.
    if constexpr (sizeof(typename Op::Element) > 2)
      if (meeting == Meeting::fused_at) return f.template operator()<Meeting::fused_at>();
  }
  f.template operator()<Meeting::plain>();
}

template <class Op>
bool has_lanes(Meeting meeting) {
  if constexpr (!HopLanes<Op>::available) {
    return false;
  } else {
    if (meeting == Meeting::plain) return true;
    return HopLanes<Op>::fuses && (meeting == Meeting::fused || sizeof(typename Op::Element) > 2);
  }
}

template <class Op>
HWY_NOINLINE void run_leaves_on(const Op& op, const LeafRun<Op>& run, std::int64_t columns,
                                typename Op::Carried* HWY_RESTRICT tile) {
  std::int64_t i = 0;
  if constexpr (HopLanes<Op>::available) {
    if (has_lanes<Op>(run.meeting())) {
      const HopLanes<Op> lanes(op);
      const std::int64_t step = lanes.count();
      with_meeting<Op>(run.meeting(), [&]<Meeting meeting>() HWY_ATTR {
        for (; i + 2 * step <= columns; i += 2 * step) {
          const auto a = vector_of<meeting>(lanes, run, i, lanes.load_carried(tile + i));
          const auto b =
              vector_of<meeting>(lanes, run, i + step, lanes.load_carried(tile + i + step));
          lanes.store(a, tile + i);
          lanes.store(b, tile + i + step);
        }
      });
    }
  }
  // What is left of the tile, or all of it; row by row, so that the compiler makes vectors itself.
  int k = 0;
  if (run.starts) {
    for (std::int64_t j = i; j < columns; ++j) tile[j] = op.lift(run.rows[0][j], run.numbers[0]);
    k = 1;
  }
  for (; k < run.leaves; ++k) {
    const auto* row = run.rows[k];
    const std::int32_t number = run.numbers[k];
    if (run.own && run.fuse != Fuse::never)
      for (std::int64_t j = i; j < columns; ++j)
        tile[j] = op.combine_own(row[j], number, tile[j], run.left, run.fuses(j));
    else if (run.own)
      for (std::int64_t j = i; j < columns; ++j)
        tile[j] = op.combine_own(row[j], number, tile[j], run.left, false);
    else if (run.left)
      for (std::int64_t j = i; j < columns; ++j)
        tile[j] = op.combine(op.lift(row[j], number), tile[j]);
    else
      for (std::int64_t j = i; j < columns; ++j)
        tile[j] = op.combine(tile[j], op.lift(row[j], number));
  }
}

// to[i] = left[i] op right[i]; `to` may be one of them.
template <class Op>
HWY_NOINLINE void merge_tiles(const Op& op, const typename Op::Carried* left,
                              const typename Op::Carried* right, typename Op::Carried* to,
                              std::int64_t columns) {
  std::int64_t i = 0;
  if constexpr (HopLanes<Op>::available) {
    const HopLanes<Op> lanes(op);
    const std::int64_t step = lanes.count();
    for (; i + step <= columns; i += step)
      lanes.store(lanes.combine(lanes.load_carried(left + i), lanes.load_carried(right + i)),
                  to + i);
  }
  for (; i < columns; ++i) to[i] = op.combine(left[i], right[i]);
}

template <class Op>
HWY_NOINLINE void lower_tile(const Op& op, const typename Op::Carried* HWY_RESTRICT tile,
                             std::int64_t columns, typename Op::Element* HWY_RESTRICT out) {
  std::int64_t i = 0;
  if constexpr (HopLanes<Op>::available) {
    const HopLanes<Op> lanes(op);
    const std::int64_t step = lanes.count();
    if (lanes.can_lower())
      for (; i + step <= columns; i += step)
        write<false>(lanes.out_d, lanes.lower(lanes.load_carried(tile + i)), out + i);
  }
  for (; i < columns; ++i) out[i] = op.lower(tile[i]);
}

// --- balanced trees of 4 and 8 leaves
// -------------------------------------------------------------

inline bool begins_with(std::span<const FoldStep> code, std::span<const FoldAction> actions) {
  return code.size() >= actions.size() &&
         std::equal(actions.begin(), actions.end(), code.begin(),
                    [](FoldAction a, const FoldStep& step) {
                      // Ops that come here don't tell left from right.
                      return step.action == a ||
                             (a == FoldAction::leaf_right && step.action == FoldAction::leaf_left);
                    });
}

// Leaves of the balanced tree that the code begins with: 8, 4, or 0 for none.
inline int tree_leaves(std::span<const FoldStep> code) {
  using enum FoldAction;
  static constexpr FoldAction eight[] = {
      load, leaf_right, load, leaf_right, merge, load, leaf_right, load, leaf_right, merge, merge};
  if (begins_with(code, eight)) return 8;
  return begins_with(code, std::span(eight).first(5)) ? 4 : 0;
}

// Of ops to which rows are alike.
template <int m, class Op>
HWY_NOINLINE void tree_on(const Op& op, const typename Op::Element* const* rows,
                          std::int64_t columns, typename Op::Carried* HWY_RESTRICT tile) {
  std::int64_t i = 0;
  if constexpr (HopLanes<Op>::available) {
    const HopLanes<Op> lanes(op);
    const auto combine = [&](auto a, auto b) VR_INLINE_LAMBDA { return lanes.combine(a, b); };
    const std::int64_t step = lanes.count();
    for (; i + step <= columns; i += step) {
      const auto leaf = [&](int k) VR_INLINE_LAMBDA { return lanes.load(rows[k] + i); };
      lanes.store(tree<0, m>(leaf, combine), tile + i);
    }
  }
  const auto combine = [&](auto a, auto b) HWY_ATTR { return op.combine(a, b); };
  for (; i < columns; ++i) {
    const auto leaf = [&](int k) HWY_ATTR { return op.lift(rows[k][i], 0); };
    tile[i] = tree<0, m>(leaf, combine);
  }
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
