// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/collectives.hpp"

#include <fmt/format.h>

#include <vector>

#include "collectives/interpreters/rescue.hpp"
#include "ranks/error.hpp"

namespace vranks {

namespace {

// How input and output lie to each other.
enum class Aliasing { apart, same_places, to_be_staged };

// Within one call the columns that a piece of the work reads are the only ones that it writes, if
// the output is exactly the input, one of its slices, or the blocks of it that NCCL uses.
Aliasing aliasing_of(Collective collective, const Rows& in, const Rows& out) {
  if (in.span_bytes() == 0 || out.span_bytes() == 0) return Aliasing::apart;
  const auto in_begin = reinterpret_cast<std::uintptr_t>(in.data);
  const auto out_begin = reinterpret_cast<std::uintptr_t>(out.data);
  const auto in_end = in_begin + static_cast<std::uintptr_t>(in.span_bytes());
  const auto out_end = out_begin + static_cast<std::uintptr_t>(out.span_bytes());
  if (out_begin >= in_end || in_begin >= out_end) return Aliasing::apart;

  const std::int64_t offset = out.data - in.data;
  const bool one = in.ranks == 1;
  switch (collective) {
    case Collective::all_reduce:
      if (offset == 0 && (one || out.stride_bytes == in.stride_bytes)) return Aliasing::same_places;
      break;
    case Collective::reduce:
      if (offset >= 0 && offset % in.stride_bytes == 0) return Aliasing::same_places;
      break;
    case Collective::reduce_scatter:
      if (offset == 0 && (one || out.stride_bytes == in.stride_bytes + out.row_bytes()))
        return Aliasing::same_places;
      if (offset == 0 && out.stride_bytes == in.stride_bytes) return Aliasing::to_be_staged;
      break;
    case Collective::all_gather:
      if (offset == 0 && (one || in.stride_bytes == out.stride_bytes + in.row_bytes()))
        return Aliasing::same_places;
      break;
  }
  throw Error(ErrorKind::bad_argument,
              fmt::format("output overlaps the input partly: it begins {} bytes from the input's "
                          "start, with {} bytes from rank to rank where the input has {}; in place "
                          "it must be the input itself, for a reduce one of its slices, for a "
                          "reduce_scatter or all_gather block r of slice r; otherwise lie apart",
                          offset, out.stride_bytes, in.stride_bytes));
}

void check_same_kind(const TensorView& in, const TensorView& out) {
  if (in.dtype != out.dtype)
    throw Error(ErrorKind::bad_argument,
                fmt::format("input is {} but output is {}", name(in.dtype), name(out.dtype)));
  if (in.device != out.device)
    throw Error(ErrorKind::bad_argument, fmt::format("input is on {} but output is on {}",
                                                     to_string(in.device), to_string(out.device)));
}

// A call, checked: everything that run() and run_steps() share.
struct Call {
  Rows in, out;
  Aliasing aliasing;
  PlanKey key;
};

Call make_call(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options) {
  Call call{.in = rows_of(in, "input"), .out = {}, .aliasing = Aliasing::apart, .key = {}};
  check_same_kind(in, out);
  const Shape expected = output_shape(collective, in.shape);
  if (out.shape != expected)
    throw Error(ErrorKind::bad_argument, fmt::format("output has shape {} but must have {}",
                                                     to_string(out.shape), to_string(expected)));
  call.out =
      collective == Collective::reduce ? single_row_of(out, "output") : rows_of(out, "output");
  call.key.problem = {.collective = collective,
                      .ranks = call.in.ranks,
                      .elements = call.in.elements,
                      .dtype = in.dtype,
                      .op = options.op,
                      .root = options.root};
  call.key.algorithm = options.algorithm;
  call.key.parameters = options.parameters;
  call.key.policies = {options.accumulate, options.mean, options.nan};
  call.key.device = in.device;
  call.aliasing = aliasing_of(collective, call.in, call.out);
  return call;
}

}  // namespace

Shape output_shape(Collective collective, const Shape& in) {
  Shape out = in;
  switch (collective) {
    case Collective::all_reduce:
      break;
    case Collective::reduce:
      out.erase(out.begin());
      break;
    case Collective::reduce_scatter:
      if (in.size() < 2)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("reduce_scatter cuts dimension 1 into blocks; shape {} has none",
                                to_string(in)));
      if (in[1] % in[0] != 0)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("reduce_scatter gives every rank an equal block: dimension 1 of {} "
                                "can't be cut into {} blocks",
                                to_string(in), in[0]));
      out[1] /= in[0];
      break;
    case Collective::all_gather:
      out.insert(out.begin(), in[0]);
      break;
  }
  return out;
}

Provenance run(Collective collective, const TensorView& in, const TensorView& out,
               const CollectiveOptions& options) {
  const Call call = make_call(collective, in, out, options);
  const auto plan = Plan::of(call.key);
  if (call.key.problem.elements == 0) return plan->provenance();
  const Backend& backend = backend_for(in.device);
  const bool in_place = call.aliasing != Aliasing::apart;
  const bool staged = call.aliasing == Aliasing::to_be_staged;
  const std::size_t needed = plan->workspace_bytes(in_place, staged);
  Workspace workspace = options.workspace;
  if (workspace.data == nullptr)
    workspace = backend.kept_workspace(needed, in.device.index, options.stream);
  else if (workspace.bytes < needed)
    throw Error(ErrorKind::bad_argument,
                fmt::format("workspace has {} bytes but the call needs {} (workspace_bytes)",
                            workspace.bytes, needed));
  plan->run(call.in, call.out, in_place, staged, workspace, options.stream);
  return plan->provenance();
}

Provenance run_steps(Collective collective, const TensorView& in, const TensorView& out,
                     const CollectiveOptions& options, const StepObserver& observer) {
  const Call call = make_call(collective, in, out, options);
  Choice choice = choose(call.key);
  choice.provenance.executor = "steps";
  const Problem& problem = call.key.problem;
  if (problem.elements == 0) return choice.provenance;
  const Schedule schedule = build_schedule(problem, choice.selection);
  const Layout layout = make_layout(problem, schedule, choice.selection);

  // Means that overflow are formed again from the input, which must not be overwritten by then.
  const bool rescues = reduces(collective) && choice.rules.divides() &&
                       is_floating(problem.dtype) && problem.ranks > 1 &&
                       is_tree_fold(*choice.selection.algorithm, choice.rules);
  const Backend& backend = backend_for(in.device);
  Rows original = call.in;
  std::vector<std::byte> kept;
  if (rescues) {
    kept.resize(static_cast<std::size_t>(call.in.span_bytes()));
    backend.copy_to_host(kept.data(), call.in.data, kept.size(), in.device.index);
    original.data = kept.data();
  }
  execute_steps(schedule, layout, choice.rules, call.in, call.out, in.device, observer);
  if (!rescues) return choice.provenance;
  std::vector<std::byte> row(static_cast<std::size_t>(call.out.row_bytes()));
  for (std::int64_t r = 0; r < call.out.ranks; ++r) {
    std::byte* const at = call.out.data + r * call.out.stride_bytes;
    backend.copy_to_host(row.data(), at, row.size(), in.device.index);
    const bool is_block = collective == Collective::reduce_scatter;
    rescue_means(original, problem.dtype, is_block ? r * call.out.elements : 0, row.data(),
                 call.out.elements);
    backend.copy_from_host(at, row.data(), row.size(), in.device.index);
  }
  return choice.provenance;
}

Provenance all_reduce(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options) {
  return run(Collective::all_reduce, in, out, options);
}
Provenance reduce_ranks(const TensorView& in, const TensorView& out,
                        const CollectiveOptions& options) {
  return run(Collective::reduce, in, out, options);
}
Provenance reduce_scatter(const TensorView& in, const TensorView& out,
                          const CollectiveOptions& options) {
  return run(Collective::reduce_scatter, in, out, options);
}
Provenance all_gather(const TensorView& in, const TensorView& out,
                      const CollectiveOptions& options) {
  return run(Collective::all_gather, in, out, options);
}

std::size_t workspace_bytes(const Problem& problem, Device device,
                            const CollectiveOptions& options) {
  PlanKey key{.problem = problem,
              .algorithm = std::string(options.algorithm),
              .parameters = options.parameters,
              .policies = {options.accumulate, options.mean, options.nan},
              .device = device};
  return Plan::of(key)->workspace_bytes(true, problem.collective == Collective::reduce_scatter);
}

}  // namespace vranks
