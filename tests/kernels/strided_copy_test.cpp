// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies between strided tensors on every device against a plain loop: any number of dimensions and
// bytes an element, distances of any sign, sources whose elements repeat, and runs large enough for
// several threads. What lies between the elements of a target stays as it was.
#include "kernels/strided_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {
namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

// Strides of a tensor, and the bytes that it takes before and behind its first element.
struct Memory {
  std::vector<std::int64_t> strides;
  std::int64_t before = 0, behind = 0;

  // Dimensions nested in random order, some with gaps, some backwards; with `repeats` some don't
  // move at all.
  static Memory random(std::span<const std::int64_t> extents, std::int64_t element_bytes,
                       bool repeats, Random& random) {
    std::vector<std::size_t> order(extents.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
    if (below(random, 2) == 0) std::ranges::shuffle(order, random);
    Memory memory{.strides = std::vector<std::int64_t>(extents.size())};
    std::int64_t stride = element_bytes;
    for (const std::size_t d : order) {
      if (below(random, 3) == 0) stride += below(random, 20);
      memory.strides[d] = below(random, 4) == 0 ? -stride : stride;
      if (repeats && below(random, 4) == 0) memory.strides[d] = 0;
      stride *= extents[d];
    }
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const std::int64_t reach = std::max<std::int64_t>(extents[d] - 1, 0) * memory.strides[d];
      (reach < 0 ? memory.before : memory.behind) += std::abs(reach);
    }
    memory.before += below(random, 17);
    memory.behind += element_bytes + below(random, 17);
    return memory;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(before + behind); }
};

// Dimension `d` of the copy and all behind it, by plain recursion.
void copy_plainly(const StridedCopy& copy, const std::byte* from, std::byte* to,
                  std::size_t d = 0) {
  if (d == copy.extents.size()) {
    std::memcpy(to, from, static_cast<std::size_t>(copy.element_bytes));
    return;
  }
  for (std::int64_t i = 0; i < copy.extents[d]; ++i)
    copy_plainly(copy, from + i * copy.from_strides[d], to + i * copy.to_strides[d], d + 1);
}

class StridedCopyOnDevice : public OnEveryDevice {
 protected:
  void check(const std::vector<std::int64_t>& extents, std::int64_t element_bytes,
             Random& random) const {
    const Memory source = Memory::random(extents, element_bytes, true, random);
    const Memory target = Memory::random(extents, element_bytes, false, random);
    std::vector<std::byte> from(source.bytes()), right(target.bytes(), std::byte{0xa5});
    for (std::byte& byte : from) byte = static_cast<std::byte>(random());
    const DeviceBuffer device_from(from.size(), GetParam()), device_to(right.size(), GetParam());
    device_from.copy_from_host(from.data(), from.size());
    device_to.copy_from_host(right.data(), right.size());

    StridedCopy copy{.element_bytes = element_bytes,
                     .extents = extents,
                     .from_strides = source.strides,
                     .to_strides = target.strides};
    copy_plainly(copy, from.data() + source.before, right.data() + target.before);
    copy.from = static_cast<const std::byte*>(device_from.data()) + source.before;
    copy.to = static_cast<std::byte*>(device_to.data()) + target.before;
    backend_for(GetParam()).copy(copy, GetParam().index, nullptr);
    std::vector<std::byte> found(right.size());
    device_to.copy_to_host(found.data(), found.size());
    const auto [wrong, instead] = std::ranges::mismatch(found, right);
    ASSERT_EQ(wrong, found.end()) << "byte " << wrong - found.begin() << " of " << found.size()
                                  << " is " << static_cast<int>(*wrong) << " instead of "
                                  << static_cast<int>(*instead);
  }
};

TEST_P(StridedCopyOnDevice, AnyShape) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::int64_t> extents(static_cast<std::size_t>(below(random, 6)));
    for (std::int64_t& extent : extents)
      extent = below(random, 30) == 0 ? 0 : 1 + below(random, extents.size() > 3 ? 4 : 20);
    check(extents, 1 + below(random, 32), random);
    if (HasFatalFailure()) return;
  }
}

// Rows, columns and blocks of some hundred KiB, which are cut into tasks.
TEST_P(StridedCopyOnDevice, LargeRuns) {
  const std::vector<std::vector<std::int64_t>> shapes{{300001},   {700, 513},      {3, 70000},
                                                      {70000, 3}, {5, 7, 11, 900}, {1, 200000, 1}};
  std::uint64_t seed = 0;
  for (const std::vector<std::int64_t>& extents : shapes)
    for (const std::int64_t bytes : {1, 2, 4, 8, 12, 16})
      for (int repeat = 0; repeat < 4; ++repeat) {
        SCOPED_TRACE("seed " + std::to_string(++seed) + ", bytes " + std::to_string(bytes));
        Random random(seed);
        check(extents, bytes, random);
        if (HasFatalFailure()) return;
      }
}

// One run without gaps, longer than what one task copies, and no multiple of it.
TEST_P(StridedCopyOnDevice, OneRun) {
  constexpr std::int64_t elements = (5 << 20) + 3;
  std::vector<std::byte> from(3 * elements), found(from.size() + 2);
  Random random(1);
  for (std::byte& byte : from) byte = static_cast<std::byte>(random());
  const DeviceBuffer source(from.size(), GetParam()), target(found.size(), GetParam());
  source.copy_from_host(from.data(), from.size());
  target.copy_from_host(found.data(), found.size());
  backend_for(GetParam())
      .copy({.from = static_cast<const std::byte*>(source.data()),
             .to = static_cast<std::byte*>(target.data()) + 1,
             .element_bytes = 3,
             .extents = {elements},
             .from_strides = {3},
             .to_strides = {3}},
            GetParam().index, nullptr);
  target.copy_to_host(found.data(), found.size());
  EXPECT_EQ(found.front(), std::byte{0});
  EXPECT_EQ(found.back(), std::byte{0});
  EXPECT_TRUE(std::equal(from.begin(), from.end(), found.begin() + 1));
}

VR_ON_EVERY_DEVICE(StridedCopyOnDevice);

// --- the fewest dimensions -----------------------------------------------------------------------

TEST(CollapsedCopy, ContiguousTensorsAreOneElement) {
  const StridedCopy one = collapsed({.element_bytes = 4,
                                     .extents = {2, 3, 5},
                                     .from_strides = {60, 20, 4},
                                     .to_strides = {60, 20, 4}});
  EXPECT_EQ(one.element_bytes, 120);
  EXPECT_TRUE(one.extents.empty());
  EXPECT_EQ(one.elements(), 1);
}

TEST(CollapsedCopy, GapsStayDimensions) {
  const StridedCopy rows = collapsed({.element_bytes = 4,
                                      .extents = {2, 1, 3, 5},
                                      .from_strides = {90, 7, 30, 4},
                                      .to_strides = {60, 9, 20, 4}});
  EXPECT_EQ(rows.element_bytes, 20);
  EXPECT_EQ(rows.extents, std::vector<std::int64_t>{6});
  EXPECT_EQ(rows.from_strides, std::vector<std::int64_t>{30});
  EXPECT_EQ(rows.to_strides, std::vector<std::int64_t>{20});
}

// The last dimension is the one that is closest in the target, whatever order it came in.
TEST(CollapsedCopy, TransposesAreWrittenInOrder) {
  const StridedCopy transposed = collapsed(
      {.element_bytes = 2, .extents = {3, 4}, .from_strides = {8, 2}, .to_strides = {2, 6}});
  EXPECT_EQ(transposed.element_bytes, 2);
  EXPECT_EQ(transposed.extents, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(transposed.from_strides, (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(transposed.to_strides, (std::vector<std::int64_t>{6, 2}));
}

}  // namespace
}  // namespace vranks
