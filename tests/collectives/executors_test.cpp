// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every registered algorithm of every collective over many numbers of ranks: the fused and the
// step-by-step executor give the same bits, in place too, and data for which every order is exact
// gives the exact result. The table test has all ops, dtypes and groups over fewer ranks.
#include <gtest/gtest.h>

#include "collectives/algorithm.hpp"
#include "tests/collectives/generated_trials.hpp"
#include "tests/collectives/on_device.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

class Executors : public OnDevice {
 protected:
  // All algorithms and choices of parameters over R ranks with n elements.
  void check(std::int64_t ranks, std::int64_t n, Kind kind, Data data = Data::random) {
    for (const CollectiveInfo& info : collectives()) {
      const Collective form = even_form(info.collective);
      const bool cuts = form == Collective::reduce_scatter || form == Collective::scatter ||
                        form == Collective::all_to_all;
      if (cuts && !takes_counts(info.collective) && n % ranks != 0) continue;
      if (!reduces(info.collective) && kind.op != ReduceOp::sum) continue;
      if (is_prefix(info.collective) && kind.op == ReduceOp::mean) continue;
      // Outputs that all hold all of R inputs are large; schedules with a chunk a pair are, too.
      if (form == Collective::all_gather && ranks * n > 8000) continue;
      if (form == Collective::all_to_all && ranks > 33) continue;
      for (const Algorithm& algorithm : algorithms())
        if (supports(algorithm, info.collective))
          for (const Parameters& parameters : variants(algorithm, ranks))
            check_one(trial(info.collective, ranks, n, kind, algorithm.name, parameters, data));
    }
  }

  Trial trial(Collective collective, std::int64_t ranks, std::int64_t n, Kind kind,
              std::string_view algorithm, const Parameters& parameters, Data data) const {
    Trial trial{.meaning = {.collective = collective,
                            .ranks = ranks,
                            .rows = n,
                            .dtype = kind.dtype,
                            .options = {.op = kind.op,
                                        .algorithm = algorithm,
                                        .parameters = parameters,
                                        .root = has_root(collective) ? n % ranks : 0}},
                .device = GetParam(),
                .data = data};
    CollectiveOptions& o = trial.meaning.options;
    if (takes_counts(collective)) detail::set_counts(trial, 0, n, false);
    if (collective == Collective::permute && ranks == 1) o.permutation.emplace_back(0, 0);
    if (collective == Collective::permute)
      for (std::int64_t r = 0; r + 1 < ranks; ++r) o.permutation.emplace_back(r, r + 1);
    if (o.op == ReduceOp::premul_sum && reduces(collective)) o.factor = -0.5;
    return trial;
  }

  static std::vector<std::byte> results(const Trial& trial, const std::vector<std::byte>& block) {
    std::vector<std::byte> all;
    for (std::size_t s = 0; s < trial.out_rows.size(); ++s)
      all.insert(all.end(), block.begin() + trial.out_at[s],
                 block.begin() + trial.out_at[s] + trial.out_rows[s] * trial.row_bytes());
    return all;
  }

  void check_one(Trial trial) {
    Provenance provenance;
    trial.lay_out();
    const auto before = trial.filled_block();
    std::vector<std::byte> fused;
    try {
      fused = trial.run(before, provenance);
    } catch (const Error& error) {
      // Refused: the message says for which R, or which op the library lacks.
      const std::string message = error.what();
      const auto says = [&](std::string_view part) {
        return message.find(part) != std::string::npos;
      };
      EXPECT_TRUE(says(name(trial.meaning.options.op)) || says(std::to_string(trial.meaning.ranks)))
          << trial.to_string() << "\n  " << message;
      ++refused_;
      return;
    }
    ++compared_;
    EXPECT_EQ(trial.judge(before, fused, provenance), "") << trial.to_string();
    trial.steps = true;
    EXPECT_TRUE(trial.run(before, provenance) == fused) << trial.to_string();
    trial.steps = false;

    Trial in_place = trial;
    in_place.placement = Placement::in_place;
    in_place.in_rows.clear();
    in_place.lay_out();
    const auto own_before = in_place.filled_block();
    const auto own_after = in_place.run(own_before, provenance);
    // Rows of an all_to_all_v in place are longer; a barrier writes nothing.
    const bool same_rows =
        trial.out_rows == in_place.out_rows && trial.meaning.collective != Collective::barrier;
    EXPECT_TRUE(!same_rows || results(in_place, own_after) == results(trial, fused))
        << in_place.to_string();
    EXPECT_EQ(in_place.judge(own_before, own_after, provenance), "") << in_place.to_string();

    // Scaling first rounds even whole numbers.
    CollectiveOptions& options = trial.meaning.options;
    if (options.op == ReduceOp::mean && is_floating(trial.meaning.dtype) &&
        reduces(trial.meaning.collective))
      options.mean = MeanMode::divide;
    trial.data = Data::whole;
    const auto whole = trial.filled_block();
    EXPECT_EQ(trial.judge(whole, trial.run(whole, provenance), provenance), "")
        << trial.to_string();
  }

  int compared_ = 0, refused_ = 0;
};

TEST_P(Executors, AgreeForEveryAlgorithm) {
  for (std::int64_t ranks = 1; ranks <= 17; ++ranks)
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, ranks - 1, ranks, ranks + 1, 3 * ranks})
      check(ranks, n, {DType::f32, ReduceOp::sum});
  for (const std::int64_t ranks : {31, 32, 33, 64})
    for (const std::int64_t n : {ranks, ranks + 1}) check(ranks, n, {DType::f32, ReduceOp::sum});
  for (const std::int64_t ranks : {3, 8}) check(ranks, 1000, {DType::f32, ReduceOp::sum});
  EXPECT_GT(compared_, 10000);
}

TEST_P(Executors, AgreeForOtherDTypesAndOps) {
  for (const Kind kind : {Kind{DType::bf16, ReduceOp::mean}, Kind{DType::f16, ReduceOp::mean},
                          Kind{DType::f64, ReduceOp::mean}, Kind{DType::f32, ReduceOp::mean},
                          Kind{DType::i32, ReduceOp::mean}, Kind{DType::bf16, ReduceOp::max},
                          Kind{DType::f32, ReduceOp::prod}, Kind{DType::u8, ReduceOp::sum}})
    for (const std::int64_t ranks : {1, 2, 3, 5, 8, 13})
      for (const std::int64_t n : {ranks - 1, 8 * ranks}) check(ranks, n, kind);
  EXPECT_GT(compared_, 1000);
}

TEST_P(Executors, AgreeForInfinitiesAndNaN) {
  for (const DType dtype : {DType::f8e5m2, DType::f32})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::mean,
                              ReduceOp::premul_sum, ReduceOp::max_loc})
      for (const std::int64_t ranks : {1, 2, 3, 8})
        check(ranks, 6 * ranks, {dtype, op}, Data::special);
  EXPECT_GT(compared_, 1000);
}

// An infinite 8-bit float that a rank only passes on stays one until something is combined with it:
// 4096 - infinity saturates once, whichever rank adds.
TEST_P(Executors, InfinitiesSaturateWhereTheyAreCombined) {
  const auto sums = [&](Collective collective, std::string_view algorithm,
                        const std::vector<std::uint8_t>& column) {
    const auto ranks = static_cast<std::int64_t>(column.size());
    const DeviceBuffer in(column.size(), GetParam()), out(column.size(), GetParam());
    in.copy_from_host(column.data(), column.size());
    const Shape rows = {ranks, 1};
    const Shape results = collective == Collective::reduce ? Shape{1} : rows;
    const TensorView x{in.data(), DType::f8e5m2, rows, {}, GetParam()};
    const TensorView y{out.data(), DType::f8e5m2, results, {}, GetParam()};
    const CollectiveOptions options{.op = ReduceOp::sum, .algorithm = algorithm};
    std::array<std::uint8_t, 2> both{};
    run(collective, x, y, options);
    out.copy_to_host(&both[0], 1);
    run_steps(collective, x, y, options);
    out.copy_to_host(&both[1], 1);
    return both;
  };
  using Bits = std::array<std::uint8_t, 2>;
  for (const char* algorithm : {"one_shot", "two_shot", "recursive_doubling", "ring"})
    EXPECT_EQ(sums(Collective::all_reduce, algorithm, {0x6c, 0xfc}), (Bits{0xfb, 0xfb}))
        << algorithm;
  EXPECT_EQ(sums(Collective::reduce, "ompi_linear", {0x7c, 0xfc}), (Bits{0x7f, 0x7f}));
  const auto [fused, stepped] =
      sums(Collective::reduce, "ompi_linear", {0, 0x7c, 0x3c, 0xfc, 0, 0x3c, 0x40});
  EXPECT_EQ(fused, stepped);
}

VR_ON_EVERY_DEVICE(Executors);

}  // namespace
}  // namespace vranks
