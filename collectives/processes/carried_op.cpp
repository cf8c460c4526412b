// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/carried_op.hpp"

#if VRANKS_HAVE_MPI

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/backend.hpp"

namespace vranks {

namespace {

const Arithmetic* rules_in_use = nullptr;

// An MPI_User_function: inout = op(in, inout).
void combine(void* in, void* inout, int* count, MPI_Datatype*) {
  constexpr std::int64_t block = 4096;
  const auto width = static_cast<std::int64_t>(carried_bytes(*rules_in_use));
  thread_local std::vector<std::byte> results;
  results.resize(static_cast<std::size_t>(block * width));
  for (std::int64_t first = 0; first < *count; first += block) {
    const std::int64_t elements = std::min(block, *count - first);
    std::byte* const to = static_cast<std::byte*>(inout) + first * width;
    const Hop hop{.kind = Hop::Kind::combine,
                  .a = static_cast<const std::byte*>(in) + first * width,
                  .b = to,
                  .dst = results.data(),
                  .elements = elements};
    backend_for({}).run_hops({&hop, 1}, *rules_in_use, 0);
    std::memcpy(to, results.data(), static_cast<std::size_t>(elements * width));
  }
}

// MPI's type of a carried value that is a number of its own, else null.
MPI_Datatype number_type(const Arithmetic& rules) {
  if (rules.accumulate == Accumulate::f32) return MPI_FLOAT;
  if (rules.accumulate == Accumulate::f64) return MPI_DOUBLE;
  const DType dtype = rules.dtype;
  const bool has_sign = info(dtype).kind == DTypeKind::signed_integer;
  if (rules.accumulate == Accumulate::exact)
    return size_bytes(dtype) == 8 ? MPI_DATATYPE_NULL : has_sign ? MPI_INT64_T : MPI_UINT64_T;
  switch (dtype) {
    case DType::f64:
      return MPI_DOUBLE;
    case DType::f32:
      return MPI_FLOAT;
    case DType::i8:
      return MPI_INT8_T;
    case DType::u8:
      return MPI_UINT8_T;
    case DType::i16:
      return MPI_INT16_T;
    case DType::u16:
      return MPI_UINT16_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::u32:
      return MPI_UINT32_T;
    case DType::i64:
      return MPI_INT64_T;
    case DType::u64:
      return MPI_UINT64_T;
    default:
      return MPI_DATATYPE_NULL;
  }
}

// MPI's operator that gives our bits (NaNs of one pattern aside), else null. Its min and max of
// floats let the order decide about NaNs and zeros; its vector code saturates sums of 8 and 16
// bits.
MPI_Op number_op(const Arithmetic& rules) {
  const bool is_small = is_integer(rules.dtype) && size_bytes(rules.dtype) < 4 &&
                        rules.accumulate != Accumulate::exact;
  switch (rules.op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
    case ReduceOp::premul_sum:
      return is_small ? MPI_OP_NULL : MPI_SUM;
    case ReduceOp::prod:
      return is_small ? MPI_OP_NULL : MPI_PROD;
    case ReduceOp::min:
      return is_integer(rules.dtype) ? MPI_MIN : MPI_OP_NULL;
    case ReduceOp::max:
      return is_integer(rules.dtype) ? MPI_MAX : MPI_OP_NULL;
    case ReduceOp::band:
      return MPI_BAND;
    case ReduceOp::bor:
      return MPI_BOR;
    case ReduceOp::bxor:
      return MPI_BXOR;
    default:
      return MPI_OP_NULL;
  }
}

}  // namespace

CarriedOp::CarriedOp(const Arithmetic& rules) : rules_(rules) {
  type_ = number_type(rules);
  op_ = type_ == MPI_DATATYPE_NULL ? MPI_OP_NULL : number_op(rules);
  if (op_ != MPI_OP_NULL) return;
  is_ours_ = true;
  VR_MPI(MPI_Type_contiguous(static_cast<int>(carried_bytes(rules)), MPI_BYTE, &type_));
  VR_MPI(MPI_Type_commit(&type_));
  constexpr int commutes = 1;
  VR_MPI(MPI_Op_create(combine, commutes, &op_));
}

CarriedOp::~CarriedOp() {
  if (!is_ours_) return;
  MPI_Op_free(&op_);
  MPI_Type_free(&type_);
}

void CarriedOp::use() const { rules_in_use = &rules_; }

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
