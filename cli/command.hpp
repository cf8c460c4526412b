// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What every `vranks COMMAND` is. setup() reads the arguments and does no work; run() does the
// work. To add a command: one file, and one line in commands.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vranks::cli {

class Job;

enum ExitCode : int {
  exit_ok = 0,
  exit_check_failed = 1,
  exit_bad_use = 2,
};

class Command {
 public:
  virtual ~Command() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // one line for `vranks --help`

  // Reads the arguments behind the command's name. Throws Error or a program_options error.
  // Returns false if all that was asked for was the command's help, which has then been printed.
  virtual bool setup(const std::vector<std::string>& arguments) = 0;

  // Does the work as one process of `job` and returns an ExitCode. Throws Error.
  virtual int run(Job& job) = 0;
};

// Every command, in the order of `vranks --help`.
std::vector<std::unique_ptr<Command>> commands();

}  // namespace vranks::cli
