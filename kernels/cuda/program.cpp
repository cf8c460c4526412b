// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/current_device.hpp"
#include "kernels/cuda/strided.hpp"

namespace vranks::cuda {

namespace {

// Words of a piece's code start at a multiple of this, and a block of leaves may be read beyond.
constexpr std::size_t word_alignment = 4;
constexpr std::size_t words_beyond = 16;

// The ops that vranks has.
class KnownOps final : public ProgramOps {
  // Calls f.template operator()<Op>() with the op on pieces of that kind.
  template <class F>
  decltype(auto) visit(ProgramKind kind, F&& f) const {
    return vranks::visit(rules_.dtype, [&]<class T>() -> decltype(auto) {
      if (kind == ProgramKind::copy) return f.template operator()<KeepBits<CopiedWord<T>>>();
      return arithmetic::visit_hop<T>(rules_, f);
    });
  }

 public:
  KnownOps(const Arithmetic& rules, int device) : rules_(rules) {
    if (rules.weights.empty()) return;
    const std::size_t bytes = rules.weights.size() * sizeof(double);
    weights_ = std::make_unique<DeviceBuffer>(bytes, Device{DeviceKind::cuda, device});
    weights_->copy_from_host(rules.weights.data(), bytes);
  }

  int access_columns(ProgramKind kind) const override {
    return visit(kind, [&]<class Op>() { return cuda::access_columns<Op>(kind); });
  }
  int tile_columns(ProgramKind kind) const override {
    return visit(kind, [&]<class Op>() { return cuda::tile_columns<Op>(kind); });
  }
  bool is_rare() const override {
    return visit(ProgramKind::tree, []<class Op>() { return cuda::is_rare<Op>; });
  }
  Sides sides() const override {
    return visit(ProgramKind::tree,
                 []<class Op>() { return commutes<Op> ? Sides::free : Sides::own_first; });
  }
  bool folds_subtrees(ProgramKind kind) const override {
    return visit(kind, [&]<class Op>() { return cuda::folds_subtrees<Op>(kind); });
  }
  void launch(const ProgramPart& part, const KernelTensors& tensors, Stream stream) const override {
    visit(part.kind, [&]<class Op>() {
      if constexpr (std::is_same_v<Op, KeepBits<typename Op::Element>>) {
        launch_program(Op{}, part, tensors, stream);
      } else {
        Op op = Op::of(rules_);
        if constexpr (requires { op.weights; })
          op.weights = static_cast<const double*>(weights_->data());
        launch_program(op, part, tensors, stream);
      }
    });
  }

 private:
  Arithmetic rules_;
  std::unique_ptr<DeviceBuffer> weights_;  // of weighted_mean: one a row
};

// What depends on which rank holds a leaf, and on the side it is on.
struct OwnRules {
  bool fuses;  // the leaf's scaling is fused with the addition
  Sides sides;

  OwnRules(const Arithmetic& rules, Sides of_op)
      : fuses(rules.premultiplies() && rules.fuse != Fuse::never && is_floating(rules.dtype)),
        sides(of_op) {}

  std::uint32_t bits(const FoldStep& step) const {
    const bool first = (sides != Sides::free && step.action == FoldAction::leaf_left) ||
                       (sides == Sides::own_first && step.own);
    return (first ? leaf_is_first : 0u) | (step.own && fuses ? leaf_is_fused : 0u);
  }
};

// A leaf and what follows it.
struct Leaf {
  std::int32_t row;
  std::uint32_t bits;
  std::int32_t stores = stores_nothing;  // the output row that gets the result so far
};

struct Code {
  ProgramKind kind = ProgramKind::tree;
  std::vector<Leaf> leaves;
};

[[noreturn]] void refuse(const FoldPiece& piece, std::int32_t step, std::string_view why) {
  throw Error(ErrorKind::bad_argument, fmt::format("step {} of the code of columns {} to {} {}",
                                                   step, piece.begin, piece.end, why));
}

ProgramKind kind_of(const Code& code, int waiting, bool computes_alone) {
  if (code.leaves.empty()) return ProgramKind::copy;  // of the filling
  if (code.leaves.size() == 1 && !computes_alone) return ProgramKind::copy;
  if (waiting > tree_waiting) return ProgramKind::deep;
  const bool one_after_the_other =
      std::all_of(code.leaves.begin() + 1, code.leaves.end(),
                  [&](const Leaf& leaf) { return leaf.bits == code.leaves[1].bits; });
  if (waiting > 0 || !one_after_the_other) return ProgramKind::tree;
  return code.leaves.size() <= 4 ? ProgramKind::few : ProgramKind::linear;
}

// Whether the first leaves are a balanced tree of subtree_leaves leaves, none of them fused.
bool is_subtree(std::span<const Leaf> leaves) {
  constexpr std::uint32_t merges[subtree_leaves] = {0, 0, 0, 1, 0, 0, 0, 2};
  for (std::size_t k = 0; k < subtree_leaves; ++k) {
    const std::uint32_t bits = leaves[k].bits, found = bits >> merges_at & 31;
    const std::uint32_t starts = k % 2 == 0 ? leaf_starts : 0u;
    if ((bits & (leaf_starts | leaf_is_fused)) != starts) return false;
    if (k == subtree_leaves - 1 ? found < merges[k] : found != merges[k]) return false;
  }
  return true;
}

// Marks the subtrees that a kernel finds in a block of leaves that it reads at once.
void mark_subtrees(std::vector<Leaf>& leaves) {
  for (std::size_t k = 0; k + subtree_leaves <= leaves.size(); k += subtree_leaves)
    if (is_subtree(std::span(leaves).subspan(k))) leaves[k].bits |= leaf_begins_subtree;
}

// Reads the steps of a piece, checking that they are code of a stack machine.
Code translate(const FoldPiece& piece, std::span<const FoldStep> steps, const OwnRules& own,
               const Arithmetic& rules) {
  Code code;
  if (steps.size() == 1 && steps[0].action == FoldAction::fill) {
    code.kind = ProgramKind::copy;
    return code;
  }
  bool stores = false;
  int waiting = -1, most_waiting = 0;
  int merges = 0;  // behind the last leaf
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(steps.size()); ++k) {
    const FoldStep& step = steps[static_cast<std::size_t>(k)];
    switch (step.action) {
      case FoldAction::load:
        code.leaves.push_back({step.row, leaf_starts | (waiting >= 0 ? leaf_pushes : 0u)});
        most_waiting = std::max(most_waiting, ++waiting);
        merges = 0;
        break;
      case FoldAction::leaf_right:
      case FoldAction::leaf_left:
        if (waiting < 0) refuse(piece, k, "combines a leaf with nothing");
        code.leaves.push_back({step.row, own.bits(step)});
        merges = 0;
        break;
      case FoldAction::fill:
        refuse(piece, k, "fills, which is a whole code of its own");
      case FoldAction::store:
        if (code.leaves.empty() || waiting != 0 || code.leaves.back().stores != stores_nothing)
          refuse(piece, k, "stores a result that isn't the only one, or twice");
        code.leaves.back().stores = step.row;
        stores = true;
        break;
      case FoldAction::merge:
      case FoldAction::merge_swap: {
        if (waiting < 1) refuse(piece, k, "merges two results where there is one");
        if (merges == deep_waiting)
          throw Error(ErrorKind::not_supported,
                      fmt::format("the code of columns {} to {} merges more than {} results at "
                                  "once; CUDA kernels keep no more",
                                  piece.begin, piece.end, deep_waiting));
        std::uint32_t& bits = code.leaves.back().bits;
        if (step.action == FoldAction::merge_swap) bits |= 1u << (swaps_at + merges);
        bits += 1u << merges_at;
        ++merges;
        --waiting;
        break;
      }
    }
  }
  if (waiting != 0)
    refuse(piece, static_cast<std::int32_t>(steps.size()), "is the end, but leaves no one result");
  if (most_waiting > deep_waiting)
    throw Error(ErrorKind::not_supported,
                fmt::format("the code of columns {} to {} holds {} results at a time; CUDA kernels "
                            "keep at most {}",
                            piece.begin, piece.end, most_waiting + 1, deep_waiting + 1));
  code.kind = kind_of(code, most_waiting, rules.computes_alone);
  if (stores) {
    if (most_waiting > 0 || piece.out_rows > 0)
      refuse(piece, 0, "begins code that stores results but is no running fold");
    for (const Leaf& leaf : code.leaves)
      if (leaf.stores > std::numeric_limits<std::int32_t>::max() >> stores_at)
        refuse(piece, 0, "begins code that stores results in more rows than CUDA kernels count");
    code.kind = ProgramKind::running;
  }
  return code;
}

// The pieces of one kind while they are collected.
struct Draft {
  std::vector<KernelPiece> pieces;
  std::vector<std::int32_t> words;
  std::int64_t tiles = 0;

  std::int32_t add_code(const Code& code) {
    words.resize((words.size() + word_alignment - 1) / word_alignment * word_alignment);
    const auto first = static_cast<std::int64_t>(words.size());
    for (const Leaf& leaf : code.leaves) {
      words.push_back(leaf.row);
      if (code.kind == ProgramKind::running)
        words.push_back(leaf.stores << stores_at | static_cast<std::int32_t>(leaf.bits));
      else if (words_a_leaf(code.kind) == 2)
        words.push_back(static_cast<std::int32_t>(leaf.bits));
    }
    if (words.size() + words_beyond > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorKind::not_supported,
                  "the code of the fold takes more than 2^31 - 1 words of device memory");
    return static_cast<std::int32_t>(first);
  }
};

// Takes a large program to the device.
void upload(const Draft& draft, ProgramPart& part, int device) {
  std::vector<std::int32_t> piece_of_tile;
  piece_of_tile.reserve(static_cast<std::size_t>(part.tiles));
  for (std::size_t k = 0; k < draft.pieces.size(); ++k) {
    const std::int64_t end =
        k + 1 < draft.pieces.size() ? draft.pieces[k + 1].first_tile : part.tiles;
    piece_of_tile.resize(static_cast<std::size_t>(end), static_cast<std::int32_t>(k));
  }
  const std::size_t pieces_bytes = draft.pieces.size() * sizeof(KernelPiece);
  const std::size_t words_bytes = (draft.words.size() + words_beyond) * sizeof(std::int32_t);
  const std::size_t words_start = pieces_bytes;  // a multiple of 16
  const std::size_t tiles_start = (words_start + words_bytes + 15) / 16 * 16;
  std::vector<std::byte> bytes(tiles_start + piece_of_tile.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), draft.pieces.data(), pieces_bytes);
  std::memcpy(bytes.data() + words_start, draft.words.data(),
              draft.words.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data() + tiles_start, piece_of_tile.data(),
              piece_of_tile.size() * sizeof(std::int32_t));

  part.memory = std::make_unique<DeviceBuffer>(bytes.size(), Device{DeviceKind::cuda, device});
  part.memory->copy_from_host(bytes.data(), bytes.size());
  const auto* const start = static_cast<const std::byte*>(part.memory->data());
  part.program.pieces = reinterpret_cast<const KernelPiece*>(start);
  part.program.words = reinterpret_cast<const std::int32_t*>(start + words_start);
  part.program.piece_of_tile = reinterpret_cast<const std::int32_t*>(start + tiles_start);
}

ProgramPart make_part(ProgramKind kind, const Draft& draft, int device) {
  ProgramPart part;
  part.kind = kind;
  part.tiles = draft.tiles;
  KernelProgram& program = part.program;
  if (draft.pieces.size() > KernelProgram::few_pieces ||
      draft.words.size() > KernelProgram::few_words) {
    upload(draft, part, device);
    return part;
  }
  std::ranges::fill(program.first_tile, std::numeric_limits<std::int32_t>::max());
  std::ranges::copy(draft.words, program.few_word);
  std::ranges::copy(draft.pieces, program.few_piece);
  std::ranges::transform(draft.pieces, program.first_tile, &KernelPiece::first_tile);
  return part;
}

// Pointers to rows on their way to the device.
class RowTables {
 public:
  // Rows that a program names, from 0 on.
  std::int64_t in_rows = 0, out_rows = 0;
  bool has_ranks = false;

  std::size_t bytes() const {
    return static_cast<std::size_t>(in_rows + out_rows * (has_ranks ? 2 : 1)) * sizeof(std::byte*);
  }

  KernelTensors upload(const FoldRows& rows, Workspace workspace, Stream stream) const {
    auto* memory = static_cast<std::byte**>(workspace.data);
    std::size_t left = workspace.bytes / sizeof(std::byte*);
    const auto take = [&](const RowAddresses& addresses, std::int64_t count) {
      KernelRows result{.data = addresses.data, .stride_bytes = addresses.stride_bytes};
      if (addresses.table.empty()) {
        result.distances = static_cast<std::uint32_t>(addresses.stride_bytes);
        return result;
      }
      const auto needed = static_cast<std::size_t>(count);
      if (needed > addresses.table.size())
        throw Error(ErrorKind::bad_argument,
                    fmt::format("the program names {} rows of a tensor that has {}", needed,
                                addresses.table.size()));
      if (needed > left)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("the workspace has no room for {} pointers to rows", needed));
      const auto pointers = addresses.table.first(needed);
      write_pointers(pointers, memory, stream);
      result.table = memory;
      for (const std::byte* row : pointers)
        result.distances |= static_cast<std::uint32_t>(
            reinterpret_cast<std::uintptr_t>(row) ^ reinterpret_cast<std::uintptr_t>(pointers[0]));
      memory += needed;
      left -= needed;
      return result;
    };
    KernelTensors tensors{.in = take(rows.in, in_rows), .out = take(rows.out, out_rows)};
    if (has_ranks && rows.ranks.exist()) tensors.ranks = take(rows.ranks, out_rows);
    return tensors;
  }
};

class PreparedProgram final : public PreparedFold {
 public:
  PreparedProgram(const FoldProgram& program, int device, std::unique_ptr<ProgramOps> ops)
      : device_(device), ops_(std::move(ops)) {
    const Arithmetic& rules = program.arithmetic;
    const OwnRules own(rules, ops_->sides());
    tables_.has_ranks = finds_rank(rules.op);
    std::array<Draft, program_kinds> drafts;
    struct Known {
      Code code;
      std::int32_t first_word;
    };
    std::map<std::pair<std::int32_t, std::int32_t>, Known> known;  // pieces share code
    for (const FoldPiece& piece : program.pieces) {
      if (piece.begin >= piece.end)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("a piece of columns {} to {} is empty", piece.begin, piece.end));
      const auto [at, is_new] = known.try_emplace({piece.code, piece.length});
      Known& found = at->second;
      if (is_new) {
        if (piece.code < 0 || piece.length < 1 ||
            static_cast<std::size_t>(piece.code) + static_cast<std::size_t>(piece.length) >
                program.code.size())
          throw Error(ErrorKind::bad_argument,
                      fmt::format("columns {} to {} use steps {} to {} of code that has {}",
                                  piece.begin, piece.end, piece.code,
                                  std::int64_t{piece.code} + piece.length, program.code.size()));
        found.code = translate(piece,
                               std::span(program.code)
                                   .subspan(static_cast<std::size_t>(piece.code),
                                            static_cast<std::size_t>(piece.length)),
                               own, rules);
        const bool is_linear =
            found.code.kind == ProgramKind::few || found.code.kind == ProgramKind::linear;
        if (is_linear && ops_->is_rare()) found.code.kind = ProgramKind::tree;
        if (ops_->folds_subtrees(found.code.kind)) mark_subtrees(found.code.leaves);
        found.first_word = drafts[static_cast<std::size_t>(found.code.kind)].add_code(found.code);
        for (const Leaf& leaf : found.code.leaves) {
          tables_.in_rows = std::max<std::int64_t>(tables_.in_rows, leaf.row + 1);
          tables_.out_rows = std::max<std::int64_t>(tables_.out_rows, leaf.stores + 1);
        }
      }
      tables_.out_rows =
          std::max<std::int64_t>(tables_.out_rows, std::int64_t{piece.out_row} + piece.out_rows);
      const ProgramKind kind = found.code.kind;
      const auto& leaves = found.code.leaves;
      // What leaves no result may name no output row at all.
      if (piece.out_rows == 0 && kind != ProgramKind::running) continue;
      Draft& draft = drafts[static_cast<std::size_t>(kind)];
      draft.pieces.push_back({.begin = piece.begin,
                              .end = piece.end,
                              .out_begin = piece.out_begin,
                              .origin = piece.origin,
                              .code = found.first_word,
                              .leaves = static_cast<std::int32_t>(leaves.size()),
                              .out_row = piece.out_row,
                              .out_rows = piece.out_rows,
                              .first_tile = static_cast<std::int32_t>(draft.tiles),
                              .leaf_bits = leaves.size() > 1 ? leaves[1].bits : 0u,
                              .first_row = piece.first_row});
      // Groups of columns may start in front of the piece.
      const std::int64_t columns = piece.end - piece.begin + ops_->access_columns(kind) - 1;
      const std::int64_t tile = ops_->tile_columns(kind);
      draft.tiles += (columns + tile - 1) / tile;
      check_grid(draft.tiles);
    }
    for (int kind = 0; kind < program_kinds; ++kind) {
      const Draft& draft = drafts[static_cast<std::size_t>(kind)];
      if (draft.pieces.empty()) continue;
      parts_.push_back(make_part(static_cast<ProgramKind>(kind), draft, device));
      if (own.fuses) parts_.back().program.fuse = rules.fuse;
      std::memcpy(parts_.back().program.filling, program.filling.data(), program.filling.size());
    }
  }

  std::size_t workspace_bytes() const override { return tables_.bytes(); }

  void run(const FoldRows& rows, Workspace workspace, Stream stream) const override {
    const CurrentDevice current(device_);
    const KernelTensors tensors = tables_.upload(rows, workspace, stream);
    for (const ProgramPart& part : parts_) ops_->launch(part, tensors, stream);
  }

 private:
  int device_;
  std::unique_ptr<ProgramOps> ops_;
  RowTables tables_;
  std::vector<ProgramPart> parts_;
};

}  // namespace

std::unique_ptr<PreparedFold> prepare_program(const FoldProgram& program, int device) {
  return prepare_program(program, device, std::make_unique<KnownOps>(program.arithmetic, device));
}

std::unique_ptr<PreparedFold> prepare_program(const FoldProgram& program, int device,
                                              std::unique_ptr<ProgramOps> ops) {
  return std::make_unique<PreparedProgram>(program, device, std::move(ops));
}

}  // namespace vranks::cuda
