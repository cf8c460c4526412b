// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that commands share, and how every command reads its arguments. Help texts list
// names from the registries, so that they can't go stale.
//
//   auto options = problem_options(problem_);
//   options.add(report_options(format_));
//   return read_arguments({"run", "", "One collective on real data."}, options, arguments);
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/problem.hpp"
#include "ranks/device.hpp"
#include "ranks/shape.hpp"

namespace vranks::cli {

// What to run, on which data, where.
struct ProblemOptions {
  Collective collective = Collective::all_reduce;
  std::optional<ReduceOp> op;  // none: mean, or all of them where a command compares
  std::string algorithm = "direct";
  std::optional<DType> dtype;     // none: what the input file holds; random data is f32
  std::int64_t opaque_bytes = 0;  // of elements of no dtype, which are only copied; 0: of a dtype
  std::optional<Shape> shape;     // none: what the input file holds; random data is (4, 16, 48)
  std::string input;              // a .npy file; empty: random data
  std::uint64_t seed = 0;         // of random data
  bool says_seed = false;         // whether it was given
  std::optional<Device> device;   // none: cuda if it can be used, else cpu
};

// The device that was asked for, or the best one there is. Throws not_available if it can't be
// used.
Device usable_device(const std::optional<Device>& wanted);

enum class Format : std::uint8_t { table, json, csv };

using OptionsDescription = boost::program_options::options_description;

// "f32", or "bytes16" for elements of no dtype.
std::string element_name(DType dtype, std::int64_t opaque_bytes);

// Options whose values land in the arguments when read_arguments() returns.
OptionsDescription problem_options(ProblemOptions& problem);
// Its parts, for commands whose data has no shape of its own. Adds --collective and --op.
void add_collective_options(OptionsDescription& options, ProblemOptions& problem);
// Adds --dtype, --seed and --device. `note` ends what the help says about --dtype.
void add_data_options(OptionsDescription& options, ProblemOptions& problem, std::string_view note,
                      bool has_bytes = true);
OptionsDescription report_options(Format& format);

// What a command's help says above its options.
struct CommandText {
  std::string_view name;
  std::string_view operands;     // as the synopsis shows them: "[WHAT]"; empty: none are taken
  std::string_view description;  // full sentences; long lines are broken
};

// Reads `arguments` into what `options` points to. Names of options can't be abbreviated: a script
// that says --dev would change its meaning when another option comes. Returns false if --help was
// asked for, which has then been printed. Arguments that belong to no option land in `operands`;
// they are refused where it is null. Throws Error.
bool read_arguments(const CommandText& text, const OptionsDescription& options,
                    const std::vector<std::string>& arguments,
                    std::vector<std::string>* operands = nullptr);

}  // namespace vranks::cli
