// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "collectives/plan.hpp"
#include "ranks/error.hpp"
#include "ranks/random.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t most_buffers = 512;

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Buffers of `bytes` that a cache can't hold together, or one a turn.
std::int64_t buffer_count(const BenchOptions& options, std::int64_t bytes,
                          std::int64_t cache_bytes) {
  if (options.hot) return 1;
  const std::int64_t needed = (beyond_cache(cache_bytes) + bytes - 1) / bytes;
  return std::min({needed, options.warmup + options.iterations, most_buffers});
}

}  // namespace

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

std::int64_t BenchOptions::element_bytes() const {
  if (problem.opaque_bytes > 0) return problem.opaque_bytes;
  return static_cast<std::int64_t>(size_bytes(problem.dtype.value_or(DType::f32)));
}

std::int64_t BenchOptions::group_ranks() const {
  if (details.groups) return static_cast<std::int64_t>(details.groups->front().size());
  if (details.mesh)
    return static_cast<std::int64_t>(mesh_groups(*details.mesh, *details.axis).front().size());
  return *details.ranks;
}

Shape bench_shape(const BenchOptions& options, const BenchSize& size) {
  Shape shape = {*options.details.ranks, size.elements};
  if (options.problem.opaque_bytes > 0) shape.push_back(options.problem.opaque_bytes);
  return shape;
}

CollectiveOptions bench_call(const BenchOptions& options, const std::string& algorithm,
                             const BenchSize& size) {
  CollectiveOptions call{.op = options.op(),
                         .algorithm = algorithm,
                         .parameters = options.parameters.values,
                         .nan = options.policies.nan,
                         .accumulate = options.policies.accumulate,
                         .mean = options.policies.mean,
                         .fp8 = options.policies.fp8};
  add_details(options.details, *options.details.ranks, call);
  if (!takes_counts(options.collective())) return call;
  const auto ranks = static_cast<std::size_t>(options.group_ranks());
  const bool has_pairs = options.collective() == Collective::all_to_all_v;
  call.counts.assign(has_pairs ? ranks * ranks : ranks, size.count);
  return call;
}

std::int64_t bench_memory(const BenchOptions& options, const BenchSize& size, Device device,
                          std::int64_t cache_bytes) {
  const Shape in = bench_shape(options, size);
  const CollectiveOptions call = bench_call(options, "direct", size);
  const std::int64_t element = options.problem.opaque_bytes > 0 ? 1 : options.element_bytes();
  const std::int64_t both =
      (element_count(in) + element_count(output_shape(options.collective(), in, call))) * element;
  // As much for the copy; and the host's own tensors, which the calls on a CPU work on.
  return 2 * both * buffer_count(options, both, cache_bytes) +
         (device.kind == DeviceKind::cpu ? both : 0);
}

// Memory of one turn: for the call, and for the copy.
class BenchCase::Buffers {
 public:
  // The first of a CPU's that lie apart are the outcome's own tensors.
  Buffers(const Outcome& outcome, Place place, bool is_first, std::int64_t copied)
      : device_(outcome.key.device),
        half_(copied),
        copy_(static_cast<std::size_t>(aligned(copied) * 2), device_) {
    const Tensor *in = &outcome.in, *out = &outcome.out, *ranks = &outcome.ranks;
    if (!is_first && device_.kind == DeviceKind::cpu && place == Place::apart) {
      in_ = Tensor(in->dtype(), in->shape());
      out_ = Tensor(out->dtype(), out->shape());
      if (ranks->bytes() != 0) ranks_ = Tensor(ranks->dtype(), ranks->shape());
      std::memcpy(in_.data(), in->data(), static_cast<std::size_t>(in->bytes()));
      in = &in_;
      out = &out_;
      ranks = &ranks_;
    }
    memory_ = std::make_unique<CallMemory>(outcome.key, *in, *out, *ranks, place);
    memory_->send();
    // Numbers, for memory that nothing was written to may be one page of zeros, many times.
    auto* const data = static_cast<std::byte*>(copy_.data());
    const std::int64_t all = aligned(half_) * 2, piece = outcome.in.bytes();
    for (std::int64_t at = 0; at < all; at += piece)
      backend_for(device_).copy_from_host(data + at, outcome.in.data(),
                                          static_cast<std::size_t>(std::min(piece, all - at)),
                                          device_.index);
  }

  Provenance call(const CollectiveOptions& call) const { return memory_->run(call); }
  void copy() const {
    auto* const data = static_cast<std::byte*>(copy_.data());
    copy_plainly(backend_for(device_), device_, data, data + aligned(half_), half_);
  }

 private:
  Device device_;
  std::int64_t half_;
  DeviceBuffer copy_;
  Tensor in_, out_, ranks_;
  std::unique_ptr<CallMemory> memory_;
};

BenchCase::BenchCase(const BenchOptions& options, const BenchSize& size, Device device,
                     std::int64_t cache_bytes, const CacheSweep* sweep)
    : options_(options),
      cache_bytes_(cache_bytes),
      sweep_(sweep),
      size_(size),
      seed_(options.problem.seed) {
  const ProblemOptions& problem = options.problem;
  const DType dtype = problem.opaque_bytes > 0 ? DType::u8 : problem.dtype.value_or(DType::f32);
  outcome_.opaque_bytes = problem.opaque_bytes;
  outcome_.in = Tensor(dtype, bench_shape(options, size));
  call_ = bench_call(options, "direct", size);
  outcome_.out = Tensor(dtype, output_shape(options.collective(), outcome_.in.shape(), call_));
  if (reduces(options.collective()) && finds_rank(call_.op))
    outcome_.ranks = Tensor(DType::i32, outcome_.out.shape());
  outcome_.key.device = device;
  outcome_.device_name = backend_for(device).devices()[static_cast<std::size_t>(device.index)];
  fill_random(outcome_.in.view(), seed_);
}

void BenchCase::choose(const std::string& algorithm) {
  call_ = bench_call(options_, algorithm, size_);
  const Device device = outcome_.key.device;
  outcome_.key = {
      .problem = problem_of(options_.collective(), outcome_.in.shape(), outcome_.in.dtype(), call_),
      .groups = call_.groups,
      .algorithm = algorithm,
      .parameters = options_.parameters.values,
      .policies = options_.policies,
      .device = device};
  const Choice choice = vranks::choose(outcome_.key);
  outcome_.key.problem.nan = choice.rules.nan;
  outcome_.provenance = choice.provenance;
  // The names must outlive the call's options.
  call_.algorithm = outcome_.key.algorithm;
}

void BenchCase::fill() { fill_random(outcome_.in.view(), ++seed_); }

Measured BenchCase::measure(Place place) {
  const Traffic traffic = traffic_of(outcome_);
  const std::int64_t footprint = outcome_.in.bytes() + outcome_.out.bytes();
  const std::int64_t copied = std::max<std::int64_t>((traffic.read + traffic.written) / 2, 1);
  const std::int64_t count = buffer_count(options_, footprint, cache_bytes_);
  std::vector<std::unique_ptr<Buffers>> buffers;
  for (std::int64_t b = 0; b < count; ++b) {
    buffers.push_back(std::make_unique<Buffers>(outcome_, place, b == 0, copied));
    outcome_.provenance = buffers.back()->call(call_);  // plans, and touches all pages
  }

  Measured measured;
  measured.buffers = count;
  std::vector<double> ratios;
  const std::int64_t turns = options_.warmup + options_.iterations;
  // Where buffers are fewer than turns and not yet too much for the cache, it is swept when they
  // have all been used.
  const bool is_beyond = count * footprint >= beyond_cache(cache_bytes_);
  const std::int64_t a_batch = sweep_ == nullptr || is_beyond ? turns : count;
  const Device device = outcome_.key.device;
  for (std::int64_t first = 0; first < turns; first += a_batch) {
    const std::int64_t in_batch = std::min(a_batch, turns - first);
    std::int64_t step = -1;  // the first is the timer's own warm-up
    const auto next = [&] {
      const Buffers& mine =
          *buffers[static_cast<std::size_t>(std::max<std::int64_t>(step, 0) / 2 % count)];
      if (step < 0)
        sweep_ != nullptr ? (*sweep_)() : mine.copy();
      else if (step % 2 == 0)
        mine.call(call_);
      else
        mine.copy();
      ++step;
    };
    const std::vector<double> seconds =
        backend_for(device).time(static_cast<int>(2 * in_batch), device.index, next);
    for (std::int64_t t = 0; t < in_batch; ++t) {
      if (first + t < options_.warmup) continue;
      const double call = seconds[static_cast<std::size_t>(2 * t)];
      const double copy = seconds[static_cast<std::size_t>(2 * t + 1)];
      measured.seconds.push_back(call);
      measured.copy_seconds.push_back(copy);
      ratios.push_back(copy / std::max(call, 1e-9));
    }
  }
  for (std::vector<double>* all : {&measured.seconds, &measured.copy_seconds, &ratios})
    std::ranges::sort(*all);
  measured.copy_ratio = median(ratios);
  buffers.clear();
  if (!options_.check) return measured;
  try_once(place);
  measured.wrong = wrong_elements();
  return measured;
}

void BenchCase::try_once(Place place) {
  // New numbers: what a call before left must not pass for a result.
  fill();
  std::memset(outcome_.out.data(), 0xff, static_cast<std::size_t>(outcome_.out.bytes()));
  const CallMemory memory(outcome_.key, outcome_.in, outcome_.out, outcome_.ranks, place);
  memory.send();
  outcome_.provenance = memory.run(call_);
  memory.fetch();
  judge(outcome_);
}

std::int64_t BenchCase::wrong_elements() const {
  std::int64_t wrong = outcome_.deviation.over_bound + outcome_.wrong_ranks;
  if (!outcome_.combines() || outcome_.collective() != Collective::all_reduce) return wrong;
  if (outcome_.equal_rows == outcome_.rows()) return wrong;
  const auto width = static_cast<std::size_t>(outcome_.element_bytes());
  const auto row = static_cast<std::size_t>(outcome_.row_bytes());
  for (std::size_t g = 0; g < group_count(outcome_.key); ++g) {
    const Group group = members(outcome_.key, g);
    const auto at = [&](std::size_t k) {
      return outcome_.out.data() + static_cast<std::size_t>(group[k]) * row;
    };
    for (std::size_t k = 1; k < group.size(); ++k)
      for (std::size_t i = 0; i < row; i += width)
        wrong += std::memcmp(at(0) + i, at(k) + i, width) != 0;
  }
  return wrong;
}

}  // namespace vranks::cli
