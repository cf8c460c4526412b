// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// All ops of an integer type as one op that looks up at run time what to do. It serves the types
// that are too rare for a kernel of their own; at memory speed the look-up costs nothing, but each
// static kernel costs compile time.
#pragma once

#include "kernels/arithmetic.hpp"

namespace vranks::cuda {

// C: what is carried; wide enough for the exact sum of the ranks if the op is mean.
template <class T, class C>
struct AnyInteger {
  using Element = T;
  using Carried = C;
  static constexpr bool recomputes = false;

  ReduceOp op;
  C ranks;

  static AnyInteger of(const TreeFold& fold) { return {fold.op, static_cast<C>(fold.ranks)}; }

  VR_HOST_DEVICE C lift(T x) const { return static_cast<C>(x); }
  VR_HOST_DEVICE C combine(C a, C b) const {
    // Unsigned arithmetic wraps; what is above the element's width falls away in lower().
    using Wrapping =
        std::conditional_t<(sizeof(C) > 8), arithmetic::UInt128,
                           std::conditional_t<(sizeof(C) > 4), std::uint64_t, std::uint32_t>>;
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return static_cast<C>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
      case ReduceOp::prod: {
        using Low = std::conditional_t<(sizeof(C) > 4), std::uint64_t, std::uint32_t>;
        return static_cast<C>(static_cast<Low>(a) * static_cast<Low>(b));
      }
      case ReduceOp::min:
        return b < a ? b : a;
      case ReduceOp::max:
        return a < b ? b : a;
      default:
        break;  // no op of a TreeFold
    }
    return a;
  }
  VR_HOST_DEVICE T lower(C c) const {
    return static_cast<T>(op == ReduceOp::mean ? static_cast<C>(c / ranks) : c);
  }
};

}  // namespace vranks::cuda
