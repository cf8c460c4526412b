// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Every collective x algorithm x op x dtype x device x placement x group shape against the plain
// reference, by the rows of generated_trials.hpp: 63 for each collective, algorithm and choice of
// parameters, 272 for `direct`. Both executors give equal bits, CUDA those of the CPU; what isn't
// the result stays as it was.
#include <gtest/gtest.h>

#include "tests/collectives/generated_trials.hpp"
#include "tests/collectives/on_device.hpp"
#include "tests/collectives/variants.hpp"

namespace vranks {
namespace {

class Table : public OnDevice {
 protected:
  // Runs the trial by both executors.
  void check(Trial trial) {
    const std::vector<std::byte> before = trial.filled_block();
    Provenance fused, stepped, on_cpu;
    std::vector<std::byte> after;
    try {
      after = trial.run(before, fused);
    } catch (const Error& error) {
      ++refused_;
      EXPECT_TRUE(may_refuse(trial, error)) << trial.to_string() << "\n  " << error.what();
      return;
    }
    ++compared_;
    EXPECT_EQ(trial.judge(before, after, fused), "") << trial.to_string();
    trial.steps = true;
    EXPECT_TRUE(trial.run(before, stepped) == after)
        << trial.to_string() << ": other bits than by the fused executor, "
        << trial.judge(before, trial.run(before, stepped), stepped);
    trial.steps = false;
    trial.device = {};
    if (GetParam() == trial.device) return;
    const std::vector<std::byte> here = trial.run(before, on_cpu);
    // exp and log have no promised bits.
    const bool has_bits =
        trial.meaning.options.op != ReduceOp::log_sum_exp || !reduces(trial.meaning.collective);
    EXPECT_TRUE(!has_bits || here == after) << trial.to_string() << ": other bits than on the CPU";
  }

  // An algorithm may lack numbers of ranks, and a library ops and dtypes; it says which.
  static bool may_refuse(const Trial& trial, const Error& error) {
    const std::string message = error.what();
    const CollectiveOptions& o = trial.meaning.options;
    // Nodes of several ranks must be full.
    const bool is_about_parameters =
        error.kind() == ErrorKind::bad_argument && o.parameters.ranks_per_node != 0;
    if (o.algorithm == "direct") return false;
    if (error.kind() != ErrorKind::not_supported && !is_about_parameters) return false;
    const auto says = [&](std::string_view part) {
      return message.find(part) != std::string::npos;
    };
    bool says_ranks = false;
    for (const Group& group : trial.meaning.groups())
      says_ranks = says_ranks || says(std::to_string(group.size()));
    return says_ranks || says(name(o.op)) || says(name(trial.meaning.dtype));
  }

  void check_collective(Collective collective) {
    std::size_t offset = 0;
    for (const Algorithm& algorithm : algorithms()) {
      if (!supports(algorithm, collective)) continue;
      const int compared = compared_;
      for (const Parameters& parameters : variants(algorithm, 8)) {
        const std::size_t rows = algorithm.name == "direct" ? 272 : 63;
        for (std::size_t k = offset; k < offset + rows; ++k)
          check(table_trial(collective, algorithm.name, parameters, k, table_kind(k, collective),
                            GetParam()));
        offset += rows;
        if (HasFailure()) return;
      }
      EXPECT_GT(compared_ - compared, 10) << algorithm.name;
    }
    EXPECT_GT(compared_, refused_);
    RecordProperty("compared", compared_);
    RecordProperty("refused", refused_);
  }

  int compared_ = 0, refused_ = 0;
};

#define X(name, aliases, meaning) \
  TEST_P(Table, name) { check_collective(Collective::name); }
VR_COLLECTIVES(X)
#undef X

VR_ON_EVERY_DEVICE(Table);

}  // namespace
}  // namespace vranks
