// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// `vranks bench`: how fast a collective is, size by size, in nccl-tests' terms and beside a plain
// copy; or, with --report, how right and how fast one configuration is.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdio>

#include "cli/bench_options.hpp"
#include "cli/bench_report.hpp"
#include "cli/bench_table.hpp"
#include "cli/command.hpp"
#include "cli/job.hpp"
#include "cli/memory_limit.hpp"
#include "cli/progress.hpp"
#include "ranks/error.hpp"
#include "ranks/output_file.hpp"

namespace vranks::cli {

namespace {

class Bench : public Command {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view summary() const override {
    return "time and bandwidth, size by size, in nccl-tests' terms";
  }
  bool setup(const std::vector<std::string>& arguments) override;
  int run(Job& job) override;

 private:
  void plan(Device device, std::int64_t cache_bytes);
  void check_memory(Device device, std::int64_t cache_bytes) const;
  int run_table(Device device, std::int64_t cache_bytes, const CacheSweep* sweep);
  int run_report(Device device, std::int64_t cache_bytes, const CacheSweep* sweep);
  void save(const std::string& json) const;
  int finish(bool is_right) const;

  BenchOptions options_;
  BenchRequest request_;
  std::vector<BenchSize> sizes_;
  std::vector<std::string> left_out_;
};

bool Bench::setup(const std::vector<std::string>& arguments) {
  if (!read_arguments(
          {name(), "",
           "Times a collective for sizes in bytes, as nccl-tests do, whose columns the table has: "
           "size is a rank's input or output, whichever is larger. Data is random, and right "
           "results are told from wrong ones by the exact result. Without options: the mean over "
           "4 ranks of 32 MiB of f32 each."},
          bench_options(options_, request_), arguments))
    return false;
  check_bench_options(options_, request_);
  return true;
}

// What will run, and what won't. Throws before anything long begins.
void Bench::plan(Device device, std::int64_t cache_bytes) {
  const Collective collective = options_.collective();
  std::string too_small;
  for (const std::int64_t bytes : sizes_of(options_.sizes)) {
    const auto size =
        bench_size(collective, options_.group_ranks(), bytes, options_.element_bytes());
    if (!size)
      too_small += fmt::format("{}{}", too_small.empty() ? "" : ", ", bytes);
    else if (sizes_.empty() || sizes_.back().bytes != size->bytes)
      sizes_.push_back(*size);
  }
  const std::string rule =
      fmt::format("an element has {} bytes, and {} over {} ranks needs {}",
                  options_.element_bytes(), vranks::name(collective), options_.group_ranks(),
                  bench_size(collective, options_.group_ranks(), options_.element_bytes(),
                             options_.element_bytes())
                      ? "one at least"
                      : fmt::format("one for each of their blocks, {} bytes at least",
                                    options_.group_ranks() * options_.element_bytes()));
  if (sizes_.empty())
    throw Error(ErrorKind::bad_argument, fmt::format("--bytes {}: {}", too_small, rule));
  if (!too_small.empty()) left_out_.push_back(fmt::format("sizes {}: {}", too_small, rule));
  std::erase_if(options_.algorithms, [&](const std::string& algorithm) {
    try {
      check_bench_calls(options_, algorithm, sizes_, device);
      return false;
    } catch (const Error& error) {
      const bool is_skipped = request_.all_algorithms && error.kind() != ErrorKind::not_available;
      if (!is_skipped) throw;
      left_out_.push_back(fmt::format("{}: {}", algorithm, error.what()));
      return true;
    }
  });
  if (options_.algorithms.empty())
    throw Error(ErrorKind::not_supported,
                fmt::format("--algorithm all: none can do this; {}", left_out_.back()));
  check_memory(device, cache_bytes);
}

void Bench::check_memory(Device device, std::int64_t cache_bytes) const {
  std::int64_t most = 0;
  BenchSize largest;
  for (const BenchSize& size : sizes_)
    if (const std::int64_t needed = bench_memory(options_, size, device, cache_bytes);
        needed > most) {
      most = needed;
      largest = size;
    }
  if (!options_.hot) most += beyond_cache(cache_bytes);
  try {
    const DeviceBuffer all(static_cast<std::size_t>(most), device);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_available) throw;
    throw Error(ErrorKind::not_available,
                fmt::format("--bytes: {} bytes over {} ranks need {} on {}, which hasn't as much "
                            "free; give fewer",
                            largest.bytes, *options_.details.ranks,
                            bytes_text(static_cast<double>(most)), to_string(device)));
  }
}

int Bench::run(Job& job) {
  if (job.processes() > 1)
    throw Error(ErrorKind::not_supported, "bench is one process; start it without mpirun");
  const Device device = usable_device(options_.problem.device);
  if (!request_.output.empty()) check_writable_target(request_.output);
  if (device.kind == DeviceKind::cpu) limit_memory();  // a device maps memory of its own
  const std::int64_t cache_bytes = options_.cache_bytes.value_or(cache_bytes_of(device));
  plan(device, cache_bytes);
  return with_memory_for(
      fmt::format("{} over {} ranks", options_.algorithms.front(), *options_.details.ranks), [&] {
        std::optional<CacheSweep> sweep;
        if (!options_.hot) sweep.emplace(device, cache_bytes);
        const CacheSweep* const with = sweep ? &*sweep : nullptr;
        return request_.report ? run_report(device, cache_bytes, with)
                               : run_table(device, cache_bytes, with);
      });
}

int Bench::run_table(Device device, std::int64_t cache_bytes, const CacheSweep* sweep) {
  std::vector<std::int64_t> bytes;
  for (const BenchSize& size : sizes_) bytes.push_back(size.bytes);
  BenchTable table(options_, bytes, device,
                   backend_for(device).devices()[static_cast<std::size_t>(device.index)],
                   cache_bytes, left_out_);
  const bool streams = request_.format == Format::table;
  if (streams) table.print_head();
  std::size_t done = 0;
  for (const BenchSize& size : sizes_) {
    std::optional<BenchCase> bench;
    for (const std::string& algorithm : options_.algorithms) {
      BenchRow row{.size = size,
                   .algorithm = algorithm,
                   .ran = {},
                   .traffic = {},
                   .apart = {},
                   .in_place = {}};
      {
        ProgressLine progress(fmt::format("row {} of {}: {} bytes by {}", ++done,
                                          sizes_.size() * options_.algorithms.size(), size.bytes,
                                          algorithm));
        if (!bench) bench.emplace(options_, size, device, cache_bytes, sweep);
        bench->choose(algorithm);
        row.apart = bench->measure(Place::apart);
        const Place place = options_.in_place.value_or(Place::nccl);
        if (place != Place::apart) row.in_place = bench->measure(place);
        row.ran = bench->outcome().provenance;
        row.traffic = traffic_of(bench->outcome());
      }
      table.add(std::move(row));
      if (streams) table.print_row(table.last());
    }
  }
  if (streams) table.print_end();
  if (request_.format == Format::csv) table.print_csv();
  const std::string json = table.json();
  if (request_.format == Format::json) fmt::print("{}", json);
  save(json);
  return finish(table.wrong() == 0);
}

int Bench::run_report(Device device, std::int64_t cache_bytes, const CacheSweep* sweep) {
  BenchCase bench(options_, sizes_[0], device, cache_bytes, sweep);
  bench.choose(options_.algorithms[0]);
  const BenchReport found = report_bench(bench, options_, sizes_[0], request_.trials);
  found.report.print(request_.format);
  save(found.report.json());
  return finish(found.is_right);
}

void Bench::save(const std::string& json) const {
  if (request_.output.empty()) return;
  OutputFile file(request_.output);
  file.write(std::as_bytes(std::span(json)));
  file.finish();
}

int Bench::finish(bool is_right) const {
  if (is_right) return exit_ok;
  fmt::print(stderr, "vranks bench: a result is WRONG; please report this with its command line\n");
  return exit_check_failed;
}

}  // namespace

std::unique_ptr<Command> make_bench() { return std::make_unique<Bench>(); }

}  // namespace vranks::cli
