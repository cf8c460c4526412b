// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A fold program as the kernels read it. Pieces are sorted by how much of a stack machine they
// need, and each kind has a kernel of its own. A block of threads folds one tile: some columns of
// one piece. Programs of a few pieces travel in the kernel's parameters.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/backend.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/hop_arithmetic.hpp"

namespace vranks::cuda {

enum class ProgramKind {
  copy,     // one leaf: bits are kept; or none: the program's filling
  few,      // at most four leaves one after the other: two groups of columns a thread
  linear,   // any number of leaves one after the other, all combined in the same way
  tree,     // any code whose waiting results fit in registers
  deep,     // any code
  running,  // leaves one after the other, with results stored on the way
};
inline constexpr int program_kinds = 6;

// Results that wait on the stack below the top one.
inline constexpr int tree_waiting = 7;
inline constexpr int deep_waiting = 23;

// Groups of columns that a thread folds at once.
constexpr int column_groups(ProgramKind kind) {
  return kind == ProgramKind::copy || kind == ProgramKind::few ? 2 : 1;
}

// --- code ----------------------------------------------------------------------------------------

// A leaf of code is its row and, in trees, what happens to it: these bits, and behind them how
// many merges follow, and which of them swap.
enum LeafBits : std::uint32_t {
  leaf_starts = 1,    // becomes the top result
  leaf_pushes = 2,    // the result that was on top waits below it
  leaf_is_first = 4,  // otherwise it is op(leaf, top), not op(top, leaf)
  leaf_is_fused = 8,  // where the rules for positions say so
};
// Otherwise senseless together: the leaf begins a balanced tree over so many leaves, of which none
// is fused, and which a kernel that folds_subtrees() folds without looking at their bits.
inline constexpr std::uint32_t leaf_begins_subtree = leaf_starts | leaf_is_first;
inline constexpr int subtree_leaves = 8;
inline constexpr int merges_at = 4;  // 5 bits
inline constexpr int swaps_at = 9;   // deep_waiting bits
static_assert(swaps_at + deep_waiting <= 32);

constexpr int words_a_leaf(ProgramKind kind) {
  return kind == ProgramKind::copy || kind == ProgramKind::few || kind == ProgramKind::linear ? 1
                                                                                              : 2;
}
// The second word of a leaf of a running fold: its bits, and above them the output row that gets
// the result so far.
inline constexpr int stores_at = 4;
inline constexpr std::int32_t stores_nothing = -1;

struct alignas(16) KernelPiece {
  std::int64_t begin, end, out_begin, origin;  // columns, as in FoldPiece
  std::int32_t code, leaves;                   // first word, and how many leaves
  std::int32_t out_row, out_rows;
  std::int32_t first_tile;
  std::uint32_t leaf_bits;  // of every leaf but the first, where code has rows alone
  std::int32_t first_row;   // that ops which tell ranks call rank 0
};

// Where rows lie: at equal distances, or each where a table in device memory says.
struct KernelRows {
  std::byte* data = nullptr;
  std::int64_t stride_bytes = 0;
  std::byte* const* table = nullptr;
  std::uint32_t distances = 0;  // the lowest bits of all distances between rows, or-ed

#ifdef __CUDACC__
  __device__ __forceinline__ bool exist() const { return data != nullptr || table != nullptr; }
  __device__ __forceinline__ std::byte* row(std::int64_t r) const {
    return table == nullptr ? data + r * stride_bytes : table[r];
  }
#endif
};

struct KernelTensors {
  KernelRows in = {}, out = {}, ranks = {};
};

// Kernel parameters end at 4 KiB.
struct KernelProgram {
  static constexpr int few_pieces = 16;
  static constexpr int few_words = 512;

  // Of a large program, in device memory; null for a small one.
  const KernelPiece* pieces = nullptr;
  const std::int32_t* words = nullptr;
  const std::int32_t* piece_of_tile = nullptr;
  Fuse fuse = Fuse::never;  // never, unless there are scaled own inputs to fuse
  std::uint64_t filling[2] = {};
  // Of a small one.
  std::int32_t first_tile[few_pieces] = {};  // behind the last piece: more than any tile
  KernelPiece few_piece[few_pieces] = {};
  std::int32_t few_word[few_words + 16] = {};  // read beyond the end, up to a block of leaves
};
static_assert(sizeof(KernelProgram) <= 3700);

// The pieces of one kind. Device memory is held where the program is large.
struct ProgramPart {
  ProgramKind kind = ProgramKind::tree;
  std::int64_t tiles = 0;
  KernelProgram program;
  std::unique_ptr<DeviceBuffer> memory;
};

// --- columns -------------------------------------------------------------------------------------

// What combines nothing: the elements of a copy.
template <class T>
struct KeepBits {
  using Element = T;
  using Stored = T;
  using Carried = T;
  VR_HOST_DEVICE T lift(T x) const { return x; }
  VR_HOST_DEVICE T load(T s) const { return s; }
  VR_HOST_DEVICE T store(T c) const { return c; }
  VR_HOST_DEVICE T combine(T a, T) const { return a; }
  VR_HOST_DEVICE T combine_own(T, T other, bool, bool) const { return other; }
  VR_HOST_DEVICE T lower(T c) const { return c; }
};

// Columns to one access of a thread: 16 bytes, but less where the carried values would take more
// than eight registers.
template <class Op>
constexpr int access_columns(ProgramKind kind) {
  int columns = kind == ProgramKind::deep ? 1 : static_cast<int>(16 / sizeof(typename Op::Element));
  constexpr auto registers = static_cast<int>((sizeof(typename Op::Carried) + 3) / 4);
  const int most = std::is_same_v<Op, KeepBits<typename Op::Element>> ? 16 : 8 / registers;
  while (columns > most) columns /= 2;
  return columns;
}

// Columns to a tile.
template <class Op>
constexpr int tile_columns(ProgramKind kind) {
  return block_threads * column_groups(kind) * access_columns<Op>(kind);
}

// Leaves whose loads are in flight at once; fewer where results that wait take many registers.
template <class Op>
constexpr int rows_at_once(ProgramKind kind) {
  const bool wide = access_columns<Op>(kind) * sizeof(typename Op::Stored) > 16;
  const bool stores = kind == ProgramKind::running;  // code that repeats at every row
  return column_groups(kind) == 2 || (kind == ProgramKind::tree && wide) || stores ? 4 : 8;
}

// What an element is copied as: something of its size and its alignment, which for complex numbers
// is that of a part.
template <class T>
using CopiedWord = std::conditional_t<
    sizeof(T) == 16, Complex<double>,
    std::conditional_t<sizeof(T) == 8 && alignof(T) == 4, Complex<float>, arithmetic::Bits<T>>>;

// Ops that few callers need: they have no kernels for linear orders, which the ones for trees fold
// too, so that there is less to compile.
template <class Op>
inline constexpr bool is_rare = true;
template <class T, class S>
inline constexpr bool is_rare<arithmetic::FloatHop<T, S, false>> = sizeof(T) == 1 ||
                                                                   (sizeof(S) == 8 &&
                                                                    sizeof(T) != 8);
template <class T>
inline constexpr bool is_rare<arithmetic::MinMaxHop<T>> = sizeof(T) == 1;
template <class T>
inline constexpr bool is_rare<arithmetic::IntegerHop<T, T>> = false;

// Whether operands may change places without changing bits.
template <class Op>
inline constexpr bool commutes = !std::is_same_v<Op, arithmetic::NanKeepingHop>;

// Whether kernels of that kind fold balanced subtrees without the stack machine.
template <class Op>
constexpr bool folds_subtrees(ProgramKind kind) {
  return kind == ProgramKind::tree && commutes<Op> && rows_at_once<Op>(kind) == subtree_leaves;
}

// Launches the kernel of that part. Compiled for every op that visit_hop knows, and KeepBits.
template <class Op>
void launch_program(const Op& op, const ProgramPart& part, const KernelTensors& tensors,
                    Stream stream);

// What an op's kernels make of the two sides of a combine.
enum class Sides {
  free,       // operands may change places
  kept,       // left and right are what the code says
  own_first,  // and the combining rank's own input counts as left
};

// The kernels of a program's op.
class ProgramOps {
 public:
  virtual ~ProgramOps() = default;
  // As access_columns() and tile_columns() of the op.
  virtual int access_columns(ProgramKind kind) const = 0;
  virtual int tile_columns(ProgramKind kind) const = 0;
  // Whether linear orders have no kernels of their own.
  virtual bool is_rare() const = 0;
  virtual Sides sides() const = 0;
  // As folds_subtrees() of the op.
  virtual bool folds_subtrees(ProgramKind kind) const = 0;
  virtual void launch(const ProgramPart& part, const KernelTensors& tensors,
                      Stream stream) const = 0;
};

// Translates the program and takes it to the device; with the ops of its arithmetic, or with
// others.
std::unique_ptr<PreparedFold> prepare_program(const FoldProgram& program, int device);
std::unique_ptr<PreparedFold> prepare_program(const FoldProgram& program, int device,
                                              std::unique_ptr<ProgramOps> ops);

}  // namespace vranks::cuda
