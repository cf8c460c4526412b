// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/mpi_operator.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// A dtype's MPI type.
#define VR_MPI_TYPES(X)       \
  X(f64, MPI_DOUBLE)          \
  X(f32, MPI_FLOAT)           \
  X(f16, MPI_UINT16_T)        \
  X(bf16, MPI_UINT16_T)       \
  X(f8e4m3, MPI_UINT8_T)      \
  X(f8e5m2, MPI_UINT8_T)      \
  X(boolean, MPI_UINT8_T)     \
  X(i8, MPI_INT8_T)           \
  X(u8, MPI_UINT8_T)          \
  X(i16, MPI_INT16_T)         \
  X(u16, MPI_UINT16_T)        \
  X(i32, MPI_INT32_T)         \
  X(u32, MPI_UINT32_T)        \
  X(i64, MPI_INT64_T)         \
  X(u64, MPI_UINT64_T)        \
  X(c64, MPI_C_FLOAT_COMPLEX) \
  X(c128, MPI_C_DOUBLE_COMPLEX)

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

}  // namespace

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
#define X(name, type) \
  case DType::name:   \
    return type;
    VR_MPI_TYPES(X)
#undef X
  }
  __builtin_unreachable();
}

MpiOperator::MpiOperator(DType dtype, ReduceOp op) : op_(predefined_op(op, dtype)) {
  if (dtype == DType::f16) create(function_on_bits<Half>(op));
  if (dtype == DType::bf16) create(function_on_bits<BFloat16>(op));
  if (dtype == DType::f8e4m3) create(function_on_bits<Float8E4M3>(op));
  if (dtype == DType::f8e5m2) create(function_on_bits<Float8E5M2>(op));
}

MpiOperator::~MpiOperator() {
  if (is_ours_) MPI_Op_free(&op_);
}

void MpiOperator::create(MPI_User_function* function) {
  constexpr int commutes = 1;
  VR_MPI(MPI_Op_create(function, commutes, &op_));
  is_ours_ = true;
}

}  // namespace vranks

#endif
