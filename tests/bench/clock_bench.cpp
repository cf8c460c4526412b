// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast the clock is: for large programs on a switch, the seconds of each stage and the
// transfers that the event loop passes in a second of one core, where all ranks are run; and those
// of the whole where ranks that do alike are run once; medians of some rounds.
//   clock_bench [rounds]     default: 5
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/plan.hpp"
#include "simulator/clock.hpp"
#include "simulator/read_machine.hpp"
#include "simulator/simulate.hpp"

namespace {

using namespace vranks;

// Keeps the time that work() takes and gives what it gives.
template <class Work>
auto timed(std::vector<double>& seconds, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = work();
  seconds.push_back(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void measure(const std::string& algorithm, std::int32_t ranks, const Parameters& parameters,
             int rounds) {
  Problem problem;
  problem.ranks = ranks;
  problem.elements = std::int64_t{1} << 20;
  problem.op = ReduceOp::sum;
  const Selection selection =
      select(find_algorithm(algorithm, problem.collective), problem, parameters);
  const auto topology = find_machine("switch")->place(ranks);
  std::vector<double> built, lowered, sized, run, folded;
  std::int64_t transfers = 0;
  for (int i = 0; i < rounds; ++i) {
    const Schedule schedule = timed(built, [&] { return build_schedule(problem, selection); });
    const Program program = timed(lowered, [&] { return lower(schedule); });
    const Layout layout = make_layout(problem, schedule, selection);
    const SizedProgram sizes = timed(sized, [&] { return SizedProgram(program, layout, 4); });
    timed(run, [&] { return simulate(sizes, *topology, {}); });
    transfers = schedule.transfers();
    Clock clock(find_machine("switch"), ranks);
    timed(folded, [&] { return clock.time(problem, {selection}); });
  }
  const double all = median(built) + median(lowered) + median(sized) + median(run);
  fmt::print(
      "{:<20} {:>6} {:>10}  {:>6.3f} {:>6.3f} {:>6.3f} {:>6.3f}  {:>6.2f}  {:>10.2f}  {:>6.2f}\n",
      algorithm, ranks, transfers, median(built), median(lowered), median(sized), median(run), all,
      static_cast<double>(transfers) / median(run) * 1e-6, median(folded));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  fmt::print("{:<20} {:>6} {:>10}  {:>6} {:>6} {:>6} {:>6}  {:>6}  {:>10}  {:>6}\n", "algorithm",
             "ranks", "transfers", "build", "lower", "size", "run", "all s", "M a second",
             "folded");
  measure("ring", 64, {}, rounds);
  measure("ring", 1024, {}, rounds);
  measure("two_shot", 1024, {}, rounds);
  measure("binomial_tree", 65536, {}, rounds);
  measure("recursive_doubling", 65536, {}, rounds);
  measure("two_level", 65536, {.ranks_per_node = 8, .outer = "recursive_doubling"}, rounds);
}
