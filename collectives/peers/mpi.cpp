// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "collectives/peers/mpi_call.hpp"
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

// MPI counts are ints; larger problems go through in pieces.
constexpr std::int64_t most_elements_a_call = std::int64_t{1} << 28;

// A dtype's MPI type, and the wider type in which an integer mean is summed.
#define VR_MPI_TYPES(X)   \
  X(f64, MPI_DOUBLE)      \
  X(f32, MPI_FLOAT)       \
  X(f16, MPI_UINT16_T)    \
  X(bf16, MPI_UINT16_T)   \
  X(f8e4m3, MPI_UINT8_T)  \
  X(f8e5m2, MPI_UINT8_T)  \
  X(boolean, MPI_UINT8_T) \
  X(i8, MPI_INT8_T)       \
  X(u8, MPI_UINT8_T)      \
  X(i16, MPI_INT16_T)     \
  X(u16, MPI_UINT16_T)    \
  X(i32, MPI_INT32_T)     \
  X(u32, MPI_UINT32_T)    \
  X(i64, MPI_INT64_T)     \
  X(u64, MPI_UINT64_T)

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
#define X(name, type) \
  case DType::name:   \
    return type;
    VR_MPI_TYPES(X)
#undef X
    default:
      return MPI_DATATYPE_NULL;  // mpi_reduces() refused it
  }
}

// The operator that combines; a mean is a sum until its division. Truth values have logical ones,
// which MPI's integers have too.
MPI_Op predefined_op(ReduceOp op, DType dtype) {
  const bool is_bool = dtype == DType::boolean;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return is_bool ? MPI_LOR : MPI_SUM;
    case ReduceOp::prod:
      return is_bool ? MPI_LAND : MPI_PROD;
    case ReduceOp::min:
      return is_bool ? MPI_LAND : MPI_MIN;
    case ReduceOp::max:
      return is_bool ? MPI_LOR : MPI_MAX;
    case ReduceOp::band:
      return is_bool ? MPI_LAND : MPI_BAND;
    case ReduceOp::bor:
      return is_bool ? MPI_LOR : MPI_BOR;
    case ReduceOp::bxor:
      return is_bool ? MPI_LXOR : MPI_BXOR;
    case ReduceOp::land:
      return MPI_LAND;
    case ReduceOp::lor:
      return MPI_LOR;
    case ReduceOp::lxor:
      return MPI_LXOR;
    default:
      return MPI_OP_NULL;  // mpi_reduces() refused it
  }
}

void narrow(float x, Half& to) { to = to_half(x); }
void narrow(float x, BFloat16& to) { to = to_bfloat16(x); }
void narrow(float x, Float8E4M3& to) { to = to_float8_e4m3(x, true); }
void narrow(float x, Float8E5M2& to) { to = to_float8_e5m2(x, true); }

template <ReduceOp op>
float combine(float a, float b) {
  if constexpr (op == ReduceOp::prod) return a * b;
  if constexpr (op == ReduceOp::min) return b < a ? b : a;
  if constexpr (op == ReduceOp::max) return b > a ? b : a;
  return a + b;
}

// An MPI_User_function: inout = in op inout, as bit patterns of T.
template <class T, ReduceOp op>
void combine_bits(void* in, void* inout, int* count, MPI_Datatype*) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i) narrow(combine<op>(to_float(a[i]), to_float(b[i])), b[i]);
}

template <class T>
MPI_User_function* function_on_bits(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return combine_bits<T, ReduceOp::sum>;
    case ReduceOp::prod:
      return combine_bits<T, ReduceOp::prod>;
    case ReduceOp::min:
      return combine_bits<T, ReduceOp::min>;
    case ReduceOp::max:
      return combine_bits<T, ReduceOp::max>;
    default:
      return nullptr;  // mpi_reduces() refused it
  }
}

// The MPI operator for elements of `dtype`, freed if it is ours.
class Operator {
 public:
  Operator(DType dtype, ReduceOp op) : op_(predefined_op(op, dtype)) {
    if (dtype == DType::f16) create(function_on_bits<Half>(op));
    if (dtype == DType::bf16) create(function_on_bits<BFloat16>(op));
    if (dtype == DType::f8e4m3) create(function_on_bits<Float8E4M3>(op));
    if (dtype == DType::f8e5m2) create(function_on_bits<Float8E5M2>(op));
  }
  ~Operator() {
    if (is_ours_) MPI_Op_free(&op_);
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  MPI_Op get() const { return op_; }

 private:
  void create(MPI_User_function* function) {
    constexpr int commutes = 1;
    VR_MPI(MPI_Op_create(function, commutes, &op_));
    is_ours_ = true;
  }

  MPI_Op op_;
  bool is_ours_ = false;
};

// Calls f(first, count) for pieces of `elements` that fit into an MPI count.
template <class F>
void in_pieces(std::int64_t elements, F&& f) {
  for (std::int64_t first = 0; first < elements; first += most_elements_a_call)
    f(first, static_cast<int>(std::min(most_elements_a_call, elements - first)));
}

// The dtype that is summed in.
DType summed_in(const Problem& problem) {
  if (problem.op != ReduceOp::mean || !is_integer(problem.dtype)) return problem.dtype;
  return info(problem.dtype).kind == DTypeKind::signed_integer ? DType::i64 : DType::u64;
}

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
void finish_mean(const Problem& problem, const Tensor& sums, std::byte* result) {
  visit(problem.dtype, [&]<class T>() {
    T* const means = reinterpret_cast<T*>(result);
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      for (std::int64_t i = 0; i < problem.elements; ++i)
        means[i] = static_cast<T>(sums.as<Wide>()[i] / static_cast<Wide>(problem.ranks));
    } else if constexpr (!std::is_same_v<T, Bool> && !requires(T x) { x.im; }) {
      for (std::int64_t i = 0; i < problem.elements; ++i)
        means[i] = quotient(sums.as<T>()[i], problem.ranks);
    }
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
  const Operator op(dtype, problem.op);
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
    in_pieces(problem.elements, [&](std::int64_t first, int count) {
      VR_MPI(MPI_Reduce_local(row + first * bytes, partial.data() + first * bytes, count,
                              mpi_type(dtype), op.get()));
    });
  }
  return partial;
}

void mpi_reduce_processes(const Problem& problem, Tensor& partial, std::byte* result) {
  const DType dtype = partial.dtype();
  const auto bytes = static_cast<std::int64_t>(size_bytes(dtype));
  const Operator op(dtype, problem.op);
  const MPI_Datatype type = mpi_type(dtype);
  int process = 0;
  VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process));

  in_pieces(problem.elements, [&](std::int64_t first, int count) {
    std::byte* const piece = partial.data() + first * bytes;
    if (problem.collective == Collective::all_reduce)
      VR_MPI(MPI_Allreduce(MPI_IN_PLACE, piece, count, type, op.get(), MPI_COMM_WORLD));
    else if (process == 0)
      VR_MPI(MPI_Reduce(MPI_IN_PLACE, piece, count, type, op.get(), 0, MPI_COMM_WORLD));
    else
      VR_MPI(MPI_Reduce(piece, nullptr, count, type, op.get(), 0, MPI_COMM_WORLD));
  });
  if (problem.collective == Collective::reduce && process != 0) return;
  if (problem.op == ReduceOp::mean)
    finish_mean(problem, partial, result);
  else
    std::copy_n(partial.data(), partial.bytes(), result);
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
void mpi_reduce_processes(const Problem&, Tensor&, std::byte*) { refuse(); }

#endif

}  // namespace vranks
