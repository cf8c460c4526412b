// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The file that NCCL logs to, read while it grows.
#pragma once

#include <cstdint>
#include <string>

namespace vranks::cli {

class NcclLogFile {
 public:
  // An empty file in the folder for temporary files. Throws io.
  NcclLogFile();
  ~NcclLogFile();
  NcclLogFile(const NcclLogFile&) = delete;
  NcclLogFile& operator=(const NcclLogFile&) = delete;

  const std::string& path() const { return path_; }

  // What has come since the last call. Throws io.
  std::string read_new();

  // Takes the name away: nothing stays behind, however the process ends. NCCL must have opened it.
  void remove();

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t read_ = 0;  // bytes
};

}  // namespace vranks::cli
