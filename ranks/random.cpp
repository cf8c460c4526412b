// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014):
// number i of the stream `key` is mix(key + i * golden).
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t number(std::uint64_t key, std::int64_t index) {
  return mix(key + (static_cast<std::uint64_t>(index) + 1) * golden);
}

// Uniform in [0, range), range < 2^32, from the upper half of a hash.
std::int64_t below(std::int64_t range, std::uint64_t hash) {
  return static_cast<std::int64_t>(((hash >> 32) * static_cast<std::uint64_t>(range)) >> 32);
}

template <class T>
constexpr bool is_complex_type =
    std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

// The largest whole number up to which T holds all of them, as a power of two for floats.
template <class T>
constexpr std::int64_t exact_limit() {
  if constexpr (std::is_same_v<T, Half>) return 1 << 11;
  if constexpr (std::is_same_v<T, BFloat16>) return 1 << 8;
  if constexpr (std::is_same_v<T, Float8E4M3>) return 1 << 4;
  if constexpr (std::is_same_v<T, Float8E5M2>) return 1 << 3;
  if constexpr (std::is_same_v<T, Bool>) return 1;
  if constexpr (is_complex_type<T>) return exact_limit<decltype(T::re)>();
  if constexpr (std::is_floating_point_v<T>)
    return std::int64_t{1} << std::numeric_limits<T>::digits;
  if constexpr (std::is_same_v<T, std::uint64_t>) return std::numeric_limits<std::int64_t>::max();
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::max();
}

template <class T>
T from_float(float x) {
  if constexpr (std::is_same_v<T, Half>) return to_half(x);
  if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(x);
  if constexpr (std::is_same_v<T, Float8E4M3>) return to_float8_e4m3(x, true);
  if constexpr (std::is_same_v<T, Float8E5M2>) return to_float8_e5m2(x, true);
  if constexpr (is_complex_type<T>) return {from_float<decltype(T::re)>(x), 0};
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(x);
}

template <class T>
T random_value(std::uint64_t hash) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(static_cast<std::int64_t>(hash >> 11) - (std::int64_t{1} << 52)) *
           0x1p-52;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(below(201, hash) - (std::is_signed_v<T> ? 100 : 0));
  else if constexpr (std::is_same_v<T, Bool>)
    return {static_cast<std::uint8_t>(hash >> 63)};
  else if constexpr (is_complex_type<T>)
    return {random_value<decltype(T::re)>(hash), random_value<decltype(T::re)>(mix(hash))};
  else
    return from_float<T>(static_cast<float>(static_cast<int>(hash >> 40) - (1 << 23)) * 0x1p-23f);
}

// Sets element e of row r to make(first_rank + r)(e); tasks are blocks, so that few long rows and
// many short ones keep all threads busy.
template <class T, class Make>
void fill(const Rows& rows, std::int64_t first_rank, const Make& make) {
  constexpr std::int64_t block = 4096;
  const std::int64_t blocks = (rows.elements + block - 1) / block;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t r = 0; r < rows.ranks; ++r)
    for (std::int64_t b = 0; b < blocks; ++b) {
      T* const row = reinterpret_cast<T*>(rows.data + r * rows.stride_bytes);
      const auto value = make(first_rank + r);
      const std::int64_t end = std::min(rows.elements, (b + 1) * block);
      for (std::int64_t e = b * block; e < end; ++e) row[e] = value(e);
    }
}

Rows rows_on_cpu(const TensorView& tensor, std::int64_t first_rank) {
  if (tensor.device.kind != DeviceKind::cpu)
    throw Error(ErrorKind::bad_argument,
                fmt::format("random data is made on the CPU; this tensor is on {}",
                            to_string(tensor.device)));
  const Rows rows = rows_of(tensor, "tensor to fill");
  if (first_rank < 0 || first_rank > std::numeric_limits<std::int64_t>::max() - rows.ranks)
    throw Error(ErrorKind::bad_argument,
                fmt::format("the first rank can't be {} for {} ranks", first_rank, rows.ranks));
  return rows;
}

// Of `ranks` ranks at most `most` are picked at each element: the ranks are cut into at most `most`
// runs, and each run picks one of its ranks.
class Runs {
 public:
  Runs(std::uint64_t seed, std::int64_t ranks, std::int64_t most)
      : key_(mix(~seed)), length_((ranks - 1) / most + 1), count_((ranks - 1) / length_ + 1) {}

  std::int64_t count() const { return count_; }

  // Tells at which elements `rank` is picked.
  auto picks(std::int64_t rank) const {
    return [length = length_, key = number(key_, rank / length_),
            place = rank % length_](std::int64_t element) {
      // All ranks of a run see the same hash, so it picks only one of them.
      return length == 1 || below(length, number(key, element)) == place;
    };
  }

 private:
  std::uint64_t key_;
  std::int64_t length_;
  std::int64_t count_;
};

// Signs of factors that are complex would be lost on the signs of their zeros, which depend on the
// order.
template <class T>
constexpr bool has_sign = !std::is_unsigned_v<T>;

template <class T>
void fill_factors(const Rows& rows, std::uint64_t seed, std::int64_t ranks,
                  std::int64_t first_rank) {
  constexpr std::int64_t most_twos =
      std::bit_width(static_cast<std::uint64_t>(exact_limit<T>())) - 1;
  constexpr bool may_be_negative = has_sign<T> && !is_complex_type<T>;
  const Runs runs(seed, ranks, most_twos);
  fill<T>(rows, first_rank, [&](std::int64_t rank) {
    return [key = number(mix(seed), rank), picked = runs.picks(rank)](std::int64_t e) {
      const std::uint64_t hash = number(key, e);
      if ((hash & 1) != 0 && picked(e)) return from_float<T>(2);
      return from_float<T>(may_be_negative && (hash & 2) != 0 ? -1 : 1);
    };
  });
}

template <class T>
void fill_summands(const Rows& rows, std::uint64_t seed, std::int64_t ranks,
                   std::int64_t first_rank) {
  constexpr std::int64_t limit = exact_limit<T>();
  const Runs runs(seed, ranks, limit);
  const std::int64_t most = std::min<std::int64_t>(limit / runs.count(), 100);
  // Zero would hide a lost rank, so it is left out; but where 1 is the only other choice, ranks
  // that all hold the same would hide more.
  const std::int64_t least = !has_sign<T> && most == 1 ? 0 : 1;
  const auto summand = [=](std::uint64_t hash) {
    const std::int64_t size = least + below(most + 1 - least, hash);
    return static_cast<float>(has_sign<T> && (hash & 1) != 0 ? -size : size);
  };
  fill<T>(rows, first_rank, [&](std::int64_t rank) {
    return [=, key = number(mix(seed), rank), picked = runs.picks(rank)](std::int64_t e) {
      if (!picked(e)) return from_float<T>(0);
      const std::uint64_t hash = number(key, e);
      T x = from_float<T>(summand(hash));
      if constexpr (is_complex_type<T>) x.im = summand(mix(hash));
      return x;
    };
  });
}

// One rank, picked by the hash, can decide the result at each element; all ranks do in an exclusive
// or.
void fill_truths(const Rows& rows, std::uint64_t seed, std::int64_t ranks, ReduceOp op,
                 std::int64_t first_rank) {
  const bool is_and = op == ReduceOp::prod || op == ReduceOp::min || op == ReduceOp::min_loc ||
                      op == ReduceOp::band || op == ReduceOp::land;
  const bool is_exclusive = op == ReduceOp::bxor || op == ReduceOp::lxor;
  const Runs runs(seed, ranks, 1);
  fill<Bool>(rows, first_rank, [&](std::int64_t rank) {
    return [=, key = number(mix(seed), rank), picked = runs.picks(rank)](std::int64_t e) {
      const bool decides = (number(key, e) & 1) != 0 && (is_exclusive || picked(e));
      return Bool{static_cast<std::uint8_t>(decides != is_and)};
    };
  });
}

}  // namespace

void fill_random(const TensorView& tensor, std::uint64_t seed, std::int64_t first_rank) {
  const Rows rows = rows_on_cpu(tensor, first_rank);
  visit(tensor.dtype, [&]<class T>() {
    fill<T>(rows, first_rank, [key = mix(seed)](std::int64_t rank) {
      return [key = number(key, rank)](std::int64_t e) { return random_value<T>(number(key, e)); };
    });
  });
}

void fill_whole_numbers(const TensorView& tensor, std::uint64_t seed, std::int64_t ranks,
                        ReduceOp op, std::int64_t first_rank) {
  const Rows rows = rows_on_cpu(tensor, first_rank);
  if (first_rank + rows.ranks > ranks)
    throw Error(ErrorKind::bad_argument,
                fmt::format("ranks {} to {} are not among {} ranks", first_rank,
                            first_rank + rows.ranks - 1, ranks));
  visit(tensor.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, Bool>)
      fill_truths(rows, seed, ranks, op, first_rank);
    else if (op == ReduceOp::prod)
      fill_factors<T>(rows, seed, ranks, first_rank);
    else
      fill_summands<T>(rows, seed, ranks, first_rank);
  });
}

}  // namespace vranks
