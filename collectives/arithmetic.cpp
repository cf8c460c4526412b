// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/arithmetic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/arithmetic.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// What `direct` carries: wide enough that only the end rounds to the dtype.
Accumulate widest(DType dtype, ReduceOp op) {
  if (is_ordered(op)) return Accumulate::storage;
  if (is_floating(dtype)) return size_bytes(dtype) <= 2 ? Accumulate::f32 : Accumulate::storage;
  return op == ReduceOp::mean && is_integer(dtype) ? Accumulate::exact : Accumulate::storage;
}

Accumulate accumulate_of(const Problem& problem, const Algorithm& algorithm,
                         std::optional<Accumulate> wanted) {
  if (problem.op == ReduceOp::log_sum_exp) {
    if (wanted)
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("accumulate {} is not for op log_sum_exp, which carries a maximum and "
                      "a sum of its own",
                      name(*wanted)));
    return Accumulate::storage;
  }
  const Accumulate wide = widest(problem.dtype, problem.op);
  if (!wanted) return algorithm.arithmetic.accumulate.value_or(wide);
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::bad_argument, fmt::format("accumulate {} is not for dtype {}: {}",
                                                     name(*wanted), name(problem.dtype), why));
  };
  const bool floating = is_floating(problem.dtype);
  if (*wanted == Accumulate::exact && floating) refuse("it carries integers");
  if (*wanted == Accumulate::exact && problem.op != ReduceOp::mean)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("accumulate exact is about means: the result of op {} wraps to {} anyhow",
                    name(problem.op), name(problem.dtype)));
  if ((*wanted == Accumulate::f32 || *wanted == Accumulate::f64) && !floating)
    refuse(is_complex(problem.dtype) ? "products of complex numbers are carried as storage"
                                     : "integers are carried as storage or exact");
  if (*wanted == Accumulate::f32 && problem.dtype == DType::f64)
    refuse("partial results can't be narrower than the elements");
  // What changes nothing is what it is equal to, so that equal calls have equal rules.
  if (is_ordered(problem.op)) return Accumulate::storage;
  if (*wanted == Accumulate::f32 && problem.dtype == DType::f32) return Accumulate::storage;
  if (*wanted == Accumulate::f64 && problem.dtype == DType::f64) return Accumulate::storage;
  return *wanted;
}

MeanMode mean_of(const Problem& problem, const Algorithm& algorithm, Accumulate accumulate,
                 std::optional<MeanMode> wanted) {
  const bool floating = is_floating(problem.dtype);
  if (wanted) {
    if (problem.op != ReduceOp::mean)
      throw Error(ErrorKind::bad_argument, fmt::format("mean {} is about op mean, not op {}",
                                                       name(*wanted), name(problem.op)));
    if (*wanted == MeanMode::premultiply && !floating)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("mean premultiply is not for dtype {}: 1/{} is no integer",
                              name(problem.dtype), problem.ranks));
    return *wanted;
  }
  if (problem.op != ReduceOp::mean || !floating) return MeanMode::divide;
  if (algorithm.arithmetic.mean) return *algorithm.arithmetic.mean;
  return size_bytes(problem.dtype) <= 2 && accumulate == Accumulate::storage ? MeanMode::premultiply
                                                                             : MeanMode::divide;
}

// A truth value is a byte that is 0 or not; of two such, sum and max are `or`, product and min are
// `and`, as in PyTorch.
ReduceOp op_on_bytes(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::max:
    case ReduceOp::bor:
      return ReduceOp::lor;
    case ReduceOp::prod:
    case ReduceOp::min:
    case ReduceOp::band:
      return ReduceOp::land;
    case ReduceOp::bxor:
      return ReduceOp::lxor;
    default:
      return op;
  }
}

void set_factor(const Problem& problem, Arithmetic& rules) {
  if (problem.op != ReduceOp::premul_sum) {
    if (problem.factor != 1)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("a factor of {} is given, but op {} has none; premul_sum has",
                              problem.factor, name(problem.op)));
    return;
  }
  const double factor = problem.factor;
  if (!std::isfinite(factor))
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("the factor of op premul_sum is {}; it must be a finite number", factor));
  if (is_integer(rules.dtype)) {
    const bool fits = visit(rules.dtype, [&]<class T>() {
      if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        // 2^digits is exact, as the largest number needn't be.
        return factor == std::trunc(factor) && factor >= static_cast<double>(Limits::min()) &&
               factor < std::ldexp(1.0, Limits::digits);
      }
      return false;
    });
    if (!fits)
      throw Error(ErrorKind::bad_argument, fmt::format("the factor {} is no number of dtype {}",
                                                       factor, name(problem.dtype)));
  }
  // Not even a factor becomes infinite in silence.
  const bool overflows = visit(rules.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>)
      return std::fabs(factor) > (std::is_same_v<T, Float8E4M3> ? 464.0 : 61440.0);
    else if constexpr (arithmetic::is_float<T>)
      return !arithmetic::is_finite(
          arithmetic::widen(arithmetic::narrow<T>(static_cast<arithmetic::Wide<T>>(factor))));
    return false;
  });
  if (overflows)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("the factor {} is beyond the range of dtype {}", factor, name(problem.dtype)));
  const bool vanishes = factor != 0 && visit(rules.dtype, [&]<class T>() {
                          if constexpr (std::is_same_v<T, Float8E4M3>)
                            return to_float(to_float8_e4m3(static_cast<float>(factor), true)) == 0;
                          else if constexpr (std::is_same_v<T, Float8E5M2>)
                            return to_float(to_float8_e5m2(static_cast<float>(factor), true)) == 0;
                          else if constexpr (arithmetic::is_float<T>)
                            return arithmetic::widen(arithmetic::narrow<T>(
                                       static_cast<arithmetic::Wide<T>>(factor))) == 0;
                          return false;
                        });
  if (vanishes)
    throw Error(ErrorKind::bad_argument,
                fmt::format("the factor {} is too small for dtype {}, in which it would be 0",
                            factor, name(problem.dtype)));
  rules.factor = factor;
}

// "rank 2", and where ranks come in groups "rank 2 (rank 1 of group 0)".
std::string rank_text(std::size_t r, const GroupOfRanks& group) {
  if (group.ranks.empty()) return fmt::format("rank {}", r);
  return fmt::format("rank {} (rank {} of group {})", group.ranks[r], r, group.index);
}

void set_weights(const Problem& problem, const GroupOfRanks& group, Arithmetic& rules) {
  if (problem.op != ReduceOp::weighted_mean) {
    if (!problem.weights.empty())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} weights are given, but op {} has none; weighted_mean has",
                              problem.weights.size(), name(problem.op)));
    return;
  }
  if (problem.weights.size() != static_cast<std::size_t>(problem.ranks))
    throw Error(ErrorKind::bad_argument,
                fmt::format("op weighted_mean over {} ranks needs as many weights, not {}",
                            problem.ranks, problem.weights.size()));
  const bool in_f64 = rules.dtype == DType::f64 || rules.accumulate == Accumulate::f64;
  rules.weights.clear();
  rules.total_weight = 0;
  for (std::size_t r = 0; r < problem.weights.size(); ++r) {
    const double weight = problem.weights[r];
    // As exact as what it is multiplied in.
    const double carried = in_f64 ? weight : static_cast<double>(static_cast<float>(weight));
    if (!std::isfinite(carried))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("the weight of {} is {}; weights must be finite numbers{}",
                              rank_text(r, group), weight, in_f64 ? "" : " of f32"));
    if (carried == 0 && weight != 0)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("the weight of {} is {}, which is too small for f32, in which it "
                              "would be 0; larger ones in the same proportions do the same",
                              rank_text(r, group), weight));
    rules.weights.push_back(carried);
    rules.total_weight += carried;
  }
  if (rules.total_weight == 0 || !std::isfinite(rules.total_weight))
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("the weights of the {} ranks{} add up to {}; a weighted mean divides by "
                    "their sum, which must be finite and not 0",
                    problem.ranks,
                    group.ranks.empty() ? ""
                                        : fmt::format(" of group {} ({})", group.index,
                                                      fmt::join(group.ranks, ", ")),
                    rules.total_weight));
}

// Whose results are 0 or 1, whatever the numbers are.
bool makes_truth_values(ReduceOp op) {
  return op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor;
}

void check_op(const Problem& problem) {
  check_supported(problem.op, problem.dtype);
  if (is_prefix(problem.collective) &&
      (problem.op == ReduceOp::mean || problem.op == ReduceOp::weighted_mean))
    throw Error(ErrorKind::not_supported,
                fmt::format("op {} is not for {}: each rank would need a divisor of its own; {}",
                            name(problem.op), name(problem.collective),
                            problem.op == ReduceOp::mean
                                ? "sum and divide"
                                : "multiply by the weights, sum, and divide by the weights' own "
                                  "running sums"));
}

}  // namespace

Parts parts_of(const Problem& problem) {
  if (!reduces(problem.collective)) {
    switch (size_bytes(problem.dtype)) {
      case 1:
        return {DType::u8, 1};
      case 2:
        return {DType::u16, 1};
      case 4:
        return {DType::u32, 1};
      default:
        return {DType::u64, static_cast<std::int64_t>(size_bytes(problem.dtype) / 8)};
    }
  }
  if (problem.dtype == DType::boolean && !finds_rank(problem.op)) return {DType::u8, 1};
  if (problem.op != ReduceOp::prod) {
    if (problem.dtype == DType::c64) return {DType::f32, 2};
    if (problem.dtype == DType::c128) return {DType::f64, 2};
  }
  return {problem.dtype, 1};
}

Arithmetic resolve(const Problem& whole, const Selection& selection, const Policies& policies,
                   const GroupOfRanks& group) {
  const Algorithm& algorithm = *selection.algorithm;
  if (policies.fp8 && whole.dtype != DType::f8e4m3 && whole.dtype != DType::f8e5m2)
    throw Error(ErrorKind::bad_argument, fmt::format("fp8 {} is about 8-bit floats, not dtype {}",
                                                     name(*policies.fp8), name(whole.dtype)));
  Problem problem = whole;
  problem.dtype = parts_of(whole).dtype;
  Arithmetic rules{.dtype = problem.dtype, .op = problem.op, .group = problem.ranks};
  if (!reduces(problem.collective)) {
    const char* const without_op =
        problem.collective == Collective::barrier ? "passes no data" : "only copies";
    if (policies.accumulate || policies.mean || policies.nan || policies.fp8)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("{} {}; accumulate, mean, NaN and fp8 policies are about ops",
                              name(problem.collective), without_op));
    if (problem.factor != 1 || !problem.weights.empty())
      throw Error(ErrorKind::bad_argument, fmt::format("{} {}; factors and weights are about ops",
                                                       name(problem.collective), without_op));
    rules.op = ReduceOp::sum;
    return rules;
  }
  check_op(whole);
  if (whole.dtype == DType::boolean) rules.op = problem.op = op_on_bytes(problem.op);
  if (policies.nan && !has_nan(whole.dtype))
    throw Error(ErrorKind::bad_argument, fmt::format("NaN policy {} is about floats; dtype {} has "
                                                     "no NaN",
                                                     name(*policies.nan), name(whole.dtype)));
  if (policies.nan && !is_ordered(whole.op) && *policies.nan == NanPolicy::ignore)
    throw Error(ErrorKind::bad_argument,
                fmt::format("NaN policy ignore is about min and max; with op {} a NaN gives NaN",
                            name(whole.op)));
  rules.accumulate = accumulate_of(problem, algorithm, policies.accumulate);
  rules.mean = mean_of(problem, algorithm, rules.accumulate, policies.mean);
  rules.fp8 = policies.fp8.value_or(Fp8Mode::saturate);
  set_factor(problem, rules);
  set_weights(problem, group, rules);
  if (is_ordered(problem.op)) rules.nan = policies.nan.value_or(algorithm.arithmetic.nan);
  if (algorithm.refine != nullptr) algorithm.refine(problem, selection.parameters, rules);
  if (!rules.premultiplies()) rules.fuse = Fuse::never;
  // NCCL's choice among NaNs is about ignored ones; who asks for another policy gets one pattern.
  // Its kernels know no other ops.
  const bool is_nccl_op = rules.op <= ReduceOp::premul_sum;
  if (rules.dtype != DType::f64 || rules.accumulate != Accumulate::storage || !is_nccl_op ||
      (is_ordered(problem.op) && rules.nan == NanPolicy::propagate))
    rules.nan_bits = NanBits::one_pattern;
  rules.rescues = algorithm.is_tree_fold && rules.divides() && is_floating(rules.dtype) &&
                  rules.accumulate == widest(rules.dtype, rules.op);
  rules.computes_alone = finds_rank(rules.op) || rules.op == ReduceOp::premul_sum ||
                         makes_truth_values(rules.op) || is_prefix(problem.collective);
  return rules;
}

bool is_tree_fold(const Algorithm& algorithm, const Arithmetic& rules) {
  return algorithm.is_tree_fold && !rules.premultiplies() && rules.op <= ReduceOp::max &&
         !rules.computes_alone && rules.accumulate == widest(rules.dtype, rules.op);
}

std::array<std::byte, 16> identity(const Arithmetic& rules, const Problem& problem) {
  std::array<std::byte, 16> bytes{};
  if (!reduces(problem.collective)) return bytes;
  visit(rules.dtype, [&]<class T>() {
    T value{};
    // `number` as an element; out of range: the number nearest to it.
    const auto set = [&](double number) {
      if constexpr (std::is_same_v<T, Float8E4M3>)
        value = to_float8_e4m3(static_cast<float>(number), true);
      else if constexpr (std::is_same_v<T, Float8E5M2>)
        value = to_float8_e5m2(static_cast<float>(number), rules.fp8 == Fp8Mode::saturate);
      else if constexpr (arithmetic::is_float<T>)
        value = arithmetic::narrow<T>(static_cast<arithmetic::Wide<T>>(number));
      else if constexpr (std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>)
        value.re = static_cast<decltype(value.re)>(number);
      else if constexpr (std::is_same_v<T, Bool>)
        value.byte = number > 0;
      else if constexpr (std::is_integral_v<T>)
        value = number > 1   ? std::numeric_limits<T>::max()
                : number < 0 ? std::numeric_limits<T>::min()
                             : static_cast<T>(number);
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (rules.op) {
      case ReduceOp::prod:
      case ReduceOp::land:
        set(1);
        break;
      case ReduceOp::min:
      case ReduceOp::min_loc:
        set(infinity);
        break;
      case ReduceOp::max:
      case ReduceOp::max_loc:
      case ReduceOp::log_sum_exp:
        set(-infinity);
        break;
      case ReduceOp::band:
        std::memset(&value, 0xff, sizeof value);
        break;
      default:
        break;
    }
    std::memcpy(bytes.data(), &value, sizeof value);
  });
  // The largest truth value is 1.
  if (problem.dtype == DType::boolean && bytes[0] != std::byte{0}) bytes[0] = std::byte{1};
  return bytes;
}

}  // namespace vranks
