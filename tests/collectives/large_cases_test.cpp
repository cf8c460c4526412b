// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// IDX-1 of cases.md: more than 2^32 elements in one call. It takes 9 GB of device memory and runs
// by VRANKS_LARGE_TESTS=1 ctest -L large; a call of the same form with 2^24 elements always runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "on_device.hpp"

namespace vranks {
namespace {

class LargeCases : public OnDevice {
 protected:
  // x of shape (65537, columns): zeros, but for a 1 at the very end. Every row of the maximum has
  // that 1 in its last column; of the running sum the last row alone.
  void check(std::int64_t columns) const {
    constexpr std::int64_t ranks = 65537;
    const auto bytes = static_cast<std::size_t>(ranks * columns);
    const DeviceBuffer in(bytes, GetParam()), out(bytes, GetParam());
    const auto row_bytes = static_cast<std::size_t>(columns);
    std::vector<std::uint8_t> rows(16 * row_bytes);
    const auto at = [&](const DeviceBuffer& buffer, std::int64_t r) {
      return static_cast<std::byte*>(buffer.data()) + r * columns;
    };
    const Backend& backend = backend_for(GetParam());
    for (std::int64_t r = 0; r < ranks; r += 16) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(16, ranks - r));
      std::ranges::fill(rows, 0);
      if (r + 16 >= ranks) rows[count * row_bytes - 1] = 1;
      backend.copy_from_host(at(in, r), rows.data(), count * row_bytes, GetParam().index);
      std::ranges::fill(rows, 0xa5);
      backend.copy_from_host(at(out, r), rows.data(), count * row_bytes, GetParam().index);
    }
    const TensorView x{in.data(), DType::u8, {ranks, columns}, {}, GetParam()};
    const TensorView y{out.data(), DType::u8, {ranks, columns}, {}, GetParam()};
    const auto expect = [&](const DeviceBuffer& buffer, const auto& last_of_row) {
      for (std::int64_t r = 0; r < ranks; r += 16) {
        const std::int64_t count = std::min<std::int64_t>(16, ranks - r);
        backend.copy_to_host(rows.data(), at(buffer, r),
                             static_cast<std::size_t>(count) * row_bytes, GetParam().index);
        for (std::int64_t k = 0; k < count; ++k) {
          const auto row = rows.begin() + k * columns;
          ASSERT_TRUE(std::all_of(row, row + columns - 1, [](int v) { return v == 0; })) << r + k;
          ASSERT_EQ(row[columns - 1], last_of_row(r + k)) << "row " << r + k;
        }
      }
    };
    scan(x, y, {.op = ReduceOp::sum});
    expect(out, [](std::int64_t r) { return r == ranks - 1 ? 1 : 0; });
    all_reduce(x, y, {.op = ReduceOp::max});
    expect(out, [](std::int64_t) { return 1; });
    all_reduce(x, x, {.op = ReduceOp::max});
    expect(in, [](std::int64_t) { return 1; });
  }
};
VR_ON_EVERY_DEVICE(LargeCases);

TEST_P(LargeCases, IDX_1_ScaledDown) { check(256); }

TEST_P(LargeCases, DISABLED_IDX_1_MoreThan32BitsOfElements) {
  if (std::getenv("VRANKS_LARGE_TESTS") == nullptr)
    GTEST_SKIP() << "needs 9 GB of device memory; set VRANKS_LARGE_TESTS to run it";
  check(65536);
}

}  // namespace
}  // namespace vranks
