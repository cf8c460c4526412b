// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ranks/error.hpp"

namespace vranks {

namespace {

constexpr double not_compared = -1;

template <class T>
double as_double(T x) {
  return static_cast<double>(x);
}
double as_double(Half x) { return to_float(x); }
double as_double(BFloat16 x) { return to_float(x); }
double as_double(Float8E4M3 x) { return to_float(x); }
double as_double(Float8E5M2 x) { return to_float(x); }

// The largest finite number.
template <class T>
double largest() {
  if constexpr (std::is_same_v<T, Half>) return 65504;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1.fep127;
  if constexpr (std::is_same_v<T, Float8E4M3>) return 448;
  if constexpr (std::is_same_v<T, Float8E5M2>) return 57344;
  if constexpr (std::is_arithmetic_v<T>) return as_double(std::numeric_limits<T>::max());
}

// f(i, x) for every element i of every row.
template <class T, class F>
void for_each_element(const Rows& in, F&& f) {
  for (std::int64_t r = 0; r < in.ranks; ++r) {
    const T* const row = reinterpret_cast<const T*>(in.data + r * in.stride_bytes);
    for (std::int64_t i = 0; i < in.elements; ++i) f(static_cast<std::size_t>(i), row[i]);
  }
}

// Sum over the ranks of |x| at each element.
template <class T>
std::vector<double> magnitudes(const Rows& in) {
  std::vector<double> sums(static_cast<std::size_t>(in.elements));
  for_each_element<T>(in, [&](std::size_t i, T x) { sums[i] += std::abs(as_double(x)); });
  return sums;
}

AgreementBound equal(const Rows& in) {
  AgreementBound bound;
  bound.most.assign(static_cast<std::size_t>(in.elements), 0);
  bound.rule = "equal";
  return bound;
}

// Integers are equal modulo 2^bits in any order, unless a sum leaves the range that the library
// adds in.
template <class T>
AgreementBound integer_bound(const Problem& problem, const Rows& in) {
  AgreementBound bound = equal(in);
  const bool saturates = problem.op == ReduceOp::sum && sizeof(T) < 4;
  const bool wraps = problem.op == ReduceOp::mean && sizeof(T) == 8;
  if (!saturates && !wraps) return bound;
  // The magnitude of 64-bit numbers is itself rounded: half of the range is safe.
  const double limit = saturates ? largest<T>() : largest<T>() / 2;
  const std::vector<double> sums = magnitudes<T>(in);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > limit) bound.most[i] = not_compared;
  bound.left_out = saturates ? fmt::format(
                                   "sum|x| is over {}, and Open MPI's vector code saturates "
                                   "where others wrap",
                                   limit)
                             : "sum|x| is over half of the 64 bits in which the library adds";
  return bound;
}

template <class T>
AgreementBound ordered_bound(const Rows& in) {
  AgreementBound bound;
  bound.most.assign(static_cast<std::size_t>(in.elements), 0);
  bound.rule = "equal (-0 and +0 are)";
  for_each_element<T>(in, [&](std::size_t i, T x) {
    if (std::isnan(as_double(x))) bound.most[i] = not_compared;
  });
  bound.left_out = "an input is NaN, for which MPI has no rule";
  return bound;
}

template <class T>
AgreementBound sum_bound(const Problem& problem, const Rows& in, bool is_exact_data) {
  const double u = ulp_at(1, problem.dtype) / 2;
  const double ranks = static_cast<double>(problem.ranks);
  const bool is_mean = problem.op == ReduceOp::mean;
  const ErrorBound direct = direct_bound(problem);
  const double u_direct = ulp_at(1, direct.rounded_in) / 2;
  // Theirs: R - 1 combines and a division; ours: the steps of `direct` and a narrowing. The factors
  // at the end cover the division of what is already rounded, and the rounding of sum|x| below.
  const double factor = (static_cast<double>(direct.steps) * u_direct + (ranks + 1) * u) * (1 + u) *
                        (1 + ranks * 0x1p-52);
  const double subnormal = is_mean ? ulp_at(0, problem.dtype) : 0;  // sums are exact down there

  AgreementBound bound;
  bound.most = magnitudes<T>(in);
  for (double& each : bound.most) {
    if (!(each <= largest<T>() / 2))
      each = not_compared;
    else
      each = is_exact_data ? 0 : factor * (is_mean ? each / ranks : each) + subnormal;
  }
  const char* const what = is_mean ? "mean|x|" : "sum|x|";
  const std::int64_t steps = problem.ranks + 1;
  const double log_u = std::log2(u);
  bound.rule = is_exact_data   ? "equal"
               : u == u_direct ? fmt::format("{} * 2^{} * {}", direct.steps + steps, log_u, what)
                               : fmt::format("({} * 2^{} + {} * 2^{}) * {}", direct.steps,
                                             std::log2(u_direct), steps, log_u, what);
  bound.left_out = fmt::format(
      "sum|x| is over half of the largest {} or not a number, so that the "
      "library may overflow on its way",
      name(problem.dtype));
  return bound;
}

template <class T>
AgreementBound product_bound(const Problem& problem, const Rows& in, bool is_exact_data) {
  const double u = ulp_at(1, problem.dtype) / 2;
  const double growth = std::exp(static_cast<double>(problem.ranks + 1) * std::log1p(u));
  const auto n = static_cast<std::size_t>(in.elements);
  std::vector<double> products(n, 1), peaks(n, 1);  // |x0 x1 ...|; the same without factors below 1
  for_each_element<T>(in, [&](std::size_t i, T x) {
    const double magnitude = std::abs(as_double(x));
    products[i] *= magnitude;
    if (!(magnitude <= 1)) peaks[i] *= magnitude;
  });

  // A partial product that is subnormal is off by half of the smallest number, times whatever
  // factors above 1 are still to come.
  const double underflow = 2 * static_cast<double>(problem.ranks) * ulp_at(0, problem.dtype);
  AgreementBound bound;
  bound.most.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(peaks[i] * growth <= largest<T>() / 2))
      bound.most[i] = not_compared;
    else if (!is_exact_data)
      bound.most[i] = 2 * (growth - 1) * products[i] + underflow * peaks[i] * growth;
  }
  bound.rule = is_exact_data ? "equal"
                             : fmt::format("2 * ((1 + 2^{})^{} - 1) * |product|, and underflow",
                                           std::log2(u), problem.ranks + 1);
  bound.left_out = fmt::format(
      "the factors above 1 alone give over half of the largest {}, so that "
      "the library may overflow on its way",
      name(problem.dtype));
  return bound;
}

template <class T>
AgreementBound float_bound(const Problem& problem, const Rows& in, bool is_exact_data) {
  switch (problem.op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return sum_bound<T>(problem, in, is_exact_data);
    case ReduceOp::prod:
      return product_bound<T>(problem, in, is_exact_data);
    case ReduceOp::min:
    case ReduceOp::max:
      return ordered_bound<T>(in);
    default:
      throw Error(ErrorKind::not_supported,
                  fmt::format("how far two libraries may be apart is not known for op {}",
                              name(problem.op)));
  }
}

}  // namespace

AgreementBound agreement_bound(const Problem& problem, const Rows& in, bool is_exact_data) {
  return visit(problem.dtype, [&]<class T>() -> AgreementBound {
    if constexpr (std::is_integral_v<T>)
      return integer_bound<T>(problem, in);
    else if constexpr (std::is_same_v<T, Bool>)
      return equal(in);
    else if constexpr (!requires(T x) { x.im; })
      return float_bound<T>(problem, in, is_exact_data);
    else
      throw Error(ErrorKind::not_supported,
                  fmt::format("how far two libraries may be apart is not known for dtype {}",
                              name(problem.dtype)));
  });
}

Deviation deviation_between(DType dtype, const std::byte* ours, const std::byte* theirs,
                            std::span<const double> most) {
  const std::size_t bytes = size_bytes(dtype);
  Deviation found;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] < 0) continue;
    ++found.compared;
    if (std::memcmp(ours + i * bytes, theirs + i * bytes, bytes) == 0) continue;
    ++found.different;
    const auto at = static_cast<std::int64_t>(i);
    const double a = element_as_double(ours, at, dtype);
    const double b = element_as_double(theirs, at, dtype);
    double apart = std::abs(a - b);
    double ulps = apart / ulp_at(std::isnan(apart) ? 0 : std::max(std::abs(a), std::abs(b)), dtype);
    if (!is_floating(dtype)) {
      apart = ulps = std::max(apart, 1.0);  // 64-bit integers may be the same double
    } else if (!std::isfinite(apart)) {
      apart = ulps = std::numeric_limits<double>::infinity();
    }
    if (apart > most[i]) ++found.over_bound;
    found.max_abs = std::max(found.max_abs, apart);
    found.max_ulp = std::max(found.max_ulp, ulps);
    const double used = apart == 0 ? 0 : apart / most[i];
    if (used <= found.max_bound_used) continue;
    found.max_bound_used = used;
    found.worst = at;
    found.worst_y = a;
    found.worst_exact = b;
    found.worst_bound = most[i];
  }
  return found;
}

Deviation merged(const Deviation& a, const Deviation& b) {
  Deviation both = b.max_bound_used > a.max_bound_used ? b : a;
  both.compared = a.compared + b.compared;
  both.different = a.different + b.different;
  both.over_bound = a.over_bound + b.over_bound;
  both.unjudged = a.unjudged + b.unjudged;
  both.max_abs = std::max(a.max_abs, b.max_abs);
  both.max_ulp = std::max(a.max_ulp, b.max_ulp);
  return both;
}

}  // namespace vranks
