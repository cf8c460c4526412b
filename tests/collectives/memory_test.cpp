// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Where inputs and outputs may lie: strided, transposed, reversed and interleaved slices, odd
// offsets, buffers of each rank's own, lists of tensors in one call.
#include <gtest/gtest.h>

#include "tests/collectives/memory_places.hpp"
#include "tests/collectives/trial.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

class Memory : public MemoryPlaces {};
VR_ON_EVERY_DEVICE(Memory);

TEST_P(Memory, SlicesLieAnyhow) {
  const auto repeats = [](const Lie& lie) {
    return lie.repeated[0] || lie.repeated[1] || lie.repeated[2];
  };
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::c64, DType::c128})
    for (const Example& example : examples(dtype))
      for (const Lie& lie : lies) {
        check(example, dtype, lie, lies[0]);
        if (repeats(lie)) continue;
        check(example, dtype, lies[0], lie);
        check(example, dtype, lie, lie);
        check(example, dtype, lies[4], lie);
      }
}

TEST_P(Memory, OutputsMustNotRepeat) {
  for (const Example& example : examples(DType::f32))
    for (const Lie& lie : lies) {
      if (!lie.repeated[1]) continue;
      const Shape shape = output_shape(example.collective, example.shape, example.options);
      const Placed source(lies[0], example.shape, DType::f32), target(lie, shape, DType::f32);
      const DeviceBuffer in(source.bytes(), GetParam()), out(target.bytes(), GetParam());
      expect_error(ErrorKind::bad_argument, {"output", "overlap"}, [&] {
        run(example.collective, source.in(in, GetParam()), target.in(out, GetParam()),
            example.options);
      });
    }
}

// In place on strided memory: the very same view. (The table test has _v forms in place.)
TEST_P(Memory, StridedInPlace) {
  for (const Example& example : examples(DType::f32)) {
    const Shape out_shape = output_shape(example.collective, example.shape, example.options);
    if (out_shape != example.shape || takes_counts(example.collective)) continue;
    for (const Lie& lie : lies) {
      if (lie.repeated[0] || lie.repeated[1]) continue;
      SCOPED_TRACE(fmt::format("{}, {}", name(example.collective), lie.name));
      const Placed place(lie, example.shape, DType::f32);
      Bytes before(place.bytes(), std::byte{0xa5});
      const Bytes x = random_bytes(example, DType::f32);
      place.scatter(x, before);
      const DeviceBuffer memory(before.size(), GetParam());
      memory.copy_from_host(before.data(), before.size());
      const TensorView view = place.in(memory, GetParam());
      run(example.collective, view, view, example.options);
      Bytes after(before.size()), right = before;
      memory.copy_to_host(after.data(), after.size());
      place.scatter(plain_result(example, DType::f32, x), right);
      EXPECT_TRUE(after == right);
    }
  }
}

// A buffer a rank, in any order, give the bits of one tensor of all.
TEST_P(Memory, BuffersOfEachRank) {
  for (const Example& example : examples(DType::bf16)) {
    SCOPED_TRACE(name(example.collective));
    const Bytes x = random_bytes(example, DType::bf16);
    const Bytes right = plain_result(example, DType::bf16, x);
    const Shape out_shape = output_shape(example.collective, example.shape, example.options);
    const bool at_root = ends_at_root(example.collective);
    const auto slices = [&](const Shape& shape, bool is_one) {
      std::vector<DeviceBuffer> buffers;
      const Shape slice(shape.begin() + (is_one ? 0 : 1), shape.end());
      const auto bytes = static_cast<std::size_t>(element_count(slice)) * 2;
      for (std::int64_t r = 0; r < (is_one ? 1 : shape[0]); ++r)
        buffers.emplace_back(bytes, GetParam());
      std::vector<TensorView> views;
      // The last buffer is rank 0's.
      for (std::size_t r = buffers.size(); r-- > 0;)
        views.push_back({buffers[r].data(), DType::bf16, slice, {}, GetParam()});
      return std::pair(std::move(buffers), views);
    };
    const auto [in_buffers, in] = slices(example.shape, false);
    const auto [out_buffers, out] = slices(out_shape, at_root);
    const std::size_t in_bytes = x.size() / in.size(), out_bytes = right.size() / out.size();
    for (std::size_t r = 0; r < in.size(); ++r)
      in_buffers[in.size() - 1 - r].copy_from_host(x.data() + r * in_bytes, in_bytes);
    for (const bool steps : {false, true}) {
      Bytes found(right.size(), std::byte{0xa5});
      for (const DeviceBuffer& buffer : out_buffers) buffer.copy_from_host(found.data(), out_bytes);
      steps ? run_steps(example.collective, in, out, example.options)
            : run(example.collective, in, out, example.options);
      for (std::size_t r = 0; r < out.size(); ++r)
        out_buffers[out.size() - 1 - r].copy_to_host(found.data() + r * out_bytes, out_bytes);
      EXPECT_TRUE(found == right);
    }
  }
}

// Many tensors in one call give the bits of separate calls.
TEST_P(Memory, BucketsGiveTheBitsOfSeparateCalls) {
  const std::vector<Shape> shapes{{3, 5}, {3, 0}, {3, 7, 2}, {3, 1}, {3, 1000}, {3}};
  const CollectiveOptions options{.op = ReduceOp::mean, .algorithm = "ring"};
  std::vector<DeviceBuffer> buffers;
  std::vector<TensorView> in, out;
  std::vector<Bytes> right;
  for (const Shape& shape : shapes) {
    const Tensor numbers(DType::f16, shape);
    if (numbers.bytes() > 0) fill_random(numbers.view(), 3);
    const auto bytes = static_cast<std::size_t>(numbers.bytes());
    for (int k = 0; k < 2; ++k) {
      buffers.emplace_back(bytes, GetParam());
      buffers.back().copy_from_host(numbers.data(), bytes);
      (k == 0 ? in : out).push_back({buffers.back().data(), DType::f16, shape, {}, GetParam()});
    }
    all_reduce(in.back(), out.back(), options);
    buffers.back().copy_to_host(right.emplace_back(bytes).data(), bytes);
    buffers.back().copy_from_host(numbers.data(), bytes);
  }
  const auto provenance = run_coalesced(Collective::all_reduce, in, out, options);
  ASSERT_EQ(provenance.size(), shapes.size());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    Bytes found(right[k].size());
    buffers[2 * k + 1].copy_to_host(found.data(), found.size());
    EXPECT_TRUE(found == right[k]) << k;
    EXPECT_EQ(provenance[k].algorithm, "ring");
  }
  // In place as well.
  run_coalesced(Collective::all_reduce, in, in, options);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    Bytes found(right[k].size());
    buffers[2 * k].copy_to_host(found.data(), found.size());
    EXPECT_TRUE(found == right[k]) << k;
  }
}

TEST_P(Memory, BucketsAreCheckedBeforeAnyIsWritten) {
  const DeviceBuffer memory(64, GetParam());
  const Bytes zeros(64);
  memory.copy_from_host(zeros.data(), 64);
  const TensorView good{memory.data(), DType::f32, {2, 4}, {}, GetParam()};
  const TensorView short_one{
      static_cast<float*>(memory.data()) + 8, DType::f32, {2, 3}, {}, GetParam()};
  const std::vector<TensorView> in{good, good}, out{good, short_one};
  expect_error(ErrorKind::bad_argument, {"tensor 1", "must have (4,)"},
               [&] { run_coalesced(Collective::all_reduce, in, out, {.op = ReduceOp::sum}); });
  expect_error(ErrorKind::bad_argument, {"2 inputs but 1 outputs"},
               [&] { run_coalesced(Collective::all_reduce, in, std::span(out).first(1), {}); });
}

}  // namespace
}  // namespace vranks
