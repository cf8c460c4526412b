// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Workspaces of just the size that is asked for; what a call must leave alone; and the overlaps of
// inputs and outputs that it refuses.
#include <gtest/gtest.h>

#include "tests/collectives/memory_places.hpp"
#include "tests/collectives/trial.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

class Workspaces : public MemoryPlaces {};
VR_ON_EVERY_DEVICE(Workspaces);

// A workspace of just the bytes that are asked for is enough, one byte less is refused.
TEST_P(Workspaces, WorkspacesOfExactSize) {
  for (const std::string_view algorithm : {"direct", "ring"})
    for (const Example& example : examples(DType::f32))
      for (const Lie& lie : {lies[0], lies[4], lies[10]}) {
        CollectiveOptions options = example.options;
        options.algorithm = algorithm;
        if (algorithm == "ring" && (!reduces(example.collective) || is_prefix(example.collective)))
          continue;
        SCOPED_TRACE(fmt::format("{} {}, {}", algorithm, name(example.collective), lie.name));
        const Shape shape = output_shape(example.collective, example.shape, options);
        const Placed source(lie, example.shape, DType::f32), target(lie, shape, DType::f32);
        Bytes in_block(source.bytes()), out_block(target.bytes(), std::byte{0xa5});
        source.scatter(random_bytes(example, DType::f32), in_block);
        const DeviceBuffer in(in_block.size(), GetParam()), out(out_block.size(), GetParam());
        in.copy_from_host(in_block.data(), in_block.size());
        out.copy_from_host(out_block.data(), out_block.size());
        const TensorView x = source.in(in, GetParam()), y = target.in(out, GetParam());
        const std::size_t bytes = workspace_bytes(example.collective, x, y, options);
        EXPECT_EQ(bytes % 256, 0u);
        EXPECT_TRUE(bytes > 0 || lie.step == 1);
        constexpr std::size_t guard = 256;
        Bytes filled(bytes + guard, std::byte{0x3c});
        const DeviceBuffer memory(filled.size(), GetParam());
        memory.copy_from_host(filled.data(), filled.size());
        options.workspace = {memory.data(), bytes};
        run(example.collective, x, y, options);
        Bytes after(filled.size());
        memory.copy_to_host(after.data(), after.size());
        EXPECT_TRUE(std::equal(after.end() - guard, after.end(), filled.begin()));
        if (bytes == 0) continue;
        options.workspace.bytes = bytes - 1;
        expect_error(ErrorKind::bad_argument,
                     {fmt::format("{} bytes", bytes - 1).c_str(), std::to_string(bytes).c_str()},
                     [&] { run(example.collective, x, y, options); });
      }
}

// What workspace_bytes() says of a problem is enough for calls in place too.
TEST_P(Workspaces, WorkspaceOfAProblemServesCallsInPlace) {
  for (const Placement placement : {Placement::apart, Placement::in_place, Placement::at_start})
    for (const Example& example : examples(DType::f32)) {
      Trial trial{.meaning = {.collective = example.collective,
                              .ranks = 3,
                              .rows = 6,
                              .row = 2,
                              .dtype = DType::f32,
                              .options = example.options},
                  .device = GetParam(),
                  .placement = placement};
      trial.lay_out();
      if (trial.lists) continue;
      SCOPED_TRACE(trial.to_string());
      const Shape shape{3, trial.in_rows[0], 2};
      const std::size_t bytes =
          workspace_bytes(example.collective, shape, DType::f32, GetParam(), example.options);
      if (!example.options.ragged) {
        const Problem problem = problem_of(example.collective, shape, DType::f32, example.options);
        EXPECT_EQ(workspace_bytes(problem, GetParam(), example.options), bytes);
      }
      const DeviceBuffer memory(bytes + 1, GetParam());
      trial.meaning.options.workspace = {memory.data(), bytes};
      Provenance provenance;
      const Bytes before = trial.filled_block();
      EXPECT_EQ(trial.judge(before, trial.run(before, provenance), provenance), "");
    }
}

// The memory of ranks that get nothing stays as it is, and so do the gaps between uneven blocks:
// the table test looks at every byte of every call; this names the rooted ones.
TEST_P(Workspaces, RootedCallsLeaveOtherRanksAlone) {
  for (const Example& example : examples(DType::i32)) {
    if (!has_root(example.collective)) continue;
    for (const Placement placement : {Placement::padded, Placement::in_place}) {
      Trial trial{.meaning = {.collective = example.collective,
                              .ranks = 3,
                              .rows = 6,
                              .row = 2,
                              .dtype = DType::i32,
                              .options = example.options},
                  .device = GetParam(),
                  .placement = placement};
      trial.lay_out();
      SCOPED_TRACE(trial.to_string());
      Provenance provenance;
      const Bytes before = trial.filled_block();
      EXPECT_EQ(trial.judge(before, trial.run(before, provenance), provenance), "");
    }
  }
}

TEST_P(Workspaces, RefusedOverlapsNameSlices) {
  const DeviceBuffer memory(4096, GetParam());
  const auto at = [&](std::int64_t offset, const Shape& shape, const Strides& strides = {}) {
    return TensorView{static_cast<float*>(memory.data()) + offset, DType::f32, shape, strides,
                      GetParam()};
  };
  const auto refused = [&](Collective collective, const TensorView& in, const TensorView& out,
                           std::initializer_list<const char*> phrases) {
    SCOPED_TRACE(name(collective));
    expect_error(ErrorKind::bad_argument, phrases,
                 [&] { run(collective, in, out, {.op = ReduceOp::sum}); });
  };
  const Shape whole{4, 8}, blocks{4, 2}, all{4, 4, 2};
  // By one element; by one slice; the rows of another stride.
  refused(Collective::all_reduce, at(0, whole), at(1, whole),
          {"slice 0 of the output", "slice 0 of the input", "4 bytes"});
  refused(Collective::all_reduce, at(8, whole), at(0, whole),
          {"slice 1 of the output", "slice 0 of the input"});
  refused(Collective::scan, at(0, whole), at(0, whole, {12, 1}),
          {"slice 1 of the output", "input"});
  refused(Collective::all_to_all, at(0, whole), at(31, whole),
          {"slice 0 of the output", "slice 3 of the input"});
  refused(Collective::broadcast, at(0, whole), at(4, whole),
          {"slice 0 of the output", "slice 0 of the input"});
  refused(Collective::reduce, at(0, whole), at(4, {8}),
          {"slice 0 of the output", "exactly one slice"});
  // Blocks of other ranks.
  refused(Collective::reduce_scatter, at(0, whole), at(0, blocks),
          {"slice 1 of the output", "slice 0 of the input", "block r of slice r"});
  refused(Collective::scatter, at(0, whole), at(2, blocks),
          {"slice 0 of the output", "block r of slice r"});
  refused(Collective::all_gather, at(0, blocks), at(0, all),
          {"slice 0 of the output", "slice 1 of the input", "as its block r"});
  refused(Collective::gather, at(1, blocks), at(0, {4, 2}),
          {"slice 0 of the output", "as its block r"});
  // Slices of a list that lie in one another.
  const std::vector<TensorView> in{at(0, {8}), at(8, {8})}, out{at(100, {8}), at(104, {8})};
  expect_error(ErrorKind::bad_argument, {"ranks 0 and 1 overlap", "16 bytes"},
               [&] { run(Collective::all_reduce, in, out, {.op = ReduceOp::sum}); });
}

}  // namespace
}  // namespace vranks
