// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_log_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ranks/error.hpp"

namespace vranks::cli {

namespace {

[[noreturn]] void fail(const std::string& path, const char* doing) {
  throw Error(ErrorKind::io,
              fmt::format("'{}', for NCCL's log: {} it: {}", path, doing, std::strerror(errno)));
}

}  // namespace

NcclLogFile::NcclLogFile()
    : path_((std::filesystem::temp_directory_path() / "vranks-nccl-XXXXXX").string()) {
  descriptor_ = mkstemp(path_.data());
  if (descriptor_ < 0) fail(path_, "creating");
}

NcclLogFile::~NcclLogFile() {
  remove();
  close(descriptor_);
}

std::string NcclLogFile::read_new() {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = pread(descriptor_, buffer, sizeof buffer, read_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "reading");
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    read_ += got;
  }
}

void NcclLogFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace vranks::cli
