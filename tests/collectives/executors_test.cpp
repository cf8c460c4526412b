// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every registered algorithm on real data: the fused and the step-by-step executor give the same
// bits, all ranks hold them, in place too, and data for which every order is exact gives the exact
// result.
#include <gtest/gtest.h>

#include <cstring>

#include "collectives/algorithm.hpp"
#include "on_device.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"
#include "variants.hpp"

namespace vranks {
namespace {

// One call, on memory of a device.
struct Trial {
  Collective collective;
  Shape in_shape;
  CollectiveOptions options;
  Device device;
  std::string message = {};  // set by bytes() if the call was refused

  // The output's bytes; filled with 0xa5 before, so that a missing write shows.
  std::vector<std::byte> bytes(const Tensor& in, bool steps) {
    Tensor out(in.dtype(), output_shape(collective, in_shape));
    if (out.bytes() != 0) std::memset(out.data(), 0xa5, static_cast<std::size_t>(out.bytes()));
    const DeviceBuffer device_in(static_cast<std::size_t>(in.bytes()), device);
    const DeviceBuffer device_out(static_cast<std::size_t>(out.bytes()), device);
    device_in.copy_from_host(in.data(), static_cast<std::size_t>(in.bytes()));
    device_out.copy_from_host(out.data(), static_cast<std::size_t>(out.bytes()));
    const TensorView from{device_in.data(), in.dtype(), in.shape(), {}, device};
    const TensorView to{device_out.data(), in.dtype(), out.shape(), {}, device};
    try {
      steps ? run_steps(collective, from, to, options) : run(collective, from, to, options);
    } catch (const Error& error) {
      message = error.what();
      return {};
    }
    std::vector<std::byte> result(static_cast<std::size_t>(out.bytes()));
    device_out.copy_to_host(result.data(), result.size());
    return result;
  }

  // The same in place: all_reduce over its input, reduce into the root's slice, reduce_scatter and
  // all_gather with block r in slice r, as NCCL does it.
  std::vector<std::byte> bytes_in_place(const Tensor& in) {
    const Shape out_shape = output_shape(collective, in_shape);
    const std::int64_t ranks = in_shape[0], n = in_shape[1];
    const bool gathers = collective == Collective::all_gather;
    const auto width = static_cast<std::int64_t>(size_bytes(in.dtype()));
    const std::int64_t row = gathers ? ranks * n : n;  // of the memory that both share
    std::vector<std::byte> host(static_cast<std::size_t>(ranks * row * width));
    for (std::int64_t r = 0; n != 0 && r < ranks; ++r)
      std::memcpy(host.data() + (r * row + (gathers ? r * n : 0)) * width,
                  in.data() + r * n * width, static_cast<std::size_t>(n * width));
    const DeviceBuffer memory(host.size(), device);
    memory.copy_from_host(host.data(), host.size());
    auto* const data = static_cast<std::byte*>(memory.data());
    TensorView from{data, in.dtype(), in_shape, {row + (gathers ? n : 0), 1}, device};
    TensorView to{data, in.dtype(), out_shape, {}, device};
    std::int64_t out_row = n, first = 0;
    if (collective == Collective::reduce) {
      first = options.root * row;
      to.data = data + first * width;
    } else if (collective == Collective::reduce_scatter) {
      out_row = n / ranks;
      to.strides = {row + out_row, 1};
    } else if (gathers) {
      out_row = ranks * n;
    }
    run(collective, from, to, options);
    memory.copy_to_host(host.data(), host.size());
    std::vector<std::byte> result;
    const std::int64_t rows = collective == Collective::reduce ? 1 : ranks;
    const std::int64_t stride = to.strides.empty() ? out_row : to.strides[0];
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* at = host.data() + (first + r * stride) * width;
      result.insert(result.end(), at, at + out_row * width);
    }
    return result;
  }
};

struct Kind {
  DType dtype;
  ReduceOp op;
};

class Executors : public OnDevice {
 protected:
  // Every algorithm that has `collective`, over R ranks with n elements.
  void check(std::int64_t ranks, std::int64_t n, Kind kind) {
    Tensor in(kind.dtype, {ranks, n});
    fill_random(in.view(), static_cast<std::uint64_t>(ranks * 1000 + n));
    Tensor whole(kind.dtype, {ranks, n});
    fill_whole_numbers(whole.view(), 7, ranks, kind.op);
    for (const CollectiveInfo& info : collectives()) {
      const Collective collective = info.collective;
      if (collective == Collective::reduce_scatter && n % ranks != 0) continue;
      if (!reduces(collective) && kind.op != ReduceOp::sum) continue;
      for (const std::int64_t root : {std::int64_t{0}, ranks - 1}) {
        if (root != 0 && collective != Collective::reduce) continue;
        // `direct` is checked against exact results elsewhere.
        Trial direct{collective, in.shape(), {.op = kind.op, .root = root}, GetParam()};
        const auto expected = direct.bytes(whole, false);
        for (const Algorithm& algorithm : algorithms()) {
          if (!has_word(algorithm.collectives, info.name)) continue;
          for (const Parameters& parameters : variants(algorithm, ranks)) {
            SCOPED_TRACE(testing::Message()
                         << info.name << " " << algorithm.name << " " << to_string(parameters)
                         << " " << name(kind.op) << " of " << name(kind.dtype) << " R=" << ranks
                         << " n=" << n << " root=" << root);
            CollectiveOptions options{
                .op = kind.op, .algorithm = algorithm.name, .parameters = parameters, .root = root};
            check_one({collective, in.shape(), options, GetParam()}, in, whole, expected);
          }
        }
      }
    }
  }

  void check_one(Trial run, const Tensor& in, const Tensor& whole,
                 const std::vector<std::byte>& expected) {
    const auto fused = run.bytes(in, false);
    if (!run.message.empty()) {
      // Refused: the message says for which R, or which op the library lacks.
      const bool lacks_op = run.message.find(name(run.options.op)) != std::string::npos;
      EXPECT_TRUE(lacks_op || run.message.find(std::to_string(in.shape()[0])) != std::string::npos)
          << run.message;
      ++refused_;
      return;
    }
    const auto stepped = run.bytes(in, true);
    EXPECT_EQ(run.message, "");
    EXPECT_TRUE(fused == stepped);
    EXPECT_TRUE(run.bytes_in_place(in) == fused);
    // Scaling first rounds even whole numbers.
    CollectiveOptions& options = run.options;
    if (options.op == ReduceOp::mean && is_floating(in.dtype())) options.mean = MeanMode::divide;
    EXPECT_TRUE(run.bytes(whole, false) == expected);
    EXPECT_EQ(run.message, "");
    ++compared_;
    if (run.collective != Collective::all_reduce) return;
    const std::size_t row = fused.size() / static_cast<std::size_t>(in.shape()[0]);
    for (std::size_t r = 1; row != 0 && r < static_cast<std::size_t>(in.shape()[0]); ++r)
      EXPECT_EQ(std::memcmp(fused.data(), fused.data() + r * row, row), 0) << "rank " << r;
  }

  int compared_ = 0, refused_ = 0;
};

TEST_P(Executors, AgreeForEveryAlgorithm) {
  for (const std::int64_t ranks :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 64})
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, ranks - 1, ranks, ranks + 1,
                                 3 * ranks, std::int64_t{1000}})
      check(ranks, n, {DType::f32, ReduceOp::sum});
  EXPECT_GT(compared_, 1000);
}

TEST_P(Executors, AgreeForOtherDTypesAndOps) {
  for (const Kind kind : {Kind{DType::bf16, ReduceOp::mean}, Kind{DType::f16, ReduceOp::mean},
                          Kind{DType::f64, ReduceOp::mean}, Kind{DType::f32, ReduceOp::mean},
                          Kind{DType::i32, ReduceOp::mean}, Kind{DType::bf16, ReduceOp::max},
                          Kind{DType::f32, ReduceOp::prod}, Kind{DType::u8, ReduceOp::sum}})
    for (const std::int64_t ranks : {1, 2, 3, 5, 8, 13})
      for (const std::int64_t n : {ranks - 1, 8 * ranks}) check(ranks, n, kind);
  EXPECT_GT(compared_, 1000);
}

VR_ON_EVERY_DEVICE(Executors);

}  // namespace
}  // namespace vranks
