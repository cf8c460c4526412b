// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/peers/nccl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <type_traits>

namespace vranks {

std::string Nccl::text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

#if VRANKS_HAVE_CUDA

Nccl::Nccl(const std::string& name, std::string_view option) : option_(option) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorKind::not_available,
                fmt::format("NCCL can't be loaded: {}; install it (pip install nvidia-nccl-cu13, "
                            "apt install libnccl2), and {} PATH says where it is",
                            dlerror(), option));
  const auto find = [&](auto& function, const char* symbol) {
    void* const found = dlsym(library, symbol);
    if (!found)
      throw Error(ErrorKind::not_available, fmt::format("{} has no {}: is it NCCL?", name, symbol));
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  find(get_version, "ncclGetVersion");
  find(get_unique_id, "ncclGetUniqueId");
  find(init_rank, "ncclCommInitRank");
  find(all_reduce, "ncclAllReduce");
  find(reduce, "ncclReduce");
  find(reduce_scatter, "ncclReduceScatter");
  find(all_gather, "ncclAllGather");
  find(broadcast, "ncclBroadcast");
  find(send, "ncclSend");
  find(recv, "ncclRecv");
  find(group_start, "ncclGroupStart");
  find(group_end, "ncclGroupEnd");
  find(async_error, "ncclCommGetAsyncError");
  find(destroy, "ncclCommDestroy");
  find(abort, "ncclCommAbort");
  find(error_string, "ncclGetErrorString");
  find(last_error, "ncclGetLastError");
  if (const Result result = get_version(&version); result != success)
    throw Error(ErrorKind::not_available,
                fmt::format("{} doesn't say its version: {}", name, error_string(result)));
  Dl_info info;
  path = dladdr(reinterpret_cast<void*>(get_version), &info) ? info.dli_fname : name;
}

#else

Nccl::Nccl(const std::string& name, std::string_view option) : option_(option) {
  throw Error(ErrorKind::not_available,
              fmt::format("NCCL ({}) needs CUDA, which this build doesn't have: install the CUDA "
                          "toolkit 12 or newer, then configure and build again",
                          name));
}

#endif

void Nccl::need_several_ranks() const {
  if (version >= several_ranks_version) return;
  throw Error(ErrorKind::not_available,
              fmt::format("{} is NCCL {}; several ranks on one device need NCCL {} or newer, and "
                          "{} PATH says where that is",
                          path, version_text(), text(several_ranks_version), option_));
}

std::optional<int> nccl_dtype(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return 0;
    case DType::u8:
      return 1;
    case DType::i32:
      return 2;
    case DType::u32:
      return 3;
    case DType::i64:
      return 4;
    case DType::u64:
      return 5;
    case DType::f16:
      return 6;
    case DType::f32:
      return 7;
    case DType::f64:
      return 8;
    case DType::bf16:
      return 9;
    case DType::f8e4m3:
      return 10;
    case DType::f8e5m2:
      return 11;
    default:
      return {};
  }
}

std::optional<int> nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return 0;
    case ReduceOp::prod:
      return 1;
    case ReduceOp::max:
      return 2;
    case ReduceOp::min:
      return 3;
    case ReduceOp::mean:
      return 4;
    default:
      return {};
  }
}

bool nccl_reduces(ReduceOp op, DType dtype, int version) {
  if (is_float8(dtype) && version < Nccl::fp8_version) return false;
  return nccl_op(op) && nccl_dtype(dtype);
}

void set_nccl_environment(const NcclSetting& setting) {
  const auto set = [](const char* variable, std::string value) {
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::toupper(c); });
    if (value.empty()) {
      unsetenv(variable);
    } else {
      setenv(variable, value.c_str(), 1);
    }
  };
  const std::string channels = setting.channels > 0 ? std::to_string(setting.channels) : "";
  set("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  set("NCCL_MIN_CTAS", channels);
  set("NCCL_MAX_CTAS", channels);
  set("NCCL_NVLS_ENABLE", "0");
  set("NCCL_RUNTIME_CONNECT", "0");  // no memory is asked for while other ranks' kernels wait
  set("CUDA_DEVICE_MAX_CONNECTIONS", "32");
  set("NCCL_ALGO", setting.algorithm);
  set("NCCL_PROTO", setting.protocol ? std::string(name(*setting.protocol)) : "");
  if (setting.log.empty()) {
    setenv("NCCL_DEBUG", "WARN", 0);
    return;
  }
  set("NCCL_DEBUG", "INFO");
  set("NCCL_DEBUG_SUBSYS", "INIT,GRAPH,TUNING");
  setenv("NCCL_DEBUG_FILE", setting.log.c_str(), 1);
}

}  // namespace vranks
