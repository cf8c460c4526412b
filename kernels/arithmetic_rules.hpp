// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of one call's arithmetic, as plain data: everything that decides bits beside the order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ranks/dtype.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

// name, other names, what partial results are
#define VR_ACCUMULATES(X)                                                             \
  X(storage, "", "rounded to the tensor's dtype at every combine, as wires carry it") \
  X(f32, "float32 fp32", "carried in f32, rounded once at the end")                   \
  X(f64, "float64 fp64", "carried in f64, rounded once at the end")                   \
  X(exact, "", "integers: carried wide enough never to wrap")

enum class Accumulate : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_ACCUMULATES(X)
#undef X
};

// name, other names, how a mean is made
#define VR_MEAN_MODES(X)                                            \
  X(divide, "", "combine, then divide once by the number of ranks") \
  X(premultiply, "", "each rank's value times dtype(1 / ranks), then combine, as NCCL does")

enum class MeanMode : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_MEAN_MODES(X)
#undef X
};

// name, other names, what an 8-bit float makes of numbers beyond its range
#define VR_FP8_MODES(X)                                                         \
  X(saturate, "",                                                               \
    "the largest finite number, as NCCL does; also of an infinite e5m2 input, " \
    "once an op meets it")                                                      \
  X(ieee, "", "infinity; NaN in e4m3, which has no infinity")

enum class Fp8Mode : std::uint8_t {
#define X(name, aliases, meaning) name,
  VR_FP8_MODES(X)
#undef X
};

template <class E>
struct PolicyInfo {
  E policy;
  std::string_view name;
  std::string_view aliases;
  std::string_view meaning;
};

std::span<const PolicyInfo<Accumulate>> accumulates();
std::string_view name(Accumulate accumulate);
Accumulate parse_accumulate(std::string_view text);

std::span<const PolicyInfo<Fp8Mode>> fp8_modes();
std::string_view name(Fp8Mode mode);
Fp8Mode parse_fp8_mode(std::string_view text);

std::span<const PolicyInfo<MeanMode>> mean_modes();
std::string_view name(MeanMode mode);
MeanMode parse_mean_mode(std::string_view text);

// Where a rank's own input, scaled for a premultiplied mean, meets a partial result: with one
// rounding (fused multiply-add) or with two.
enum class Fuse : std::uint8_t {
  never,
  own,    // always fused
  ll128,  // fused by the element's byte position from its origin (see fuses_at)
};

// Which NaN a combine gives in f64. All other dtypes have one pattern.
enum class NanBits : std::uint8_t {
  one_pattern,  // fff8000000000000
  received,     // a NaN operand's own bits; of two the one that came from another rank
  own,          // of two the one that the combining rank held
};

struct Arithmetic {
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  Accumulate accumulate = Accumulate::storage;
  MeanMode mean = MeanMode::divide;      // meaningless unless op is mean
  NanPolicy nan = NanPolicy::propagate;  // for min and max
  Fuse fuse = Fuse::never;
  NanBits nan_bits = NanBits::one_pattern;
  Fp8Mode fp8 = Fp8Mode::saturate;
  std::int64_t group = 1;  // ranks that a mean divides by
  double factor = 1;       // of premul_sum
  // Of weighted_mean: one for each row of the input (see FoldStep), and their sum.
  std::vector<double> weights = {};
  double total_weight = 1;
  // A mean whose carried result is not finite is formed once more, by the same code, from inputs
  // scaled by 2^-ceil(log2 group), as TreeFold does.
  bool rescues = false;
  // Whether even a result of one input is lifted and lowered (premul_sum scales it, min_loc tells
  // its rank); otherwise its bits are kept.
  bool computes_alone = false;

  bool operator==(const Arithmetic&) const = default;
  // Whether every input is multiplied by one number before it is combined: by dtype(1 / group), or
  // by `factor` rounded to the dtype.
  bool premultiplies() const {
    return (op == ReduceOp::mean && mean == MeanMode::premultiply) || op == ReduceOp::premul_sum;
  }
  bool divides() const { return op == ReduceOp::mean && mean == MeanMode::divide; }
};

// NCCL's LL128 kernels on sm_90: which elements of `bytes` each are fused, `position` elements
// behind their origin. A slice of 1920 bytes is held by 32 threads of 4 packs of 16 bytes; the
// second word of a pack is scaled under a condition, which stops contraction, but for eight packs.
// Measured against NCCL 2.30.7.
constexpr bool fuses_at(std::int64_t position, std::int64_t bytes) {
  const std::int64_t in_slice = position * bytes % 1920;
  const std::int64_t pack = in_slice / 16;
  const bool moved = pack < 32 ? pack % 8 == 7 : pack >= 64 && pack < 96 && pack % 8 == 3;
  return in_slice % 16 < 8 || moved;
}

}  // namespace vranks
