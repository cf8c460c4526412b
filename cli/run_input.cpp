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

RunInput make_random(const ProblemOptions& options, std::int64_t ranks) {
  ProgressLine progress("making random data");
  Shape shape = options.shape.value_or(Shape{ranks == 0 ? 4 : ranks, 16, 48});
  if (options.collective == Collective::barrier) shape = {shape[0], 0};
  if (options.opaque_bytes > 0) shape.push_back(options.opaque_bytes);
  const DType dtype = options.opaque_bytes > 0 ? DType::u8 : options.dtype.value_or(DType::f32);
  RunInput input{Tensor(dtype, shape), options.opaque_bytes};
  rows_of(input.tensor.view(), input_name(options).c_str());
  fill_random(input.tensor.view(), options.seed);
  return input;
}

}  // namespace

std::string input_name(const ProblemOptions& options) {
  return options.input.empty() ? "input" : "'" + options.input + "'";
}

RunInput make_input(const ProblemOptions& options, std::int64_t ranks) {
  if (options.input.empty()) return make_random(options, ranks);
  ProgressLine progress("reading " + options.input);
  const NpyHeader header = read_npy_header(options.input);
  if (options.opaque_bytes > 0 && header.opaque_bytes != options.opaque_bytes)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("'{}' holds {}, not bytes{}; elements are never converted", options.input,
                    element_name(header.dtype, header.opaque_bytes), options.opaque_bytes));
  return {load_npy(options.input, options.dtype, {},
                   [&](std::int64_t done, std::int64_t total) { progress(done, total); }),
          header.opaque_bytes};
}

}  // namespace vranks::cli
