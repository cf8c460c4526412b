// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The real NCCL, loaded at run time: one binary serves every version of it, and needs none to
// start. What is called of nccl.h hasn't changed since NCCL 2.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/parameters.hpp"
#include "kernels/backend.hpp"
#include "ranks/dtype.hpp"
#include "ranks/error.hpp"
#include "ranks/reduce_op.hpp"

namespace vranks {

// NCCL itself failed, or didn't finish. Its ranks can't be used any more.
class NcclError : public Error {
 public:
  explicit NcclError(const std::string& message) : Error(ErrorKind::device, message) {}
};

struct Nccl {
  using Result = int;
  using Communicator = void*;
  struct UniqueId {
    char bytes[128];
  };
  static constexpr Result success = 0, in_progress = 7;
  static constexpr int several_ranks_version = 23000;  // the first with several ranks on one device
  static constexpr int fp8_version = 22400;            // the first that reduces 8-bit floats

  // Loads `name`, a path or a name that the system looks up. Throws not_available if this build has
  // no CUDA, if there is no such library or if it isn't NCCL; `option` is what the message says
  // would help.
  explicit Nccl(const std::string& name, std::string_view option = "--nccl-library");

  // Throws not_available, naming the version it takes, unless several ranks can be on one device.
  void need_several_ranks() const;

  std::string version_text() const { return text(version); }
  static std::string text(int version);

  Result (*get_version)(int*);
  Result (*get_unique_id)(UniqueId*);
  Result (*init_rank)(Communicator*, int ranks, UniqueId, int rank);
  Result (*all_reduce)(const void* in, void* out, std::size_t count, int dtype, int op,
                       Communicator, Stream);
  Result (*reduce)(const void* in, void* out, std::size_t count, int dtype, int op, int root,
                   Communicator, Stream);
  Result (*reduce_scatter)(const void* in, void* out, std::size_t count, int dtype, int op,
                           Communicator, Stream);
  Result (*all_gather)(const void* in, void* out, std::size_t count, int dtype, Communicator,
                       Stream);
  Result (*broadcast)(const void* in, void* out, std::size_t count, int dtype, int root,
                      Communicator, Stream);
  Result (*send)(const void* from, std::size_t count, int dtype, int to, Communicator, Stream);
  Result (*recv)(void* to, std::size_t count, int dtype, int from, Communicator, Stream);
  Result (*group_start)();
  Result (*group_end)();
  Result (*async_error)(Communicator, Result*);
  Result (*destroy)(Communicator);
  Result (*abort)(Communicator);
  const char* (*error_string)(Result);
  const char* (*last_error)(Communicator);

  int version = 0;   // 23007: 2.30.7
  std::string path;  // of the file that was loaded

 private:
  std::string option_;
};

// NCCL's numbers (ncclDataType_t, ncclRedOp_t), or nothing where it has no such type or op.
std::optional<int> nccl_dtype(DType dtype);
std::optional<int> nccl_op(ReduceOp op);
// Whether an NCCL of that version reduces such elements.
bool nccl_reduces(ReduceOp op, DType dtype, int version);

// What an NCCL is told by its environment.
struct NcclSetting {
  std::string algorithm = {};             // "ring", "tree"; empty: as NCCL chooses
  std::optional<Protocol> protocol = {};  // nothing: as NCCL chooses
  std::int32_t channels = 0;              // of the communicators; 0: as NCCL chooses
  std::string log = {};                   // file that gets NCCL's log; empty: warnings are printed
};

// Sets the environment that NCCL and CUDA read once a process: before either is used. Several ranks
// are allowed on a device, multicast is off, and whatever needs memory is done before ranks wait.
void set_nccl_environment(const NcclSetting& setting);

}  // namespace vranks
