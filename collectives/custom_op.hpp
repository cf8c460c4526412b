// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of one's own, under any algorithm and collective that combines:
//
//   struct SumOfSquares {
//     using Element = float;   // the storage type of the tensors' dtype
//     using Carried = double;  // what partial results are; trivially copyable
//     VR_HOST_DEVICE double lift(float x) const { return double(x) * x; }
//     VR_HOST_DEVICE double combine(double a, double b) const { return a + b; }
//     VR_HOST_DEVICE float lower(double c) const { return float(c); }
//   };
//   vranks::run(vranks::Collective::all_reduce, in, out, SumOfSquares{}, options);
//
// combine() gets the operand of lower ranks on the left where the algorithm puts it there, and must
// be associative but for rounding; one that doesn't commute needs an algorithm that keeps the order
// of ranks, such as `direct` or `chain`. A result over one rank is lower(lift(x)). An exscan needs
// an Element identity() const besides. For tensors on CUDA devices include
// collectives/custom_op.cuh in a file that nvcc compiles.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/collectives.hpp"
#include "ranks/error.hpp"
#include "ranks/host_device.hpp"

namespace vranks {

template <class Op>
concept CustomOp = std::is_trivially_copyable_v<typename Op::Carried> &&
    requires(const Op op, typename Op::Element x, typename Op::Carried c) {
  { op.lift(x) } -> std::convertible_to<typename Op::Carried>;
  { op.combine(c, c) } -> std::convertible_to<typename Op::Carried>;
  { op.lower(c) } -> std::convertible_to<typename Op::Element>;
};

namespace custom {

// The identity of the op as what an exscan gives rank 0. Throws not_supported if it has none.
template <class Op>
void set_filling(const Op& op, FoldProgram& program) {
  const bool fills = std::ranges::any_of(
      program.code, [](const FoldStep& step) { return step.action == FoldAction::fill; });
  if (!fills) return;
  if constexpr (requires { op.identity(); }) {
    const typename Op::Element identity = op.identity();
    static_assert(sizeof identity <= sizeof program.filling);
    std::memcpy(program.filling.data(), &identity, sizeof identity);
  } else {
    throw Error(ErrorKind::not_supported,
                "an exscan gives rank 0 the identity of the op, and this custom op has none: add "
                "a function identity() to it");
  }
}

// A program of a custom op on the CPU: tiles of columns, a stack of carried values for each.
template <class Op>
class CpuFold final : public PreparedFold {
 public:
  CpuFold(FoldProgram program, const Op& op) : program_(std::move(program)), op_(op) {
    for (const FoldPiece& piece : program_.pieces)
      for (std::int64_t c = piece.begin; c < piece.end; c += tile_columns) {
        FoldPiece tile = piece;
        tile.out_begin += c - piece.begin;
        tile.begin = c;
        tile.end = std::min(c + tile_columns, piece.end);
        tiles_.push_back(tile);
      }
  }

  std::size_t workspace_bytes() const override { return 0; }
  void run(const FoldRows& rows, Workspace, Stream) const override {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (std::size_t k = 0; k < tiles_.size(); ++k) Tile(*this, rows, tiles_[k]).run();
  }

 private:
  using Element = typename Op::Element;
  using Carried = typename Op::Carried;
  static constexpr std::int64_t tile_columns = 1024;

  class Tile {
   public:
    Tile(const CpuFold& fold, const FoldRows& rows, const FoldPiece& piece)
        : fold_(fold),
          rows_(rows),
          piece_(piece),
          columns_(static_cast<std::size_t>(piece.end - piece.begin)),
          results_(columns_),
          stack_(columns_ * static_cast<std::size_t>(fold.program_.stack + 1)) {}

    void run() {
      Carried* top = stack_.data() - columns_;
      for (std::int32_t s = piece_.code; s < piece_.code + piece_.length; ++s) {
        const FoldStep& step = fold_.program_.code[static_cast<std::size_t>(s)];
        switch (step.action) {
          case FoldAction::load:
            top += columns_;
            each([&](std::size_t i) { top[i] = op().lift(input(step.row)[i]); });
            break;
          case FoldAction::leaf_right:
            each([&](std::size_t i) {
              top[i] = op().combine(top[i], op().lift(input(step.row)[i]));
            });
            break;
          case FoldAction::leaf_left:
            each([&](std::size_t i) {
              top[i] = op().combine(op().lift(input(step.row)[i]), top[i]);
            });
            break;
          case FoldAction::merge:
            top -= columns_;
            each([&](std::size_t i) { top[i] = op().combine(top[i], top[i + columns_]); });
            break;
          case FoldAction::merge_swap:
            top -= columns_;
            each([&](std::size_t i) { top[i] = op().combine(top[i + columns_], top[i]); });
            break;
          case FoldAction::store:
            each([&](std::size_t i) { results_[i] = op().lower(top[i]); });
            write(step.row);
            break;
          case FoldAction::fill:
            each([&](std::size_t i) {
              std::memcpy(&results_[i], fold_.program_.filling.data(), sizeof(Element));
            });
            return write(piece_.out_row);
        }
      }
      if (piece_.out_rows == 0) return;
      each([&](std::size_t i) { results_[i] = op().lower(top[i]); });
      for (std::int32_t r = 0; r < piece_.out_rows; ++r) write(piece_.out_row + r);
    }

   private:
    const Op& op() const { return fold_.op_; }
    template <class F>
    void each(F&& f) const {
      for (std::size_t i = 0; i < columns_; ++i) f(i);
    }
    const Element* input(std::int64_t row) const {
      return reinterpret_cast<const Element*>(rows_.in.row(row)) + piece_.begin;
    }
    void write(std::int64_t row) const {
      std::memcpy(reinterpret_cast<Element*>(rows_.out.row(row)) + piece_.out_begin,
                  results_.data(), columns_ * sizeof(Element));
    }

    const CpuFold& fold_;
    const FoldRows& rows_;
    const FoldPiece& piece_;
    std::size_t columns_;
    std::vector<Element> results_;
    std::vector<Carried> stack_;
  };

  FoldProgram program_;
  Op op_;
  std::vector<FoldPiece> tiles_;
};

template <class Op>
std::unique_ptr<PreparedFold> prepare_on_cpu(FoldProgram program, const PlanKey& key,
                                             const Op& op) {
  if (key.device.kind != DeviceKind::cpu)
    throw Error(ErrorKind::not_supported,
                "a custom op on " + to_string(key.device) +
                    " needs collectives/custom_op.cuh, in a file that nvcc compiles");
  return std::make_unique<CpuFold<Op>>(std::move(program), op);
}

// Runs the call; prepare(program, key) takes a program to the device.
template <class Op, class PrepareOp>
Provenance run(Collective collective, const TensorView& in, const TensorView& out, const Op& op,
               const CollectiveOptions& options, PrepareOp&& prepare) {
  if (in.dtype != dtype_of<typename Op::Element>())
    throw Error(ErrorKind::bad_argument, "the custom op is for elements of dtype " +
                                             std::string(name(dtype_of<typename Op::Element>())) +
                                             ", but the input is " + std::string(name(in.dtype)));
  if (!reduces(collective))
    throw Error(ErrorKind::bad_argument,
                std::string(name(collective)) + " only copies; a custom op combines");
  if (options.factor != 1 || !options.weights.empty() || options.ranks.data != nullptr)
    throw Error(ErrorKind::bad_argument,
                "factor, weights and ranks are about vranks' own ops; a custom op doesn't read "
                "them");
  Call call = make_call(collective, in, out, options);
  call.key.is_custom = true;
  const Prepare prepares = [&](FoldProgram program, const PlanKey& key) {
    set_filling(op, program);
    return prepare(std::move(program), key);
  };
  // The plans of an op with state hold that state.
  static PlanCache cache;
  return run_call(call, options, std::is_empty_v<Op> ? &cache : nullptr, prepares);
}

}  // namespace custom

// The collective with an op of one's own, whatever options.op says. Otherwise as
// run(collective, in, out, options); policies, factor, weights and ranks are refused. An op with
// members is planned at each call, so not while a stream is captured. Throws bad_argument if
// Element isn't the storage type of the tensors' dtype.
template <CustomOp Op>
Provenance run(Collective collective, const TensorView& in, const TensorView& out, const Op& op,
               const CollectiveOptions& options = {}) {
  return custom::run(collective, in, out, op, options,
                     [&](FoldProgram program, const PlanKey& key) {
                       return custom::prepare_on_cpu(std::move(program), key, op);
                     });
}

}  // namespace vranks
