// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/fold_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "ranks/error.hpp"

namespace vranks {

namespace {

struct Code {
  std::int32_t begin = 0, length = 0;
};

// Writes the code of folds, each once.
class Coder {
 public:
  Coder(const FoldGraph& graph, FoldProgram& program) : graph_(graph), program_(program) {
    depths_.reserve(static_cast<std::size_t>(graph.size() - graph.leaves()));
    for (FoldId fold = graph.leaves(); fold < graph.size(); ++fold) {
      const int a = depth(graph.left(fold)), b = depth(graph.right(fold));
      depths_.push_back(
          static_cast<std::uint8_t>(std::max(1, a == b && a > 0 ? a + 1 : std::max(a, b))));
    }
  }

  Code code_of(FoldId root) {
    // All leaves of a rank have the same code.
    if (graph_.is_leaf(root)) root = graph_.leaf(graph_.leaf_rank(root), 0);
    const auto [at, is_new] = known_.try_emplace(root);
    if (!is_new) return at->second;
    Code code;
    code.begin = static_cast<std::int32_t>(program_.code.size());
    write(root);
    if (program_.code.size() > INT32_MAX)
      throw Error(
          ErrorKind::not_supported,
          "the folds of all chunks together have more than 2^31 operands; such a schedule can "
          "only be run step by step");
    code.length = static_cast<std::int32_t>(program_.code.size()) - code.begin;
    program_.stack = std::max(program_.stack, std::int32_t{depth(root)});
    return at->second = code;
  }

  // The code of the results of a running fold, each stored in the row of its rank; nothing if they
  // are no running fold, where each is the one before and one more leaf on the right.
  std::optional<Code> running_code(const std::vector<std::pair<std::int32_t, FoldId>>& results) {
    std::vector<FoldStep> steps;
    FoldId before = no_fold;
    for (const auto& [rank, fold] : results) {
      if (fold == no_fold) return {};
      if (before == no_fold) {
        if (!graph_.is_leaf(fold)) return {};
        steps.push_back({graph_.leaf_rank(fold), FoldAction::load, false});
      } else {
        if (graph_.is_leaf(fold) || graph_.left(fold) != before) return {};
        const FoldId leaf = graph_.right(fold);
        if (!graph_.is_leaf(leaf)) return {};
        steps.push_back(
            {graph_.leaf_rank(leaf), FoldAction::leaf_right, graph_.own(fold) == Own::right});
      }
      steps.push_back({rank, FoldAction::store, false});
      before = fold;
    }
    return append(steps);
  }

  Code fill_code() { return append({{0, FoldAction::fill, false}}); }

 private:
  Code append(const std::vector<FoldStep>& steps) {
    const Code code{static_cast<std::int32_t>(program_.code.size()),
                    static_cast<std::int32_t>(steps.size())};
    program_.code.insert(program_.code.end(), steps.begin(), steps.end());
    return code;
  }

  int depth(FoldId fold) const {
    return graph_.is_leaf(fold) ? 0 : depths_[static_cast<std::size_t>(fold - graph_.leaves())];
  }

  void write(FoldId root) {
    struct Item {
      FoldId fold;  // to be written; no_fold: `step` is
      FoldStep step;
    };
    std::vector<Item> todo{{root, {}}};
    while (!todo.empty()) {
      const Item item = todo.back();
      todo.pop_back();
      if (item.fold == no_fold) {
        program_.code.push_back(item.step);
        continue;
      }
      if (graph_.is_leaf(item.fold)) {
        program_.code.push_back({graph_.leaf_rank(item.fold), FoldAction::load, false});
        continue;
      }
      const FoldId left = graph_.left(item.fold), right = graph_.right(item.fold);
      const Own own = graph_.own(item.fold);
      const bool left_is_leaf = graph_.is_leaf(left), right_is_leaf = graph_.is_leaf(right);
      // Of two leaves one is loaded: not the own one, which meets the other's value.
      if (right_is_leaf && !(left_is_leaf && own == Own::left)) {
        todo.push_back(
            {no_fold, {graph_.leaf_rank(right), FoldAction::leaf_right, own == Own::right}});
        todo.push_back({left, {}});
      } else if (left_is_leaf) {
        todo.push_back(
            {no_fold, {graph_.leaf_rank(left), FoldAction::leaf_left, own == Own::left}});
        todo.push_back({right, {}});
      } else if (depth(left) >= depth(right)) {
        todo.push_back({no_fold, {0, FoldAction::merge, false}});
        todo.push_back({right, {}});
        todo.push_back({left, {}});
      } else {
        todo.push_back({no_fold, {0, FoldAction::merge_swap, false}});
        todo.push_back({left, {}});
        todo.push_back({right, {}});
      }
    }
  }

  const FoldGraph& graph_;
  FoldProgram& program_;
  std::unordered_map<FoldId, Code> known_;
  // Of every combine: values on the stack that it needs at most if the deeper operand comes first.
  // A leaf beside a combine needs none of its own.
  std::vector<std::uint8_t> depths_;
};

// Every leaf of `root` must be of that chunk of the whole vector.
void check_chunk(const FoldGraph& graph, const ScheduleShape& shape, FoldId root, std::int32_t rank,
                 std::int32_t chunk) {
  const std::int32_t whole = shape.whole_chunk(rank, Slot::output, chunk);
  const auto refuse = [&](const std::string& what) {
    throw Error(
        ErrorKind::not_supported,
        fmt::format("output chunk {} of rank {} {}; such a schedule can only be run step by "
                    "step",
                    chunk, rank, what));
  };
  const auto check_leaf = [&](FoldId leaf) {
    const std::int32_t leaf_rank = graph.leaf_rank(leaf);
    if (shape.whole_chunk(leaf_rank, Slot::input, graph.leaf_chunk(leaf)) != whole)
      refuse(fmt::format("is made of chunk {} of rank {}", graph.leaf_chunk(leaf), leaf_rank));
  };
  if (root == no_fold) refuse("is never written");
  if (graph.is_leaf(root)) return check_leaf(root);
  std::vector<FoldId> todo{root};
  std::int32_t leaves = 0;
  while (!todo.empty()) {
    const FoldId fold = todo.back();
    todo.pop_back();
    if (!graph.is_leaf(fold)) {
      todo.push_back(graph.left(fold));
      todo.push_back(graph.right(fold));
      continue;
    }
    if (++leaves > shape.ranks) refuse("holds contributions more than once");
    check_leaf(fold);
  }
}

// Whether some ranks that hold the same chunk hold different folds of it.
bool ranks_differ(const Folds& folds, const ScheduleShape& shape, std::int32_t first,
                  std::int32_t last) {
  if (shape.is_part(Slot::output)) return false;
  for (std::int32_t chunk = 0; chunk < shape.slot_chunks(Slot::output); ++chunk)
    for (std::int32_t r = first + 1; r < last; ++r)
      if (folds.output(shape, r, chunk) != folds.output(shape, first, chunk)) return true;
  return false;
}

// The folds without what makes no difference where nothing is fused and all NaNs are one: whose
// input an operand is, and which operand is on the left.
Folds without_sides(const Folds& folds, const ScheduleShape& shape) {
  const FoldGraph& graph = folds.graph;
  FoldGraph plain(shape.ranks, shape.slot_chunks(Slot::input));
  std::vector<FoldId> plain_of(static_cast<std::size_t>(graph.size() - graph.leaves()));
  const auto mapped = [&](FoldId fold) {
    if (fold == no_fold || graph.is_leaf(fold)) return fold;
    return plain_of[static_cast<std::size_t>(fold - graph.leaves())];
  };
  for (FoldId fold = graph.leaves(); fold < graph.size(); ++fold) {
    const FoldId left = mapped(graph.left(fold)), right = mapped(graph.right(fold));
    plain_of[static_cast<std::size_t>(fold - graph.leaves())] =
        plain.combine(std::min(left, right), std::max(left, right), Own::none);
  }
  std::vector<FoldId> outputs;
  for (const FoldId fold : folds.outputs) outputs.push_back(mapped(fold));
  return {std::move(plain), std::move(outputs)};
}

}  // namespace

FusedProgram make_fold_program(const Folds& all, const ScheduleShape& shape, const Layout& layout,
                               const Arithmetic& rules) {
  FusedProgram fused;
  FoldProgram& program = fused.program;
  program.arithmetic = rules;
  const bool is_rooted = ends_at_root(shape.collective);
  const bool shares_chunks = !shape.is_part(Slot::output);
  const std::int32_t first = is_rooted ? shape.root : 0;
  const std::int32_t last = is_rooted ? shape.root + 1 : shape.ranks;
  const bool is_symmetric = rules.fuse == Fuse::never && rules.nan_bits == NanBits::one_pattern;
  std::optional<Folds> plain;
  if (is_symmetric && !is_prefix(shape.collective) && ranks_differ(all, shape, first, last))
    plain = without_sides(all, shape);
  const Folds& folds = plain ? *plain : all;
  Coder coder(folds.graph, program);
  // What moves to other places overwrites what others still have to read.
  fused.rereads = shape.is_part(Slot::input) && shape.is_part(Slot::output);

  const auto add_pieces = [&](std::int32_t whole, Code code, std::int32_t row, std::int32_t rows) {
    const std::int64_t in_shift = layout.shift(Slot::input, whole);
    const std::int64_t out_shift = layout.shift(Slot::output, whole);
    for (const Interval& interval : layout.chunk(whole))
      program.pieces.push_back(
          {.begin = interval.begin - in_shift,
           .end = interval.end - in_shift,
           .out_begin = interval.begin - out_shift,
           .origin = rules.fuse == Fuse::ll128 ? interval.origin - in_shift : 0,
           .code = code.begin,
           .length = code.length,
           .out_row = row,
           .out_rows = rows});
  };

  for (std::int32_t chunk = 0; chunk < shape.slot_chunks(Slot::output); ++chunk) {
    if (is_prefix(shape.collective)) {
      std::vector<std::pair<std::int32_t, FoldId>> results;
      for (std::int32_t r = first; r < last; ++r)
        if (shape.has_output(r)) results.emplace_back(r, folds.output(shape, r, chunk));
      if (!results.empty()) {
        if (const auto code = coder.running_code(results)) {
          check_chunk(folds.graph, shape, results.back().second, results.back().first, chunk);
          add_pieces(chunk, *code, 0, 0);
          // A row of an exscan is written before it is read.
          fused.rereads = fused.rereads || shape.collective == Collective::exscan;
          continue;
        }
      }
    }
    // Ranks that hold the same value of the same chunk are written together.
    for (std::int32_t r = first; r < last;) {
      if (!shape.has_output(r)) {
        ++r;
        continue;
      }
      const FoldId root = folds.output(shape, r, chunk);
      std::int32_t rows = 1;
      if (shares_chunks)
        while (r + rows < last && folds.output(shape, r + rows, chunk) == root) ++rows;
      if (shares_chunks && rows < last - first) fused.rereads = true;
      check_chunk(folds.graph, shape, root, r, chunk);
      add_pieces(shape.whole_chunk(r, Slot::output, chunk), coder.code_of(root),
                 r - (is_rooted ? shape.root : 0), rows);
      r += rows;
    }
  }

  const std::int64_t columns = layout.elements() / (shape.has_parts() ? shape.ranks : 1);
  std::optional<Code> fill;
  for (std::int32_t r = first; r < last && columns > 0; ++r)
    if (shape.fills_output(r)) {
      if (!fill) fill = coder.fill_code();
      program.pieces.push_back(
          {.begin = 0, .end = columns, .code = fill->begin, .length = fill->length, .out_row = r});
    }

  // Neighbours that compute the same become one piece.
  std::ranges::sort(program.pieces, {}, [](const FoldPiece& p) {
    return std::tuple(p.out_row, p.out_rows, p.out_begin);
  });
  std::vector<FoldPiece> merged;
  for (const FoldPiece& piece : program.pieces) {
    if (!merged.empty()) {
      FoldPiece& before = merged.back();
      FoldPiece alike = piece;
      alike.begin = before.begin;
      alike.end = before.end;
      alike.out_begin = before.out_begin;
      if (alike == before && before.end == piece.begin &&
          before.out_begin + (before.end - before.begin) == piece.out_begin) {
        before.end = piece.end;
        continue;
      }
    }
    merged.push_back(piece);
  }
  program.pieces = std::move(merged);
  return fused;
}

void append_group(FoldProgram& to, const FoldProgram& group, std::int32_t first_row,
                  std::int32_t first_out_row) {
  const auto code = static_cast<std::int64_t>(to.code.size());
  if (code + static_cast<std::int64_t>(group.code.size()) > INT32_MAX)
    throw Error(ErrorKind::not_supported,
                "the folds of all groups together have more than 2^31 operands");
  for (FoldStep step : group.code) {
    step.row += step.action == FoldAction::store ? first_out_row : first_row;
    to.code.push_back(step);
  }
  for (FoldPiece piece : group.pieces) {
    piece.code += static_cast<std::int32_t>(code);
    piece.out_row += first_out_row;
    piece.first_row += first_row;
    to.pieces.push_back(piece);
  }
  to.stack = std::max(to.stack, group.stack);
}

}  // namespace vranks
