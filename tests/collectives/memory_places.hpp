// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways in which a tensor may lie in memory, a call of every collective to try them on, and what
// that call gives on contiguous memory.
#pragma once

#include <fmt/format.h>

#include <array>

#include "ranks/random.hpp"
#include "ranks/tensor.hpp"
#include "tests/collectives/on_device.hpp"

namespace vranks {

using Bytes = std::vector<std::byte>;

// How a tensor (R, d0, d1) lies in memory.
struct Lie {
  const char* name;
  std::array<std::size_t, 3> order = {0, 1, 2};  // of the dimensions, the outermost first
  std::array<bool, 3> reversed = {};             // dimensions that run downward
  std::int64_t step = 1;                         // between neighbours of the innermost
  std::int64_t gap = 0;                          // elements behind each row of each dimension
  std::int64_t offset = 0;                       // of all, in elements
  std::array<bool, 3> repeated = {};             // dimensions of stride 0
};

inline constexpr Lie lies[] = {
    {.name = "contiguous"},
    {.name = "at an odd offset", .offset = 1},
    {.name = "padded", .gap = 3, .offset = 3},
    {.name = "every second element", .step = 2},
    {.name = "transposed", .order = {0, 2, 1}},
    {.name = "interleaved ranks", .order = {1, 2, 0}},
    {.name = "ranks between the dimensions", .order = {1, 0, 2}, .gap = 1},
    {.name = "rows upside down", .reversed = {false, true, false}},
    {.name = "elements backward", .reversed = {false, false, true}},
    {.name = "ranks backward", .reversed = {true, false, false}},
    {.name = "all backward, spread", .reversed = {true, true, true}, .step = 3, .offset = 1},
    {.name = "ranks share memory", .repeated = {true, false, false}},
    {.name = "one row for all", .repeated = {false, true, false}},
    {.name = "one element", .repeated = {true, true, true}},
};

// A tensor in a block of bytes on the CPU.
struct Placed {
  TensorView view;  // of no memory yet
  std::int64_t first = 0, elements = 0;

  Placed(const Lie& lie, const Shape& given, DType dtype) {
    // Slices of fewer dimensions lie as if the last ones were 1; the root's result has no ranks.
    Shape shape = given;
    Strides strides(3, 0);
    while (shape.size() < 3) shape.push_back(1);
    std::int64_t stride = lie.step;
    first = lie.offset + 64;
    for (std::size_t k = 3; k-- > 0;) {
      const std::size_t dimension = lie.order[k];
      if (lie.repeated[dimension]) continue;
      strides[dimension] = lie.reversed[dimension] ? -stride : stride;
      if (lie.reversed[dimension]) first += (shape[dimension] - 1) * stride;
      stride = stride * shape[dimension] + lie.gap;
    }
    elements = first + stride + 128;
    strides.resize(given.size());
    view = {nullptr, dtype, given, strides, {}};
  }
  std::size_t bytes() const { return static_cast<std::size_t>(elements) * size_bytes(view.dtype); }

  // The place of the i-th element, in order.
  std::size_t at(std::int64_t i) const {
    std::int64_t place = first;
    for (std::size_t d = view.shape.size(); d-- > 0; i /= view.shape[d])
      place += i % view.shape[d] * view.strides[d];
    return static_cast<std::size_t>(place) * size_bytes(view.dtype);
  }
  Bytes gathered(const Bytes& block) const {
    Bytes all;
    for (std::int64_t i = 0; i < element_count(view.shape); ++i)
      all.insert(all.end(), block.begin() + static_cast<std::ptrdiff_t>(at(i)),
                 block.begin() + static_cast<std::ptrdiff_t>(at(i) + size_bytes(view.dtype)));
    return all;
  }
  void scatter(const Bytes& all, Bytes& block) const {
    const std::size_t width = size_bytes(view.dtype);
    for (std::int64_t i = 0; i < element_count(view.shape); ++i)
      std::memcpy(block.data() + at(i), all.data() + static_cast<std::size_t>(i) * width, width);
  }
  TensorView in(const DeviceBuffer& buffer, Device device) const {
    TensorView there = view;
    there.data = static_cast<std::byte*>(buffer.data()) +
                 first * static_cast<std::int64_t>(size_bytes(view.dtype));
    there.device = device;
    return there;
  }
};

// A call that each collective can make.
struct Example {
  Collective collective;
  Shape shape = {3, 6, 2};
  CollectiveOptions options = {};
};

inline std::vector<Example> examples(DType dtype) {
  std::vector<Example> all;
  for (const CollectiveInfo& info : collectives()) {
    if (info.collective == Collective::barrier) continue;
    Example example{info.collective};
    if (info.collective == Collective::all_gather) example.shape = {3, 6};
    CollectiveOptions& o = example.options;
    o.op = is_complex(dtype) ? ReduceOp::sum : ReduceOp::max;
    if (has_root(info.collective)) o.root = 1;
    if (info.collective == Collective::permute) o.permutation = {{0, 2}, {2, 1}};
    if (takes_counts(info.collective)) o.counts = {1, 0, 5};
    if (even_form(info.collective) == Collective::all_to_all && !o.counts.empty()) {
      o.counts = {1, 0, 5, 3, 2, 1, 0, 0, 0};
      o.ragged = true;
    }
    all.push_back(example);
  }
  return all;
}

class MemoryPlaces : public OnDevice {
 protected:
  Bytes random_bytes(const Example& example, DType dtype) const {
    const Tensor numbers(dtype, example.shape);
    fill_random(numbers.view(), 5);
    return {numbers.data(), numbers.data() + numbers.bytes()};
  }
  // The output's elements, from a call on contiguous memory, which the table test checks. Where
  // nothing is written, 0xa5.
  Bytes plain_result(const Example& example, DType dtype, const Bytes& x) const {
    const Shape out_shape = output_shape(example.collective, example.shape, example.options);
    Bytes y(static_cast<std::size_t>(element_count(out_shape)) * size_bytes(dtype),
            std::byte{0xa5});
    const DeviceBuffer in(x.size(), GetParam()), out(y.size(), GetParam());
    in.copy_from_host(x.data(), x.size());
    out.copy_from_host(y.data(), y.size());
    run(example.collective, {in.data(), dtype, example.shape, {}, GetParam()},
        {out.data(), dtype, out_shape, {}, GetParam()}, example.options);
    out.copy_to_host(y.data(), y.size());
    return y;
  }

  void check(const Example& example, DType dtype, const Lie& from, const Lie& to) const {
    SCOPED_TRACE(fmt::format("{} of {}, from {} to {}", name(example.collective), name(dtype),
                             from.name, to.name));
    const Shape out_shape = output_shape(example.collective, example.shape, example.options);
    const Placed source(from, example.shape, dtype), target(to, out_shape, dtype);
    Bytes in_block(source.bytes(), std::byte{0x5a});
    Bytes before(target.bytes(), std::byte{0xa5});
    source.scatter(random_bytes(example, dtype), in_block);
    const DeviceBuffer in(in_block.size(), GetParam()), out(before.size(), GetParam());
    for (const bool steps : {false, true}) {
      in.copy_from_host(in_block.data(), in_block.size());
      out.copy_from_host(before.data(), before.size());
      const TensorView x = source.in(in, GetParam()), y = target.in(out, GetParam());
      steps ? run_steps(example.collective, x, y, example.options)
            : run(example.collective, x, y, example.options);
      // What the view shows, from contiguous memory.
      Bytes right = before;
      target.scatter(plain_result(example, dtype, source.gathered(in_block)), right);
      Bytes after(before.size()), unread(in_block.size());
      out.copy_to_host(after.data(), after.size());
      in.copy_to_host(unread.data(), unread.size());
      EXPECT_TRUE(after == right) << (steps ? "steps" : "fused");
      EXPECT_TRUE(unread == in_block) << "the input was written";
    }
  }
};

}  // namespace vranks
