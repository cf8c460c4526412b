// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How NCCL cuts a vector into parts, windows and chunks, which versions are known, and where its
// kernels round once or twice.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <set>

#include "collectives/algorithm.hpp"
#include "collectives/nccl/constants.hpp"
#include "collectives/nccl/partition.hpp"
#include "ranks/error.hpp"

namespace vranks {
namespace {

using Lengths = std::vector<std::int64_t>;

// Without the channels that aren't used.
Lengths used_parts(const nccl::Cut& cut, std::string_view version = "2.30.7") {
  Lengths parts = nccl::part_lengths(nccl::constants_of(version), cut);
  EXPECT_EQ(parts.size(), static_cast<std::size_t>(cut.channels));
  while (!parts.empty() && parts.back() == 0) parts.pop_back();
  return parts;
}

// `count` equal parts, then a last one.
Lengths parts(std::size_t count, std::int64_t length, std::int64_t last) {
  Lengths all(count, length);
  all.push_back(last);
  return all;
}

TEST(NcclParts, AreThoseOfTheMeasuredTable) {
  struct Row {
    std::int64_t elements, element_bytes;
    std::vector<Protocol> protocols;
    std::map<std::int32_t, Lengths> by_channels;
  };
  const auto simple = Protocol::simple, ll = Protocol::ll, ll128 = Protocol::ll128;
  const Row rows[] = {
      {4099, 4, {simple}, {{2, {4099}}, {4, {4099}}}},
      {4099, 4, {ll128}, {{2, {4096, 3}}, {4, {4096, 3}}}},
      {65553, 4, {simple, ll128}, {{2, {36864, 28689}}, {4, parts(3, 20480, 4113)}}},
      {65553, 2, {simple, ll128}, {{2, {40960, 24593}}, {4, parts(2, 24576, 16401)}}},
      {65553, 4, {ll}, {{2, {33792, 31761}}, {4, parts(3, 17408, 13329)}}},
      {65553, 2, {ll}, {{2, {34816, 30737}}, {4, parts(3, 18432, 10257)}}},
      {1048579, 4, {simple, ll128}, {{2, {528384, 520195}}, {4, parts(3, 266240, 249859)}}},
      {1048579, 2, {simple, ll128}, {{2, {532480, 516099}}, {4, parts(3, 270336, 237571)}}},
      {1048579, 4, {ll}, {{2, {525312, 523267}}, {4, parts(3, 263168, 259075)}}},
      {1048579, 2, {ll}, {{2, {526336, 522243}}, {4, parts(3, 264192, 256003)}}},
      {4000003,
       4,
       {simple},
       {{2, {2002944, 1997059}},
        {4, parts(3, 1003520, 989443)},
        {8, parts(7, 503808, 473347)},
        {16, parts(15, 253952, 190723)}}},
      {4000003,
       2,
       {simple},
       {{2, {2007040, 1992963}},
        {4, parts(3, 1007616, 977155)},
        {8, parts(7, 507904, 444675)},
        {16, parts(15, 253952, 190723)}}},
  };
  for (const Row& row : rows)
    for (const Protocol protocol : row.protocols)
      for (const auto& [channels, expected] : row.by_channels)
        for (std::int64_t ranks = 2; ranks <= 8; ++ranks)
          EXPECT_EQ(used_parts({.ranks = ranks,
                                .elements = row.elements,
                                .element_bytes = row.element_bytes,
                                .protocol = protocol,
                                .channels = channels}),
                    expected)
              << row.elements << " x " << row.element_bytes << " " << name(protocol) << ", "
              << channels << " channels, " << ranks << " ranks";
  for (const std::int64_t ranks : {3, 8})
    for (const std::int32_t channels : {2, 4})
      EXPECT_EQ(
          used_parts(
              {.ranks = ranks, .elements = 4099, .protocol = Protocol::ll, .channels = channels}),
          Lengths{4099});
}

TEST(NcclParts, OlderReleasesHaveSmallerCells) {
  const nccl::Cut cut{.ranks = 4, .elements = 65553, .channels = 2};
  EXPECT_EQ(used_parts(cut, "2.28.9"), (Lengths{34816, 30737}));
  EXPECT_EQ(used_parts(cut, "2.29"), (Lengths{36864, 28689}));
}

TEST(NcclParts, OnlyReleasesThatAreKnown) {
  for (const nccl::Constants& row : nccl::known_releases())
    EXPECT_EQ(nccl::constants_of(row.release), row);
  EXPECT_EQ(nccl::constants_of("2.27.3").release, "2.27");
  EXPECT_EQ(nccl::constants_of("2.30.7").release, "2.30");
  for (const char* version : {"2.22.3", "2.31.1", "2.30.8", "2.2", "2.300", "2.27.", "2.27.x",
                              "2.27.3.1", "2.27.-1", "v2.27", "", "3"}) {
    try {
      nccl::constants_of(version);
      ADD_FAILURE() << version << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::not_supported);
      EXPECT_NE(std::string(error.what()).find("2.29, 2.30 up to 2.30.7"), std::string::npos);
    }
  }
}

nccl::Cut any_cut() {
  return {.collective = *rc::gen::element(Collective::all_reduce, Collective::reduce,
                                          Collective::reduce_scatter, Collective::all_gather),
          .ranks = *rc::gen::inRange<std::int64_t>(1, 40),
          .elements = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 2000),
                                      rc::gen::inRange<std::int64_t>(0, 3000000)),
          .element_bytes = std::int64_t{1} << *rc::gen::inRange(0, 4),
          .protocol = *rc::gen::element(Protocol::simple, Protocol::ll, Protocol::ll128),
          .tree = *rc::gen::arbitrary<bool>(),
          .channels = *rc::gen::inRange(1, 65)};
}

RC_GTEST_PROP(NcclParts, AreTheWholeInOrder, ()) {
  const nccl::Cut cut = any_cut();
  const Lengths lengths =
      nccl::part_lengths(nccl::constants_of(*rc::gen::element("2.23", "2.30.7")), cut);
  RC_ASSERT(lengths.size() == static_cast<std::size_t>(cut.channels));
  RC_ASSERT(std::reduce(lengths.begin(), lengths.end()) == cut.elements);
  bool ended = false;
  for (const std::int64_t length : lengths) {
    RC_ASSERT(length >= 0);
    RC_ASSERT(length == 0 || !ended);
    ended = length == 0;
  }
}

// --- windows and chunks ---

// Lengths of all pieces of the chunks of a part, in the order of the elements.
Lengths piece_lengths(Protocol protocol, std::int64_t element_bytes, std::int64_t elements,
                      std::size_t ranks) {
  std::vector<std::vector<Interval>> chunks(ranks);
  nccl::add_windows(nccl::constants_of("2.30.7"), protocol, element_bytes, 0, elements, chunks);
  std::map<std::int64_t, std::int64_t> by_begin;
  for (const auto& chunk : chunks)
    for (const Interval& piece : chunk) by_begin[piece.begin] = piece.length();
  Lengths lengths;
  for (const auto& [begin, length] : by_begin) lengths.push_back(length);
  return lengths;
}

TEST(NcclWindows, LastOneIsCutEvenly) {
  EXPECT_EQ(piece_lengths(Protocol::simple, 4, 1000, 4), (Lengths{252, 252, 252, 244}));
  EXPECT_EQ(piece_lengths(Protocol::simple, 4, 7, 5), (Lengths{4, 3}));
  EXPECT_EQ(piece_lengths(Protocol::simple, 4, 1, 4), Lengths{1});
  // Just full, and one element more: a window of its own.
  EXPECT_EQ(piece_lengths(Protocol::ll, 4, 3 * 8192, 3), Lengths(3, 8192));
  EXPECT_EQ(piece_lengths(Protocol::ll, 4, 3 * 8192 + 1, 3), parts(3, 8192, 1));
  EXPECT_EQ(piece_lengths(Protocol::ll128, 8, 2 * 72000 + 5, 2), (Lengths{72000, 72000, 4, 1}));
  EXPECT_EQ(piece_lengths(Protocol::simple, 2, 2 * 1048576 + 30, 2),
            (Lengths{1048576, 1048576, 16, 14}));
}

// Every element is in the chunk that the closed formula gives.
RC_GTEST_PROP(NcclWindows, FollowTheFormula, ()) {
  Problem problem;
  problem.ranks = *rc::gen::inRange(1, 9);
  problem.elements = *rc::gen::inRange<std::int64_t>(0, 400000);
  problem.dtype = *rc::gen::element(DType::f32, DType::f64, DType::bf16, DType::u8);
  Parameters parameters;
  parameters.protocol = *rc::gen::element(Protocol::simple, Protocol::ll, Protocol::ll128);
  parameters.channels = *rc::gen::inRange(1, 9);
  const Algorithm& ring = find_algorithm("nccl_ring", Collective::all_reduce);
  const Schedule schedule = ring.build(problem, parameters);
  const Layout layout = ring.layout(problem, schedule.shape(), parameters);

  const std::int64_t n = problem.ranks;
  const auto bytes = static_cast<std::int64_t>(size_bytes(problem.dtype));
  const std::int64_t chunk_bytes[] = {2097152, 32768, 576000};
  const std::int64_t most = chunk_bytes[static_cast<int>(parameters.protocol)] / bytes;
  std::int64_t begin = 0;
  for (std::int32_t k = 0; k < parameters.channels; ++k) {
    std::int64_t part = 0;
    for (std::int32_t c = 0; c < n; ++c)
      part += layout.length(k * static_cast<std::int32_t>(n) + c);
    for (std::int32_t c = 0; c < n; ++c)
      for (const Interval& piece : layout.chunk(k * static_cast<std::int32_t>(n) + c)) {
        RC_ASSERT(piece.origin == piece.begin);
        for (const std::int64_t i : {piece.begin - begin, piece.end - 1 - begin}) {
          const std::int64_t window = i / (n * most), rest = part - window * n * most;
          const std::int64_t unit = 16 / bytes;
          const std::int64_t length =
              rest >= n * most ? most : ((rest + n - 1) / n + unit - 1) / unit * unit;
          RC_ASSERT((i - window * n * most) / length == c);
        }
      }
    begin += part;
  }
  RC_ASSERT(begin == problem.elements);
}

// A layout covers every element once, or its constructor throws; all blocks are cut alike.
RC_GTEST_PROP(NcclLayout, CoversEveryElement, ()) {
  Problem problem;
  problem.ranks = *rc::gen::inRange(1, 17);
  problem.collective = *rc::gen::element(Collective::all_reduce, Collective::reduce,
                                         Collective::reduce_scatter, Collective::all_gather);
  const auto elements = *rc::gen::inRange<std::int64_t>(0, 200000);
  const bool scatters = problem.collective == Collective::reduce_scatter;
  problem.elements = scatters ? elements * problem.ranks : elements;
  problem.dtype = *rc::gen::element(DType::f32, DType::f64, DType::f16, DType::i8);
  Parameters parameters;
  parameters.protocol = *rc::gen::element(Protocol::simple, Protocol::ll, Protocol::ll128);
  parameters.channels = *rc::gen::inRange(1, 17);
  for (const char* name : {"nccl_ring", "nccl_tree"}) {
    if (problem.collective != Collective::all_reduce && std::string_view(name) == "nccl_tree")
      continue;
    const Algorithm& algorithm = find_algorithm(name, problem.collective);
    const Schedule schedule = algorithm.build(problem, parameters);
    const Layout layout = algorithm.layout(problem, schedule.shape(), parameters);
    RC_ASSERT(layout.chunks() == schedule.shape().chunks);
    RC_ASSERT(layout.elements() == whole_elements(problem));
    if (!schedule.shape().has_parts()) continue;
    const std::int32_t part_chunks = schedule.shape().part_chunks();
    RC_ASSERT(part_chunks == parameters.channels);
    for (std::int32_t c = 0; c < layout.chunks(); ++c) {
      RC_ASSERT(layout.length(c) == layout.length(c % part_chunks));
      for (const Interval& interval : layout.chunk(c)) RC_ASSERT(interval.origin == interval.begin);
    }
  }
}

TEST(NcclLayout, RefusesAnotherSchedule) {
  Problem problem;
  problem.ranks = 4;
  problem.elements = 100;
  Parameters parameters;
  parameters.channels = 2;
  const ScheduleShape shape{Collective::all_reduce, 4, 0, 4, 0};
  EXPECT_THROW(nccl_ring_layout(problem, shape, parameters), Error);
  EXPECT_THROW(nccl_tree_layout(problem, shape, parameters), Error);
  problem.collective = Collective::reduce_scatter;
  problem.elements = 102;  // no block a rank
  EXPECT_THROW(nccl_ring_layout(problem, {Collective::reduce_scatter, 4, 0, 8, 0}, parameters),
               Error);
}

// --- rounding ---

Arithmetic refined(DType dtype, ReduceOp op, Protocol protocol,
                   MeanMode mean = MeanMode::premultiply) {
  Problem problem;
  problem.dtype = dtype;
  problem.op = op;
  Parameters parameters;
  parameters.protocol = protocol;
  Arithmetic arithmetic{.dtype = dtype, .op = op, .mean = mean, .group = 3};
  find_algorithm("nccl_ring", Collective::all_reduce).refine(problem, parameters, arithmetic);
  return arithmetic;
}

TEST(NcclRounding, FusesAsTheKernelsDo) {
  const auto fuse = [](DType dtype, Protocol protocol) {
    return refined(dtype, ReduceOp::mean, protocol).fuse;
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    EXPECT_EQ(fuse(dtype, Protocol::simple), Fuse::own);
    EXPECT_EQ(fuse(dtype, Protocol::ll), Fuse::own);
    EXPECT_EQ(fuse(dtype, Protocol::ll128), Fuse::ll128);
  }
  for (const DType dtype : {DType::f16, DType::bf16}) {
    EXPECT_EQ(fuse(dtype, Protocol::simple), Fuse::own);
    EXPECT_EQ(fuse(dtype, Protocol::ll), Fuse::own);
    EXPECT_EQ(fuse(dtype, Protocol::ll128), Fuse::never);
  }
  EXPECT_EQ(fuse(DType::i32, Protocol::simple), Fuse::never);
  EXPECT_EQ(refined(DType::f32, ReduceOp::sum, Protocol::simple).fuse, Fuse::never);
  EXPECT_EQ(refined(DType::f32, ReduceOp::mean, Protocol::simple, MeanMode::divide).fuse,
            Fuse::never);
}

TEST(NcclRounding, KeepsTheNanThatTheKernelsKeep) {
  const auto nan_bits = [](DType dtype, ReduceOp op, Protocol protocol) {
    return refined(dtype, op, protocol).nan_bits;
  };
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
    EXPECT_EQ(nan_bits(DType::f64, op, Protocol::simple), NanBits::received);
    EXPECT_EQ(nan_bits(DType::f64, op, Protocol::ll), NanBits::received);
    EXPECT_EQ(nan_bits(DType::f64, op, Protocol::ll128), NanBits::own);
    EXPECT_EQ(nan_bits(DType::f32, op, Protocol::simple), NanBits::one_pattern);
  }
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128})
    EXPECT_EQ(nan_bits(DType::f64, ReduceOp::mean, protocol), NanBits::own);
}

// The first word of every pack of 16 bytes, and the second one of eight packs of 120.
TEST(NcclRounding, Ll128FusesByPosition) {
  const std::set<std::int64_t> whole_packs = {7, 15, 23, 31, 67, 75, 83, 91};
  for (const std::int64_t bytes : {4, 8})
    for (std::int64_t i = 0; i < 2 * 1920 / bytes; ++i) {
      const std::int64_t pack = i * bytes / 16 % 120;
      EXPECT_EQ(fuses_at(i, bytes), i * bytes % 16 < 8 || whole_packs.contains(pack))
          << "element " << i << " of " << bytes << " bytes, pack " << pack;
    }
}

}  // namespace
}  // namespace vranks
