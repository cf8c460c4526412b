// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "ranks/error.hpp"

namespace vranks {

namespace {

constexpr ::mode_t permission_bits = 0777;

// std::strerror shares one buffer between threads; this does not.
std::string describe(int error) { return std::generic_category().message(error); }

std::filesystem::path follow_links(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel's own limit
  std::filesystem::path target = path;
  std::error_code failed;
  for (int links = 0; links < most_links; ++links) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(target, failed)))
      return target;
    const std::filesystem::path next = std::filesystem::read_symlink(target, failed);
    if (failed)
      throw Error(ErrorKind::io, fmt::format("can't write '{}': the link '{}' can't be read: {}",
                                             path, target.string(), failed.message()));
    target = target.parent_path() / next;
  }
  throw Error(ErrorKind::io, fmt::format("can't write '{}': more than {} symbolic links in a row",
                                         path, most_links));
}

// Where a file that is open, but has no name, can be found to give it one.
std::string link_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// A file in that folder which is gone when the process is, however that ends; -1 if there is no
// such thing in that file system, or no way to give it a name later.
int open_without_name(const std::string& folder, ::mode_t mode) {
#ifdef O_TMPFILE
  const int descriptor = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (descriptor < 0 || ::access(link_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
#endif
  return -1;
}

const char* kind_of_file(::mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  try {
    create();
  } catch (...) {
    // A constructor that throws gets no destructor call.
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    throw;
  }
}

void OutputFile::create() {
  if (path_.empty()) throw Error(ErrorKind::io, "can't write a file whose name is empty");
  struct ::stat old = {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) fail("can't write", errno);
  if (replaces && !S_ISREG(old.st_mode))
    throw Error(ErrorKind::io,
                fmt::format("can't write '{}': it is {}; name a regular file, or one that does "
                            "not exist yet",
                            path_, kind_of_file(old.st_mode)));
  // rename() would replace a read-only file, which its owner made read-only to prevent just that.
  if (replaces && ::access(path_.c_str(), W_OK) != 0) fail("can't replace", errno);

  const std::filesystem::path target = follow_links(path_);
  if (!target.has_filename())
    throw Error(ErrorKind::io, fmt::format("can't write '{}': it names a folder", path_));
  target_ = target.string();
  folder_ = target.has_parent_path() ? target.parent_path().string() : ".";

  const ::mode_t mode = replaces ? 0600 : 0666;
  descriptor_ = open_without_name(folder_, mode);
  if (descriptor_ < 0)
    claim_name([&](const char* name) {
      descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      return descriptor_ >= 0;
    });
  if (replaces) {
    struct ::stat fresh = {};
    if (::fstat(descriptor_, &fresh) != 0) fail("can't examine the new file for", errno);
    // Not tried where nothing would change: some file systems have fixed permissions.
    if (((fresh.st_mode ^ old.st_mode) & permission_bits) != 0 &&
        ::fchmod(descriptor_, old.st_mode & permission_bits) != 0)
      fail("can't keep the permissions of", errno);
  }
}

template <class Claim>
void OutputFile::claim_name(const Claim& claim) {
  // A name that exists is another's, also among threads, processes and machines that share the
  // folder; one that a killed process left behind is passed over.
  static std::atomic<std::uint64_t> counter = 0;
  for (;;) {
    const std::string name = (std::filesystem::path(folder_) /
                              fmt::format(".vranks-{}-{}.tmp", ::getpid(), counter.fetch_add(1)))
                                 .string();
    if (claim(name.c_str())) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST && errno != EINTR) fail("can't create a file beside", errno);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("can't write", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    written_ += count;
  }
}

void OutputFile::finish() {
  while (::fsync(descriptor_) != 0)
    if (errno != EINTR) fail("can't flush", errno);
  if (temporary_.empty())
    claim_name([&](const char* name) {
      return ::linkat(AT_FDCWD, link_of(descriptor_).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) ==
             0;
    });
  // Linux closes the descriptor even when it reports an interruption, and the data is flushed.
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail("can't close", errno);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("can't rename a file to", errno);
  temporary_.clear();
}

void OutputFile::fail(const char* action, int error) const {
  const std::string progress =
      written_ == 0 ? "" : fmt::format(" (after {} bytes; an older file is kept)", written_);
  throw Error(ErrorKind::io,
              fmt::format("{} '{}': {}{}", action, path_, describe(error), progress));
}

void check_writable_target(const std::string& path) { const OutputFile probe(path); }

}  // namespace vranks
