// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/run_input.hpp"

#include <fmt/format.h>

#include "cli/progress.hpp"
#include "ranks/error.hpp"
#include "ranks/npy.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

InputKind random_kind(const ProblemOptions& options, std::int64_t ranks) {
  InputKind kind{options.shape.value_or(Shape{ranks == 0 ? 4 : ranks, 16, 48}),
                 options.opaque_bytes > 0 ? DType::u8 : options.dtype.value_or(DType::f32),
                 options.opaque_bytes};
  if (options.collective == Collective::barrier) kind.shape = {kind.shape[0], 0};
  if (options.opaque_bytes > 0) kind.shape.push_back(options.opaque_bytes);
  return kind;
}

InputKind file_kind(const ProblemOptions& options) {
  const NpyHeader header = read_npy_header(options.input);
  if (options.opaque_bytes > 0 && header.opaque_bytes != options.opaque_bytes)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("'{}' holds {}, not bytes{}; elements are never converted", options.input,
                    element_name(header.dtype, header.opaque_bytes), options.opaque_bytes));
  // The dtype that the bits are read as, checked.
  const Tensor none = load_npy(options.input, options.dtype, RankRange{.first = 0, .count = 0});
  InputKind kind{none.shape(), none.dtype(), header.opaque_bytes};
  kind.shape[0] = header.shape[0];
  return kind;
}

}  // namespace

std::string input_name(const ProblemOptions& options) {
  return options.input.empty() ? "input" : "'" + options.input + "'";
}

InputKind input_kind(const ProblemOptions& options, std::int64_t ranks) {
  return options.input.empty() ? random_kind(options, ranks) : file_kind(options);
}

Tensor make_input_of(const ProblemOptions& options, const InputKind& kind, RankRange ranks) {
  if (!options.input.empty()) {
    ProgressLine progress("reading " + options.input);
    return load_npy(options.input, options.dtype, ranks,
                    [&](std::int64_t done, std::int64_t total) { progress(done, total); });
  }
  ProgressLine progress("making random data");
  Shape shape = kind.shape;
  shape[0] = ranks.count;
  Tensor tensor(kind.dtype, shape);
  rows_of(tensor.view(), input_name(options).c_str());
  fill_random(tensor.view(), options.seed, ranks.first);
  return tensor;
}

RunInput make_input(const ProblemOptions& options, std::int64_t ranks) {
  const InputKind kind = input_kind(options, ranks);
  return {make_input_of(options, kind, {.first = 0, .count = kind.shape[0]}), kind.opaque_bytes};
}

}  // namespace vranks::cli
