// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What an op makes of a list of elements: exact bits where there is one right answer (copies,
// integers, truth values, ordered ops), otherwise the exact value and how far a result may be off
// after that many roundings.
#pragma once

#include <cmath>
#include <span>

#include "tests/collectives/reference.hpp"

namespace vranks::plain {

struct Expected {
  bool has_bits = true;
  std::array<std::byte, 16> bits{};
  std::array<Real, 2> value{}, bound{};  // of both parts; unless has_bits
  bool may_be_nan = false;               // besides, where infinities saturate on the way or not
  std::int32_t rank = -1;                // of min_loc and max_loc, in the group
};

// The rules of a call that its meaning leaves open.
struct Rules {
  NanPolicy nan = NanPolicy::propagate;
  DType carried = DType::f32;  // of partial results of floats
  bool wraps = false;          // integer means: the sum wraps before it is divided
  bool saturates = false;      // 8-bit floats
};

// x[k]: the element of local rank first + k of the group. weights: of those ranks.
struct Operands {
  std::span<const std::byte* const> x;
  std::int32_t first = 0;
  std::span<const double> weights = {};
};

namespace detail {

inline bool is_false(DType dtype, const std::byte* element) {
  return std::all_of(element, element + size_bytes(dtype),
                     [](std::byte b) { return b == std::byte{0}; });
}

// Whether even what one rank alone holds is computed with; otherwise its bits are the result.
inline bool computes_alone(const Meaning& meaning) {
  const ReduceOp op = meaning.options.op;
  return finds_rank(op) || op == ReduceOp::premul_sum || is_prefix(meaning.collective);
}

// An infinite element of a dtype that saturates counts as the largest number.
inline Real limited(DType dtype, Real x, bool saturates) {
  const Format format = format_of(dtype);
  const Real largest = value_of(format, format.largest);
  return saturates && std::abs(x) > largest ? std::copysign(largest, x) : x;
}

// The k whose element wins; lowest of equals. A NaN wins or loses against all else.
inline std::size_t winner(DType dtype, ReduceOp op, const Rules& rules, const Operands& operands) {
  const NanPolicy nan = rules.nan;
  const bool is_min = op == ReduceOp::min || op == ReduceOp::min_loc;
  const auto is_nan = [&](std::size_t k) {
    return is_floating(dtype) && std::isnan(real_at(dtype, operands.x[k]));
  };
  const auto wins = [&](std::size_t k, std::size_t over) {
    if (is_nan(k) || is_nan(over))
      return nan == NanPolicy::propagate ? is_nan(k) && !is_nan(over) : is_nan(over) && !is_nan(k);
    if (!is_floating(dtype)) {
      // Truth values order as numbers do.
      const auto number = [&](std::size_t i) {
        return dtype == DType::boolean ? Integer{!is_false(dtype, operands.x[i])}
                                       : integer_at(dtype, operands.x[i]);
      };
      return is_min ? number(k) < number(over) : number(k) > number(over);
    }
    const Real a = limited(dtype, real_at(dtype, operands.x[k]), rules.saturates);
    const Real b = limited(dtype, real_at(dtype, operands.x[over]), rules.saturates);
    if (a == b)
      return is_min ? std::signbit(a) && !std::signbit(b) : std::signbit(b) && !std::signbit(a);
    return is_min ? a < b : a > b;
  };
  std::size_t best = 0;
  for (std::size_t k = 1; k < operands.x.size(); ++k)
    if (wins(k, best)) best = k;
  return best;
}

inline Expected ordered(const Meaning& meaning, const Rules& rules, const Operands& operands) {
  const std::size_t best = winner(meaning.dtype, meaning.options.op, rules, operands);
  Expected expected{.rank = operands.first + static_cast<std::int32_t>(best)};
  std::memcpy(expected.bits.data(), operands.x[best], size_bytes(meaning.dtype));
  if (meaning.dtype == DType::boolean)
    expected.bits[0] = std::byte{!is_false(meaning.dtype, operands.x[best])};
  if (!is_floating(meaning.dtype) || (operands.x.size() == 1 && !computes_alone(meaning)))
    return expected;
  const Real x = real_at(meaning.dtype, operands.x[best]);
  if (std::isnan(x) || std::isinf(x))
    put_real(meaning.dtype, limited(meaning.dtype, x, rules.saturates), expected.bits.data());
  return expected;
}

// band bor bxor: of numbers bit by bit; land lor lxor, and all ops on bool: of truth values.
inline Expected logical(const Meaning& meaning, const Operands& operands) {
  const DType dtype = meaning.dtype;
  const bool is_bool = dtype == DType::boolean;
  const auto value = [&](std::size_t k) {
    return integer_at(is_bool ? DType::u8 : dtype, operands.x[k]);
  };
  Integer result = 0, trues = 0, both = -1, any = 0, odd = 0;
  const auto count = static_cast<Integer>(operands.x.size());
  for (std::size_t k = 0; k < operands.x.size(); ++k) {
    trues += value(k) != 0;
    both &= value(k);
    any |= value(k);
    odd ^= value(k);
  }
  switch (meaning.options.op) {
    case ReduceOp::band:
      result = is_bool ? trues == count : both;
      break;
    case ReduceOp::bor:
      result = is_bool ? trues != 0 : any;
      break;
    case ReduceOp::bxor:
      result = is_bool ? trues % 2 : odd;
      break;
    case ReduceOp::land:
    case ReduceOp::prod:  // of bool
      result = trues == count;
      break;
    case ReduceOp::lxor:
      result = trues % 2;
      break;
    default:  // lor, and sum of bool
      result = trues != 0;
      break;
  }
  Expected expected;
  put_integer(is_bool ? DType::u8 : dtype, result, expected.bits.data());
  return expected;
}

inline Expected integers(const Meaning& meaning, const Rules& rules, const Operands& operands) {
  const DType dtype = meaning.dtype;
  using Wrapping = Code;
  Integer sum = 0;
  Wrapping product = 1;
  for (const std::byte* x : operands.x) {
    sum += integer_at(dtype, x);
    product *= static_cast<Wrapping>(integer_at(dtype, x));
  }
  Expected expected;
  switch (meaning.options.op) {
    case ReduceOp::prod:
      put_integer(dtype, static_cast<Integer>(product), expected.bits.data());
      break;
    case ReduceOp::premul_sum:
      put_integer(dtype, sum * static_cast<Integer>(meaning.options.factor), expected.bits.data());
      break;
    case ReduceOp::mean: {
      if (rules.wraps) {
        std::byte wrapped[8];
        put_integer(dtype, sum, wrapped);
        sum = integer_at(dtype, wrapped);
      }
      put_integer(dtype, sum / static_cast<Integer>(operands.x.size()), expected.bits.data());
      break;
    }
    default:
      put_integer(dtype, sum, expected.bits.data());
      break;
  }
  return expected;
}

// (1 + u)^roundings - 1: how far that many roundings take a value, relatively.
inline Real drift(const Format& carried, std::size_t roundings) {
  // 8-bit floats are added in f16 and rounded again.
  const Real unit = carried.unit() * (carried.bits == 8 ? 1 + 0x1p-6L : 1);
  return std::pow(1 + unit, static_cast<Real>(roundings)) - 1;
}

// A sum of these terms whose partial sums saturate at the largest number, in some order: no more of
// the terms of one sign is lost than they exceed that number by, and an infinity counts as that
// number once it has been added to anything.
inline void saturate_sum(Expected& expected, std::span<const Real> terms, Real largest) {
  Real plus = 0, minus = 0, infinities = 0;
  bool both = false;
  for (const Real x : terms) {
    if (std::isinf(x)) {
      both |= infinities != 0 && std::signbit(infinities) != std::signbit(x);
      infinities = std::copysign(Real{1}, x);
    } else {
      (x > 0 ? plus : minus) += std::abs(x);
    }
  }
  Real low = plus - minus - std::max(Real{0}, plus - largest);
  Real high = plus - minus + std::max(Real{0}, minus - largest);
  if (infinities > 0) low = largest - minus, high = largest;
  if (infinities < 0) low = -largest, high = plus - largest;
  if (both) low = -largest, high = largest;
  low = std::max(low, -largest);
  high = std::min(high, largest);
  expected.may_be_nan = both;
  expected.value[0] = (low + high) / 2;
  expected.bound[0] += (high - low) / 2;
}

// Sums of scaled parts, products, and log-sum-exp of real or complex numbers.
inline Expected floats(const Meaning& meaning, const Rules& rules, const Operands& operands) {
  const CollectiveOptions& o = meaning.options;
  const DType dtype = meaning.dtype;
  const Format format = format_of(dtype), carried = format_of(rules.carried);
  const std::size_t count = operands.x.size(), parts = is_complex(dtype) ? 2 : 1;
  std::array<Real, 2> value{}, magnitude{};
  std::size_t roundings = count;
  Real lost = 0;  // absolutely, beside what drift says
  std::vector<Real> terms;
  if (count == 1 && !computes_alone(meaning)) {
    Expected copy;
    std::memcpy(copy.bits.data(), operands.x[0], size_bytes(dtype));
    return copy;
  }
  if (o.op == ReduceOp::prod) {
    value[0] = real_at(dtype, operands.x[0]);
    if (parts == 2) value[1] = real_at(dtype, operands.x[0], 1);
    for (std::size_t k = 1; k < count; ++k) {
      const Real re = real_at(dtype, operands.x[k]);
      const Real im = parts == 2 ? real_at(dtype, operands.x[k], 1) : 0;
      const auto [a, b] = value;
      value = parts == 2 ? std::array<Real, 2>{a * re - b * im, a * im + b * re}
                         : std::array<Real, 2>{a * re, 0};
    }
    magnitude[0] = magnitude[1] = std::hypot(value[0], value[1]);
    if (parts == 2) roundings *= 3;
    // Of factors of at most 1, or 2 for complex ones, whose partial products are subnormal.
    lost = std::ldexp(carried.least() * static_cast<Real>(count),
                      parts == 2 ? static_cast<int>(count) : 0);
  } else if (o.op == ReduceOp::log_sum_exp) {
    Real largest = real_at(dtype, operands.x[0]), sum = 0;
    for (const std::byte* x : operands.x) largest = std::max(largest, real_at(dtype, x));
    for (const std::byte* x : operands.x) {
      const Real e = real_at(dtype, x);
      sum += std::isinf(largest) && e == largest ? 1 : std::exp(e - largest);
    }
    value[0] = largest + std::log(sum);
    magnitude[0] = std::abs(largest) + 1 + std::log(sum);
    roundings += 8;
  } else {
    // The factor is what it is as an element.
    const Real factor = value_of(format, code_of(format, static_cast<Real>(o.factor)));
    Real total = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Real weight = o.op == ReduceOp::weighted_mean ? operands.weights[k]
                          : o.op == ReduceOp::premul_sum  ? factor
                                                          : 1;
      total += weight;
      for (std::size_t p = 0; p < parts; ++p) {
        const Real x = real_at(dtype, operands.x[k], p) * weight;
        // No zero in front: a sum of negative zeros is one.
        value[p] = k == 0 ? x : value[p] + x;
        magnitude[p] += std::isinf(x) ? 0 : std::abs(x);
        terms.push_back(x);
      }
    }
    for (std::size_t p = 0; p < parts; ++p) {
      const Real scale = o.op == ReduceOp::mean            ? static_cast<Real>(count)
                         : o.op == ReduceOp::weighted_mean ? total
                                                           : 1;
      value[p] /= scale;
      magnitude[p] /= std::abs(scale);
    }
    if (o.op != ReduceOp::sum) roundings += 3;
  }
  Expected expected{.has_bits = false, .value = value};
  for (std::size_t p = 0; p < parts; ++p)
    expected.bound[p] = drift(carried, roundings) * magnitude[p] + lost +
                        carried.least() * static_cast<Real>(roundings) +
                        format.unit() * std::abs(value[p]) * 2 + format.least();
  const Real largest = value_of(format, format.largest);
  const bool is_beyond = std::abs(value[0]) > largest;
  if (rules.saturates) {
    Real mass = 0;
    bool has_nan = false;
    for (const Real x : terms) {
      mass += std::abs(x);
      has_nan |= std::isnan(x);
    }
    if (is_beyond) {
      expected.value[0] = value[0] = std::copysign(largest, value[0]);
      expected.bound[0] = drift(carried, roundings) * largest;
    }
    // Only what is carried in 8 bits saturates on the way.
    if (carried.bits == 8 && mass > largest && !has_nan) {
      expected.bound[0] = drift(carried, roundings) * (std::isinf(mass) ? largest : mass);
      if (o.op == ReduceOp::sum || o.op == ReduceOp::premul_sum) {
        saturate_sum(expected, terms, largest);
      } else {  // one of the two divisions comes first, of means of both signs anything
        expected.value[0] = 0;
        expected.bound[0] = largest;
        expected.may_be_nan = std::isnan(value[0]);
      }
      value = expected.value;
    }
  }
  for (std::size_t p = 0; p < parts; ++p) put_real(dtype, value[p], expected.bits.data(), p);
  return expected;
}

// What an exscan gives rank 0.
inline Expected identity(const Meaning& meaning, const Rules& rules) {
  Expected expected;
  const DType dtype = meaning.dtype;
  std::byte* const bits = expected.bits.data();
  const bool is_real = is_floating(dtype) || is_complex(dtype), is_bool = dtype == DType::boolean;
  const Format format = format_of(dtype);
  const Real infinity =
      rules.saturates ? value_of(format, format.largest) : std::numeric_limits<Real>::infinity();
  switch (meaning.options.op) {
    case ReduceOp::prod:
    case ReduceOp::land:
      is_real ? put_real(dtype, 1, bits) : put_integer(dtype, 1, bits);
      break;
    case ReduceOp::min:
    case ReduceOp::min_loc:
      is_real ? put_real(dtype, infinity, bits)
              : put_integer(dtype, is_bool ? 1 : largest_integer(dtype), bits);
      break;
    case ReduceOp::max:
    case ReduceOp::max_loc:
    case ReduceOp::log_sum_exp:
      is_real ? put_real(dtype, -infinity, bits)
              : put_integer(dtype, is_bool ? 0 : least_integer(dtype), bits);
      break;
    case ReduceOp::band:
      put_integer(dtype, is_bool ? 1 : -1, bits);
      break;
    default:
      break;
  }
  return expected;
}

}  // namespace detail

inline Expected combined(const Meaning& meaning, const Rules& rules, const Operands& operands) {
  const ReduceOp op = meaning.options.op;
  const DType dtype = meaning.dtype;
  const bool combines = reduces(meaning.collective);
  if (operands.x.empty()) return combines ? detail::identity(meaning, rules) : Expected{};
  // Copies keep bits, and so does what is over one rank, unless it is scaled or made 0 or 1.
  if (!combines) {
    Expected copy;
    std::memcpy(copy.bits.data(), operands.x[0], size_bytes(dtype));
    return copy;
  }
  if (is_ordered(op)) return detail::ordered(meaning, rules, operands);
  if (dtype == DType::boolean) return detail::logical(meaning, operands);
  switch (op) {
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor:
    case ReduceOp::land:
    case ReduceOp::lor:
    case ReduceOp::lxor:
      return detail::logical(meaning, operands);
    default:
      break;
  }
  if (is_integer(dtype)) return detail::integers(meaning, rules, operands);
  return detail::floats(meaning, rules, operands);
}

}  // namespace vranks::plain
