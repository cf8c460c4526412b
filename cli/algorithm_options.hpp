// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that tell an algorithm how to work, straight from the library's tables: a parameter
// that is added there needs a line here that says how its text is read.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/arithmetic.hpp"
#include "collectives/parameters.hpp"

namespace vranks::cli {

struct GivenParameters {
  Parameters values;
  std::vector<std::string_view> names;  // of those that were given, be it as they are by default
};

OptionsDescription parameter_options(GivenParameters& parameters);

// Throws bad_argument if `algorithm` doesn't read one of them.
void check_parameters(const Algorithm& algorithm, const GivenParameters& parameters);

// --accumulate, --mean and --nan; nothing for "auto".
OptionsDescription policy_options(Policies& policies);
// --nan alone.
OptionsDescription nan_option(Policies& policies);

// Adds --root.
void add_root_option(OptionsDescription& options, std::optional<std::int64_t>& root);
// The root of that collective, 0 unless said. Throws bad_argument if one was given and the
// collective has none.
std::int64_t root_of(Collective collective, std::optional<std::int64_t> given);

}  // namespace vranks::cli
