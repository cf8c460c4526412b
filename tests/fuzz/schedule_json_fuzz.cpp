// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a schedule or program in JSON: what is accepted means the same when it is written out
// and read again, can be proved, lowered, linearized and printed; all else throws bad_input.
// Built with clang -fsanitize=fuzzer, or with replay.cpp as its main().
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "collectives/formats/json.hpp"
#include "collectives/formats/text.hpp"
#include "collectives/interpreters/linearize.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/interpreters/verify.hpp"
#include "ranks/error.hpp"

namespace {

using namespace vranks;

void require(bool condition) {
  if (!condition) std::abort();
}

// So that a mutation takes microseconds; larger ones are still read and written.
bool is_small(const ScheduleShape& shape) {
  return std::int64_t{shape.ranks} * (std::int64_t{shape.chunks} + shape.scratch_chunks) < 4096;
}

void use(const Program& program) {
  for (const std::int32_t depth : {0, 1}) {
    const bool has_order = verify_order(program, depth).none();
    if (verify(program, depth).none()) require(has_order);
    try {
      const Schedule schedule = linearize(program, depth);
      require(has_order);
      if (verify(program, depth).none()) require(verify(schedule).none());
    } catch (const Error& error) {
      require(!has_order && error.kind() == ErrorKind::bad_argument);
    }
  }
  require(!to_text(program).empty());
}

void use(const Schedule& schedule) {
  const Program program = lower(schedule);
  require(verify_order(program, 1).none());
  require(verify(schedule).total == verify(program, 1).total);
  require(!to_text(schedule).empty());
  use(program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto read = parse_json(text, "fuzz.json");
    std::visit(
        [](const auto& value) {
          const auto again = parse_json(to_json(value));
          require(std::get<std::decay_t<decltype(value)>>(again) == value);
          if (is_small(value.shape())) use(value);
        },
        read);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::bad_input);
  }
  return 0;
}
