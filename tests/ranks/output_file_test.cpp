// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// A file that is written appears whole or not at all, whatever fails on the way.
#include "ranks/output_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "tests/ranks/expect_error.hpp"
#include "tests/ranks/temporary_folder.hpp"

namespace vranks {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void write_whole(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(bytes_of(text));
  file.finish();
}

::mode_t mode_of(const std::string& path) {
  struct ::stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

// No file may grow beyond `bytes` while this lives: the write fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(::rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const ::rlimit limit = {bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  ::rlimit before_ = {};
  void (*handler_)(int);
};

TEST(OutputFile, AppearsOnlyWhenFinished) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  {
    OutputFile file(path);
    file.write(bytes_of("ab"));
    EXPECT_FALSE(folder.names().contains("x"));
    file.write(bytes_of("cd"));
    file.finish();
  }
  EXPECT_EQ(read_bytes(path), "abcd");
  EXPECT_EQ(folder.names(), std::set<std::string>{"x"});
}

TEST(OutputFile, LeavesTheOldFileWhenNotFinished) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", "old");
  {
    OutputFile file(folder / "x");
    file.write(bytes_of("new"));
  }
  EXPECT_EQ(read_bytes(folder / "x"), "old");
  EXPECT_EQ(folder.names(), std::set<std::string>{"x"});
}

TEST(OutputFile, LeavesTheOldFileWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", "old");
  const std::string text(200'000, '.');
  {
    const FileSizeLimit limit(100'000);
    expect_error(ErrorKind::io,
                 {"can't write '", "/x'", "File too large", "100000 bytes", "older file is kept"},
                 [&] { write_whole(folder / "x", text); });
  }
  EXPECT_EQ(read_bytes(folder / "x"), "old");
  EXPECT_EQ(folder.names(), std::set<std::string>{"x"});
}

TEST(OutputFile, TwoWritersEachWriteAWholeFile) {
  const TemporaryFolder folder;
  OutputFile first(folder / "x");
  OutputFile second(folder / "x");
  first.write(bytes_of("first"));
  second.write(bytes_of("2"));
  second.finish();
  EXPECT_EQ(read_bytes(folder / "x"), "2");
  first.finish();
  EXPECT_EQ(read_bytes(folder / "x"), "first");
}

// As after a killed process whose number comes again.
TEST(OutputFile, PassesOverTemporariesOfOthers) {
  const TemporaryFolder folder;
  constexpr int taken = 300;  // more than this process has used
  const auto name = [](int number) {
    return ".vranks-" + std::to_string(::getpid()) + "-" + std::to_string(number) + ".tmp";
  };
  for (int number = 0; number < taken; ++number) write_bytes(folder / name(number), "old");
  write_whole(folder / "x", "new");
  EXPECT_EQ(read_bytes(folder / "x"), "new");
  for (int number = 0; number < taken; ++number)
    EXPECT_EQ(read_bytes(folder / name(number)), "old");
}

TEST(OutputFile, GivesANewFileTheUsualPermissions) {
  const TemporaryFolder folder;
  const ::mode_t before = ::umask(027);
  write_whole(folder / "x", "");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "x"), 0640u);
}

TEST(OutputFile, KeepsThePermissionsOfAnOldFile) {
  const TemporaryFolder folder;
  for (const ::mode_t mode : {0600u, 0666u, 0755u}) {
    write_bytes(folder / "x", "old");
    ASSERT_EQ(::chmod((folder / "x").c_str(), mode), 0);
    write_whole(folder / "x", "new");
    EXPECT_EQ(mode_of(folder / "x"), mode);
    EXPECT_EQ(read_bytes(folder / "x"), "new");
  }
}

TEST(OutputFile, ReplacesWhatALinkPointsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "deep");
  write_bytes(folder / "deep/target", "old");
  std::filesystem::create_symlink("deep/target", folder / "link");
  std::filesystem::create_symlink("link", folder / "link to link");
  write_whole(folder / "link to link", "new");
  EXPECT_EQ(read_bytes(folder / "deep/target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link to link"));
}

TEST(OutputFile, CreatesWhatALinkPointsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("target", folder / "link");
  write_whole(folder / "link", "new");
  EXPECT_EQ(read_bytes(folder / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(OutputFile, RefusesLinksInACircle) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  expect_error(ErrorKind::io, {"/a'", "symbolic links"}, [&] { OutputFile file(folder / "a"); });
}

TEST(OutputFile, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto refuse = [](const std::string& path, const char* phrase) {
    expect_error(ErrorKind::io, {"can't write '", path.c_str(), phrase},
                 [&] { check_writable_target(path); });
  };
  refuse("/dev/null", "it is a device");
  refuse(folder / "", "it is a folder");
  refuse(folder / ".", "it is a folder");
  refuse(folder / "pipe", "it is a pipe");
  expect_error(ErrorKind::io, {"name is empty"}, [] { check_writable_target(""); });
  EXPECT_EQ(folder.names(), std::set<std::string>{"pipe"});
}

TEST(OutputFile, RefusesAFolderThatIsMissing) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::io, {"missing/x'", "No such file or directory"},
               [&] { check_writable_target(folder / "missing/x"); });
  expect_error(ErrorKind::io, {"missing/'", "folder"},
               [&] { check_writable_target(folder / "missing/"); });
  write_bytes(folder / "file", "");
  expect_error(ErrorKind::io, {"file/x'", "Not a directory"},
               [&] { check_writable_target(folder / "file/x"); });
}

TEST(OutputFile, RefusesWhatIsNotWritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  const TemporaryFolder folder;
  write_bytes(folder / "x", "old");
  ASSERT_EQ(::chmod((folder / "x").c_str(), 0444), 0);
  expect_error(ErrorKind::io, {"can't replace '", "/x'", "Permission denied"},
               [&] { check_writable_target(folder / "x"); });
  std::filesystem::create_directory(folder / "closed");
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0555), 0);
  expect_error(ErrorKind::io, {"closed/x'", "Permission denied"},
               [&] { check_writable_target(folder / "closed/x"); });
}

TEST(OutputFile, TakesTheLongestName) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_whole(folder / name, "new");
  EXPECT_EQ(folder.names(), std::set<std::string>{name});
  expect_error(ErrorKind::io, {"File name too long"},
               [&] { check_writable_target(folder / (name + "n")); });
}

TEST(CheckWritableTarget, LeavesNothingBehind) {
  const TemporaryFolder folder;
  check_writable_target(folder / "new");
  EXPECT_TRUE(folder.names().empty());
  write_bytes(folder / "old", "old");
  check_writable_target(folder / "old");
  EXPECT_EQ(folder.names(), std::set<std::string>{"old"});
  EXPECT_EQ(read_bytes(folder / "old"), "old");
}

}  // namespace
}  // namespace vranks
