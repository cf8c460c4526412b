// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks simulate`: how long a collective would take on a machine, by every algorithm.
#include <memory>

#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/judged_times.hpp"
#include "cli/memory_limit.hpp"
#include "cli/simulate_options.hpp"
#include "cli/simulate_report.hpp"
#include "cli/simulated.hpp"
#include "ranks/error.hpp"
#include "ranks/output_file.hpp"
#include "simulator/read_machine.hpp"

namespace vranks::cli {

namespace {

class Simulate : public Command {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view summary() const override {
    return "predicted time of algorithms on a machine, size by size, and why";
  }

  bool setup(const std::vector<std::string>& arguments) override {
    if (!read_arguments(
            {name(), "",
             "Runs the programs of algorithms on a model of a machine and says how long they take: "
             "messages share links, lanes keep their order, and software has its costs. Nothing is "
             "moved. Says which algorithm is the fastest from which size on; of one algorithm and "
             "one size, what its time is made of."},
            simulate_options(options_), arguments))
      return false;
    check_simulate_options(options_);
    return true;
  }

  int run(Job& job) override {
    if (job.processes() > 1)
      throw Error(ErrorKind::not_supported, "simulate is one process; start it without mpirun");
    limit_memory();
    if (!options_.measured.empty()) return judge_times(options_);
    if (!options_.trace.empty()) check_writable_target(options_.trace);
    Simulated simulated(options_, find_machine(options_.topology));
    apply_costs(options_.costs, simulated.software());
    simulated.run();
    print_simulated(options_, simulated);
    return exit_ok;
  }

 private:
  SimulateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace vranks::cli
