// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/peer_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/progress.hpp"
#include "cli/rank_share.hpp"
#include "collectives/peers/order_data.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

Shape with_ranks(Shape shape, std::int64_t ranks) {
  shape[0] = ranks;
  return shape;
}

// make(tensor of the share's shape, first rank) fills a block.
template <class Make>
PeerData made_data(const Job& job, DType dtype, const Shape& shape, Make&& make) {
  PeerData data;
  data.shape = shape;
  job.together([&] {
    const RankRange share = share_of(shape[0], job.processes(), job.process());
    data.block = Tensor(dtype, with_ranks(shape, share.count));
    make(data.block.view(), share.first);
    if (!job.is_first()) return;
    data.whole = Tensor(dtype, shape);
    make(data.whole.view(), 0);
  });
  return data;
}

}  // namespace

PeerData random_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed) {
  return made_data(job, dtype, shape, [&](const TensorView& tensor, std::int64_t first) {
    fill_random(tensor, seed, first);
  });
}

PeerData whole_number_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                           ReduceOp op) {
  PeerData data = made_data(job, dtype, shape, [&](const TensorView& tensor, std::int64_t first) {
    fill_whole_numbers(tensor, seed, shape[0], op, first);
  });
  data.is_exact = true;
  return data;
}

PeerData order_data(const Job& job, DType dtype, const Shape& shape, std::uint64_t seed,
                    ReduceOp op, bool is_special) {
  PeerData data;
  data.shape = shape;
  job.together([&] {
    const RankRange share = share_of(shape[0], job.processes(), job.process());
    data.block = Tensor(dtype, with_ranks(shape, share.count));
    data.whole = Tensor(dtype, shape);
    is_special ? fill_special_data(data.whole.view(), seed, op)
               : fill_order_data(data.whole.view(), seed, op);
    const std::int64_t row = data.whole.bytes() / shape[0];
    std::copy_n(data.whole.data() + share.first * row, data.block.bytes(), data.block.data());
    if (!job.is_first()) data.whole = {};
  });
  return data;
}

PeerData load_data(const Job& job, const std::string& path, std::optional<DType> dtype) {
  NpyHeader header;
  job.together([&] {
    header = read_npy_header(path);
    if (header.opaque_bytes > 0)
      throw Error(ErrorKind::not_supported,
                  fmt::format("'{}' holds elements of {} bytes, which no op combines", path,
                              header.opaque_bytes));
  });
  // Each process opens the path on its own machine and in its own folder.
  job.agree("headers in " + path, {std::string(name(header.dtype)), to_string(header.shape)});

  PeerData data;
  data.shape = header.shape;
  job.together([&] {
    const RankRange share = share_of(header.shape[0], job.processes(), job.process());
    data.block = load_npy(path, dtype, share);
    if (!job.is_first()) return;
    ProgressLine progress("reading " + path);
    data.whole = load_npy(path, dtype, {},
                          [&](std::int64_t done, std::int64_t total) { progress(done, total); });
  });
  return data;
}

}  // namespace vranks::cli
