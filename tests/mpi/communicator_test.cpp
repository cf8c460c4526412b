// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives over virtual ranks that several processes own, against the same call in one process:
// bit by bit where the algorithm's own messages travel, and where any order is exact; within the
// bound of any order elsewhere.
#include "collectives/processes/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "collectives/peers/agreement.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

enum class Data { random, whole };

class Processes : public testing::Test {
 protected:
  Processes() {
    VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process_));
    VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes_));
  }

  // Blocks of different lengths where the ranks can't be shared equally, the longest ones last.
  std::int64_t first_rank(std::int64_t ranks, int process) const {
    return ranks * process / processes_;
  }
  Communicator communicator(std::int64_t ranks, std::int64_t piece_bytes = 256 << 10) const {
    return {MPI_COMM_WORLD,
            first_rank(ranks, process_ + 1) - first_rank(ranks, process_),
            {.timeout = 60, .piece_bytes = piece_bytes}};
  }

  struct Case {
    Collective collective;
    Shape shape;
    DType dtype;
    CollectiveOptions options;
    Data data = Data::random;
    std::uint64_t seed = 1;
  };
  static std::string to_string(const Case& c, Engine engine) {
    return std::string(name(c.collective)) + " of " + vranks::to_string(c.shape) + " " +
           std::string(name(c.dtype)) + " " + std::string(name(c.options.op)) + " by " +
           std::string(c.options.algorithm) + " " + vranks::to_string(c.options.parameters) +
           ", root " + std::to_string(c.options.root) + ", engine " + std::string(name(engine));
  }
  static Tensor input(const Case& c) {
    Tensor all(c.dtype, c.shape);
    if (c.data == Data::whole)
      fill_whole_numbers(all.view(), c.seed, c.shape[0], c.options.op);
    else
      fill_random(all.view(), c.seed);
    return all;
  }
  static std::vector<std::byte> zeros(const Tensor& tensor) {
    std::memset(tensor.data(), 0, static_cast<std::size_t>(tensor.bytes()));
    return {};
  }

  // What one process gives: the rows of this one.
  Tensor expected(const Case& c, const Tensor& in) const {
    Tensor out(c.dtype, output_shape(c.collective, c.shape, c.options));
    zeros(out);
    run(c.collective, in.view(), out.view(), c.options);
    return out;
  }
  bool owns(std::int64_t ranks, std::int64_t rank) const {
    return first_rank(ranks, process_) <= rank && rank < first_rank(ranks, process_ + 1);
  }

  // Runs it over processes, and returns what this one got and what it should have, as bytes.
  struct Found {
    Tensor ours;
    std::vector<std::byte> expected;
  };
  Found run_both(Communicator& all, const Case& c, Engine engine) const {
    const Tensor in = input(c);
    const Tensor whole = expected(c, in);
    const std::int64_t ranks = c.shape[0], first = first_rank(ranks, process_);
    const std::int64_t here = first_rank(ranks, process_ + 1) - first;
    Shape shape = c.shape;
    shape[0] = here;
    Tensor own(c.dtype, shape);
    const std::int64_t row = in.bytes() / ranks;
    std::copy_n(in.data() + first * row, here * row, own.data());
    Shape out_shape = whole.shape();
    const bool at_root = ends_at_root(c.collective);
    const bool has_result = !at_root || owns(ranks, c.options.root);
    if (!at_root) out_shape[0] = here;
    Tensor out(c.dtype, has_result ? out_shape : Shape{0});
    zeros(out);
    all.run(c.collective, own.view(), has_result ? out.view() : TensorView{}, c.options, engine);
    std::vector<std::byte> should(static_cast<std::size_t>(out.bytes()));
    const std::int64_t offset = at_root ? 0 : whole.bytes() / ranks * first;
    if (has_result) std::copy_n(whole.data() + offset, out.bytes(), should.data());
    return {std::move(out), std::move(should)};
  }
  void expect_equal(Communicator& all, const Case& c, Engine engine) {
    Found found;
    try {
      found = run_both(all, c, engine);
    } catch (const Error& error) {
      // Refused by all: for which R, or which op.
      EXPECT_TRUE(error.kind() == ErrorKind::not_supported ||
                  error.kind() == ErrorKind::bad_argument)
          << to_string(c, engine) << ": " << error.what();
      ++refused_;
      return;
    }
    ++compared_;
    EXPECT_TRUE(
        std::ranges::equal(std::span(found.ours.data(), found.expected.size()), found.expected))
        << to_string(c, engine);
  }

  static void add_counts(Case& c) {
    const auto ranks = static_cast<std::size_t>(c.shape[0]);
    if (c.collective == Collective::permute)
      for (std::int64_t r = 0; r < c.shape[0]; ++r)
        if (r % 3 != 1) c.options.permutation.emplace_back(r, (r * 2 + 1) % c.shape[0]);
    if (!takes_counts(c.collective)) return;
    const bool is_pair = c.collective == Collective::all_to_all_v;
    std::int64_t longest_row = 0;
    for (std::size_t b = 0, row = 0; b < (is_pair ? ranks * ranks : ranks); ++b) {
      const auto count = static_cast<std::int64_t>((b * 7 + 3) % 5);
      c.options.counts.push_back(count);
      row = is_pair && b % ranks == 0 ? 0 : row;
      row += static_cast<std::size_t>(count);
      const bool is_sum = is_pair || even_form(c.collective) == Collective::reduce_scatter ||
                          even_form(c.collective) == Collective::scatter;
      longest_row = std::max(longest_row, is_sum ? static_cast<std::int64_t>(row) : count);
    }
    c.options.ragged = is_pair;
    c.shape[1] = longest_row;
  }

  // Every collective and algorithm over R ranks.
  void check_all(std::int64_t ranks, std::int64_t n, DType dtype, ReduceOp op, Engine engine,
                 Data data, std::int64_t piece_bytes) {
    Communicator all = communicator(ranks, piece_bytes);
    for (const CollectiveInfo& info : collectives()) {
      const Collective form = even_form(info.collective);
      if (form == Collective::barrier) continue;
      if (is_prefix(info.collective) && op == ReduceOp::mean) continue;
      if (!reduces(info.collective) && op != ReduceOp::sum) continue;
      const bool cuts = form == Collective::reduce_scatter || form == Collective::scatter ||
                        form == Collective::all_to_all;
      for (const Algorithm& algorithm : algorithms()) {
        if (!supports(algorithm, info.collective)) continue;
        if (engine == Engine::mpi && algorithm.name != "direct") continue;
        for (const Parameters& parameters : variants(algorithm, ranks)) {
          Case c{info.collective,
                 {ranks, cuts ? ranks * n : n, 3},
                 dtype,
                 {.op = op,
                  .algorithm = algorithm.name,
                  .parameters = parameters,
                  .root = has_root(info.collective) ? n % ranks : 0},
                 data};
          add_counts(c);
          expect_equal(all, c, engine);
        }
      }
    }
  }

  int process_ = 0, processes_ = 1;
  int compared_ = 0, refused_ = 0;
};

TEST_F(Processes, AlgorithmsHaveTheBitsOfOneProcess) {
  for (const std::int64_t more : {0, 1, 5})
    for (const std::int64_t n : {1, 7}) {
      const std::int64_t ranks = processes_ + more;
      check_all(ranks, n, DType::f32, ReduceOp::sum, Engine::schedule, Data::random, 256 << 10);
      // Messages of one, two and three elements.
      check_all(ranks, n, DType::f32, ReduceOp::mean, Engine::schedule, Data::random, 8);
    }
  EXPECT_GT(compared_, 300);
}

TEST_F(Processes, AlgorithmsHaveTheBitsOfOneProcessInEveryDtype) {
  for (const DTypeInfo& dtype : dtypes())
    for (const ReduceOpInfo& op : reduce_ops()) {
      if (!supports(op.op, dtype.dtype)) continue;
      const std::int64_t ranks = processes_ + 2;
      Communicator all = communicator(ranks, 64);
      for (const char* algorithm : {"direct", "ring", "recursive_doubling", "nccl_tree"}) {
        Case c{Collective::all_reduce,
               {ranks, 37},
               dtype.dtype,
               {.op = op.op, .algorithm = algorithm}};
        if (op.op == ReduceOp::weighted_mean)
          for (std::int64_t r = 0; r < ranks; ++r)
            c.options.weights.push_back(static_cast<double>(r + 1));
        if (op.op == ReduceOp::premul_sum) c.options.factor = 0.5;
        expect_equal(all, c, Engine::schedule);
      }
    }
  EXPECT_GT(compared_, 100);
}

TEST_F(Processes, ManyRanksOfLargeTensors) {
  for (const char* algorithm : {"ring", "chain", "direct", "double_binary_tree"}) {
    Communicator all = communicator(64);
    expect_equal(all,
                 {Collective::all_reduce,
                  {64, 3001},
                  DType::f32,
                  {.op = ReduceOp::sum, .algorithm = algorithm}},
                 Engine::schedule);
    Communicator few = communicator(processes_ + 1, 4096);
    expect_equal(few,
                 {Collective::all_reduce,
                  {processes_ + 1, 200003},
                  DType::bf16,
                  {.op = ReduceOp::mean, .algorithm = algorithm}},
                 Engine::schedule);
  }
  EXPECT_EQ(compared_, 8);
}

TEST_F(Processes, MeansThatOverflowAreFormedAgain) {
  const std::int64_t ranks = processes_ + 3, n = 5 * ranks;
  Communicator all = communicator(ranks);
  const auto value = [](std::int64_t r, std::int64_t i) {
    return i % 3 == 0 ? 3e38f - static_cast<float>(r) * 1e37f : i % 3 == 1 ? 1.5f : -3.1e38f;
  };
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
    Tensor in(DType::f32, {ranks, n});
    for (std::int64_t r = 0; r < ranks; ++r)
      for (std::int64_t i = 0; i < n; ++i) in.as<float>()[r * n + i] = value(r, i);
    in.as<float>()[4] = std::numeric_limits<float>::infinity();
    const CollectiveOptions mean{.op = ReduceOp::mean};
    Tensor whole(DType::f32, output_shape(collective, {ranks, n}, mean));
    run(collective, in.view(), whole.view(), mean);
    const std::int64_t first = first_rank(ranks, process_);
    const std::int64_t here = first_rank(ranks, process_ + 1) - first;
    Shape shape = whole.shape();
    shape[0] = here;
    Tensor out(DType::f32, shape);
    all.run(collective, view(in.as<float>() + first * n, {here, n}), out.view(), mean,
            Engine::schedule);
    EXPECT_TRUE(std::memcmp(out.data(), whole.data() + whole.bytes() / ranks * first,
                            static_cast<std::size_t>(out.bytes())) == 0);
  }
}

TEST_F(Processes, GroupsAndInPlace) {
  const std::int64_t ranks = 2 * processes_ + 2, n = 11;
  Communicator all = communicator(ranks);
  Groups groups(2);
  for (std::int64_t r = 0; r < ranks; ++r)
    groups[static_cast<std::size_t>(r % 2)].push_back(ranks - 1 - r);
  Tensor in(DType::f32, {ranks, n}), whole(DType::f32, {ranks, n});
  fill_random(in.view(), 7);
  const CollectiveOptions options{.op = ReduceOp::sum, .algorithm = "ring", .groups = groups};
  run(Collective::all_reduce, in.view(), whole.view(), options);
  const std::int64_t first = first_rank(ranks, process_);
  const std::int64_t here = first_rank(ranks, process_ + 1) - first;
  const TensorView own = view(in.as<float>() + first * n, {here, n});
  all.run(Collective::all_reduce, own, own, options, Engine::schedule);
  EXPECT_TRUE(std::memcmp(own.data, whole.as<float>() + first * n,
                          static_cast<std::size_t>(here * n) * sizeof(float)) == 0);
}

// Whole numbers, on which any order of the MPI library is exact.
TEST_F(Processes, TheMpiEngineIsExactOnWholeNumbers) {
  for (const std::int64_t more : {0, 1, 5})
    for (const std::int64_t n : {1, 7, 100})
      for (const auto& [dtype, op] : {std::pair{DType::f32, ReduceOp::sum},
                                      {DType::f32, ReduceOp::mean},
                                      {DType::f64, ReduceOp::prod},
                                      {DType::bf16, ReduceOp::mean},
                                      {DType::f16, ReduceOp::sum},
                                      {DType::f8e4m3, ReduceOp::sum},
                                      {DType::i8, ReduceOp::sum},
                                      {DType::i32, ReduceOp::mean},
                                      {DType::i64, ReduceOp::mean},
                                      {DType::u16, ReduceOp::bxor},
                                      {DType::boolean, ReduceOp::lor},
                                      {DType::f32, ReduceOp::min},
                                      {DType::f16, ReduceOp::max},
                                      {DType::c64, ReduceOp::sum},
                                      {DType::i32, ReduceOp::max_loc}})
        check_all(processes_ + more, n, dtype, op, Engine::mpi, Data::whole, n == 100 ? 64 : 65536);
  EXPECT_GT(compared_, 400);
}

TEST_F(Processes, TheMpiEngineKeepsToTheBoundOfAnyOrder) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max}) {
    const std::int64_t ranks = 3 * processes_ + 1, n = 1000;
    Communicator all = communicator(ranks, 1024);
    const Case c{Collective::all_reduce, {ranks, n}, DType::f32, {.op = op}};
    const Found found = run_both(all, c, Engine::mpi);
    const Tensor in = input(c);
    const AgreementBound bound =
        agreement_bound({.collective = c.collective, .ranks = ranks, .elements = n, .op = op},
                        rows_of(in.view(), "input"), false);
    const Deviation deviation =
        deviation_between(DType::f32, found.ours.data(), found.expected.data(), bound.most);
    EXPECT_TRUE(is_agreement(deviation, n)) << name(op);
  }
}

TEST_F(Processes, ABarrierReturnsOnceAllHaveCome) {
  for (const Engine engine : {Engine::schedule, Engine::mpi}) {
    Communicator all = communicator(processes_ + 1);
    Tensor none(DType::f32, {all.ranks_here(), 0});
    const double begin = MPI_Wtime();
    if (process_ == processes_ - 1)
      while (MPI_Wtime() < begin + 0.3) {
      }
    all.run(Collective::barrier, none.view(), none.view(), {}, engine);
    EXPECT_GE(MPI_Wtime() - begin, 0.29) << name(engine);
  }
}

TEST_F(Processes, ErrorsAreThoseOfAllProcesses) {
  Communicator all = communicator(processes_ + 1);
  const auto error_of = [&](const TensorView& in, const TensorView& out,
                            const CollectiveOptions& options) {
    try {
      all.run(Collective::all_reduce, in, out, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Tensor in(DType::f32, {all.ranks_here(), 5}), out(DType::f32, {all.ranks_here(), 5});
  const bool is_last = process_ == processes_ - 1;
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string last = "process " + std::to_string(processes_ - 1);
  if (processes_ > 1) {
    const std::string differ =
        error_of(in.view(), out.view(), {.op = is_last ? ReduceOp::max : ReduceOp::min});
    EXPECT_TRUE(has(differ, last) && has(differ, "op max") && has(differ, "op min")) << differ;
    TensorView missing = in.view();
    if (is_last) missing.data = nullptr;
    const std::string null = error_of(missing, out.view(), {});
    EXPECT_TRUE(has(null, last) && has(null, "null")) << null;
  }
  EXPECT_EQ(error_of(in.view(), out.view(), {.op = ReduceOp::band}).substr(0, 2), "op");
  const std::string root = error_of(in.view(), out.view(), {.root = 1});
  EXPECT_TRUE(has(root, "root")) << root;
  // And then all is as before.
  EXPECT_EQ(error_of(in.view(), out.view(), {}), "no error");
}

}  // namespace
}  // namespace vranks
