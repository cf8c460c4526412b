// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The stack machine of fold programs over tiles of columns. A value of the stack is a tile, a few
// KiB of one row; what comes most, runs of leaves and small balanced trees, is combined in
// registers. A program that is one such run never leaves them.

// clang-format off
#if defined(VRANKS_FOLD_PROGRAM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VRANKS_FOLD_PROGRAM_INL
#undef VRANKS_FOLD_PROGRAM_INL
#else
#define VRANKS_FOLD_PROGRAM_INL
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/cpu/fold_program.hpp"
#include "kernels/cpu/fold_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace vranks::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// ------------------------------------------------------------------------------------

template <class Op>
class Machine {
 public:
  using Element = typename Op::Element;
  using Carried = typename Op::Carried;
  static constexpr std::int64_t width = sizeof(Element);

  Machine(const Op& op, const ProgramTask& task)
      : op_(op),
        task_(task),
        code_(std::span(task.program->code)
                  .subspan(static_cast<std::size_t>(task.piece.code),
                           static_cast<std::size_t>(task.piece.length))),
        fuse_(task.program->arithmetic.premultiplies() ? task.program->arithmetic.fuse
                                                       : Fuse::never) {}

  void run() {
    const auto [head, body] = in_registers();
    const std::int64_t begin = task_.piece.begin;
    run_tiles(begin, begin + head);
    run_tiles(begin + head + body, task_.piece.end);
  }

 private:
  const Element* row(std::int32_t r, std::int64_t column) const {
    return reinterpret_cast<const Element*>(task_.rows.in.row(r)) + column;
  }
  std::byte* out(std::int64_t column, std::int64_t r = 0) const {
    return task_.rows.out.row(task_.piece.out_row + r) +
           (task_.piece.out_begin + column - task_.piece.begin) * width;
  }
  Carried* tile(int k) const { return reinterpret_cast<Carried*>(task_.scratch + k * tile_bytes); }

  // The leaves from code_[at] on that go into one run.
  LeafRun<Op> leaf_run(std::size_t at, std::int64_t column) const {
    LeafRun<Op> run;
    run.fuse = fuse_;
    run.position = column - task_.piece.origin;
    run.starts = code_[at].action == FoldAction::load;
    for (; at < code_.size() && run.leaves < int{run_leaves}; ++at) {
      const FoldStep& step = code_[at];
      const bool first = run.leaves == 0;
      if (step.action != FoldAction::leaf_right && step.action != FoldAction::leaf_left) {
        if (!(first && run.starts)) break;
      } else if (first || (run.leaves == 1 && run.starts)) {
        run.left = step.action == FoldAction::leaf_left;
        run.own = step.own;
      } else if (run.left != (step.action == FoldAction::leaf_left) || run.own != step.own) {
        break;
      }
      run.numbers[run.leaves] = step.row;
      run.rows[run.leaves++] = row(step.row, column);
    }
    return run;
  }

  void run_tiles(std::int64_t begin, std::int64_t end) {
    constexpr auto columns =
        tile_bytes / static_cast<std::int64_t>(std::max(sizeof(Carried), sizeof(Element)));
    for (std::int64_t c = begin; c < end; c += columns) run_tile(c, std::min(columns, end - c));
  }

  void run_tile(std::int64_t column, std::int64_t columns) {
    int top = -1;
    for (std::size_t at = 0; at < code_.size();) {
      const FoldStep& step = code_[at];
      if (step.action == FoldAction::store) {
        write_result(column, columns, step.row, 1);
        ++at;
        continue;
      }
      if (step.action == FoldAction::merge || step.action == FoldAction::merge_swap) {
        const bool swap = step.action == FoldAction::merge_swap;
        merge_tiles(op_, tile(swap ? top : top - 1), tile(swap ? top - 1 : top), tile(top - 1),
                    columns);
        --top;
        ++at;
        continue;
      }
      if (const int leaves = step.action == FoldAction::load && !meets_singly(at)
                                 ? tree_leaves(code_.subspan(at))
                                 : 0) {
        run_tree(leaves, at, column, columns, tile(++top));
        at += static_cast<std::size_t>(leaves) * 3 / 2 - 1;
        continue;
      }
      const LeafRun<Op> run = leaf_run(at, column);
      if (run.starts) ++top;
      run_leaves_on(op_, run, columns, tile(top));
      at += static_cast<std::size_t>(run.leaves);
    }
    if (task_.piece.out_rows > 0)
      write_result(column, columns, task_.piece.out_row, task_.piece.out_rows);
  }

  // Lowers the value on top, which is the only one, and writes it to `rows` rows from `first` on.
  void write_result(std::int64_t column, std::int64_t columns, std::int32_t first,
                    std::int32_t rows) {
    auto* elements = reinterpret_cast<Element*>(task_.scratch + task_.program->stack * tile_bytes);
    lower_tile(op_, tile(0), columns, elements);
    if constexpr (ar::can_rescue<Op>)
      if (task_.program->arithmetic.rescues)
        for (std::int64_t i = 0; i < columns; ++i)
          if (op_.must_rescue(tile(0)[i])) elements[i] = rescued(column + i);
    for (std::int32_t r = first; r < first + rows; ++r) {
      write_rows(reinterpret_cast<const std::byte*>(elements), columns * width,
                 out(column, r - task_.piece.out_row), 0, 1, task_.stream_stores);
      if constexpr (ar::tells_rank<Op>)
        if (task_.rows.ranks.exist()) {
          auto* ranks = reinterpret_cast<std::int32_t*>(task_.rows.ranks.row(r)) +
                        task_.piece.out_begin + column - task_.piece.begin;
          for (std::int64_t i = 0; i < columns; ++i)
            ranks[i] = op_.lower_rank(tile(0)[i], task_.piece.first_row);
        }
    }
  }

  // The result of one column from scaled inputs.
  Element rescued(std::int64_t column) const {
    const Op op = op_.rescued();
    std::vector<Carried> stack;
    for (const FoldStep& step : code_) {
      const auto lifted = [&] { return op.lift(*row(step.row, column), step.row); };
      switch (step.action) {
        case FoldAction::load:
          stack.push_back(lifted());
          break;
        case FoldAction::leaf_right:
          stack.back() = op.combine(stack.back(), lifted());
          break;
        case FoldAction::leaf_left:
          stack.back() = op.combine(lifted(), stack.back());
          break;
        case FoldAction::merge:
        case FoldAction::merge_swap: {
          const Carried top = stack.back();
          stack.pop_back();
          stack.back() = step.action == FoldAction::merge ? op.combine(stack.back(), top)
                                                          : op.combine(top, stack.back());
          break;
        }
        case FoldAction::fill:
        case FoldAction::store:
          break;  // no mean has them
      }
    }
    return op.lower(stack.back());
  }

  // Whether the leaves of a tree that may begin there have to meet one by one.
  bool meets_singly(std::size_t at) const {
    if (keeps_sides || ar::reads_row<Op>) return true;
    if (fuse_ == Fuse::never) return false;
    for (std::size_t k = at; k < std::min(at + 11, code_.size()); ++k)
      if (code_[k].own) return true;
    return false;
  }

  // The leaves of the tree are those of its loads and leaf_rights, in order.
  void gather_rows(std::size_t at, int leaves, std::int64_t column, const Element** rows) const {
    int k = 0;
    for (; k < leaves; ++at)
      if (code_[at].action != FoldAction::merge) rows[k++] = row(code_[at].row, column);
  }

  void run_tree(int leaves, std::size_t at, std::int64_t column, std::int64_t columns,
                Carried* to) {
    const Element* rows[8];
    gather_rows(at, leaves, column, rows);
    leaves == 8 ? tree_on<8>(op_, rows, columns, to) : tree_on<4>(op_, rows, columns, to);
  }

  // Columns that were done in registers, from load to output: a program that is one run of leaves
  // or one tree. Returns how many columns before them are left to tiles, and how many they are.
  std::pair<std::int64_t, std::int64_t> in_registers() {
    if constexpr (HopLanes<Op>::available) {
      const HopLanes<Op> lanes(op_);
      if (!lanes.can_lower() || task_.program->arithmetic.rescues) return {0, 0};
      const int leaves = code_.size() == 11 && !meets_singly(0) ? tree_leaves(code_) : 0;
      const LeafRun<Op> run = leaf_run(0, task_.piece.begin);
      const bool is_run = static_cast<std::size_t>(run.leaves) == code_.size();
      if ((leaves != 8 && !is_run) || !has_lanes<Op>(run.meeting())) return {0, 0};

      const std::int64_t columns = task_.piece.end - task_.piece.begin;
      const std::int64_t step = lanes.count(), vector_bytes = step * width;
      const auto address =
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out(task_.piece.begin)) %
                                    static_cast<std::uintptr_t>(vector_bytes));
      const bool rows_alike =
          task_.piece.out_rows == 1 ||
          (task_.rows.out.table.empty() && task_.rows.out.stride_bytes % vector_bytes == 0);
      const bool stream = task_.stream_stores && rows_alike;
      const std::int64_t head =
          stream ? std::min(columns, (vector_bytes - address) % vector_bytes / width) : 0;
      const std::int64_t body = (columns - head) / step * step;
      if (leaves == 8) {
        const Element* rows[8];
        gather_rows(0, 8, task_.piece.begin, rows);
        const auto combine = [&](auto a, auto b) VR_INLINE_LAMBDA { return lanes.combine(a, b); };
        write_body(lanes, head, body, stream, [&](std::int64_t i) VR_INLINE_LAMBDA {
          const auto leaf = [&](int k) VR_INLINE_LAMBDA {
            prefetch_ahead(rows[k] + i);
            return lanes.load(rows[k] + i);
          };
          return tree<0, 8>(leaf, combine);
        });
      } else {
        with_meeting<Op>(run.meeting(), [&]<Meeting meeting>() HWY_ATTR {
          write_body(lanes, head, body, stream, [&](std::int64_t i) VR_INLINE_LAMBDA {
            if (run.leaves > followed_rows)
              for (int k = 0; k < run.leaves; ++k) prefetch_ahead(run.rows[k] + i);
            return vector_of<meeting>(lanes, run, i, lanes.zero());
          });
        });
      }
      return {head, body};
    }
    return {0, 0};
  }

  // Computes columns [head, head + body) of the piece, and writes them to all of its output rows.
  template <class L, class Compute>
  HWY_INLINE void write_body(const L& lanes, std::int64_t head, std::int64_t body, bool stream,
                             const Compute& compute) {
    if (stream)
      write_columns<true>(lanes, head, body, compute);
    else
      write_columns<false>(lanes, head, body, compute);
  }

  template <bool stream, class L, class Compute>
  HWY_INLINE void write_columns(const L& lanes, std::int64_t head, std::int64_t body,
                                const Compute& compute) {
    std::byte* const first = out(task_.piece.begin);
    const std::int64_t step = lanes.count();
    const std::int32_t rows = task_.piece.out_rows;
    // Two vectors at a time keep the processor busy while each waits for its chain of operations.
    std::int64_t i = head;
    for (; i + 2 * step <= head + body; i += 2 * step) {
      const auto a = lanes.lower(compute(i));
      const auto b = lanes.lower(compute(i + step));
      std::byte* to = first + i * width;
      for (std::int32_t r = 0; r < rows; ++r) {
        to = out(task_.piece.begin, r) + i * width;
        write<stream>(lanes.out_d, a, reinterpret_cast<Element*>(to));
        write<stream>(lanes.out_d, b, reinterpret_cast<Element*>(to) + step);
      }
    }
    for (; i < head + body; i += step) {
      const auto result = lanes.lower(compute(i));
      std::byte* to = first + i * width;
      for (std::int32_t r = 0; r < rows; ++r) {
        to = out(task_.piece.begin, r) + i * width;
        write<stream>(lanes.out_d, result, reinterpret_cast<Element*>(to));
      }
    }
  }

  static constexpr bool keeps_sides = std::is_same_v<Op, ar::NanKeepingHop>;

  const Op& op_;
  const ProgramTask& task_;
  std::span<const FoldStep> code_;
  Fuse fuse_;
};

template <class Op>
void run_program(const ProgramTask& task) {
  const Op op = Op::of(task.program->arithmetic);
  Machine<Op>(op, task).run();
}

}  // namespace vranks::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
