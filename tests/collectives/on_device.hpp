// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a public call on the data of a std::vector, on any device, and brings the output back.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "ranks/error.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {

class OnDevice : public OnEveryDevice {
 protected:
  // The output of a call on x of shape (ranks, x.size() / ranks): (ranks, n) or (n,). Output memory
  // is filled with 0xa5 first, so that a missing write shows.
  template <class T>
  std::vector<T> call(Collective collective, const std::vector<T>& x, std::int64_t ranks,
                      const CollectiveOptions& options, bool in_place = false) const {
    const auto n = static_cast<std::int64_t>(x.size()) / ranks;
    const bool all = collective == Collective::all_reduce;
    std::vector<T> out(static_cast<std::size_t>(all ? ranks * n : n));
    std::memset(static_cast<void*>(out.data()), 0xa5, out.size() * sizeof(T));
    const DeviceBuffer device_in(x.size() * sizeof(T), GetParam());
    const DeviceBuffer device_out(out.size() * sizeof(T), GetParam());
    device_in.copy_from_host(x.data(), x.size() * sizeof(T));
    device_out.copy_from_host(out.data(), out.size() * sizeof(T));
    const DeviceBuffer& result = in_place ? device_in : device_out;
    TensorView in{device_in.data(), dtype_of<T>(), {ranks, n}, {}, GetParam()};
    TensorView to{result.data(), dtype_of<T>(), all ? Shape{ranks, n} : Shape{n}, {}, GetParam()};
    all ? all_reduce(in, to, options) : reduce_ranks(in, to, options);
    result.copy_to_host(out.data(), out.size() * sizeof(T));
    return out;
  }

  // The output of any call on x of that shape, by one of the executors.
  template <class T>
  std::vector<T> results(Collective collective, const std::vector<T>& x, const Shape& shape,
                         const CollectiveOptions& options = {}, bool steps = false) const {
    const Shape out_shape = output_shape(collective, shape, options);
    std::vector<T> out(static_cast<std::size_t>(element_count(out_shape)));
    std::memset(static_cast<void*>(out.data()), 0xa5, out.size() * sizeof(T));
    const DeviceBuffer device_in(x.size() * sizeof(T), GetParam());
    const DeviceBuffer device_out(out.size() * sizeof(T), GetParam());
    device_in.copy_from_host(x.data(), x.size() * sizeof(T));
    device_out.copy_from_host(out.data(), out.size() * sizeof(T));
    const TensorView in{device_in.data(), dtype_of<T>(), shape, {}, GetParam()};
    const TensorView to{device_out.data(), dtype_of<T>(), out_shape, {}, GetParam()};
    steps ? run_steps(collective, in, to, options) : run(collective, in, to, options);
    device_out.copy_to_host(out.data(), out.size() * sizeof(T));
    return out;
  }

  // Row 0 of an all_reduce, after checking that all rows are equal, that in place gives the same
  // bits and that reduce_ranks does too.
  template <class T>
  std::vector<T> reduced(const std::vector<T>& x, std::int64_t ranks, ReduceOp op,
                         NanPolicy nan = NanPolicy::propagate) const {
    CollectiveOptions options{.op = op};
    if (has_nan(dtype_of<T>())) options.nan = nan;
    const auto rows = call(Collective::all_reduce, x, ranks, options);
    const auto in_place = call(Collective::all_reduce, x, ranks, options, true);
    const auto row = call(Collective::reduce, x, ranks, options);
    const std::size_t row_bytes = row.size() * sizeof(T);
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
      EXPECT_EQ(std::memcmp(row.data(), rows.data() + r * row.size(), row_bytes), 0)
          << "rank " << r;
      EXPECT_EQ(std::memcmp(row.data(), in_place.data() + r * row.size(), row_bytes), 0)
          << "in place, rank " << r;
    }
    return row;
  }
};

// The message of the Error that f throws; fails if it throws none.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace vranks
