// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One size of a collective on data: how long calls take beside a plain copy of as many bytes, turn
// by turn, and how many elements of a result are wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/algorithm_options.hpp"
#include "cli/bench_cache.hpp"
#include "cli/bench_sizes.hpp"
#include "cli/call_memory.hpp"
#include "cli/call_options.hpp"
#include "cli/outcome.hpp"

namespace vranks::cli {

// What was asked for.
struct BenchOptions {
  ProblemOptions problem;  // without shape, input and algorithm
  CallDetails details;
  GivenParameters parameters;
  Policies policies;
  SizeRange sizes;
  std::vector<std::string> algorithms = {"direct"};
  std::int64_t iterations = 20, warmup = 5;
  bool check = true;
  bool hot = false;                         // one buffer, which caches may hold
  std::optional<std::int64_t> cache_bytes;  // none: cache_bytes_of(device)
  std::optional<Place> in_place;            // none: not said; apart: only out of place

  Collective collective() const { return problem.collective; }
  ReduceOp op() const { return op_of(problem.collective, problem.op); }
  std::int64_t element_bytes() const;
  // Ranks of a group; all groups have as many.
  std::int64_t group_ranks() const;
};

// Seconds, sorted but in `ratios`.
struct Measured {
  std::vector<double> seconds;             // of each call
  std::vector<double> copy_seconds;        // of each copy of as many bytes
  double copy_ratio = 0;                   // median over the turns of copy / call: 1 is as fast
  std::int64_t buffers = 1;                // that the calls went round
  std::optional<std::int64_t> wrong = {};  // elements of the last result; none: not checked
};

// Median of sorted numbers.
double median(const std::vector<double>& sorted);

class BenchCase {
 public:
  // `sweep` is null where caches may hold what they can. Both must outlive this.
  BenchCase(const BenchOptions& options, const BenchSize& size, Device device,
            std::int64_t cache_bytes, const CacheSweep* sweep);

  // Makes ready for that algorithm; throws as the call.
  void choose(const std::string& algorithm);
  // What has been chosen.
  const Outcome& outcome() const { return outcome_; }
  const CollectiveOptions& call() const { return call_; }

  // The times of calls in memory of that kind and, if that is wanted, `wrong`.
  Measured measure(Place place);
  // One call on fresh random data, judged: outcome() says how right it is.
  void try_once(Place place);
  std::int64_t wrong_elements() const;

 private:
  class Buffers;

  void fill();  // the input, with numbers that were not there before

  const BenchOptions& options_;
  std::int64_t cache_bytes_;
  const CacheSweep* sweep_;
  BenchSize size_;
  CollectiveOptions call_;
  Outcome outcome_;
  std::uint64_t seed_;
};

// How a call is asked for. Throws bad_argument or not_supported.
CollectiveOptions bench_call(const BenchOptions& options, const std::string& algorithm,
                             const BenchSize& size);
// Shape of the input.
Shape bench_shape(const BenchOptions& options, const BenchSize& size);
// Bytes of the device that the case takes.
std::int64_t bench_memory(const BenchOptions& options, const BenchSize& size, Device device,
                          std::int64_t cache_bytes);

}  // namespace vranks::cli
