// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/job.hpp"
#include "cli/nccl_check_options.hpp"
#include "cli/nccl_check_report.hpp"
#include "cli/nccl_comparison.hpp"
#include "cli/nccl_log_file.hpp"
#include "cli/process_run.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/peers/nccl.hpp"
#include "collectives/peers/nccl_ranks.hpp"
#include "collectives/processes/nccl_process_ranks.hpp"

namespace vranks::cli {

namespace {

class NcclCheck : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override { return "a collective beside real NCCL ranks"; }
  bool setup(const std::vector<std::string>& arguments) override {
    return read_nccl_check_options(options_, arguments);
  }
  int run(Job& job) override;

 private:
  void choose_ranks();
  std::vector<Device> devices_of(std::int64_t ranks) const;
  [[noreturn]] void end(const Error& error, NcclLogFile& log) const;
  void compare(const Nccl& nccl, NcclLogFile& log);
  void compare(NcclSide side, std::int64_t ranks, int version);
  void compare_data(const NcclSide& side, NcclCase what);

  NcclCheckOptions options_;
  NcclCheckRun run_;
  Job* job_ = nullptr;
  Device device_;
  std::vector<NcclComparison> all_;
  std::string doing_;  // for messages about NCCL
};

// The rules that our side follows.
std::string rules_for(const NcclCheckOptions& options, const Nccl& nccl) {
  if (!options.is_pinned()) return {};
  const std::string version =
      options.nccl_version.empty() ? nccl.version_text() : options.nccl_version;
  try {
    nccl::constants_of(version);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}; --nccl-version says whose rules to compare {} with",
                                          error.what(), nccl.version_text()));
  }
  return version;
}

int NcclCheck::run(Job& job) {
  job_ = &job;
  choose_ranks();
  NcclLogFile log;
  set_nccl_environment({.algorithm = options_.nccl_algorithm(),
                        .protocol = options_.protocol,
                        .channels = options_.channels,
                        .log = log.path()});
  const Nccl nccl(options_.library);
  run_.rules = rules_for(options_, nccl);
  job.set_timeout(options_.timeout);
  // Says why, if there is no device.
  job.together([&] {
    device_ = options_.device.value_or(Device{DeviceKind::cuda, 0});
    backend_for(device_);
  });
  if (job.processes() > 1) {
    device_ = device_of_process(job, options_.device);
    allow_shared_devices(job, device_);
  }
  run_.version = nccl.version_text();
  run_.path = nccl.path;
  run_.device = to_string(device_);
  const int count = backend_for(device_).device_count();
  if (job.processes() > 1)
    run_.device = fmt::format("the devices of {} processes", job.processes());
  else if (!options_.device && count > 1)
    run_.device += fmt::format(" to {}, in turns", to_string(Device{DeviceKind::cuda, count - 1}));
  try {
    compare(nccl, log);
  } catch (const NcclError& error) {
    end(error, log);
#if VRANKS_HAVE_MPI
  } catch (const MpiError& error) {
    end(error, log);
#endif
  }
  if (all_.empty())
    throw Error(ErrorKind::not_supported,
                fmt::format("check has nothing to compare: NCCL {} has none of it", run_.version));
  if (job.is_first()) print_nccl_check(options_, run_, all_);
  const bool is_agreement =
      std::ranges::all_of(all_, [](const NcclComparison& each) { return each.is_agreement; });
  return is_agreement ? exit_ok : exit_check_failed;
}

// Ranks that never finish must not meet the end of static objects.
void NcclCheck::end(const Error& error, NcclLogFile& log) const {
  if (job_->is_first() && !all_.empty() && options_.format != Format::table)
    print_nccl_check(options_, run_, all_);
  fmt::print(stderr, "vranks check: {}{}: {}\n", job_->label(), doing_, error.what());
  log.remove();
  std::fflush(nullptr);
#if VRANKS_HAVE_MPI
  if (job_->processes() > 1) {
    // The others find out at about the same time, and may say so before mpirun ends them.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    MPI_Abort(MPI_COMM_WORLD, exit_check_failed);
  }
#endif
  std::_Exit(exit_check_failed);
}

// A rank each on the machine's devices in turns, or all on the one that was asked for.
std::vector<Device> NcclCheck::devices_of(std::int64_t ranks) const {
  std::vector<Device> devices(static_cast<std::size_t>(ranks), device_);
  const int count = backend_for(device_).device_count();
  for (std::size_t r = 0; r < devices.size() && !options_.device; ++r)
    devices[r].index = static_cast<int>(r % static_cast<std::size_t>(count));
  return devices;
}

// Under mpirun each process is a rank.
void NcclCheck::choose_ranks() {
  const int processes = job_->processes();
  if (processes > 1 && !options_.ranks.empty() &&
      options_.ranks != std::vector<std::int64_t>{processes})
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("--ranks: mpirun started {} processes, each of which is a rank", processes));
  if (processes > most_nccl_ranks)
    throw Error(ErrorKind::not_supported,
                fmt::format("mpirun started {} processes; the lines in which NCCL logs its rings "
                            "hold at most {} ranks",
                            processes, most_nccl_ranks));
  if (processes > 1)
    options_.ranks = {processes};
  else if (options_.ranks.empty())
    options_.ranks = {2, 3, 4};
  for (const std::int64_t ranks : options_.ranks)
    if (options_.root >= ranks)
      throw Error(ErrorKind::bad_argument, fmt::format("--root {}: with {} ranks they are 0 to {}",
                                                       options_.root, ranks, ranks - 1));
}

void NcclCheck::compare(const Nccl& nccl, NcclLogFile& log) {
  for (const std::int64_t count : options_.ranks) {
    doing_ = fmt::format("NCCL {}, {} ranks on {}", run_.version, count, run_.device);
    log.read_new();
#if VRANKS_HAVE_MPI
    if (job_->processes() > 1) {
      NcclProcessRanks ranks(MPI_COMM_WORLD, options_.library, device_, options_.timeout);
      compare({ranks, [&] { return ranks.texts(log.read_new()); }, {}, run_.rules}, count,
              nccl.version);
      continue;
    }
#endif
    NcclRanks ranks(nccl, devices_of(count), std::chrono::seconds(options_.timeout));
    compare({ranks, [&] { return log.read_new(); }, {}, run_.rules}, count, nccl.version);
  }
}

void NcclCheck::compare(NcclSide side, std::int64_t ranks, int version) {
  if (options_.is_pinned()) {
    side.lists = parse_nccl_lists(side.new_log(), ranks);
    if (options_.algorithm == "nccl_tree" && side.lists.trees.empty())
      throw Error(ErrorKind::bad_input,
                  "NCCL's log: it names no trees ('Trees [0] 1/-1/-1->0->-1')");
    run_.lists.insert_or_assign(ranks, side.lists);
  }
  NcclCase what{.collective = options_.collective, .ranks = ranks, .root = options_.root};
  for (const DTypeInfo& dtype : dtypes()) {
    const auto& wanted = options_.dtypes;
    if (!wanted.empty() && std::ranges::find(wanted, dtype.dtype) == wanted.end()) continue;
    what.dtype = dtype.dtype;
    if (!reduces(what.collective)) {
      if (nccl_reduces(ReduceOp::sum, what.dtype, version)) compare_data(side, what);
      continue;
    }
    for (const ReduceOpInfo& op : reduce_ops()) {
      if (!options_.ops.empty() && std::ranges::find(options_.ops, op.op) == options_.ops.end())
        continue;
      what.op = op.op;
      if (nccl_reduces(what.op, what.dtype, version) && supports(what.op, what.dtype))
        compare_data(side, what);
    }
  }
}

void NcclCheck::compare_data(const NcclSide& side, NcclCase what) {
  for (const NcclData data : {NcclData::random, NcclData::special}) {
    const auto& wanted = options_.data;
    if (!wanted.empty() && std::ranges::find(wanted, data) == wanted.end()) continue;
    if (data == NcclData::special && (!options_.is_pinned() || !is_floating(what.dtype))) continue;
    what.data = data;
    for (const std::int64_t elements : options_.elements) {
      what.elements = elements;
      doing_ = fmt::format("NCCL {}, {}", run_.version, what.text());
      all_.push_back(compare_with_nccl(what, options_, side, device_));
    }
  }
}

}  // namespace

bool is_nccl_check(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--against=nccl") return true;
    if (arguments[i] == "--against" && i + 1 < arguments.size() && arguments[i + 1] == "nccl")
      return true;
  }
  return false;
}

std::unique_ptr<Command> make_nccl_check() { return std::make_unique<NcclCheck>(); }

}  // namespace vranks::cli
