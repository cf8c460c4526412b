// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

namespace vranks::cli {

// Each is defined in the file of its command.
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_check();
std::unique_ptr<Command> make_show();
std::unique_ptr<Command> make_verify();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_info();
std::unique_ptr<Command> make_bench();
std::unique_ptr<Command> make_simulate();

std::vector<std::unique_ptr<Command>> commands() {
  std::vector<std::unique_ptr<Command>> all;
  all.push_back(make_run());
  all.push_back(make_check());
  all.push_back(make_show());
  all.push_back(make_verify());
  all.push_back(make_list());
  all.push_back(make_info());
  all.push_back(make_bench());
  all.push_back(make_simulate());
  return all;
}

}  // namespace vranks::cli
