// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of integers in a chosen order, and of min_loc and max_loc of all types, written
// down a second time as plainly as possible.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "float_reference.hpp"
#include "kernels/arithmetic_rules.hpp"
#include "ranks/error.hpp"

namespace vranks::reference {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Integers, computed without bounds; partial results wrap to T unless they are exact. S: what they
// are stored as.
template <class T, class S>
struct IntegerRules {
  using Value = Int128;
  using Stored = S;
  Arithmetic rules;

  Value lift(T x, std::int32_t) const {
    if (is_logical()) return x != 0;
    if (rules.op == ReduceOp::premul_sum)
      return wrap(times(static_cast<Value>(x), static_cast<Value>(rules.factor)));
    return static_cast<Value>(x);
  }
  Value combine(Value a, Value b) const {
    switch (rules.op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
      case ReduceOp::premul_sum:
        return wrap(a + b);
      case ReduceOp::prod:
        return wrap(times(a, b));
      case ReduceOp::min:
        return a < b ? a : b;
      case ReduceOp::max:
        return a > b ? a : b;
      case ReduceOp::band:
        return a & b;
      case ReduceOp::bor:
        return a | b;
      case ReduceOp::bxor:
        return a ^ b;
      case ReduceOp::land:
        return a != 0 && b != 0;
      case ReduceOp::lor:
        return a != 0 || b != 0;
      case ReduceOp::lxor:
        return (a != 0) != (b != 0);
      default:
        throw Error(ErrorKind::bad_argument, "integers have no such op");
    }
  }
  Value combine_own(T x, std::int32_t row, Value other, bool, bool) const {
    return combine(lift(x, row), other);
  }
  T lower(Value c) const {
    return static_cast<T>(rules.op == ReduceOp::mean ? c / static_cast<Value>(rules.group) : c);
  }
  Stored store(Value c) const { return static_cast<S>(c); }
  Value load(Stored s) const { return static_cast<Value>(s); }

 private:
  bool is_logical() const {
    return rules.op == ReduceOp::land || rules.op == ReduceOp::lor || rules.op == ReduceOp::lxor;
  }
  static Value times(Value a, Value b) {
    return static_cast<Value>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
  }
  Value wrap(Value c) const {
    const bool exact = rules.op == ReduceOp::mean && rules.accumulate == Accumulate::exact;
    return exact ? c : static_cast<Value>(static_cast<T>(c));
  }
};

// An element and the rank that holds it.
template <class T>
struct Held {
  T x;
  std::int32_t rank;
};

// min_loc and max_loc.
template <class T>
struct RankRules {
  using Value = Held<T>;
  // Partial results: the element's place among all elements, and the rank below it.
  using Stored = std::conditional_t<sizeof(T) == 8, Int128, std::int64_t>;
  Arithmetic rules;

  // What an op makes of an input: a truth value is 0 or 1, and an 8-bit float that saturates is no
  // infinity.
  Value lift(T x, std::int32_t row) const {
    if constexpr (std::is_same_v<T, Bool>) return {{x.byte != 0}, row};
    if constexpr (is_float<T> && sizeof(T) == 1)
      if (rules.fp8 == Fp8Mode::saturate && std::isinf(value_of(x)))
        return {element_of<T>(std::copysign(Format<T>::largest, value_of(x))), row};
    return {x, row};
  }
  Value combine(const Value& a, const Value& b) const {
    const bool a_is_nan = is_nan(a.x), b_is_nan = is_nan(b.x);
    if (a_is_nan != b_is_nan) return a_is_nan == (rules.nan == NanPolicy::propagate) ? a : b;
    if (!a_is_nan) {
      if (comes_before(a.x, b.x)) return a;
      if (comes_before(b.x, a.x)) return b;
    }
    return a.rank < b.rank ? a : b;
  }
  Value combine_own(T x, std::int32_t row, const Value& other, bool, bool) const {
    return combine(lift(x, row), other);
  }
  T lower(const Value& c) const {
    if constexpr (is_float<T>) return element_of<T>(value_of(c.x));
    return c.x;
  }
  std::int32_t lower_rank(const Value& c, std::int32_t first_row) const {
    return c.rank - first_row;
  }

  // Places are counted up from that of zero, or of +0; the winner's is the lowest.
  Stored store(const Value& c) const {
    Stored place;
    if (is_nan(c.x)) {
      place = nan_place();
    } else {
      if constexpr (is_float<T>) {
        place = static_cast<Stored>(bits_of(c.x));
        if (place >= half) place = half - 1 - place;
      } else {
        place = static_cast<Stored>(number(c.x)) - (is_unsigned ? half : 0);
      }
      if (rules.op == ReduceOp::max_loc) place = -1 - place;
    }
    return place * (Stored{1} << 32) + c.rank;
  }
  Value load(Stored s) const {
    const auto rank = static_cast<std::int32_t>(s & 0xffffffff);
    Stored place = (s - rank) / (Stored{1} << 32);
    if constexpr (is_float<T>)
      if (place == nan_place())
        return {element_of<T>(std::numeric_limits<double>::quiet_NaN()), rank};
    if (rules.op == ReduceOp::max_loc) place = -1 - place;
    if constexpr (is_float<T>) {
      if (place < 0) place = half - 1 - place;
    } else if (is_unsigned) {
      place += half;
    }
    const auto bits = static_cast<std::uint64_t>(place);
    T x;
    std::memcpy(&x, &bits, sizeof(T));  // the lowest bytes
    return {x, rank};
  }

 private:
  static constexpr Stored half = Stored{1} << (8 * sizeof(T) - 1);
  static constexpr bool is_unsigned = std::is_unsigned_v<T> || std::is_same_v<T, Bool>;

  Stored nan_place() const { return rules.nan == NanPolicy::propagate ? -half : half - 1; }
  static std::uint64_t bits_of(T x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof(T));
    return bits;
  }
  static auto number(T x) {
    if constexpr (std::is_same_v<T, Bool>)
      return x.byte;
    else
      return x;
  }
  static bool is_nan(T x) {
    if constexpr (is_float<T>) return std::isnan(value_of(x));
    return false;
  }
  bool comes_before(T a, T b) const {
    if (rules.op == ReduceOp::max_loc) std::swap(a, b);
    if constexpr (is_float<T>)
      return is_less(value_of(a), value_of(b));
    else
      return number(a) < number(b);
  }
};

}  // namespace vranks::reference
