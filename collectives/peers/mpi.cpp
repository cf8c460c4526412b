// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "collectives/peers/mpi_call.hpp"
#include "collectives/peers/mpi_operator.hpp"
#include "ranks/error.hpp"

namespace vranks {

bool mpi_reduces(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::premul_sum:
    case ReduceOp::weighted_mean:
    case ReduceOp::min_loc:
    case ReduceOp::max_loc:
    case ReduceOp::log_sum_exp:
      return false;
    default:
      return supports(op, dtype) && !is_complex(dtype);
  }
}

#if VRANKS_HAVE_MPI

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw MpiError(ErrorKind::io, fmt::format("{} failed: {}", call, text));
}

void return_mpi_errors() { VR_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); }

namespace {

// MPI counts are ints; longer rows go through in pieces.
constexpr std::int64_t most_elements_a_call = std::int64_t{1} << 28;

// The dtype that is summed in.
DType summed_in(const Problem& problem) {
  if (problem.op != ReduceOp::mean || !is_integer(problem.dtype)) return problem.dtype;
  return info(problem.dtype).kind == DTypeKind::signed_integer ? DType::i64 : DType::u64;
}

void narrow(float x, Half& to) { to = to_half(x); }
void narrow(float x, BFloat16& to) { to = to_bfloat16(x); }
void narrow(float x, Float8E4M3& to) { to = to_float8_e4m3(x, true); }
void narrow(float x, Float8E5M2& to) { to = to_float8_e5m2(x, true); }

float quotient(float x, std::int64_t ranks) { return x / static_cast<float>(ranks); }
double quotient(double x, std::int64_t ranks) { return x / static_cast<double>(ranks); }
template <class T>
T quotient(T x, std::int64_t ranks) {
  T narrowed;
  narrow(quotient(to_float(x), ranks), narrowed);
  return narrowed;
}

// Elements of an integer dtype as the 64-bit ones of `to`.
void widen(const std::byte* row, const Problem& problem, const Tensor& to) {
  visit(problem.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      std::copy_n(reinterpret_cast<const T*>(row), problem.elements, to.as<Wide>());
    }
  });
}

// The means from the sums.
void finish_mean(const Problem& problem, const Tensor& sums, std::int64_t elements,
                 std::byte* result) {
  visit(problem.dtype, [&]<class T>() {
    T* const means = reinterpret_cast<T*>(result);
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      for (std::int64_t i = 0; i < elements; ++i)
        means[i] = static_cast<T>(sums.as<Wide>()[i] / static_cast<Wide>(problem.ranks));
    } else if constexpr (!std::is_same_v<T, Bool> && !requires(T x) { x.im; }) {
      for (std::int64_t i = 0; i < elements; ++i)
        means[i] = quotient(sums.as<T>()[i], problem.ranks);
    }
  });
}

bool is_logical(ReduceOp op) {
  return op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor;
}

void make_truth_values(DType dtype, std::int64_t elements, std::byte* data) {
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      for (std::int64_t i = 0; i < elements; ++i)
        reinterpret_cast<T*>(data)[i] = reinterpret_cast<T*>(data)[i] != 0;
  });
}

// "Open MPI v4.1.4, package: Debian ..., ident: ..." -> "Open MPI 4.1.4"; MPICH separates its
// lines "MPICH Version: 4.0.2" by newlines and pads with tabs.
std::string tidy_version(std::string text) {
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  if (const auto at = text.find(" v"); at != std::string::npos) text.erase(at + 1, 1);
  if (const auto at = text.find(" Version:"); at != std::string::npos) text.erase(at, 9);
  text.erase(
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      text.end());
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.pop_back();
  return text;
}

}  // namespace

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  VR_MPI(MPI_Get_library_version(text, &length));
  int version = 0;
  int subversion = 0;
  VR_MPI(MPI_Get_version(&version, &subversion));
  return fmt::format("{}, MPI {}.{}", tidy_version(text), version, subversion);
}

Tensor mpi_reduce_rows(const Problem& problem, const Rows& rows) {
  return_mpi_errors();
  if (!mpi_reduces(problem.op, problem.dtype))
    throw Error(ErrorKind::not_supported, fmt::format("op {} of {} can't be compared with MPI here",
                                                      name(problem.op), name(problem.dtype)));
  const DType dtype = summed_in(problem);
  const auto bytes = static_cast<std::int64_t>(size_bytes(dtype));
  const MpiOperator op(dtype, problem.op);
  Tensor partial(dtype, {problem.elements});
  Tensor widened(dtype, {dtype == problem.dtype ? 0 : problem.elements});

  for (std::int64_t r = 0; r < rows.ranks; ++r) {
    const std::byte* row = rows.data + r * rows.stride_bytes;
    if (dtype != problem.dtype) {
      widen(row, problem, widened);
      row = widened.data();
    }
    if (r == 0) {
      std::copy_n(row, partial.bytes(), partial.data());
      continue;
    }
    for (std::int64_t first = 0; first < problem.elements; first += most_elements_a_call)
      VR_MPI(MPI_Reduce_local(
          row + first * bytes, partial.data() + first * bytes,
          static_cast<int>(std::min(most_elements_a_call, problem.elements - first)),
          mpi_type(dtype), op.get()));
  }
  return partial;
}

void mpi_finish(const Problem& problem, const Tensor& combined, std::int64_t elements,
                std::int64_t contributions, std::byte* result) {
  if (problem.op == ReduceOp::mean)
    finish_mean(problem, combined, elements, result);
  else
    std::copy_n(combined.data(), elements * static_cast<std::int64_t>(size_bytes(problem.dtype)),
                result);
  if (contributions == 1 && is_logical(problem.op))
    make_truth_values(problem.dtype, elements, result);
}

#else

namespace {
[[noreturn]] void refuse() {
  throw Error(ErrorKind::not_available,
              "this build has no MPI; apt install libopenmpi-dev openmpi-bin, then configure and "
              "build again");
}
}  // namespace

std::string mpi_library() { refuse(); }
Tensor mpi_reduce_rows(const Problem&, const Rows&) { refuse(); }
void mpi_finish(const Problem&, const Tensor&, std::int64_t, std::int64_t, std::byte*) { refuse(); }

#endif

}  // namespace vranks
