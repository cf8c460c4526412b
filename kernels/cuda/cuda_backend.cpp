// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_backend.hpp"

#include <map>
#include <mutex>
#include <vector>

#include "kernels/cuda/cuda_error.hpp"
#include "kernels/cuda/current_device.hpp"
#include "kernels/cuda/fold.hpp"
#include "kernels/cuda/hops.hpp"
#include "kernels/cuda/program.hpp"
#include "kernels/cuda/strided.hpp"

namespace vranks {

namespace {

using cuda::check_cuda;
using cuda::CurrentDevice;

// Of an existing device. Every fold asks, so CUDA is asked once.
int multiprocessors(int device) {
  static const std::vector<int> counts = [] {
    int devices = 0;
    check_cuda(cudaGetDeviceCount(&devices), "counting devices");
    std::vector<int> all(static_cast<std::size_t>(devices));
    for (int k = 0; k < devices; ++k)
      check_cuda(cudaDeviceGetAttribute(&all[static_cast<std::size_t>(k)],
                                        cudaDevAttrMultiProcessorCount, k),
                 "counting multiprocessors");
    return all;
  }();
  return counts[static_cast<std::size_t>(device)];
}

class CudaBackend final : public Backend {
 public:
  DeviceKind kind() const override { return DeviceKind::cuda; }
  std::string_view name() const override { return "cuda"; }

  int device_count() const override {
    static const int count = [] {
      int found = 0;
      if (cudaGetDeviceCount(&found) == cudaSuccess) return found;
      (void)cudaGetLastError();
      return 0;
    }();
    return count;
  }

  std::vector<std::string> devices() const override {
    std::vector<std::string> all;
    for (int device = 0; device < device_count(); ++device) {
      cudaDeviceProp properties;
      check_cuda(cudaGetDeviceProperties(&properties, device), "describing a device");
      all.push_back(std::string(properties.name) + ", " +
                    std::to_string(properties.totalGlobalMem >> 30) + " GiB, compute capability " +
                    std::to_string(properties.major) + "." + std::to_string(properties.minor));
    }
    return all;
  }

  std::string identity(int device) const override {
    cudaDeviceProp properties;
    check_cuda(cudaGetDeviceProperties(&properties, device), "describing a device");
    return {properties.uuid.bytes, sizeof properties.uuid.bytes};
  }

  std::string missing() const override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return {};
    (void)cudaGetLastError();
    if (status == cudaErrorInsufficientDriver)
      return "there is no NVIDIA driver, or it is older than CUDA " +
             std::to_string(CUDART_VERSION / 1000) + "; install the current driver";
    return status == cudaSuccess || status == cudaErrorNoDevice
               ? "this machine has no CUDA device"
               : std::string("CUDA can't be used: ") + cudaGetErrorString(status);
  }

  bool folds_trees_of(DType dtype) const override {
    return is_integer(dtype) || is_floating(dtype);
  }

  std::size_t workspace_bytes(const TreeFold& fold, int device) const override {
    return cuda::Plan(fold, multiprocessors(device)).workspace_bytes(fold);
  }

  void fold(const TreeFold& fold, int device, Workspace workspace, Stream stream) const override {
    const CurrentDevice current(device);
    if (fold.ranks == 1) return cuda::copy_row(fold, stream);
    const cuda::Plan plan(fold, multiprocessors(device));
    switch (fold.dtype) {
      case DType::f64:
        return cuda::fold_f64(fold, plan, workspace, stream);
      case DType::f32:
        return cuda::fold_f32(fold, plan, workspace, stream);
      case DType::f16:
        return cuda::fold_f16(fold, plan, workspace, stream);
      case DType::bf16:
        return cuda::fold_bf16(fold, plan, workspace, stream);
      case DType::f8e4m3:
      case DType::f8e5m2:
        return cuda::fold_f8(fold, plan, workspace, stream);
      case DType::i32:
      case DType::i64:
        return cuda::fold_integer(fold, plan, workspace, stream);
      default:
        return cuda::fold_any_integer(fold, plan, workspace, stream);
    }
  }

  std::unique_ptr<PreparedFold> prepare(FoldProgram program, int device) const override {
    return cuda::prepare_program(program, device);
  }

  void run_hops(std::span<const Hop> hops, const Arithmetic& rules, int device) const override {
    const CurrentDevice current(device);
    // One buffer a device is kept, and grown when there are more hops.
    static std::mutex mutex;
    static std::map<int, Workspace> kept;
    const std::lock_guard lock(mutex);
    cuda::run_hops(hops, rules, [&](std::size_t bytes) {
      Workspace& memory = kept[device];
      if (memory.bytes < bytes) {
        if (memory.data != nullptr) release(memory.data, device);
        memory = {};
        memory = {allocate(bytes, device), bytes};
      }
      return memory.data;
    });
  }

  void copy(const StridedCopy& copy, int device, Stream stream) const override {
    const CurrentDevice current(device);
    cuda::copy_strided(copy, stream);
  }

  Workspace kept_workspace(std::size_t bytes, int device, Stream stream) const override {
    if (bytes == 0) return {};
    static std::mutex mutex;
    static std::map<std::pair<int, Stream>, Workspace> kept;
    const std::lock_guard lock(mutex);
    Workspace& workspace = kept[{device, stream}];
    if (workspace.bytes >= bytes) return workspace;
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(stream, &capturing), "asking whether the stream is captured");
    if (capturing != cudaStreamCaptureStatusNone)
      throw Error(ErrorKind::bad_argument,
                  "the call needs " + std::to_string(bytes) +
                      " bytes of workspace, which can't be allocated while the stream is being "
                      "captured; pass a workspace of workspace_bytes(...), or run the call once "
                      "before the capture");
    if (workspace.data != nullptr) release(workspace.data, device);
    workspace = {};
    workspace = {allocate(bytes, device), bytes};
    return workspace;
  }

  void* allocate(std::size_t bytes, int device) const override {
    const CurrentDevice current(device);
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw Error(ErrorKind::not_available, "no memory for " + std::to_string(bytes) +
                                                " bytes on cuda:" + std::to_string(device));
    }
    check_cuda(status, "allocating memory");
    return memory;
  }

  void release(void* memory, int device) const override {
    // Also at the program's end, when CUDA may be gone and its memory with it.
    int before = 0;
    if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return;
    cudaFree(memory);
    cudaSetDevice(before);
  }

  void copy_from_host(void* to, const void* from, std::size_t bytes, int device) const override {
    const CurrentDevice current(device);
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
  }

  void copy_to_host(void* to, const void* from, std::size_t bytes, int device) const override {
    const CurrentDevice current(device);
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device");
  }

  std::vector<double> time(int repeats, int device,
                           const std::function<void()>& call) const override {
    const CurrentDevice current(device);
    std::vector<cudaEvent_t> events(static_cast<std::size_t>(repeats) + 1);
    for (cudaEvent_t& event : events) check_cuda(cudaEventCreate(&event), "creating an event");
    call();
    check_cuda(cudaEventRecord(events[0], nullptr), "recording an event");
    for (std::size_t i = 1; i < events.size(); ++i) {
      call();
      check_cuda(cudaEventRecord(events[i], nullptr), "recording an event");
    }
    check_cuda(cudaDeviceSynchronize(), "waiting for the device");
    std::vector<double> seconds;
    for (std::size_t i = 1; i < events.size(); ++i) {
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, events[i - 1], events[i]), "reading an event");
      seconds.push_back(milliseconds * 1e-3);
    }
    for (const cudaEvent_t event : events) cudaEventDestroy(event);
    return seconds;
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace vranks
