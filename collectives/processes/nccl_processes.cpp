// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/nccl_processes.hpp"

#if VRANKS_HAVE_MPI

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#if VRANKS_HAVE_CUDA
#include "kernels/cuda/cuda_error.hpp"
#endif

namespace vranks {

const Nccl& NcclProcesses::load() {
  if (!nccl_) nccl_.emplace(library_);
  return *nccl_;
}

void NcclProcesses::check(Nccl::Result result, const char* doing) const {
  if (result == Nccl::success || result == Nccl::in_progress) return;
  throw NcclError(fmt::format("NCCL {} failed while {}: {}; {}", nccl_->version_text(), doing,
                              nccl_->error_string(result), nccl_->last_error(communicator_)));
}

#if VRANKS_HAVE_CUDA

using cuda::check_cuda;

// A stream of its own, so that a process's kernels and NCCL's go on side by side.
struct NcclProcesses::Events {
  Events() {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t* const event : {&device, &marks[0], &marks[1]})
      check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
  }
  ~Events() {
    for (const cudaEvent_t event : {device, marks[0], marks[1]}) cudaEventDestroy(event);
    cudaStreamDestroy(stream);
  }
  cudaStream_t stream = nullptr;
  cudaEvent_t device = nullptr, marks[2] = {};
};

NcclProcesses::NcclProcesses(std::string library, void* given)
    : library_(std::move(library)), communicator_(given) {}

NcclProcesses::~NcclProcesses() {
  if (is_ours_) nccl_->destroy(communicator_);
}

void NcclProcesses::need_device(Device device) const {
  if (events_ && device != device_)
    throw Error(ErrorKind::bad_argument,
                fmt::format("NCCL has joined this process with {}; {} can't be used beside it",
                            to_string(device_), to_string(device)));
}

void NcclProcesses::join(MPI_Comm communicator, MpiWait& wait, Device device) {
  if (events_) return;
  check_cuda(cudaSetDevice(device.index), "choosing the device");
  auto events = std::make_unique<Events>();
  if (communicator_ == nullptr) {
    int process = 0, processes = 1;
    VR_MPI(MPI_Comm_rank(communicator, &process));
    VR_MPI(MPI_Comm_size(communicator, &processes));
    Nccl::UniqueId id;
    if (process == 0) check(nccl_->get_unique_id(&id), "making an id");
    MPI_Request request = MPI_REQUEST_NULL;
    VR_MPI(MPI_Ibcast(&id, sizeof id, MPI_BYTE, 0, communicator, &request));
    wait.until_done(request);
    // It returns when all have called it: a thread waits for that, and this one for the processes.
    // If one is lost the thread never comes back, and what it uses stays.
    struct Joining {
      std::atomic<bool> is_done = false;
      Nccl::Result result = Nccl::success;
      Nccl::Communicator joined = nullptr;
    };
    const auto joining = std::make_shared<Joining>();
    std::thread([=, init_rank = nccl_->init_rank] {
      cudaSetDevice(device.index);
      joining->result = init_rank(&joining->joined, processes, id, process);
      joining->is_done = true;
    }).detach();
    wait.happened();
    while (!joining->is_done) wait.turn();
    check(joining->result, "starting");
    communicator_ = joining->joined;
    is_ours_ = true;
  }
  device_ = device;
  events_ = std::move(events);
}

Stream NcclProcesses::stream() const { return events_->stream; }

void NcclProcesses::follow_device() const {
  check_cuda(cudaEventRecord(events_->device, nullptr), "recording an event");
  check_cuda(cudaStreamWaitEvent(events_->stream, events_->device), "ordering streams");
}

void NcclProcesses::group(const std::function<void()>& calls) const {
  check(nccl_->group_start(), "starting a group");
  calls();
  check(nccl_->group_end(), "ending a group");
}

void NcclProcesses::set_mark(int slot) const {
  check_cuda(cudaEventRecord(events_->marks[slot], events_->stream), "recording an event");
}

void NcclProcesses::wait_for_mark(int slot, MpiWait& wait) const {
  wait.happened();
  while (true) {
    const cudaError_t status = cudaEventQuery(events_->marks[slot]);
    if (status == cudaSuccess) return wait.happened();
    if (status != cudaErrorNotReady) check_cuda(status, "waiting for NCCL");
    (void)cudaGetLastError();  // that it isn't ready is no error
    Nccl::Result error = Nccl::success;
    check(nccl_->async_error(communicator_, &error), "asking for errors");
    check(error, "passing data");
    wait.turn();
  }
}

#else

struct NcclProcesses::Events {};
NcclProcesses::NcclProcesses(std::string library, void*) : library_(std::move(library)) {}
NcclProcesses::~NcclProcesses() = default;
// load() has thrown before.
void NcclProcesses::need_device(Device) const {}
void NcclProcesses::join(MPI_Comm, MpiWait&, Device) {}
Stream NcclProcesses::stream() const { return nullptr; }
void NcclProcesses::follow_device() const {}
void NcclProcesses::group(const std::function<void()>&) const {}
void NcclProcesses::set_mark(int) const {}
void NcclProcesses::wait_for_mark(int, MpiWait&) const {}

#endif

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
