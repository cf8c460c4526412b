// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Of each topology that comes with the library: how many ranks it holds, the way between the first
// and the last of them, and numbers by which generic ones are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "simulator/read_machine.hpp"
#include "tests/ranks/expect_error.hpp"

namespace vranks {
namespace {

struct Most {
  const char* name;
  std::int32_t ranks;
};
constexpr Most most[] = {{"a6000", 8},
                         {"aws_p4de", 128},
                         {"aws_p5", 128},
                         {"dragonfly", 32768},
                         {"fat_tree", 1 << 20},
                         {"fugaku", 158976},
                         {"fully_connected", 4096},
                         {"leonardo", 4992},
                         {"mare_nostrum5", 4096},
                         {"mare_nostrum5_gpu", 256},
                         {"mesh", 1 << 20},
                         {"mi300x", 8},
                         {"nvswitch_a100", 128},
                         {"nvswitch_h100", 128},
                         {"nvswitch_h200", 128},
                         {"ring", 1 << 20},
                         {"rtx2080ti_ethernet", 128},
                         {"rtx2080ti_ib", 128},
                         {"rtx4090_no_p2p", 8},
                         {"rtx4090_p2p", 8},
                         {"shared_memory_i7", 16},
                         {"switch", 1 << 20},
                         {"torus", 1 << 20}};

TEST(ShippedMachines, HoldSoManyRanks) {
  ASSERT_EQ(std::size(most), shipped_machines().size());
  for (const auto& [name, ranks] : most) {
    const auto machine = find_machine(name);
    expect_error(ErrorKind::bad_argument, {std::to_string(ranks + 1).c_str(), name, "holds 1 to"},
                 [&] { machine->place(ranks + 1); });
    expect_error(ErrorKind::bad_argument, {"0 ranks", name}, [&] { machine->place(0); });
    // Links of a million nodes, or between each two of thousands, would only take time.
    if (ranks > 200'000 || machine->name() == "fully_connected") continue;
    const auto topology = machine->place(ranks);
    std::vector<std::int32_t> there, back;
    topology->route(0, ranks - 1, there);
    topology->route(ranks - 1, 0, back);
    EXPECT_FALSE(there.empty()) << name;
    EXPECT_EQ(there.size(), back.size()) << name;
    for (const std::int32_t link : there)
      EXPECT_GT(topology->links()[static_cast<std::size_t>(link)].bandwidth, 0) << name;
  }
}

// A number of ranks that fills no node, leaf, group or row leaves none without a way.
TEST(ShippedMachines, OddNumbersOfRanks) {
  for (const auto& [name, room] : most)
    for (const std::int32_t ranks : {1, 3, 5, 7, 97, 131}) {
      if (ranks > room) continue;
      const auto topology = find_machine(name)->place(ranks);
      std::vector<std::int32_t> route;
      for (std::int32_t from = 0; from < ranks; ++from)
        for (std::int32_t to = 0; to < ranks; ++to) {
          if (from == to) continue;
          route.clear();
          topology->route(from, to, route);
          ASSERT_FALSE(route.empty()) << name << ' ' << from << ' ' << to;
          for (const std::int32_t link : route) {
            ASSERT_GE(link, 0) << name;
            ASSERT_LT(static_cast<std::size_t>(link), topology->links().size()) << name;
          }
        }
    }
}

TEST(ShippedMachines, GenericOnesHaveTheirNumbers) {
  for (const char* name :
       {"switch", "ring", "mesh", "torus", "fully_connected", "fat_tree", "dragonfly"}) {
    const auto topology = find_machine(name)->place(8);
    std::vector<std::int32_t> route;
    topology->route(0, 1, route);
    double latency = 0, bandwidth = std::numeric_limits<double>::infinity();
    for (const std::int32_t link : route) {
      latency += topology->links()[static_cast<std::size_t>(link)].latency;
      bandwidth = std::min(bandwidth, topology->links()[static_cast<std::size_t>(link)].bandwidth);
    }
    EXPECT_DOUBLE_EQ(latency, 1.5e-6) << name;
    EXPECT_DOUBLE_EQ(bandwidth, 25e9) << name;
  }
}

}  // namespace
}  // namespace vranks
