// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>

#include "cli/device_copy.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/rank_share.hpp"
#include "collectives/peers/mpi.hpp"
#include "ranks/error.hpp"

namespace vranks::cli {

#if VRANKS_HAVE_MPI

namespace {

// Roots that this process owns: of one group at most one.
std::int64_t owned_roots(const ProcessCallRequest& request, const RankRange& share) {
  const auto is_here = [&](std::int64_t rank) {
    return share.first <= rank && rank < share.first + share.count;
  };
  const std::int64_t root = request.call.root;
  if (request.call.groups.empty()) return is_here(root) ? 1 : 0;
  return std::ranges::count_if(request.call.groups, [&](const Group& group) {
    return is_here(group[static_cast<std::size_t>(root)]);
  });
}

// The output of this process; of collectives that end at the root nothing elsewhere.
Shape own_output(const ProcessCallRequest& request, const RankRange& share) {
  Shape shape = output_shape(request.collective, request.shape, request.call);
  const std::int64_t roots = owned_roots(request, share);
  if (!ends_at_root(request.collective))
    shape[0] = share.count;
  else if (roots == 0)
    shape = {0};
  else if (!request.call.groups.empty())
    shape[0] = roots;
  return shape;
}

CommunicatorOptions options_of(const ProcessCallRequest& request) {
  CommunicatorOptions options{.timeout = request.timeout};
  if (!request.nccl_library.empty()) options.nccl_library = request.nccl_library;
  return options;
}

// Which one this process is among those of its machine.
int process_here() {
  MPI_Comm here = MPI_COMM_NULL;
  int process = 0;
  VR_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
  VR_MPI(MPI_Comm_rank(here, &process));
  VR_MPI(MPI_Comm_free(&here));
  return process;
}

}  // namespace

class ProcessRun::Memory {
 public:
  Memory(const Job& job, const ProcessCallRequest& request, const TensorView& input)
      : share(share_of(request.shape[0], job.processes(), job.process())),
        communicator(MPI_COMM_WORLD, share.count, options_of(request)),
        out(input.dtype, own_output(request, share)),
        ranks(DType::i32,
              reduces(request.collective) && finds_rank(request.call.op) ? out.shape() : Shape{0}),
        in_copy(input, request.device),
        out_copy(out.view(), request.device),
        ranks_copy(ranks.view(), request.device) {
    // Gaps between blocks that lie apart.
    for (const Tensor* tensor : {&out, &ranks})
      if (tensor->bytes() != 0)
        std::memset(tensor->data(), 0, static_cast<std::size_t>(tensor->bytes()));
    in_copy.send();
    out_copy.send();
  }

  RankRange share;
  Communicator communicator;
  Tensor out, ranks;
  DeviceCopy in_copy, out_copy, ranks_copy;
};

ProcessRun::ProcessRun(const Job& job, const ProcessCallRequest& request, const TensorView& input)
    : job_(job), request_(request), memory_(std::make_unique<Memory>(job, request, input)) {
  if (memory_->ranks.bytes() != 0) request_.call.ranks = memory_->ranks_copy.view();
}
ProcessRun::~ProcessRun() = default;

Provenance ProcessRun::run() {
  const bool has_output =
      !ends_at_root(request_.collective) || owned_roots(request_, memory_->share) > 0;
  return memory_->communicator.run(request_.collective, memory_->in_copy.view(),
                                   has_output ? memory_->out_copy.view() : TensorView{},
                                   request_.call, request_.engine);
}

void ProcessRun::collect(const Tensor& out, const Tensor& ranks) const {
  memory_->out_copy.fetch();
  memory_->ranks_copy.fetch();
  // Groups' outputs come in the order of the groups, whoever owns their roots.
  const auto collect_rows = [&](const Tensor& own, const Tensor& all) {
    const std::vector<std::int64_t> counts = job_.gather(own.bytes());
    if (!ends_at_root(request_.collective) || request_.call.groups.empty())
      return job_.collect(own.data(), counts, all.data());
    std::vector<std::byte> by_process(static_cast<std::size_t>(all.bytes()));
    job_.collect(own.data(), counts, by_process.data());
    if (!job_.is_first()) return;
    std::vector<std::int64_t> at(counts.size());
    for (std::size_t p = 1; p < counts.size(); ++p) at[p] = at[p - 1] + counts[p - 1];
    const auto row = all.bytes() / std::ssize(request_.call.groups);
    std::byte* to = all.data();
    for (const Group& group : request_.call.groups) {
      const int owner =
          memory_->communicator.process_of(group[static_cast<std::size_t>(request_.call.root)]);
      std::int64_t& from = at[static_cast<std::size_t>(owner)];
      to = std::copy_n(by_process.data() + from, row, to);
      from += row;
    }
  };
  collect_rows(memory_->out, out);
  if (reduces(request_.collective) && finds_rank(request_.call.op))
    collect_rows(memory_->ranks, ranks);
}

std::vector<double> ProcessRun::time() {
  using Clock = std::chrono::steady_clock;
  ProgressLine progress("timing");
  const auto time_one = [&] {
    (void)job_.gather(0);  // all start together
    const auto begin = Clock::now();
    run();
    const double mine = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::ranges::max(job_.gather(mine));
  };
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) seconds.push_back(time_one());
  // As many as half a second holds, if that is more; all processes have the same numbers.
  const double once = std::max(std::ranges::min(seconds), 1e-7);
  for (int left = static_cast<int>(std::clamp(0.5 / once, 0.0, 1000.0)); left > 0; --left)
    seconds.push_back(time_one());
  std::ranges::sort(seconds);
  return seconds;
}

Device device_of_process(const Job& job, const std::optional<Device>& wanted) {
  // All processes take part, whatever devices they have.
  const int turn = job.processes() == 1 ? 0 : process_here();
  Device device = usable_device(wanted);
  if (wanted || device.kind == DeviceKind::cpu) return device;
  device.index = turn % backend_for(device).device_count();
  return device;
}

void allow_shared_devices(const Job& job, Device device) {
  device.kind = DeviceKind::cuda;
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  VR_MPI(MPI_Get_processor_name(host, &length));
  const std::string identity = backend_for(device).identity(device.index);
  const std::vector<std::size_t> all =
      job.gather(std::hash<std::string>{}(fmt::format("{} {}", host, identity)));
  if (std::set(all.begin(), all.end()).size() == all.size()) return;
  const auto here = all.begin() + job.process();
  const auto earlier = std::count(all.begin(), here, *here);
  constexpr int keep = 0;
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", keep);
  setenv("NCCL_NVLS_ENABLE", "0", keep);
  setenv("NCCL_MAX_CTAS", "4", keep);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", keep);
  // Ranks of one host can't share a device, so those beyond the first on a device say that they are
  // on hosts of their own (NCCL 2.30 and newer).
  if (earlier > 0) setenv("NCCL_HOSTID", fmt::format("{}-{}", host, earlier).c_str(), keep);
}

std::string ProcessRun::library() const {
  return request_.engine == Engine::nccl ? memory_->communicator.nccl_version() : mpi_library();
}

#else

namespace {
[[noreturn]] void refuse() {
  throw Error(ErrorKind::not_available,
              "this build has no MPI, so that no engine passes anything between processes; apt "
              "install libopenmpi-dev openmpi-bin, then configure and build again");
}
}  // namespace

class ProcessRun::Memory {};
ProcessRun::ProcessRun(const Job& job, const ProcessCallRequest& request, const TensorView&)
    : job_(job), request_(request) {
  refuse();
}
ProcessRun::~ProcessRun() = default;
Provenance ProcessRun::run() { refuse(); }
void ProcessRun::collect(const Tensor&, const Tensor&) const { refuse(); }
std::vector<double> ProcessRun::time() { refuse(); }
std::string ProcessRun::library() const { refuse(); }
Device device_of_process(const Job&, const std::optional<Device>& wanted) {
  return usable_device(wanted);
}
void allow_shared_devices(const Job&, Device) { refuse(); }

#endif

}  // namespace vranks::cli
