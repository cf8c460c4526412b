// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every file of docs/data/measured: how many rows it has, and what becomes of them.
#include "simulator/measured_match.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <set>

namespace vranks {
namespace {

// The names that the tables of words may lead to.
const std::vector<std::string> topologies{
    "a6000",           "aws_p4de",           "aws_p5",       "fugaku",         "leonardo",
    "mare_nostrum5",   "mare_nostrum5_gpu",  "mi300x",       "nvswitch_a100",  "nvswitch_h100",
    "nvswitch_h200",   "rtx2080ti_ethernet", "rtx2080ti_ib", "rtx4090_no_p2p", "rtx4090_p2p",
    "shared_memory_i7"};

const auto folder =
    std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "docs" / "data" / "measured";

struct File {
  std::string name;
  std::map<std::string, int> rows;  // by the reason why not; those that match: by ""
};
void PrintTo(const File& file, std::ostream* out) { *out << file.name; }

const std::vector<File> files{
    {"mpi_shm_i7_14700k_ring.csv",
     {{"", 900},
      {"no collective of that name", 50},
      {"the least of 1000 repetitions; the median is judged", 900}}},
    {"nccl_2080ti_ring_tree_ib_eth.csv", {{"", 570}}},
    {"nccl_aws_p4de_p5.csv",
     {{"", 162}, {"NVLS in several nodes, for which there is no algorithm", 36}}},
    {"nccl_azure_nd_single_node_busbw.csv",
     {{"", 62}, {"another host, with its own launch time", 10}}},
    {"nccl_azure_ndv4_a100_echo.csv",
     {{"", 214}, {"NCCL's choice for small sizes is a poor one here", 40}}},
    {"nccl_h100_ring_vs_nvls_by_ngpus.csv", {{"", 12}, {"NCCL fell back to its ring", 2}}},
    {"nccl_msccl_azure_ndv4_leaderboard.csv",
     {{"", 20},
      {"another host, with its own launch time", 18},
      {"less time for more bytes", 2},
      {"no algorithm of that name", 30},
      {"out of place the library's default ran, not the program", 32}}},
    {"nccl_pcie_rtx4090.csv", {{"", 50}, {"no topology of that machine", 21}}},
    {"nccl_ring_simple_a6000_pinned.csv",
     {{"", 90}, {"sockets carry everything; there is no topology of them", 30}}},
    {"pico_fugaku.csv",
     {{"", 597},
      {"memory is set up at that size", 24},
      {"no algorithm of that name", 1451},
      {"several ports at once", 1301}}},
    {"pico_leonardo.csv",
     {{"", 564},
      {"a library with a changed Rabenseifner", 25},
      {"a placement three times slower than all others", 122},
      {"no algorithm of that name", 564},
      {"no topology of that machine", 113},
      {"repetitions differ by 84 %", 147}}},
    {"pico_mare_nostrum.csv",
     {{"", 385},
      {"100 times as long for 8 times the bytes", 2},
      {"no algorithm of that name", 597}}},
    {"rccl_msccl_mi300x_per_algo_proto.csv",
     {{"", 1051},
      {"out of place the library's default ran, not the program", 1114},
      {"too few elements for the program", 60}}},
};

class MeasuredFile : public testing::TestWithParam<File> {};

TEST_P(MeasuredFile, MatchesRows) {
  std::map<std::string, int> found;
  for (const MeasuredRow& row : read_measured(folder / GetParam().name)) {
    const Match match = vranks::match(row, topologies);
    ++found[match.reason];
    if (!match.reason.empty()) continue;
    EXPECT_GT(match.problem.elements, 0) << row.line;
    EXPECT_EQ(match.problem.ranks, row.ranks) << row.line;
    EXPECT_EQ(match.ranks_per_node * row.nodes, row.ranks) << row.line;
    ASSERT_FALSE(match.candidates.empty()) << row.line;
    for (const Candidate& candidate : match.candidates)
      EXPECT_NO_THROW(select(*candidate.algorithm, match.problem, candidate.parameters))
          << row.line;
  }
  EXPECT_EQ(found, GetParam().rows);
}

INSTANTIATE_TEST_SUITE_P(, MeasuredFile, testing::ValuesIn(files), [](const auto& test) {
  return test.param.name.substr(0, test.param.name.find('.'));
});

TEST(MeasuredFiles, AreAllHere) {
  std::set<std::string> there, known;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".csv") there.insert(entry.path().filename());
  for (const File& file : files) known.insert(file.name);
  EXPECT_EQ(there, known);
}

TEST(MeasuredFiles, SizesThatAreTimesWhatWasSent) {
  MeasuredRow row;
  row.collective = "all_reduce";
  row.machine = "MareNostrum5 (IB NDR fat-tree) gpu-aware CUDA 12.2";
  row.ranks = 16;
  row.nodes = 4;
  row.algorithm = "allreduce_nccl_ring";
  row.bytes = 1 << 20;
  row.seconds = 1e-3;
  EXPECT_EQ(match(row, topologies).problem.elements, 1 << 16);
}

// "nccl_ring simple, nccl_ring ll, ...": what may have run.
std::string candidates_of(const Match& match) {
  std::string text = match.reason;
  for (const Candidate& candidate : match.candidates) {
    if (!text.empty()) text += ", ";
    text += std::string(candidate.algorithm->name) + " " + std::string(name(candidate.protocol));
    if (candidate.channels > 0) text += " " + std::to_string(candidate.channels);
    if (candidate.instances > 1) text += "x" + std::to_string(candidate.instances);
  }
  return text;
}

Match match_of(const std::string& row) {
  const std::string header =
      "collective,machine,nranks,nnodes,algo,proto,size_bytes,time_us,source\n";
  return match(parse_measured(header + row, "t.csv").at(0), topologies);
}

TEST(MeasuredMatch, KnowsChannelsAndInstances) {
  const Match match = match_of(
      "all_gather,Azure ND MI300X v5 (8x MI300X xGMI mesh),8,1,MSCCL ring channels=4 instances=2,"
      "LL128,1024,230.8,RCCL 2.21.5; float32; placement=ip");
  EXPECT_EQ(candidates_of(match), "ring ll128 4x2");
  EXPECT_EQ(match.topology, "mi300x");
  EXPECT_EQ(match.problem.collective, Collective::all_gather);
  EXPECT_EQ(match.problem.elements, 32);
  EXPECT_EQ(match.problem.dtype, DType::f32);
  EXPECT_TRUE(match.in_place);
}

TEST(MeasuredMatch, KnowsPinnedRuns) {
  const Match match = match_of(
      "all_reduce,8x RTX A6000 (NVLink pairs) 8 Ranks Over RDMA,8,2,ring,Simple,262144,197,"
      "NCCL 2.30.7 NCCL_ALGO=Ring NCCL_PROTO=Simple; FP16 Sum; 4 channels; placement=oop");
  EXPECT_EQ(candidates_of(match), "nccl_ring simple 4");
  EXPECT_EQ(match.candidates.at(0).parameters.channels, 4);
  EXPECT_EQ(match.ranks_per_node, 4);
  EXPECT_EQ(match.problem.dtype, DType::f16);
  EXPECT_EQ(match.problem.elements, 131072);
  EXPECT_FALSE(match.in_place);
}

TEST(MeasuredMatch, TakesAllThatALibraryMayChoose) {
  const Match match = match_of(
      "all_reduce,Azure NDv4 (8x A100-SXM4-40GB/node; 8x HDR200 IB),16,2,,,1024,57,float32 sum");
  EXPECT_EQ(candidates_of(match),
            "nccl_ring simple, nccl_ring ll, nccl_ring ll128, "
            "nccl_tree simple, nccl_tree ll, nccl_tree ll128");
  EXPECT_EQ(match.candidates.at(0).parameters.ranks_per_node, 0);  // which a ring doesn't read
  EXPECT_EQ(match.candidates.at(4).parameters.ranks_per_node, 8);
  EXPECT_EQ(match.candidates.at(4).parameters.protocol, Protocol::ll);
}

TEST(MeasuredMatch, CountsBytesOfInputOrOutput) {
  const auto elements = [](const std::string& collective, const std::string& algorithm) {
    const Match match = match_of(collective + ",leonardo,3,3," + algorithm + ",,256,1,int32");
    EXPECT_EQ(match.reason, "");
    return match.problem.elements;
  };
  EXPECT_EQ(elements("all_reduce", "ring"), 64);
  EXPECT_EQ(elements("broadcast", "linear"), 64);
  EXPECT_EQ(elements("all_gather", "ring"), 21);
  EXPECT_EQ(elements("gather", "linear"), 21);
  EXPECT_EQ(elements("reduce_scatter", "ring"), 63);
  EXPECT_EQ(elements("scatter", "linear"), 63);
  EXPECT_EQ(elements("alltoall", "pairwise"), 63);
}

TEST(MeasuredMatch, TakesOurOwnNames) {
  const auto found = [](const std::string& row) { return candidates_of(match_of(row)); };
  EXPECT_EQ(found("allreduce,a6000,4,,ring,,1024,9,"), "ring simple");
  EXPECT_EQ(found("allreduce,a6000,4,,ring,LL,1024,9,"), "ring ll");
  EXPECT_EQ(found("allreduce,a6000,4,,nccl_tree,ll128,1024,9,"), "nccl_tree ll128");
  EXPECT_EQ(found("allreduce,leonardo,4,4,rabenseifner,,1024,9,"), "halving_doubling simple");
  EXPECT_EQ(found("allreduce,leonardo,4,4,ring_ompi,,1024,9,"), "ompi_ring simple");
  EXPECT_EQ(match_of("allreduce,a6000,4,,ring,,1024,9,").ranks_per_node, 0);
  // What a published table has wrong, another one may have right.
  EXPECT_EQ(found("all_gather,leonardo,512,512,ring,,1048576,9,"), "ring simple");
}

TEST(MeasuredMatch, SaysWhyNot) {
  const auto reason = [](const std::string& row) { return match_of(row).reason; };
  EXPECT_EQ(reason("pt2pt_latency,a6000,2,1,,,8,1,"), "no collective of that name");
  EXPECT_EQ(reason("all_reduce,a laptop,2,1,ring,,8,1,"), "no topology of that machine");
  EXPECT_EQ(reason("all_reduce,a6000,2,1,ring,,8,,"), "no time");
  EXPECT_EQ(reason("all_reduce,a6000,6,4,ring,,8,1,"), "ranks aren't spread over the nodes evenly");
  EXPECT_EQ(reason("all_gather,a6000,4,1,ring,,8,1,"), "less than an element for each rank");
  EXPECT_EQ(reason("all_gather_v,a6000,4,1,ring,,64,1,"),
            "the row doesn't say who sends how much to whom");
  EXPECT_EQ(reason("all_reduce,a6000,4,1,ring,LL64,64,1,"),
            "there is no protocol 'll64'; there are: simple ll ll128");
  EXPECT_TRUE(
      reason("all_reduce,a6000,4,1,spiral,,64,1,")
          .starts_with("there is no algorithm 'spiral'; for all_reduce there are: direct "));
  EXPECT_EQ(reason("all_reduce,MareNostrum5 (IB NDR fat-tree),32,32,bine_lat_over,,64,1,"),
            "no algorithm of that name");
}

}  // namespace
}  // namespace vranks
