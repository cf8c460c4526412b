// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicted times of algorithms over sizes, and where one overtakes another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/simulate_options.hpp"
#include "simulator/clock.hpp"

namespace vranks::cli {

// Something that can be timed at any size.
struct Contender {
  const Algorithm* algorithm = nullptr;
  Parameters parameters = {};
  Protocol protocol = Protocol::simple;
  std::string label = {};  // "ring", "nccl_ring ll"
};

struct Prediction {
  std::size_t contender = 0;
  BenchSize size;
  std::string ran;  // the algorithm that was chosen by the library's rules
  double seconds = 0;
};

struct Crossover {
  std::int64_t bytes = 0;  // from here on
  std::size_t contender = 0;
};

class Simulated {
 public:
  Simulated(const SimulateOptions& options, std::shared_ptr<const Machine> machine);

  Clock& clock() { return clock_; }
  const Clock& clock() const { return clock_; }
  SoftwareCosts& software() { return clock_.software(); }
  const std::vector<Contender>& contenders() const { return contenders_; }
  const std::vector<std::string>& left_out() const { return left_out_; }  // and why, a line each
  const std::vector<Prediction>& rows() const { return rows_; }
  double bus_factor() const;

  // All contenders over all sizes; those that can't run are left out.
  void run();
  // The fastest contenders by size. Borders are found to 1 %.
  std::vector<Crossover> fastest();
  // The only row's call with its events. All of NCCL's channels are run for that, so the row's time
  // becomes what this one is.
  Timeline explain();
  Problem problem(const BenchSize& size) const;

 private:
  Timeline time(const Contender& contender, const BenchSize& size, bool keep_events);
  std::optional<BenchSize> size_of(std::int64_t bytes) const;

  const SimulateOptions& options_;
  Clock clock_;
  std::int64_t ranks_;
  std::vector<Contender> contenders_;
  std::vector<std::string> left_out_;
  std::vector<Prediction> rows_;
  std::optional<Timeline> explained_;  // a call that is timed alone has its events at once
};

}  // namespace vranks::cli
