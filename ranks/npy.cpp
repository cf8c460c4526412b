// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// Large enough for full speed, small enough for progress several times a second.
constexpr std::int64_t piece_bytes = std::int64_t{16} << 20;

class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) fail(errno);
    struct ::stat status = {};
    const bool known = ::fstat(descriptor_, &status) == 0;
    const int error = errno;
    if (known && S_ISREG(status.st_mode)) {
      bytes_ = status.st_size;
      return;
    }
    ::close(descriptor_);
    if (!known) fail(error);
    throw Error(ErrorKind::bad_input,
                fmt::format("'{}' can't be read: it is {}, not a regular file", path,
                            S_ISDIR(status.st_mode)    ? "a folder"
                            : S_ISFIFO(status.st_mode) ? "a pipe"
                                                       : "a device"));
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::int64_t bytes() const { return bytes_; }

  // Fills `into` with the bytes from `offset` on.
  void read(std::int64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
      const ::ssize_t count = ::pread(descriptor_, into.data(), into.size(), offset);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(errno);
      if (count == 0)
        throw Error(ErrorKind::bad_input,
                    fmt::format("'{}' shrank from {} to {} bytes while it was read", path_, bytes_,
                                offset));
      offset += count;
      into = into.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw Error(ErrorKind::io, fmt::format("'{}' can't be read: {}", path_,
                                           std::generic_category().message(error)));
  }

  const std::string& path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

NpyHeader read_header(const InputFile& file, const std::string& path) {
  std::array<std::byte, npy_prefix_bytes> prefix;
  const auto start =
      std::span(prefix).first(static_cast<std::size_t>(std::min(npy_prefix_bytes, file.bytes())));
  file.read(0, start);
  std::vector<std::byte> header(
      static_cast<std::size_t>(npy_header_end(start, file.bytes(), path)));
  file.read(0, header);
  return parse_npy_header(header, file.bytes(), path);
}

// What the elements are, if the caller may and does know better than the file.
DType choose_dtype(const NpyHeader& header, std::optional<DType> wanted, const std::string& path) {
  const DType in_file = header.dtype;
  if (!wanted || *wanted == in_file) return in_file;
  if (header.opaque_bytes > 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("'{}' holds elements of {} bytes ('|V{}'), not {} ('{}'); elements are "
                            "never converted",
                            path, header.opaque_bytes, header.opaque_bytes, name(*wanted),
                            info(*wanted).npy));
  // A row of the table whose spelling in files is the other's: its bits travel under that name.
  if (info(*wanted).npy == info(in_file).npy) return *wanted;
  throw Error(ErrorKind::bad_argument,
              fmt::format("'{}' holds {} ('{}'), not {} ('{}'); elements are never converted", path,
                          name(in_file), info(in_file).npy, name(*wanted), info(*wanted).npy));
}

void check_range(const RankRange& range, std::int64_t ranks, const std::string& path) {
  if (range.first < 0 || range.count < 0 || range.first > ranks ||
      range.count > ranks - range.first)
    throw Error(ErrorKind::bad_argument,
                fmt::format("'{}' holds {} ranks; {} ranks from rank {} on are outside of it", path,
                            ranks, range.count, range.first));
}

}  // namespace

NpyHeader read_npy_header(const std::string& path) { return read_header(InputFile(path), path); }

Tensor load_npy(const std::string& path, std::optional<DType> dtype, std::optional<RankRange> ranks,
                const Progress& progress) {
  const InputFile file(path);
  const NpyHeader header = read_header(file, path);
  const DType chosen = choose_dtype(header, dtype, path);
  const std::int64_t all_ranks = header.shape[0];
  const RankRange range = ranks.value_or(RankRange{0, all_ranks});
  check_range(range, all_ranks, path);

  const std::int64_t slice_bytes = all_ranks == 0 ? 0 : header.bytes() / all_ranks;
  Shape shape = header.shape;
  shape[0] = range.count;
  Tensor tensor(chosen, std::move(shape));

  const std::int64_t total = range.count * slice_bytes;
  const std::int64_t offset = header.data_offset + range.first * slice_bytes;
  std::int64_t done = 0;
  do {
    const std::int64_t bytes = std::min(piece_bytes, total - done);
    file.read(offset + done, {tensor.data() + done, static_cast<std::size_t>(bytes)});
    done += bytes;
    if (progress) progress(done, total);
  } while (done < total);
  return tensor;
}

void save_npy(const std::string& path, const TensorView& tensor, const Progress& progress,
              std::int64_t opaque_bytes) {
  if (tensor.device.kind != DeviceKind::cpu)
    throw Error(ErrorKind::bad_argument,
                fmt::format("'{}' can't be saved from {}; copy the tensor to the CPU first", path,
                            to_string(tensor.device)));
  const Rows row = single_row_of(tensor, "tensor to save");
  const std::string header = make_npy_header(tensor.dtype, tensor.shape, opaque_bytes);

  OutputFile file(path);
  file.write(std::as_bytes(std::span(header)));
  const std::int64_t total = row.row_bytes();
  std::int64_t done = 0;
  do {
    const std::int64_t bytes = std::min(piece_bytes, total - done);
    file.write({row.data + done, static_cast<std::size_t>(bytes)});
    done += bytes;
    if (progress) progress(done, total);
  } while (done < total);
  file.finish();
}

}  // namespace vranks
