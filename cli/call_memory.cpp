// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/call_memory.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/layout.hpp"
#include "ranks/names.hpp"

namespace vranks::cli {

namespace {

struct PlaceInfo {
  Place place;
  std::string_view name;
  std::string_view aliases;
};
constexpr PlaceInfo places[] = {{Place::nccl, "nccl", ""}, {Place::mpi, "mpi", ""}};

// The slices as one tensor, if they are alike and follow each other at equal distances: its calls
// are faster.
std::optional<TensorView> joined(const std::vector<TensorView>& slices) {
  TensorView all = slices[0];
  if (!all.shape.empty() && all.shape[0] == 0) return {};
  const auto at = [&](std::size_t r) { return static_cast<std::byte*>(slices[r].data); };
  const std::ptrdiff_t distance = slices.size() > 1 ? at(1) - at(0) : all.bytes();
  for (std::size_t r = 1; r < slices.size(); ++r)
    if (slices[r].shape != all.shape || at(r) - at(r - 1) != distance) return {};
  const auto width = static_cast<std::ptrdiff_t>(size_bytes(all.dtype));
  if (distance < all.bytes() || distance % width != 0) return {};
  all.strides = contiguous_strides(all.shape);
  all.strides.insert(all.strides.begin(), distance / width);
  all.shape.insert(all.shape.begin(), static_cast<std::int64_t>(slices.size()));
  return all;
}

}  // namespace

std::string_view name(Place place) {
  return place == Place::apart ? "" : places[place == Place::mpi].name;
}
Place parse_place(std::string_view text) {
  return find_by_name(std::span<const PlaceInfo>(places), text, "place of the output").place;
}

CallMemory::CallMemory(const PlanKey& key, const Tensor& in, const Tensor& out, const Tensor& ranks,
                       Place place)
    : collective_(key.problem.collective),
      host_in_(in),
      host_out_(out),
      host_ranks_(ranks),
      backend_(backend_for(key.device)),
      device_(key.device),
      in_(in.view()),
      out_(out.view()),
      ranks_(ranks.view()) {
  in_.device = out_.device = ranks_.device = device_;
  // In place, calls that are repeated find other input; what the first told must stay.
  if ((device_.kind != DeviceKind::cpu || place != Place::apart) && ranks.bytes() != 0)
    ranks_.data = allocate(ranks_buffer_, ranks.bytes());
  if (in.bytes() == 0) return;
  if (place != Place::apart) {
    this->place(key, place);
  } else if (device_.kind != DeviceKind::cpu) {
    in_.data = allocate(in_buffer_, in.bytes());
    out_.data = allocate(out_buffer_, out.bytes());
  }
}

std::byte* CallMemory::allocate(std::optional<DeviceBuffer>& buffer, std::int64_t bytes) const {
  return static_cast<std::byte*>(buffer.emplace(static_cast<std::size_t>(bytes), device_).data());
}

// Every rank has room for its input and for its output, whichever is longer, and the shorter one
// lies in the longer one: at the rank's block, but for the start of MPI's rule.
void CallMemory::place(const PlanKey& key, Place place) {
  const bool at_root = ends_at_root(collective_);
  const Collective form = even_form(collective_);
  const bool cuts = form == Collective::reduce_scatter || form == Collective::scatter;
  const bool joins = form == Collective::all_gather || form == Collective::gather;
  const Shape& in_shape = host_in_.shape();
  // A rooted collective's output has no dimension of ranks unless there are groups.
  const bool has_ranks = !at_root || !key.groups.empty();
  const auto width = static_cast<std::int64_t>(size_bytes(host_in_.dtype()));
  Shape in_slice(in_shape.begin() + 1, in_shape.end());
  Shape out_slice(host_out_.shape().begin() + has_ranks, host_out_.shape().end());
  const std::int64_t room =
      std::max(element_count(in_slice, 1), element_count(out_slice, 1)) * width;
  std::byte* const data = allocate(in_buffer_, in_shape[0] * room);
  const auto view_at = [&](std::byte* at, const Shape& shape) {
    return TensorView{
        .data = at, .dtype = host_in_.dtype(), .shape = shape, .strides = {}, .device = device_};
  };
  in_slices_.resize(static_cast<std::size_t>(in_shape[0]));
  out_slices_.resize(at_root ? group_count(key) : in_slices_.size());
  Group all(in_slices_.size());
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t g = 0; g < group_count(key); ++g) {
    const Group& group = key.groups.empty() ? all : key.groups[g];
    const Problem problem = group_problem(key, g);
    const auto starts =
        cuts || joins ? block_starts(problem, cuts ? Slot::input : Slot::output) : Counts{};
    for (std::size_t k = 0; k < group.size(); ++k) {
      const bool is_root = static_cast<std::int64_t>(k) == problem.root;
      const auto r = static_cast<std::size_t>(group[k]);
      std::byte* const row = data + group[k] * room;
      const bool in_block = joins && (!at_root || is_root);
      const std::int64_t start = cuts || joins ? starts[k] * width : 0;
      Shape mine_in = in_slice, mine_out = out_slice;
      if (takes_counts(collective_)) {
        const auto dimension = [&](Slot slot, const Shape& slice) {
          const std::int64_t rest = element_count({slice.begin() + 1, slice.end()});
          return row_elements(problem, slot, static_cast<std::int64_t>(k)) /
                 std::max<std::int64_t>(rest, 1);
        };
        if (form != Collective::all_to_all) mine_in[0] = dimension(Slot::input, in_slice);
        mine_out[0] = dimension(Slot::output, out_slice);
      }
      in_slices_[r] = view_at(row + (in_block ? start : 0), mine_in);
      const bool is_at_block = cuts && place == Place::nccl;
      if (!at_root || is_root)
        out_slices_[at_root ? g : r] = view_at(row + (is_at_block ? start : 0), mine_out);
    }
  }
  const auto in = joined(in_slices_), out = joined(out_slices_);
  if (!in || !out || !key.groups.empty() || takes_counts(collective_)) return;
  in_ = *in;
  out_ = has_ranks ? *out : out_slices_[0];
  in_slices_.clear();
  out_slices_.clear();
}

namespace {

// Calls copy(where it lies on the device, where on the host, bytes) for every contiguous piece of
// a host's tensor, whose slices are as long as the longest.
template <class Copy>
void for_each_piece(const TensorView& there, const std::vector<TensorView>& slices,
                    const Tensor& host, Copy&& copy) {
  const auto* const data = static_cast<std::byte*>(there.data);
  if (slices.empty() && there.strides.empty())
    return copy(data, host.data(), static_cast<std::size_t>(host.bytes()));
  const auto rows = static_cast<std::int64_t>(
      slices.empty() ? static_cast<std::size_t>(there.ranks()) : slices.size());
  const std::int64_t row = host.bytes() / rows;
  for (std::int64_t r = 0; r < rows; ++r) {
    const TensorView slice = slices.empty() ? there.slice(r) : slices[static_cast<std::size_t>(r)];
    copy(static_cast<const std::byte*>(slice.data), host.data() + r * row,
         static_cast<std::size_t>(slice.bytes()));
  }
}

}  // namespace

void CallMemory::send() const {
  const auto to_device = [&](const std::byte* there, const std::byte* here, std::size_t bytes) {
    backend_.copy_from_host(const_cast<std::byte*>(there), here, bytes, device_.index);
  };
  if (!in_buffer_) return;
  // What lies between uneven blocks of the output stays as it is.
  if (takes_counts(collective_)) for_each_piece(out_, out_slices_, host_out_, to_device);
  for_each_piece(in_, in_slices_, host_in_, to_device);
}

void CallMemory::fetch() const {
  const auto to_host = [&](const std::byte* there, std::byte* here, std::size_t bytes) {
    backend_.copy_to_host(here, there, bytes, device_.index);
  };
  if (in_buffer_) for_each_piece(out_, out_slices_, host_out_, to_host);
  if (ranks_buffer_) for_each_piece(ranks_, {}, host_ranks_, to_host);
}

Provenance CallMemory::run(CollectiveOptions options) const {
  options.ranks = ranks_;
  return in_slices_.empty() ? vranks::run(collective_, in_, out_, options)
                            : vranks::run(collective_, in_slices_, out_slices_, options);
}

Provenance CallMemory::run_steps(CollectiveOptions options, const StepObserver& observer) const {
  options.ranks = ranks_;
  return in_slices_.empty()
             ? vranks::run_steps(collective_, in_, out_, options, observer)
             : vranks::run_steps(collective_, in_slices_, out_slices_, options, observer);
}

}  // namespace vranks::cli
