// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of Open MPI's algorithms runs: the decision rules at every border, fallbacks, parameters.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <sstream>

#include "collectives/openmpi/rules.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

Problem sum(Collective collective, std::int64_t ranks, std::int64_t elements,
            DType dtype = DType::f32) {
  return {.collective = collective,
          .ranks = ranks,
          .elements = elements,
          .dtype = dtype,
          .op = ReduceOp::sum};
}

// --- decision rules ---

// "ranks from-to: <bytes:id ... else id", as Open MPI's table is usually written down.
struct WrittenRules {
  const openmpi::Rules& rules;
  const char* rows;
};

void expect_rules(const WrittenRules& written) {
  std::istringstream lines(written.rows);
  std::int64_t next_rank = 2;
  for (std::string line; std::getline(lines, line);) {
    SCOPED_TRACE(std::string(written.rules.call) + " " + line);
    std::istringstream words(line);
    std::int64_t from = 0, to = 0, below = 0;
    int id = 0;
    char dash = 0;
    words >> from >> dash >> to;
    EXPECT_EQ(from, next_rank);
    next_rank = to + 1;
    for (std::string word; words >> word;) {
      const bool is_last = word == "else";
      if (is_last)
        words >> id;
      else
        ASSERT_EQ(std::sscanf(word.c_str(), "<%*d:%d", &id), 1) << word;
      const std::int64_t end =
          is_last ? std::numeric_limits<std::int32_t>::max() : std::stoll(word.substr(1));
      for (const std::int64_t ranks : {from, to})
        for (const std::int64_t bytes : {below, end - 1})
          EXPECT_EQ(openmpi::choose(written.rules, ranks, bytes), id)
              << ranks << " ranks, " << bytes << " bytes";
      below = end;
    }
  }
  EXPECT_EQ(next_rank, 100001);
}

TEST(OpenMpiRules, AreThoseOfOpenMpi41) {
  expect_rules({openmpi::all_reduce_rules(),
                "2-3 <8:4 <4096:3 <8192:4 <16384:3 <65536:4 <262144:5 else 6\n"
                "4-7 <16:4 <8192:3 else 6\n"
                "8-15 <8192:3 else 6\n"
                "16-31 <64:5 <4096:3 else 6\n"
                "32-63 <128:5 else 6\n"
                "64-127 <262144:3 else 6\n"
                "128-255 <131072:2 <262144:3 else 6\n"
                "256-511 <4096:2 else 6\n"
                "512-2047 <2048:2 <16384:3 else 6\n"
                "2048-4095 <2048:2 <4096:5 <16384:3 else 6\n"
                "4096-100000 <2048:2 <16384:5 <32768:3 else 6"});
  expect_rules({openmpi::reduce_rules(),
                "2-3 <8:7 <16:4 <32:3 <262144:1 <524288:3 <1048576:2 else 3\n"
                "4-7 <4096:4 <65536:2 <262144:5 <524288:1 <1048576:5 else 1\n"
                "8-15 <8192:4 else 5\n"
                "16-31 <4096:4 else 5\n"
                "32-255 else 5\n"
                "256-511 <8192:5 <16384:6 else 5\n"
                "512-2047 else 5\n"
                "2048-4095 <512:5 <1024:6 <8192:5 <16384:6 else 5\n"
                "4096-100000 <16:5 <32:6 <1024:5 <2048:6 <8192:5 <16384:6 else 5"});
  expect_rules({openmpi::reduce_scatter_rules(),
                "2-3 <65536:3 <131072:4 else 3\n"
                "4-7 <8:1 <262144:2 else 3\n"
                "8-31 <262144:2 else 3\n"
                "32-63 <64:1 <2048:2 <524288:4 else 3\n"
                "64-127 <256:1 <512:2 <2048:4 <4096:2 else 4\n"
                "128-255 <256:1 <512:2 else 4\n"
                "256-511 <256:1 <1024:2 else 4\n"
                "512-1023 <512:1 <2048:2 <8192:4 <16384:2 else 4\n"
                "1024-2047 <512:1 <4096:2 <16384:4 <32768:2 else 4\n"
                "2048-4095 <512:1 <4096:2 else 4\n"
                "4096-100000 <1024:1 <8192:2 else 4"});
  expect_rules({openmpi::reduce_scatter_block_rules(),
                "2-3 <4:2 <8:4 <16:3 <128:4 <256:3 <4096:4 <8192:3 <131072:4 else 1\n"
                "4-7 <8:3 <32:2 <256:4 <8192:3 <16384:4 <1048576:3 else 1\n"
                "8-15 <4:1 <32:3 <128:4 <524288:3 <4194304:1 else 4\n"
                "16-31 <32:1 <524288:3 <2097152:1 <4194304:3 else 4\n"
                "32-100000 <4:3 <16:1 <65536:4 <262144:1 else 4"});
}

std::string_view runs(std::string_view algorithm, const Problem& problem,
                      const Parameters& parameters = {}, const char* why = nullptr) {
  const Selection selection =
      select(find_algorithm(algorithm, problem.collective), problem, parameters);
  if (why != nullptr)
    EXPECT_NE(selection.reason.find(why), std::string::npos) << selection.reason;
  else
    EXPECT_EQ(selection.reason, "");
  return selection.algorithm->name;
}

TEST(OpenMpiSelection, FollowsTheRules) {
  const char* auto_all = "algorithm 6 of MPI_Allreduce for 8192 bytes over 4 ranks";
  EXPECT_EQ(runs("ompi_auto", sum(Collective::all_reduce, 4, 2048), {}, auto_all),
            "ompi_rabenseifner");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::all_reduce, 4, 2047), {}, "algorithm 3"),
            "ompi_recursive_doubling");
  // The ring with fewer elements than ranks, the segmented ring without segments.
  EXPECT_EQ(runs("ompi_auto", sum(Collective::all_reduce, 4, 3), {}, "algorithm 4"),
            "ompi_recursive_doubling");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::all_reduce, 3, 20000), {}, "algorithm 5"),
            "ompi_ring");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::all_reduce, 128, 1024), {}, "algorithm 2"),
            "ompi_nonoverlapping");
  // By the rules a chain is a pipeline.
  EXPECT_EQ(runs("ompi_auto", sum(Collective::reduce, 5, 1024), {}, "algorithm 2"),
            "ompi_pipeline");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::reduce, 2, 1, DType::i8), {}, "algorithm 7"),
            "ompi_linear");
  // 2 KiB in blocks of 512 bytes: each call has rules of its own.
  EXPECT_EQ(runs("ompi_auto", sum(Collective::reduce_scatter, 4, 512), {},
                 "MPI_Reduce_scatter_block for 512 bytes a block"),
            "ompi_recursive_halving");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::reduce_scatter, 4, 32), {}, "for 32 bytes a block"),
            "ompi_butterfly");
  EXPECT_EQ(runs("ompi_auto_v", sum(Collective::reduce_scatter, 4, 32), {},
                 "MPI_Reduce_scatter for 128 bytes over"),
            "ompi_recursive_halving");
  EXPECT_EQ(runs("ompi_auto", sum(Collective::reduce_scatter, 2, 2 * 32768), {}, "algorithm 1"),
            "ompi_nonoverlapping");
}

TEST(OpenMpiSelection, FallsBack) {
  using enum Collective;
  EXPECT_EQ(runs("ompi_ring", sum(all_reduce, 5, 5)), "ompi_ring");
  EXPECT_EQ(runs("ompi_ring", sum(all_reduce, 5, 4), {}, "4 for 5 ranks"),
            "ompi_recursive_doubling");
  for (const Collective collective : {all_reduce, reduce}) {
    EXPECT_EQ(runs("ompi_rabenseifner", sum(collective, 7, 4)), "ompi_rabenseifner");
    EXPECT_EQ(runs("ompi_rabenseifner", sum(collective, 7, 3), {}, "4 ranks"), "ompi_linear");
  }
  EXPECT_EQ(runs("ompi_segmented_ring", sum(all_reduce, 4, 100), {}, "no segment size"),
            "ompi_ring");
  Parameters segments;
  segments.segment_bytes = 40;
  EXPECT_EQ(runs("ompi_segmented_ring", sum(all_reduce, 4, 40), segments), "ompi_segmented_ring");
  EXPECT_EQ(runs("ompi_segmented_ring", sum(all_reduce, 4, 39), segments, "39 elements"),
            "ompi_ring");
  EXPECT_EQ(runs("ompi_linear", sum(reduce_scatter, 4, 40), {}, "MPI_Reduce and a scatter"),
            "ompi_nonoverlapping");
  EXPECT_EQ(runs("ompi_recursive_doubling", sum(all_gather, 8, 1)), "ompi_recursive_doubling");
  EXPECT_EQ(runs("ompi_recursive_doubling", sum(all_gather, 6, 1), {}, "not 6"), "ompi_bruck");
  EXPECT_EQ(runs("ompi_neighbor_exchange", sum(all_gather, 6, 1)), "ompi_neighbor_exchange");
  EXPECT_EQ(runs("ompi_neighbor_exchange", sum(all_gather, 5, 1), {}, "not 5"), "ompi_ring");
}

TEST(OpenMpiSelection, FindsTheReduceOfNonoverlapping) {
  const auto chosen = [](const Problem& problem, const Parameters& parameters) {
    return select(find_algorithm("ompi_nonoverlapping", problem.collective), problem, parameters)
        .parameters;
  };
  const Problem problem = sum(Collective::all_reduce, 6, 100);
  EXPECT_EQ(chosen(problem, {}).reduce_algorithm, "ompi_binary");
  EXPECT_EQ(chosen(sum(Collective::reduce_scatter, 6, 6000), {}).reduce_algorithm, "ompi_pipeline");
  Parameters forced;
  forced.reduce_algorithm = "ompi_chain";
  forced.fanout = 2;
  EXPECT_EQ(chosen(problem, forced), forced);
  EXPECT_EQ(chosen(problem, chosen(problem, forced)), forced);
  forced = {};
  forced.reduce_algorithm = "ompi_rabenseifner";
  EXPECT_EQ(chosen(sum(Collective::all_reduce, 6, 3), forced).reduce_algorithm, "ompi_linear");
}

TEST(OpenMpiSelection, KnowsTheIdsThatMcaParametersTake) {
  EXPECT_EQ(openmpi::with_id(openmpi::reduce_rules(), 2, true).algorithm->name, "ompi_chain");
  EXPECT_EQ(openmpi::with_id(openmpi::reduce_rules(), 2, false).algorithm->name, "ompi_pipeline");
  EXPECT_EQ(openmpi::with_id(openmpi::reduce_scatter_block_rules(), 4, true).algorithm->name,
            "ompi_butterfly");
  expect_error(ErrorKind::bad_argument, {"MPI_Allreduce has algorithms 1 to 6, not 7"},
               [] { openmpi::with_id(openmpi::all_reduce_rules(), 7, true); });
}

TEST(OpenMpiParameters, AreChecked) {
  const auto refused = [](const char* algorithm, Collective collective, Parameters parameters,
                          std::initializer_list<const char*> phrases) {
    expect_error(ErrorKind::bad_argument, phrases, [&] {
      const Problem problem = sum(collective, 4, 40);
      const Selection s = select(find_algorithm(algorithm, collective), problem, parameters);
      s.algorithm->build(problem, s.parameters);
      s.algorithm->layout(problem, ScheduleShape{.ranks = 4}, s.parameters);
    });
  };
  Parameters parameters;
  parameters.reduce_algorithm = "ring";
  refused("ompi_nonoverlapping", Collective::all_reduce, parameters, {"Open MPI's", "not ring"});
  parameters.reduce_algorithm = "ompi_ring";
  expect_error(ErrorKind::not_supported, {"ompi_ring has no reduce"}, [&] {
    select(find_algorithm("ompi_nonoverlapping", Collective::all_reduce),
           sum(Collective::all_reduce, 4, 40), parameters);
  });
  parameters = {};
  parameters.fanout = -1;
  refused("ompi_chain", Collective::reduce, parameters, {"-1 columns"});
  refused("ompi_binary", Collective::reduce, parameters, {"no parameter fanout"});
  parameters = {};
  parameters.segment_bytes = -4;
  refused("ompi_segmented_ring", Collective::all_reduce, parameters, {"-4 bytes"});
  refused("ompi_binomial", Collective::reduce, parameters, {"-4 bytes"});
  parameters.segment_bytes = 16;
  parameters.chunks = 7;
  refused("ompi_segmented_ring", Collective::all_reduce, parameters, {"phases", "not 7"});
}

}  // namespace
}  // namespace vranks
