// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where elements live and are combined: `cpu`, or `cuda` in builds that have it. All backends give
// the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fold_program.hpp"
#include "kernels/hop.hpp"
#include "kernels/strided_copy.hpp"
#include "kernels/tree_fold.hpp"
#include "ranks/device.hpp"
#include "ranks/tensor_view.hpp"

struct CUstream_st;  // what a cudaStream_t points to

namespace vranks {

// A cudaStream_t; null is the default stream. The CPU backend has no streams and ignores it.
using Stream = CUstream_st*;

// Memory on the device of the call that uses it, aligned to 256 bytes (cudaMalloc's alignment).
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// A fold program that a device holds, ready to run any number of times.
class PreparedFold {
 public:
  virtual ~PreparedFold() = default;

  // Scratch memory that run() needs.
  virtual std::size_t workspace_bytes() const = 0;
  // Runs the program. CUDA: enqueues kernels on `stream` and returns; neither allocates nor
  // synchronises, and may be captured in a graph. Outputs of one piece may be the very elements
  // that this piece reads, and no element that another piece reads.
  virtual void run(const FoldRows& rows, Workspace workspace, Stream stream) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceKind kind() const = 0;
  virtual std::string_view name() const = 0;
  // How many devices this machine has; cheap, every call asks.
  virtual int device_count() const = 0;
  // One description a device, in the order of their indices.
  virtual std::vector<std::string> devices() const = 0;
  // Tells a device from all others of its host, for every process that sees it.
  virtual std::string identity(int device) const = 0;
  // Why there is no device and what would help; empty text if there is one.
  virtual std::string missing() const = 0;

  // Whether fold() knows that dtype. The trees of the others are run as programs.
  virtual bool folds_trees_of(DType dtype) const = 0;
  // Scratch memory that fold() needs; depends on shapes and types, not on pointers.
  virtual std::size_t workspace_bytes(const TreeFold& fold, int device) const = 0;
  // Runs the fold. CUDA: enqueues kernels on `stream` and returns; neither allocates nor
  // synchronises, and may be captured in a graph. Throws device if a launch fails.
  virtual void fold(const TreeFold& fold, int device, Workspace workspace, Stream stream) const = 0;
  // Takes a program to the device: allocates there, so not while a stream is being captured.
  virtual std::unique_ptr<PreparedFold> prepare(FoldProgram program, int device) const = 0;
  // Runs the hops in any order, and returns when all is done. All are about `rules`.
  virtual void run_hops(std::span<const Hop> hops, const Arithmetic& rules, int device) const = 0;

  // Ordered on `stream`; see StridedCopy. Source and target don't overlap.
  virtual void copy(const StridedCopy& copy, int device, Stream stream) const = 0;

  // Workspace for callers that bring none: one a stream (a thread on the CPU), grown when a call
  // needs more. Throws bad_argument when it would have to grow while `stream` is being captured.
  virtual Workspace kept_workspace(std::size_t bytes, int device, Stream stream) const = 0;

  // Memory of a device, for programs that hold a whole tensor there.
  virtual void* allocate(std::size_t bytes, int device) const = 0;
  virtual void release(void* memory, int device) const = 0;
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes, int device) const = 0;
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes, int device) const = 0;

  // Seconds each of `repeats` calls took, measured on the device (CUDA events) after one warm-up.
  virtual std::vector<double> time(int repeats, int device,
                                   const std::function<void()>& call) const = 0;
};

// Every backend of this build, `cpu` first.
std::span<const Backend* const> backends();

// The backend of that kind. Throws not_available, saying why and what would help, if this build
// or this machine has none or not that many devices.
const Backend& backend_for(Device device);

// Device memory with an owner.
class DeviceBuffer {
 public:
  DeviceBuffer(std::size_t bytes, Device device);
  void* data() const { return data_.get(); }
  void copy_from_host(const void* from, std::size_t bytes) const;
  void copy_to_host(void* to, std::size_t bytes) const;

 private:
  Device device_;
  std::unique_ptr<void, std::function<void(void*)>> data_;
};

}  // namespace vranks
