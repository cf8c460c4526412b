// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as what users type: a shape, dtype, device, op or NaN policy. What is accepted means the
// same when it is written out and read again; all else throws bad_argument.
// Built with clang -fsanitize=fuzzer, or with replay.cpp as its main().
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ranks/device.hpp"
#include "ranks/dtype.hpp"
#include "ranks/error.hpp"
#include "ranks/reduce_op.hpp"
#include "ranks/shape.hpp"

namespace {

template <class Parse, class Print>
void check(std::string_view text, const Parse& parse, const Print& print) {
  try {
    const auto value = parse(text);
    if (parse(print(value)) != value) std::abort();
  } catch (const vranks::Error& error) {
    if (error.kind() != vranks::ErrorKind::bad_argument) std::abort();
  }
}

std::string with_commas(const vranks::Shape& shape) {
  std::string text;
  for (const std::int64_t dimension : shape)
    (text += text.empty() ? "" : ",") += std::to_string(dimension);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, vranks::parse_shape, with_commas);
  check(text, vranks::parse_dtype, [](vranks::DType dtype) { return vranks::name(dtype); });
  check(text, vranks::parse_device, [](vranks::Device device) { return to_string(device); });
  check(text, vranks::parse_reduce_op, [](vranks::ReduceOp op) { return vranks::name(op); });
  check(text, vranks::parse_nan_policy, [](vranks::NanPolicy nan) { return vranks::name(nan); });
  try {
    const vranks::Shape shape = vranks::parse_shape(text);
    for (const vranks::DTypeInfo& row : vranks::dtypes())
      if (vranks::element_count(shape, row.bytes) < 0) std::abort();
  } catch (const vranks::Error&) {
  }
  return 0;
}
