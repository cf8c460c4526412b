// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Our reductions against the real library's, over however many processes mpirun started. Every
// process holds the whole tensor, gives its block of ranks to MPI, and compares for itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "collectives/collectives.hpp"
#include "collectives/peers/agreement.hpp"
#include "collectives/peers/mpi.hpp"
#include "collectives/peers/mpi_call.hpp"
#include "collectives/peers/mpi_collective.hpp"
#include "ranks/random.hpp"

namespace vranks {
namespace {

int process() {
  int process = 0;
  VR_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &process));
  return process;
}
int processes() {
  int processes = 1;
  VR_MPI(MPI_Comm_size(MPI_COMM_WORLD, &processes));
  return processes;
}

// Which ranks the processes hold, first blocks longer.
std::vector<RankRange> blocks(std::int64_t ranks) {
  std::vector<RankRange> all;
  for (std::int64_t p = 0, first = 0; p < processes(); ++p) {
    all.push_back({first, ranks / processes() + (p < ranks % processes() ? 1 : 0)});
    first += all.back().count;
  }
  return all;
}

Rows block_of(const Tensor& whole) {
  Rows rows = rows_of(whole.view(), "input");
  const RankRange here = blocks(rows.ranks)[static_cast<std::size_t>(process())];
  rows.data += here.first * rows.stride_bytes;
  rows.ranks = here.count;
  return rows;
}

Tensor theirs(const Problem& problem, const Tensor& whole) {
  MpiCollective both(problem, blocks(problem.ranks), process(), block_of(whole));
  both.run(nullptr);
  const bool is_here = problem.collective != Collective::reduce || process() == 0;
  Tensor result(problem.dtype, {is_here ? problem.elements : 0});
  std::copy_n(both.row(0), result.bytes(), result.data());
  return result;
}

Tensor ours(const Problem& problem, const Tensor& whole) {
  Tensor result(problem.dtype, {problem.elements});
  CollectiveOptions options{.op = problem.op};
  if (has_nan(problem.dtype)) options.nan = problem.nan;
  reduce_ranks(whole.view(), result.view(), options);
  return result;
}

Tensor data(const Problem& problem, bool is_whole_numbers) {
  Tensor tensor(problem.dtype, {problem.ranks, problem.elements});
  if (is_whole_numbers)
    fill_whole_numbers(tensor.view(), 1, problem.ranks, problem.op);
  else
    fill_random(tensor.view(), 1);
  return tensor;
}

std::string text(const Problem& problem) {
  return std::string(name(problem.collective)) + " " + std::string(name(problem.op)) + " of " +
         std::string(name(problem.dtype)) + ", R = " + std::to_string(problem.ranks) +
         ", n = " + std::to_string(problem.elements);
}

// f(problem) for every op on every dtype that MPI has.
template <class F>
void for_all(Collective collective, std::int64_t ranks, std::int64_t elements, F&& f) {
  for (const DTypeInfo& dtype : dtypes())
    for (const ReduceOpInfo& op : reduce_ops()) {
      if (!mpi_reduces(op.op, dtype.dtype)) continue;
      // Alone MPI copies where we give 0 or 1.
      if (ranks == 1 && (op.op == ReduceOp::land || op.op == ReduceOp::lor ||
                         op.op == ReduceOp::lxor || dtype.dtype == DType::boolean))
        continue;
      const Problem problem{.collective = collective,
                            .ranks = ranks,
                            .elements = elements,
                            .dtype = dtype.dtype,
                            .op = op.op};
      SCOPED_TRACE(text(problem));
      f(problem);
    }
}

bool has_result(const Problem& problem) {
  return problem.collective == Collective::all_reduce || process() == 0;
}

void expect_agreement(const Problem& problem, bool is_whole_numbers) {
  const Tensor whole = data(problem, is_whole_numbers);
  const Tensor mine = theirs(problem, whole);
  if (!has_result(problem)) return;
  const AgreementBound bound =
      agreement_bound(problem, rows_of(whole.view(), "input"), is_whole_numbers);
  const Tensor expected = ours(problem, whole);
  const Deviation found =
      deviation_between(problem.dtype, expected.data(), mine.data(), bound.most);
  EXPECT_EQ(found.over_bound, 0) << "worst at element " << found.worst;
  // Nothing has to be left out of data that can't overflow, as products of 8-bit floats may.
  if (is_whole_numbers) {
    if (!is_float8(problem.dtype) || problem.op != ReduceOp::prod) {
      EXPECT_EQ(found.compared, problem.elements);
    }
    EXPECT_EQ(found.different, 0);
  }
}

class MpiPeer : public testing::TestWithParam<std::int64_t> {};  // n

TEST_P(MpiPeer, EqualsOursOnWholeNumbers) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce})
    for (const std::int64_t ranks : {processes() + 0, processes() + 1, 2 * processes() + 1})
      for_all(collective, ranks, GetParam(),
              [&](const Problem& problem) { expect_agreement(problem, true); });
}

TEST_P(MpiPeer, KeepsToTheBoundOnRandomNumbers) {
  for (const std::int64_t ranks : {processes() + 1, 5 * processes() + 3})
    for_all(Collective::all_reduce, ranks, GetParam(),
            [&](const Problem& problem) { expect_agreement(problem, false); });
}

INSTANTIATE_TEST_SUITE_P(Elements, MpiPeer, testing::Values(0, 1, 17, 1000),
                         testing::PrintToStringParamName());

// More ranks than bf16, i8 and u8 can count.
TEST(MpiPeer, EqualsOursOnWholeNumbersOfManyRanks) {
  for_all(Collective::all_reduce, 1003, 33,
          [&](const Problem& problem) { expect_agreement(problem, true); });
}

TEST(MpiPeer, GivesAllProcessesTheSameBits) {
  for_all(Collective::all_reduce, 2 * processes() + 1, 100, [&](const Problem& problem) {
    const Tensor mine = theirs(problem, data(problem, false));
    Tensor first(problem.dtype, {problem.elements});
    std::memcpy(first.data(), mine.data(), static_cast<std::size_t>(mine.bytes()));
    VR_MPI(MPI_Bcast(first.data(), static_cast<int>(first.bytes()), MPI_BYTE, 0, MPI_COMM_WORLD));
    EXPECT_EQ(std::memcmp(first.data(), mine.data(), static_cast<std::size_t>(mine.bytes())), 0);
  });
}

// The negative control: one wrong bit, in one element, on one process, has to be found.
TEST(MpiPeer, FindsOneWrongBitOnOneProcess) {
  for_all(Collective::all_reduce, 2 * processes() + 1, 17, [&](const Problem& problem) {
    const Tensor whole = data(problem, true);
    const Tensor mine = theirs(problem, whole);
    const bool is_corrupt = process() == processes() - 1;
    const auto bytes = static_cast<std::int64_t>(size_bytes(problem.dtype));
    if (is_corrupt) mine.data()[13 * bytes] ^= std::byte{1};
    const AgreementBound bound = agreement_bound(problem, rows_of(whole.view(), "input"), true);
    const Deviation found =
        deviation_between(problem.dtype, ours(problem, whole).data(), mine.data(), bound.most);
    EXPECT_EQ(found.over_bound, is_corrupt ? 1 : 0);

    std::vector<Deviation> all(static_cast<std::size_t>(processes()));
    VR_MPI(MPI_Allgather(&found, sizeof(Deviation), MPI_BYTE, all.data(), sizeof(Deviation),
                         MPI_BYTE, MPI_COMM_WORLD));
    Deviation together;
    for (const Deviation& each : all) together = merged(together, each);
    EXPECT_EQ(together.over_bound, 1);
    EXPECT_EQ(together.worst, 13);
    EXPECT_EQ(together.compared, 17 * processes());
    EXPECT_FALSE(is_agreement(together, problem.elements));
  });
}

// A lost rank is far outside of the bound for random numbers.
TEST(MpiPeer, FindsALostRank) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Problem problem{
        .ranks = 2 * processes() + 1, .elements = 1000, .dtype = dtype, .op = ReduceOp::sum};
    const Tensor whole = data(problem, false);
    const Tensor mine = theirs(problem, whole);
    const AgreementBound bound = agreement_bound(problem, rows_of(whole.view(), "input"), false);
    TensorView short_of_one = whole.view();
    short_of_one.shape[0] -= 1;
    Tensor wrong(dtype, {problem.elements});
    reduce_ranks(short_of_one, wrong.view(), {.op = ReduceOp::sum});
    const Deviation found = deviation_between(dtype, wrong.data(), mine.data(), bound.most);
    EXPECT_GT(found.over_bound, problem.elements / 2);
  }
}

TEST(MpiPeer, RefusesWhatMpiLacks) {
  const std::vector<std::pair<ReduceOp, DType>> lacking = {
      {ReduceOp::log_sum_exp, DType::f32},   {ReduceOp::premul_sum, DType::f64},
      {ReduceOp::weighted_mean, DType::f32}, {ReduceOp::min_loc, DType::i32},
      {ReduceOp::max_loc, DType::f32},       {ReduceOp::sum, DType::c64},
      {ReduceOp::band, DType::f32}};
  for (const auto& [op, dtype] : lacking) {
    EXPECT_FALSE(mpi_reduces(op, dtype));
    const Problem problem{.ranks = processes(), .elements = 1, .dtype = dtype, .op = op};
    try {
      mpi_reduce_rows(problem, block_of(Tensor(dtype, {processes(), 1})));
      ADD_FAILURE() << text(problem);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::not_supported);
      EXPECT_NE(std::string(error.what()).find(name(op)), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(name(dtype)), std::string::npos) << error.what();
    }
  }
}

TEST(MpiPeer, NamesTheLibrary) {
  const std::string library = mpi_library();
  EXPECT_NE(library.find(", MPI "), std::string::npos) << library;
  EXPECT_EQ(library.find(" v"), std::string::npos) << library;
}

}  // namespace
}  // namespace vranks
