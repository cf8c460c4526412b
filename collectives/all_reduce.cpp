// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/all_reduce.hpp"

#include "collectives/algorithm.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

bool is_ordered(ReduceOp op) { return op == ReduceOp::min || op == ReduceOp::max; }

// The dtype that partial results of the `direct` order are carried in.
std::string accumulate_name(DType dtype, ReduceOp op) {
  if (is_ordered(op)) return std::string(name(dtype));
  if (is_floating(dtype)) return dtype == DType::f64 ? "f64" : "f32";
  if (op != ReduceOp::mean) return std::string(name(dtype));
  const std::string sign = info(dtype).kind == DTypeKind::signed_integer ? "i" : "u";
  return sign + (size_bytes(dtype) == 8 ? "128" : "64");
}

Provenance provenance_of(const Problem& problem, const Algorithm& algorithm, Device device) {
  return {.algorithm = std::string(algorithm.name),
          .device = to_string(device),
          .accumulate = accumulate_name(problem.dtype, problem.op),
          .mean = problem.op == ReduceOp::mean ? "divide" : "",
          .nan = is_ordered(problem.op) ? std::string(name(problem.nan)) : ""};
}

// A call must read all of an element's inputs before it writes any of its outputs; that holds if
// the output is exactly the input (or, for a reduce, one of its slices), or lies apart.
void check_overlap(const Rows& in, const Rows& out) {
  if (in.span_bytes() == 0) return;
  const auto in_begin = reinterpret_cast<std::uintptr_t>(in.data);
  const auto out_begin = reinterpret_cast<std::uintptr_t>(out.data);
  const auto in_end = in_begin + static_cast<std::uintptr_t>(in.span_bytes());
  const auto out_end = out_begin + static_cast<std::uintptr_t>(out.span_bytes());
  if (out_begin >= in_end || in_begin >= out_end) return;

  const std::int64_t offset = out.data - in.data;
  if (out.ranks == in.ranks) {
    if (offset == 0 && (out.ranks == 1 || out.stride_bytes == in.stride_bytes)) return;
  } else if (offset >= 0 && offset % in.stride_bytes == 0) {
    return;
  }
  throw Error(ErrorKind::bad_argument,
              "output overlaps the input partly: it begins " + std::to_string(offset) +
                  " bytes from the input's start; it must be the input itself (or, for a reduce, "
                  "one of its slices) or lie outside the input's " +
                  std::to_string(in.span_bytes()) + " bytes");
}

void check_same_kind(const TensorView& in, const TensorView& out) {
  if (in.dtype != out.dtype)
    throw Error(ErrorKind::bad_argument, "input is " + std::string(name(in.dtype)) +
                                             " but output is " + std::string(name(out.dtype)));
  if (in.device != out.device)
    throw Error(ErrorKind::bad_argument, "input is on " + to_string(in.device) +
                                             " but output is on " + to_string(out.device));
}

void check_shape(const TensorView& out, const Shape& expected) {
  if (out.shape != expected)
    throw Error(ErrorKind::bad_argument, "output has shape " + to_string(out.shape) +
                                             " but must have " + to_string(expected));
}

TreeFold fold_of(const Problem& problem) {
  return {.out_rows = problem.collective == Collective::all_reduce ? problem.ranks : 1,
          .ranks = problem.ranks,
          .elements = problem.elements,
          .dtype = problem.dtype,
          .op = problem.op,
          .nan = problem.nan};
}

Provenance run(Collective collective, const TensorView& in, const Rows& in_rows,
               const Rows& out_rows, const ReduceOptions& options) {
  const Algorithm& algorithm = find_algorithm(options.algorithm, collective);
  const Problem problem{collective, in_rows.ranks, in_rows.elements,
                        in.dtype,   options.op,    options.nan};
  check_overlap(in_rows, out_rows);
  const Backend& backend = backend_for(in.device);
  const Provenance provenance = provenance_of(problem, algorithm, in.device);
  if (problem.elements == 0) return provenance;

  TreeFold fold = fold_of(problem);
  fold.in = in_rows.data;
  fold.in_stride_bytes = in_rows.stride_bytes;
  fold.out = out_rows.data;
  fold.out_stride_bytes = out_rows.stride_bytes;

  const std::size_t needed = backend.workspace_bytes(fold, in.device.index);
  Workspace workspace = options.workspace;
  if (workspace.data == nullptr)
    workspace = backend.kept_workspace(needed, in.device.index, options.stream);
  else if (workspace.bytes < needed)
    throw Error(ErrorKind::bad_argument, "workspace has " + std::to_string(workspace.bytes) +
                                             " bytes but the call needs " + std::to_string(needed) +
                                             " (workspace_bytes)");
  backend.fold(fold, in.device.index, workspace, options.stream);
  return provenance;
}

}  // namespace

Provenance all_reduce(const TensorView& in, const TensorView& out, const ReduceOptions& options) {
  const Rows in_rows = rows_of(in, "input");
  check_same_kind(in, out);
  check_shape(out, in.shape);
  return run(Collective::all_reduce, in, in_rows, rows_of(out, "output"), options);
}

Provenance reduce_ranks(const TensorView& in, const TensorView& out, const ReduceOptions& options) {
  const Rows in_rows = rows_of(in, "input");
  check_same_kind(in, out);
  check_shape(out, Shape(in.shape.begin() + 1, in.shape.end()));
  return run(Collective::reduce, in, in_rows, single_row_of(out, "output"), options);
}

std::size_t workspace_bytes(const Problem& problem, Device device) {
  if (problem.ranks < 1 || problem.elements < 0)
    throw Error(ErrorKind::bad_argument,
                "a problem needs R >= 1 and n >= 0, not R = " + std::to_string(problem.ranks) +
                    " and n = " + std::to_string(problem.elements));
  const Backend& backend = backend_for(device);
  if (problem.elements == 0) return 0;
  return backend.workspace_bytes(fold_of(problem), device.index);
}

}  // namespace vranks
