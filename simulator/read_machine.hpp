// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Topology files: machines as YAML. docs/topologies.md says what may stand in them; machines/ has
// those that come with the library.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "simulator/topology.hpp"

namespace vranks {

// The machine that `text` describes. `file` names it in messages, and files that it includes are
// looked for beside it; a name without a slash also among the shipped ones. Throws bad_input
// "file:line: what, and what would be right", io for a file that can't be read.
std::shared_ptr<const Machine> read_machine(std::string_view text, const std::string& file);

// The shipped machine of that name, or the one of a file: what contains a slash or ends in .yaml.
// Throws bad_argument, with what there is, for another name; else as above.
std::shared_ptr<const Machine> find_machine(const std::string& name_or_path);

struct ShippedMachine {
  std::string_view name;
  std::string_view text;  // of its file
};
std::span<const ShippedMachine> shipped_machines();

}  // namespace vranks
