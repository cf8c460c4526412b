// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/processes/process_rescue.hpp"

#if VRANKS_HAVE_MPI

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "collectives/interpreters/rescue.hpp"
#include "kernels/arithmetic.hpp"

namespace vranks {

ProcessRescue::ProcessRescue(const ProcessCall& call, const Problem& problem,
                             const RankPlaces& places, const FoldRows& rows)
    : call_(call), places_(places) {
  const Parts parts = parts_of(problem);
  dtype_ = parts.dtype;
  width_ = static_cast<std::int64_t>(size_bytes(dtype_));
  const Backend& backend = backend_for(call.key.device);
  const std::int64_t columns = row_elements(problem, Slot::input) * parts.count;
  const bool is_block = even_form(problem.collective) == Collective::reduce_scatter;
  const std::vector<std::int64_t> starts = block_starts(problem, Slot::input);
  for (std::int64_t r = 0; r < problem.ranks; ++r) {
    inputs_.emplace_back();
    const bool is_here = places.processes[static_cast<std::size_t>(r)] == places.here;
    if (is_here) {
      inputs_.back().resize(static_cast<std::size_t>(columns * width_));
      backend.copy_to_host(inputs_.back().data(), rows.in.row(r), inputs_.back().size(),
                           call.key.device.index);
    }
    const bool at_root = ends_at_root(problem.collective);
    std::byte* const out = at_root   ? (r == 0 ? rows.out.row(0) : nullptr)
                           : is_here ? rows.out.row(r)
                                     : nullptr;
    if (out != nullptr)
      rows_.push_back({out, is_block ? starts[static_cast<std::size_t>(r)] * parts.count : 0,
                       row_elements(problem, Slot::output, r) * parts.count});
  }
}

std::vector<std::byte> ProcessRescue::to_host(const Row& row) const {
  std::vector<std::byte> host(static_cast<std::size_t>(row.elements * width_));
  backend_for(call_.key.device)
      .copy_to_host(host.data(), row.data, host.size(), call_.key.device.index);
  return host;
}

// Columns whose result isn't finite on this process, ascending.
std::vector<std::int64_t> ProcessRescue::overflowed() const {
  std::vector<std::int64_t> columns;
  for (const Row& row : rows_) {
    const std::vector<std::byte> host = to_host(row);
    visit(dtype_, [&]<class T>() {
      if constexpr (arithmetic::is_float<T>)
        for (std::int64_t i = 0; i < row.elements; ++i) {
          T value;
          std::memcpy(&value, host.data() + i * width_, sizeof value);
          if (!std::isfinite(static_cast<double>(arithmetic::widen(value))))
            columns.push_back(row.first + i);
        }
    });
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

// One process after the other, since all of them together may be more than MPI counts.
std::vector<std::int64_t> ProcessRescue::of_all(const std::vector<std::int64_t>& own) const {
  constexpr std::int64_t most = std::int64_t{1} << 27;
  std::vector<std::int64_t> all, more, both;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int p = 0; p < call_.processes(); ++p) {
    auto count = static_cast<std::int64_t>(own.size());
    VR_MPI(MPI_Ibcast(&count, 1, MPI_INT64_T, p, call_.communicator, &request));
    call_.wait->until_done(request);
    more = own;
    more.resize(static_cast<std::size_t>(count));
    for (std::int64_t first = 0; first < count; first += most) {
      VR_MPI(MPI_Ibcast(more.data() + first, static_cast<int>(std::min(most, count - first)),
                        MPI_INT64_T, p, call_.communicator, &request));
      call_.wait->until_done(request);
    }
    both.clear();
    std::ranges::set_union(all, more, std::back_inserter(both));
    all.swap(both);
  }
  return all;
}

// Those columns of all ranks, row after row in the order of the ranks.
std::vector<std::byte> ProcessRescue::columns_of_all(std::span<const std::int64_t> columns) const {
  const auto row_bytes = static_cast<std::int64_t>(columns.size()) * width_;
  const auto processes = static_cast<std::size_t>(call_.processes());
  std::vector<int> counts(processes), offsets;
  for (const int process : places_.processes)
    counts[static_cast<std::size_t>(process)] += static_cast<int>(row_bytes);
  int total = 0;
  for (const int each : counts) offsets.push_back(std::exchange(total, total + each));
  std::vector<std::byte> own;
  for (const std::vector<std::byte>& input : inputs_)
    for (std::size_t c = 0; !input.empty() && c < columns.size(); ++c) {
      const std::byte* const element = input.data() + columns[c] * width_;
      own.insert(own.end(), element, element + width_);
    }
  std::vector<std::byte> by_process(static_cast<std::size_t>(total)), by_rank;
  MPI_Request request = MPI_REQUEST_NULL;
  VR_MPI(MPI_Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, by_process.data(),
                         counts.data(), offsets.data(), MPI_BYTE, call_.communicator, &request));
  call_.wait->until_done(request);
  for (const int process : places_.processes) {
    int& at = offsets[static_cast<std::size_t>(process)];
    by_rank.insert(by_rank.end(), by_process.begin() + at, by_process.begin() + at + row_bytes);
    at += static_cast<int>(row_bytes);
  }
  return by_rank;
}

void ProcessRescue::replace(std::span<const std::int64_t> columns) const {
  const std::vector<std::byte> inputs = columns_of_all(columns);
  const auto row_bytes = static_cast<std::int64_t>(columns.size()) * width_;
  std::vector<const std::byte*> pointers;
  for (std::size_t r = 0; r < places_.processes.size(); ++r)
    pointers.push_back(inputs.data() + static_cast<std::int64_t>(r) * row_bytes);
  const Backend& backend = backend_for(call_.key.device);
  for (const Row& row : rows_) {
    const auto begin = std::ranges::lower_bound(columns, row.first);
    const auto end = std::ranges::lower_bound(columns, row.first + row.elements);
    if (begin == end) continue;
    std::vector<std::byte> host = to_host(row), some;
    for (auto column = begin; column != end; ++column) {
      const std::byte* const element = host.data() + (*column - row.first) * width_;
      some.insert(some.end(), element, element + width_);
    }
    rescue_means(pointers, dtype_, begin - columns.begin(), some.data(), end - begin);
    for (auto column = begin; column != end; ++column)
      std::memcpy(host.data() + (*column - row.first) * width_,
                  some.data() + (column - begin) * width_, static_cast<std::size_t>(width_));
    backend.copy_from_host(row.data, host.data(), host.size(), call_.key.device.index);
  }
}

void ProcessRescue::run() {
  const std::vector<std::int64_t> columns = of_all(overflowed());
  // In portions, so that counts of bytes stay within MPI's.
  const auto ranks = static_cast<std::int64_t>(places_.processes.size());
  const auto most = static_cast<std::size_t>(
      std::max<std::int64_t>(1, (std::int64_t{1} << 30) / (ranks * width_)));
  for (std::size_t begin = 0; begin < columns.size(); begin += most)
    replace(std::span(columns).subspan(begin, std::min(most, columns.size() - begin)));
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
