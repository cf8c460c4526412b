// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: bytes go to a temporary file in the same folder, which
// takes the target's name only once everything is on the disk. Until then an old file stays as it
// was, and after any failure the temporary is gone. Where the file system has files without a name
// (O_TMPFILE), the temporary is one: it is gone, too, when the process is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vranks {

class OutputFile {
 public:
  // Creates the temporary. If `path` is a symbolic link, what it points to is replaced and the link
  // stays. A new file gets the permissions 0666 & ~umask, an existing one keeps its own. Throws io
  // if the folder is missing or not writable, or if `path` exists and is not a writable regular
  // file.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Appends `bytes`; throws io if they can't all be written.
  void write(std::span<const std::byte> bytes);

  // Flushes to the disk and renames to the target; throws io if one of them fails. Nothing may be
  // called after it. Without it the destructor removes the temporary.
  void finish();

 private:
  [[noreturn]] void fail(const char* action, int error) const;
  void create();
  // Calls claim(name) with one name beside the target after the other until it is true, or fails
  // with another errno than that the name is taken; `temporary_` is then that name.
  template <class Claim>
  void claim_name(const Claim& claim);

  std::string path_;       // as the caller wrote it, for messages
  std::string target_;     // `path_` with symbolic links followed
  std::string folder_;     // of the target
  std::string temporary_;  // empty while there is none, and once renamed
  int descriptor_ = -1;
  std::int64_t written_ = 0;
};

// Throws what OutputFile(path) would throw, so that a long computation fails before it starts.
// Leaves nothing behind.
void check_writable_target(const std::string& path);

}  // namespace vranks
