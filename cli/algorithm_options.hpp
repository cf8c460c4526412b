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

// --accumulate, --mean, --nan and --fp8; nothing for "auto".
OptionsDescription policy_options(Policies& policies);
// --nan alone.
OptionsDescription nan_option(Policies& policies);

}  // namespace vranks::cli
