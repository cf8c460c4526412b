// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Hops, element by element: the reference that fold programs are checked against.
#include <cstring>

#include "kernels/cpu/fold_program.hpp"

namespace vranks::cpu {

namespace {

template <class Op>
class HopRunner {
 public:
  using Element = typename Op::Element;
  using Stored = typename Op::Stored;

  HopRunner(const Arithmetic& rules, const Hop& hop)
      : op_(Op::of(rules)), hop_(hop), fuse_(rules.premultiplies() ? rules.fuse : Fuse::never) {}

  void run(std::int64_t first, std::int64_t elements) const {
    const std::int64_t behind = first + elements;
    auto* dst = reinterpret_cast<Stored*>(hop_.dst);
    switch (hop_.kind) {
      case Hop::Kind::copy:
        if (!hop_.a_is_leaf) return move<Stored>(first, elements);
        for (std::int64_t i = first; i < behind; ++i)
          dst[i] = op_.store(op_.lift(leaf(hop_.a, i), hop_.a_row));
        return;
      case Hop::Kind::combine:
        if (hop_.own != 0)
          for (std::int64_t i = first; i < behind; ++i) dst[i] = op_.store(combined(i));
        else
          for (std::int64_t i = first; i < behind; ++i)
            dst[i] = op_.store(op_.combine(value(hop_.a, hop_.a_is_leaf, hop_.a_row, i),
                                           value(hop_.b, hop_.b_is_leaf, hop_.b_row, i)));
        return;
      case Hop::Kind::lower:
        if (hop_.a_is_leaf) return move<Element>(first, elements);
        for (std::int64_t i = first; i < behind; ++i)
          reinterpret_cast<Element*>(hop_.dst)[i] = op_.lower(op_.load(stored(hop_.a, i)));
        if constexpr (arithmetic::tells_rank<Op>)
          for (std::int64_t i = first; i < behind && hop_.ranks != nullptr; ++i)
            reinterpret_cast<std::int32_t*>(hop_.ranks)[i] =
                op_.lower_rank(op_.load(stored(hop_.a, i)), 0);
    }
  }

 private:
  template <class T>
  void move(std::int64_t first, std::int64_t elements) const {
    std::memcpy(hop_.dst + first * static_cast<std::int64_t>(sizeof(T)),
                hop_.a + first * static_cast<std::int64_t>(sizeof(T)),
                static_cast<std::size_t>(elements) * sizeof(T));
  }
  Element leaf(const std::byte* from, std::int64_t i) const {
    return reinterpret_cast<const Element*>(from)[i];
  }
  Stored stored(const std::byte* from, std::int64_t i) const {
    return reinterpret_cast<const Stored*>(from)[i];
  }
  typename Op::Carried value(const std::byte* from, bool is_leaf, std::int32_t row,
                             std::int64_t i) const {
    return is_leaf ? op_.lift(leaf(from, i), row) : op_.load(stored(from, i));
  }
  typename Op::Carried combined(std::int64_t i) const {
    const bool fuse = fuse_ == Fuse::own ||
                      (fuse_ == Fuse::ll128 && fuses_at(hop_.position + i, sizeof(Element)));
    if (hop_.own == 1 && hop_.a_is_leaf)
      return op_.combine_own(leaf(hop_.a, i), hop_.a_row,
                             value(hop_.b, hop_.b_is_leaf, hop_.b_row, i), true, fuse);
    if (hop_.own == 2 && hop_.b_is_leaf)
      return op_.combine_own(leaf(hop_.b, i), hop_.b_row,
                             value(hop_.a, hop_.a_is_leaf, hop_.a_row, i), false, fuse);
    return op_.combine(value(hop_.a, hop_.a_is_leaf, hop_.a_row, i),
                       value(hop_.b, hop_.b_is_leaf, hop_.b_row, i));
  }

  Op op_;
  const Hop& hop_;
  Fuse fuse_;
};

}  // namespace

void run_hop(const Hop& hop, const Arithmetic& rules, std::int64_t first, std::int64_t elements) {
  visit(rules.dtype, [&]<class T>() {
    arithmetic::visit_hop<T>(rules,
                             [&]<class Op>() { HopRunner<Op>(rules, hop).run(first, elements); });
  });
}

}  // namespace vranks::cpu
