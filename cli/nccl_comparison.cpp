// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "collectives/peers/agreement.hpp"
#include "collectives/peers/order_data.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

namespace {

// What results are overwritten with first, so that what a library leaves out shows.
constexpr int poison = 0xa5;

// The data, and device memory for it and for a result.
class Trial {
 public:
  Trial(const NcclCase& what, const NcclCheckOptions& options, Device device)
      : what_(what),
        device_(device),
        call_{.collective = what.collective,
              .op = what.op,
              .dtype = what.dtype,
              .root = what.root,
              .count = what.elements},
        in_(what.dtype, {what.ranks, call_.in_elements(what.ranks)}),
        in_buffer_(static_cast<std::size_t>(in_.bytes()), device),
        out_elements_(call_.out_elements(what.ranks)),
        out_buffer_(static_cast<std::size_t>(what.ranks * out_elements_) * size_bytes(what.dtype),
                    device) {
    if (!options.is_pinned())
      fill_random(in_.view(), options.seed);
    else if (what.data == NcclData::random)
      fill_order_data(in_.view(), options.seed, what.op);
    else
      fill_special_data(in_.view(), options.seed, what.op);
    in_buffer_.copy_from_host(in_.data(), static_cast<std::size_t>(in_.bytes()));
  }

  const Tensor& in() const { return in_; }
  // Rows of a result: one a rank, or the root's.
  std::int64_t rows() const { return ends_at_root(what_.collective) ? 1 : what_.ranks; }
  std::int64_t row_elements() const { return out_elements_; }

  // What NCCL gives, (rows, elements).
  Tensor theirs(NcclRunner& ranks) {
    spoil();
    call_.in = in_buffer_.data();
    call_.out = out_buffer_.data();
    try {
      ranks.run(call_);
    } catch (...) {
      // Ranks may still use it, or never end; and freeing it would wait for them.
      (void)new DeviceBuffer(std::move(in_buffer_));
      (void)new DeviceBuffer(std::move(out_buffer_));
      throw;
    }
    const Tensor all = fetch(what_.ranks);
    Tensor result(what_.dtype, {rows(), out_elements_});
    const std::int64_t first = ends_at_root(what_.collective) ? what_.root : 0;
    const std::int64_t row_bytes = result.bytes() / rows();
    if (result.bytes() > 0)
      std::memcpy(result.data(), all.data() + first * row_bytes,
                  static_cast<std::size_t>(result.bytes()));
    return result;
  }

  Tensor ours(const CollectiveOptions& options, Provenance& provenance) {
    spoil();
    const TensorView in = on_device(in_buffer_, in_.shape());
    const TensorView out =
        on_device(out_buffer_, output_shape(what_.collective, in_.shape(), options));
    provenance = run(what_.collective, in, out, options);
    return fetch(rows());
  }

 private:
  TensorView on_device(const DeviceBuffer& buffer, Shape shape) const {
    TensorView view;
    view.data = static_cast<std::byte*>(buffer.data());
    view.dtype = what_.dtype;
    view.shape = std::move(shape);
    view.device = device_;
    return view;
  }
  void spoil() {
    const Tensor bytes(what_.dtype, {what_.ranks, out_elements_});
    const auto count = static_cast<std::size_t>(bytes.bytes());
    if (count > 0) std::memset(bytes.data(), poison, count);
    out_buffer_.copy_from_host(bytes.data(), count);
  }
  Tensor fetch(std::int64_t rows) {
    Tensor result(what_.dtype, {rows, out_elements_});
    out_buffer_.copy_to_host(result.data(), static_cast<std::size_t>(result.bytes()));
    return result;
  }

  NcclCase what_;
  Device device_;
  NcclCall call_;
  Tensor in_;
  DeviceBuffer in_buffer_;
  std::int64_t out_elements_;
  DeviceBuffer out_buffer_;
};

// The order that NCCL is pinned to.
CollectiveOptions pinned_options(const NcclCase& what, const NcclCheckOptions& options,
                                 const NcclSide& side, const std::optional<NcclChoice>& choice) {
  CollectiveOptions mine{.op = what.op, .algorithm = options.algorithm, .root = what.root};
  mine.parameters.nccl_version = side.version;
  mine.parameters.channels = side.lists.channels();
  if (options.algorithm == "nccl_ring")
    mine.parameters.rings = side.lists.rings;
  else
    mine.parameters.trees = side.lists.trees;
  if (options.protocol)
    mine.parameters.protocol = *options.protocol;
  else if (choice)
    mine.parameters.protocol = parse_protocol(choice->protocol);
  else if (what.elements > 0)
    throw Error(ErrorKind::not_supported,
                fmt::format("NCCL's log doesn't say which protocol it chose for {}; --protocol "
                            "tells it which to take",
                            what.text()));
  return mine;
}

// The order `direct`, with NCCL's meaning of the op.
CollectiveOptions direct_options(const NcclCase& what) {
  CollectiveOptions mine{.op = what.op, .root = what.root};
  if (!reduces(what.collective)) return mine;
  if (is_ordered(what.op) && has_nan(what.dtype)) mine.nan = NanPolicy::ignore;
  if (what.op == ReduceOp::mean && is_integer(what.dtype)) mine.accumulate = Accumulate::storage;
  return mine;
}

std::int64_t told_apart(Trial& trial, const NcclCase& what, const Tensor& ours) {
  if (!reduces(what.collective)) return -1;
  CollectiveOptions other = direct_options(what);
  other.accumulate = Accumulate::storage;
  if (what.op == ReduceOp::mean && is_floating(what.dtype)) other.mean = MeanMode::premultiply;
  try {
    Provenance unused;
    const Tensor result = trial.ours(other, unused);
    return bit_differences(what.dtype, trial.rows(), trial.row_elements(), ours.data(),
                           result.data())
        .different;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_supported) throw;
    return -1;
  }
}

// Fills what is about a bound.
void judge_within_bound(NcclComparison& found, const Trial& trial, const Tensor& ours,
                        const Tensor& theirs) {
  const NcclCase& what = found.what;
  const Rows in = rows_of(trial.in().view(), "input");
  AgreementBound bound{.most = std::vector<double>(static_cast<std::size_t>(in.elements), 0),
                       .rule = "equal",
                       .left_out = {}};
  if (is_floating(what.dtype)) {
    const Problem problem{.collective = what.collective,
                          .ranks = what.ranks,
                          .elements = in.elements,
                          .dtype = what.dtype,
                          .op = what.op,
                          .nan = NanPolicy::ignore};
    bound = agreement_bound(problem, in, false);
    // NCCL scales the inputs of a mean: each product may be off by half of the smallest number.
    if (what.op == ReduceOp::mean)
      for (double& most : bound.most)
        if (most >= 0) most += static_cast<double>(what.ranks) * ulp_at(0, what.dtype) / 2;
  }
  found.rule = bound.rule;
  const std::int64_t row_bytes = ours.bytes() / std::max<std::int64_t>(trial.rows(), 1);
  const auto columns = static_cast<std::size_t>(trial.row_elements());
  const bool has_blocks = what.collective == Collective::reduce_scatter;
  std::int64_t worst_row = 0;
  for (std::int64_t r = 0; r < trial.rows(); ++r) {
    const std::size_t first = has_blocks ? static_cast<std::size_t>(r) * columns : 0;
    const Deviation of_row =
        deviation_between(what.dtype, ours.data() + r * row_bytes, theirs.data() + r * row_bytes,
                          std::span<const double>(bound.most).subspan(first, columns));
    if (of_row.max_bound_used > found.deviation.max_bound_used) worst_row = r;
    found.deviation = merged(found.deviation, of_row);
  }
  found.is_agreement = is_agreement(found.deviation, trial.rows() * trial.row_elements());
  const Deviation& d = found.deviation;
  if (d.over_bound > 0)
    found.first =
        fmt::format("rank {}, element {}: ours {:.9g}, theirs {:.9g}, may differ by {:.3g}",
                    ends_at_root(what.collective) ? what.root : worst_row, d.worst, d.worst_y,
                    d.worst_exact, d.worst_bound);
}

// How NCCL didn't do what it was told.
std::string mismatch_of(const NcclCheckOptions& options, const NcclChoice& choice) {
  const bool is_other = options.is_pinned() && choice.algorithm != options.nccl_algorithm();
  const bool is_other_protocol =
      options.protocol && choice.protocol != vranks::name(*options.protocol);
  if (!is_other && !is_other_protocol) return {};
  return fmt::format("NCCL ran {} {} instead", choice.algorithm, choice.protocol);
}

}  // namespace

std::string NcclCase::text() const {
  return fmt::format("{}{} of {}, {} ranks with {} elements, {}", vranks::name(collective),
                     reduces(collective) ? fmt::format(" {}", vranks::name(op)) : "",
                     vranks::name(dtype), ranks, elements, name(data));
}

NcclComparison compare_with_nccl(const NcclCase& what, const NcclCheckOptions& options,
                                 const NcclSide& side, Device device) {
  NcclComparison found;
  found.what = what;
  Trial trial(what, options, device);
  side.new_log();
  const Tensor theirs = trial.theirs(side.ranks);
  found.theirs = parse_nccl_choice(side.new_log());
  if (found.theirs) found.mismatch = mismatch_of(options, *found.theirs);

  const CollectiveOptions mine = options.is_pinned()
                                     ? pinned_options(what, options, side, found.theirs)
                                     : direct_options(what);
  const Tensor ours = trial.ours(mine, found.ours);
  found.bits =
      bit_differences(what.dtype, trial.rows(), trial.row_elements(), ours.data(), theirs.data());
  if (options.is_pinned() || !reduces(what.collective)) {
    found.is_agreement = found.bits.different == 0;
    found.first = first_difference_text(what.dtype, found.bits,
                                        ends_at_root(what.collective) ? what.root : 0);
  } else {
    judge_within_bound(found, trial, ours, theirs);
  }
  if (!found.mismatch.empty()) found.is_agreement = false;
  if (options.is_pinned()) found.told_apart = told_apart(trial, what, ours);
  return found;
}

}  // namespace vranks::cli
