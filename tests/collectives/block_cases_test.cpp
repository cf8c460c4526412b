// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Public bug reports about blocks, groups, strides and places in memory, as inputs with the right
// answers, by every algorithm on every device. tests/cases.md lists the reports.
#include "cases.hpp"
#include "collectives/exact.hpp"
#include "ranks/random.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

class BlockCases : public OnDevice {
 protected:
  // Calls f(options, steps) for every algorithm of the collective and both executors.
  template <class F>
  static void each_way(Collective collective, std::int64_t ranks, const F& f) {
    for_each_algorithm(collective, ranks, ReduceOp::sum, [&](const CollectiveOptions& options) {
      f(options, false);
      SCOPED_TRACE("step by step");
      f(options, true);
    });
  }

  // One block of memory of the device, with numbers in it; views of it; and its numbers after.
  template <class T>
  struct Block {
    Device device;
    std::vector<T> before;
    DeviceBuffer buffer{before.size() * sizeof(T), device};

    void reset() const { buffer.copy_from_host(before.data(), before.size() * sizeof(T)); }
    TensorView at(std::int64_t offset, const Shape& shape, const Strides& strides = {}) const {
      return {static_cast<T*>(buffer.data()) + offset, dtype_of<T>(), shape, strides, device};
    }
    std::vector<T> numbers() const {
      std::vector<T> all(before.size());
      buffer.copy_to_host(all.data(), all.size() * sizeof(T));
      return all;
    }
  };
  template <class T>
  Block<T> block(const std::vector<T>& numbers) const {
    return {GetParam(), numbers};
  }
};
VR_ON_EVERY_DEVICE(BlockCases);

TEST_P(BlockCases, ZER_3_CountsOfZero) {
  const Counts counts{2, 0, 1};
  // Rows of two, of which ranks use what they count: 0 1 | - | 20.
  each_way(Collective::all_gather_v, 3, [&](CollectiveOptions o, bool steps) {
    o.counts = counts;
    EXPECT_EQ(results(Collective::all_gather_v, Ints{0, 1, 10, 11, 20, 21}, {3, 2}, o, steps),
              (Ints{0, 1, 20, 0, 1, 20, 0, 1, 20}));
  });
  for (const std::int64_t root : {0, 1, 2}) {
    each_way(Collective::gather_v, 3, [&](CollectiveOptions o, bool steps) {
      o.counts = counts;
      o.root = root;
      EXPECT_EQ(results(Collective::gather_v, Ints{0, 1, 10, 11, 20, 21}, {3, 2}, o, steps),
                (Ints{0, 1, 20}));
    });
    each_way(Collective::scatter_v, 3, [&](CollectiveOptions o, bool steps) {
      o.counts = counts;
      o.root = root;
      Ints x(9, -1);
      for (std::size_t i = 0; i < 3; ++i)
        x[static_cast<std::size_t>(root) * 3 + i] = static_cast<std::int32_t>(7 + i);
      const Ints out = results(Collective::scatter_v, x, {3, 3}, o, steps);
      EXPECT_EQ((Ints{out[0], out[1], out[4]}), (Ints{7, 8, 9}));
      // Nothing else was written.
      EXPECT_EQ((Ints{out[2], out[3], out[5]}), Ints(3, static_cast<std::int32_t>(0xa5a5a5a5)));
    });
  }
  each_way(Collective::reduce_scatter_v, 3, [&](CollectiveOptions o, bool steps) {
    o.counts = counts;
    const Ints out = results(Collective::reduce_scatter_v, Ints{0, 1, 2, 10, 11, 12, 20, 21, 22},
                             {3, 3}, o, steps);
    EXPECT_EQ((Ints{out[0], out[1], out[4]}), (Ints{30, 33, 36}));
    EXPECT_EQ((Ints{out[2], out[3], out[5]}), Ints(3, static_cast<std::int32_t>(0xa5a5a5a5)));
  });
}

TEST_P(BlockCases, UNE_1_73ElementsOver4Ranks) {
  Ints x;
  for (std::int32_t r = 0; r < 4; ++r)
    for (std::int32_t i = 0; i < 73; ++i) x.push_back((r + 1) * i);
  const Counts counts{18, 19, 18, 18};
  each_way(Collective::reduce_scatter_v, 4, [&](CollectiveOptions o, bool steps) {
    o.counts = counts;
    const Ints out = results(Collective::reduce_scatter_v, x, {4, 73}, o, steps);
    std::int32_t i = 0;
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t k = 0; k < static_cast<std::size_t>(counts[r]); ++k, ++i)
        ASSERT_EQ(out[r * 19 + k], 10 * i) << "rank " << r << ", element " << k;
    EXPECT_EQ(i, 73);
  });
  for (const Collective collective :
       {Collective::reduce_scatter, Collective::scatter, Collective::all_to_all})
    each_way(collective, 4, [&](const CollectiveOptions& o, bool) {
      expect_error(ErrorKind::bad_argument, {"73", "4 blocks", "_v takes counts"}, [&] {
        output_shape(collective, {4, 73}, o);
      });
    });
  each_way(Collective::reduce_scatter_v, 4, [&](CollectiveOptions o, bool steps) {
    o.counts = {18, 18, 18, 18};
    expect_error(ErrorKind::bad_argument, {"72", "73"}, [&] {
      results(Collective::reduce_scatter_v, x, {4, 73}, o, steps);
    });
  });
}

TEST_P(BlockCases, UNE_2_AsymmetricSplits) {
  Ints x;
  for (std::int32_t r = 0; r < 3; ++r)
    for (std::int32_t k = 0; k < 6; ++k) x.push_back(100 * r + k);
  each_way(Collective::all_to_all_v, 3, [&](CollectiveOptions o, bool steps) {
    o.counts = {3, 2, 1, 2, 2, 2, 1, 2, 3};
    o.receive_counts = {3, 2, 1, 2, 2, 2, 1, 2, 3};
    EXPECT_EQ(results(Collective::all_to_all_v, x, {3, 6}, o, steps),
              (Ints{0, 1, 2, 100, 101, 200, 3, 4, 102, 103, 201, 202, 5, 104, 105, 203, 204, 205}));
  });
}

TEST_P(BlockCases, ALI_2_WhereAReduceScatterInPlaceLies) {
  const auto memory = block(Ints{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12, 4, 8, 12, 16});
  each_way(Collective::reduce_scatter, 4, [&](const CollectiveOptions& o, bool steps) {
    for (const bool nccl : {true, false}) {
      memory.reset();
      const TensorView in = memory.at(0, {4, 4}), out = memory.at(0, {4, 1}, {nccl ? 5 : 4, 1});
      steps ? run_steps(Collective::reduce_scatter, in, out, o) : reduce_scatter(in, out, o);
      Ints right = memory.before;
      for (std::size_t r = 0; r < 4; ++r)
        right[r * 4 + (nccl ? r : 0)] = 10 * (static_cast<std::int32_t>(r) + 1);
      EXPECT_EQ(memory.numbers(), right) << (nccl ? "NCCL's place" : "MPI's place");
    }
  });
}

TEST_P(BlockCases, ALI_4_GatherInPlaceWithARootThatIsNotTheFirst) {
  // Rank 0's own number in front; rank 1's row of two, its number already in its slot.
  const auto memory = block(Floats{1, 0, 9, 7});
  for (const Collective collective : {Collective::gather, Collective::gather_v})
    each_way(collective, 2, [&](CollectiveOptions o, bool steps) {
      o.root = 1;
      if (takes_counts(collective)) o.counts = {1, 1};
      memory.reset();
      const std::vector<TensorView> in{memory.at(0, {1}), memory.at(3, {1})};
      const bool adds_dimension = collective == Collective::gather;
      const std::vector<TensorView> out{memory.at(2, adds_dimension ? Shape{2, 1} : Shape{2})};
      steps ? run_steps(collective, in, out, o) : run(collective, in, out, o);
      EXPECT_EQ(memory.numbers(), (Floats{1, 0, 1, 7}));
    });
  // The root keeps its block where it is, and rank 0 gets the other.
  for (const Collective collective : {Collective::scatter, Collective::scatter_v})
    each_way(collective, 2, [&](CollectiveOptions o, bool steps) {
      o.root = 1;
      if (takes_counts(collective)) o.counts = {1, 1};
      memory.reset();
      const std::vector<TensorView> in{memory.at(0, {2}), memory.at(2, {2})};
      const std::vector<TensorView> out{memory.at(0, {1}), memory.at(3, {1})};
      steps ? run_steps(collective, in, out, o) : run(collective, in, out, o);
      EXPECT_EQ(memory.numbers(), (Floats{9, 0, 9, 7}));
    });
}

TEST_P(BlockCases, ERR_1_WrongSplitsAreRefusedBeforeDataMoves) {
  const auto memory = block(Floats(24, 5));
  const auto refused = [&](Collective collective, const Shape& shape, CollectiveOptions options,
                           std::initializer_list<const char*> phrases) {
    each_way(collective, 3, [&](const CollectiveOptions& o, bool steps) {
      options.algorithm = o.algorithm;
      memory.reset();
      const TensorView in = memory.at(0, shape), out = memory.at(12, shape);
      expect_error(ErrorKind::bad_argument, phrases, [&] {
        steps ? run_steps(collective, in, out, options) : run(collective, in, out, options);
      });
      EXPECT_EQ(memory.numbers(), memory.before);
    });
  };
  refused(Collective::all_to_all, {3, 4}, {}, {"all_to_all", "dimension 1 of 4", "3 blocks"});
  refused(Collective::all_to_all_v, {3, 4}, {.counts = {2, 1, 0, 1, 2, 1, 1, 1, 2}},
          {"rank 0 sends 3", "has 4"});
  refused(Collective::all_to_all_v, {3, 4},
          {.counts = {1, 2, 1, 1, 2, 1, 2, 1, 1}, .receive_counts = {1, 1, 2, 3, 2, 1, 1, 1, 1}},
          {"pair 0->1", "sends 2", "expects 3"});
  refused(Collective::scatter, {3, 2}, {}, {"scatter", "dimension 1 of 2", "3 blocks"});
}

TEST_P(BlockCases, DLK_2_InPlaceWithNothingForOneself) {
  const Counts counts{0, 2, 0, 2, 0, 1, 0, 1, 0};
  each_way(Collective::all_to_all_v, 3, [&](CollectiveOptions o, bool steps) {
    o.counts = counts;
    // A buffer a rank.
    const auto memory = block(Ints{1, 2, 0, 3, 4, 5, 0, 6});
    memory.reset();
    const std::vector<TensorView> rows{memory.at(0, {2}), memory.at(3, {3}), memory.at(7, {1})};
    steps ? run_steps(Collective::all_to_all_v, rows, rows, o)
          : run(Collective::all_to_all_v, rows, rows, o);
    EXPECT_EQ(memory.numbers(), (Ints{3, 4, 0, 1, 2, 6, 0, 5}));
    // Rows of one tensor, as long as the longest.
    o.ragged = true;
    const auto tensor = block(Ints{1, 2, -1, 3, 4, 5, 6, -1, -1});
    tensor.reset();
    const TensorView all = tensor.at(0, {3, 3});
    steps ? run_steps(Collective::all_to_all_v, all, all, o)
          : run(Collective::all_to_all_v, all, all, o);
    EXPECT_EQ(tensor.numbers(), (Ints{3, 4, -1, 1, 2, 6, 5, -1, -1}));
  });
}

TEST_P(BlockCases, GRP_1_GroupsOfRanksThatAreNotNeighbours) {
  const Ints x{0, 1, 2, 3, 4, 5, 6, 7};
  each_way(Collective::all_to_all, 2, [&](CollectiveOptions o, bool steps) {
    o.groups = {{0, 2}, {1, 3}};
    EXPECT_EQ(results(Collective::all_to_all, x, {4, 2}, o, steps), (Ints{0, 4, 2, 6, 1, 5, 3, 7}));
    o.groups = {{0, 1}, {2, 3}};
    EXPECT_EQ(results(Collective::all_to_all, x, {4, 2}, o, steps), (Ints{0, 2, 1, 3, 4, 6, 5, 7}));
  });
  each_way(Collective::all_gather, 2, [&](CollectiveOptions o, bool steps) {
    o.groups = {{0, 2}, {1, 3}};
    EXPECT_EQ(results(Collective::all_gather, x, {4, 2}, o, steps),
              (Ints{0, 1, 4, 5, 2, 3, 6, 7, 0, 1, 4, 5, 2, 3, 6, 7}));
  });
}

TEST_P(BlockCases, GRP_3_MeansDivideByTheGroup) {
  const Floats x{1, 3, 5, 9};
  each_way(Collective::all_reduce, 3, [&](CollectiveOptions o, bool steps) {
    const auto all_reduced = [&](ReduceOp op, const Groups& groups) {
      o.op = op;
      o.groups = groups;
      o.mean = op == ReduceOp::mean ? std::optional(MeanMode::divide) : std::nullopt;
      return results(Collective::all_reduce, x, {4, 1}, o, steps);
    };
    EXPECT_EQ(all_reduced(ReduceOp::mean, {{0, 1}, {2, 3}}), (Floats{2, 2, 7, 7}));
    EXPECT_EQ(all_reduced(ReduceOp::sum, {{0}, {1, 2, 3}}), (Floats{1, 17, 17, 17}));
    const float third = 17.0f / 3;
    EXPECT_EQ(all_reduced(ReduceOp::mean, {{0}, {1, 2, 3}}), (Floats{1, third, third, third}));
    const auto refused = [&](const Groups& groups, std::initializer_list<const char*> phrases) {
      expect_error(ErrorKind::bad_argument, phrases, [&] { all_reduced(ReduceOp::sum, groups); });
    };
    refused({{0, 1}, {1, 2, 3}}, {"rank 1"});
    refused({{0, 1}, {2}}, {"rank 3"});
    refused({{0, 1}, {2, 3, 4}}, {"rank 4"});
  });
  for (const Collective collective : {Collective::all_gather, Collective::gather,
                                      Collective::reduce_scatter, Collective::all_to_all})
    each_way(collective, 3, [&](CollectiveOptions o, bool steps) {
      o.groups = {{0}, {1, 2, 3}};
      expect_error(ErrorKind::bad_argument, {"groups of equal size", "1 ranks", "3"}, [&] {
        results(collective, x, {4, 1}, o, steps);
      });
    });
}

TEST_P(BlockCases, LAY_1_StridedSlicesAreNotReadAsContiguous) {
  // x = base[:, :, 0] has element stride 2; y holds the results among others' numbers.
  const auto memory = block(Floats{1, 99, 2, 99, 11, 99, 12, 99, 0, 98, 0, 98, 0, 98, 0, 98});
  const TensorView x = memory.at(0, {2, 2}, {4, 2}), y = memory.at(8, {2, 2}, {4, 2});
  const auto numbers_with = [&](const Floats& y_numbers) {
    Floats all = memory.before;
    for (std::size_t i = 0; i < 4; ++i) all[8 + 2 * i] = y_numbers[i];
    return all;
  };
  each_way(Collective::all_reduce, 2, [&](const CollectiveOptions& o, bool steps) {
    memory.reset();
    steps ? run_steps(Collective::all_reduce, x, y, o) : all_reduce(x, y, o);
    EXPECT_EQ(memory.numbers(), numbers_with({12, 14, 12, 14}));
  });
  each_way(Collective::reduce, 2, [&](const CollectiveOptions& o, bool steps) {
    memory.reset();
    const TensorView root = memory.at(8, {2}, {2});
    steps ? run_steps(Collective::reduce, x, root, o) : reduce_ranks(x, root, o);
    EXPECT_EQ(memory.numbers(), numbers_with({12, 14, 0, 0}));
  });
  each_way(Collective::broadcast, 2, [&](CollectiveOptions o, bool steps) {
    o.root = 1;
    memory.reset();
    steps ? run_steps(Collective::broadcast, x, y, o) : broadcast(x, y, o);
    EXPECT_EQ(memory.numbers(), numbers_with({11, 12, 11, 12}));
  });
  each_way(Collective::scatter, 2, [&](CollectiveOptions o, bool steps) {
    o.root = 1;
    memory.reset();
    const TensorView parts = memory.at(8, {2, 1}, {4, 2});
    steps ? run_steps(Collective::scatter, x, parts, o) : scatter(x, parts, o);
    EXPECT_EQ(memory.numbers(), numbers_with({11, 0, 12, 0}));
  });
  // Per rank arange(10).reshape(2, 5), transposed.
  Floats two(40, 0);
  for (std::size_t i = 0; i < 20; ++i) two[i] = static_cast<float>(i);
  const auto matrices = block(two);
  each_way(Collective::gather, 2, [&](const CollectiveOptions& o, bool steps) {
    matrices.reset();
    const TensorView transposed = matrices.at(0, {2, 5, 2}, {10, 1, 5});
    const TensorView out = matrices.at(20, {2, 5, 2});
    steps ? run_steps(Collective::gather, transposed, out, o) : gather(transposed, out, o);
    const Floats all = matrices.numbers();
    EXPECT_EQ(Floats(all.begin() + 20, all.begin() + 30), (Floats{0, 5, 1, 6, 2, 7, 3, 8, 4, 9}));
    EXPECT_EQ(Floats(all.begin() + 30, all.end()),
              (Floats{10, 15, 11, 16, 12, 17, 13, 18, 14, 19}));
  });
}

TEST_P(BlockCases, LAY_2_PairsAreSourceAndDestination) {
  each_way(Collective::permute, 3, [&](CollectiveOptions o, bool steps) {
    o.permutation = {{0, 1}, {1, 2}, {2, 0}};
    EXPECT_EQ(results(Collective::permute, Ints{10, 20, 30}, {3, 1}, o, steps), (Ints{30, 10, 20}));
    // Who is no destination gets zeros.
    o.permutation = {{0, 1}, {1, 2}};
    EXPECT_EQ(results(Collective::permute, Ints{10, 20, 30}, {3, 1}, o, steps), (Ints{0, 10, 20}));
  });
}

// The checker that `vranks` compares results with must see a shard in the wrong place.
TEST_P(BlockCases, SLF_1_TheCheckerNoticesASwappedShard) {
  for (const bool strong : {false, true}) {
    Floats x;
    for (int r = 0; r < 8; ++r)
      for (int i = 0; i < 8; ++i) x.push_back(static_cast<float>(strong ? (r + 1) * (i + 1) : r));
    const Floats out =
        results(Collective::all_reduce, x, {8, 8}, {.op = ReduceOp::sum, .algorithm = "ring"});
    const Problem problem{.ranks = 8, .elements = 8, .dtype = DType::f32, .op = ReduceOp::sum};
    const auto deviation = [&](const Floats& row) {
      return deviation_from_exact(problem, rows_of(view(x.data(), {8, 8}), "input"),
                                  reinterpret_cast<const std::byte*>(row.data()),
                                  direct_bound(problem));
    };
    Floats row(out.begin() + 24, out.begin() + 32);  // rank 3's
    EXPECT_EQ(row, strong ? (Floats{36, 72, 108, 144, 180, 216, 252, 288}) : Floats(8, 28));
    EXPECT_EQ(deviation(row).different, 0);
    row[1] = row[0];  // shard 0 over shard 1
    const Deviation mutated = deviation(row);
    // Data that is constant in a rank can't show it.
    EXPECT_EQ(mutated.over_bound, strong ? 1 : 0);
    if (!strong) continue;
    EXPECT_EQ(mutated.worst, 1);
    EXPECT_EQ(mutated.worst_y, 36);
    EXPECT_EQ(mutated.worst_exact, 72);
  }
  // e5m2 is carried in f32 and rounded once: at most 1 ULP from the exact mean, whatever the data.
  std::vector<Float8E5M2> x(std::size_t{8} * 1000);
  fill_random(view(x.data(), {8, 1000}), 3);
  const auto row = results(Collective::reduce, x, {8, 1000}, {.op = ReduceOp::mean});
  const Problem problem{.ranks = 8, .elements = 1000, .dtype = DType::f8e5m2, .op = ReduceOp::mean};
  const Deviation deviation =
      deviation_from_exact(problem, rows_of(view(x.data(), {8, 1000}), "input"),
                           reinterpret_cast<const std::byte*>(row.data()), direct_bound(problem));
  EXPECT_EQ(deviation.over_bound, 0);
  EXPECT_LE(deviation.max_ulp, 1);
}

}  // namespace
}  // namespace vranks
