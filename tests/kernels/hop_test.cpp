// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Single transfers on every device against the plain reference, bit for bit: every dtype, op and
// rule, every kind of hop, operands that are inputs or partial results, own or not. (log_sum_exp
// has a test of its own.)
#include "kernels/hop.hpp"

#include <gtest/gtest.h>

#include "kernels/backend.hpp"
#include "rules_cases.hpp"
#include "rules_reference.hpp"
#include "tests/on_every_device.hpp"

namespace vranks {
namespace {

class HopOnDevice : public OnEveryDevice {};

// What the hop's destination must hold, from its operands in host memory.
template <class T, class Rules>
void reference_hop(const Hop& hop, const Rules& rules) {
  using S = typename Rules::Stored;
  const auto leaf = [](const std::byte* from, std::int64_t i) {
    T x;
    std::memcpy(&x, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return x;
  };
  const auto partial = [](const std::byte* from, std::int64_t i) {
    S s;
    std::memcpy(&s, from + i * static_cast<std::int64_t>(sizeof(S)), sizeof(S));
    return s;
  };
  const auto operand = [&](const std::byte* from, bool is_leaf, std::int32_t row, std::int64_t i) {
    return is_leaf ? rules.lift(leaf(from, i), row) : rules.load(partial(from, i));
  };
  const auto write = [&](std::int64_t i, auto value) {
    std::memcpy(hop.dst + i * static_cast<std::int64_t>(sizeof(value)), &value, sizeof(value));
  };
  for (std::int64_t i = 0; i < hop.elements; ++i) {
    const Fuse rule = rules.rules.fuse;
    const bool fuse =
        rule == Fuse::own || (rule == Fuse::ll128 && fuses_at(hop.position + i, sizeof(T)));
    switch (hop.kind) {
      case Hop::Kind::copy:
        if (hop.a_is_leaf)
          write(i, rules.store(rules.lift(leaf(hop.a, i), hop.a_row)));
        else
          write(i, partial(hop.a, i));
        break;
      case Hop::Kind::combine:
        if (hop.own == 1 && hop.a_is_leaf)
          write(i, rules.store(rules.combine_own(leaf(hop.a, i), hop.a_row,
                                                 operand(hop.b, hop.b_is_leaf, hop.b_row, i), true,
                                                 fuse)));
        else if (hop.own == 2 && hop.b_is_leaf)
          write(i, rules.store(rules.combine_own(leaf(hop.b, i), hop.b_row,
                                                 operand(hop.a, hop.a_is_leaf, hop.a_row, i), false,
                                                 fuse)));
        else
          write(i, rules.store(rules.combine(operand(hop.a, hop.a_is_leaf, hop.a_row, i),
                                             operand(hop.b, hop.b_is_leaf, hop.b_row, i))));
        break;
      case Hop::Kind::lower:
        if (hop.a_is_leaf) {
          write(i, leaf(hop.a, i));
          break;
        }
        write(i, rules.lower(rules.load(partial(hop.a, i))));
        if constexpr (requires { rules.lower_rank({}, 0); })
          if (hop.ranks != nullptr) {
            const std::int32_t rank = rules.lower_rank(rules.load(partial(hop.a, i)), 0);
            std::memcpy(hop.ranks + i * 4, &rank, 4);
          }
        break;
    }
  }
}

constexpr std::int32_t rows = 5;  // that inputs come from

// Partial results as folds make them, so only with NaNs that arithmetic returns.
template <class T, class Rules>
std::vector<typename Rules::Stored> partial_results(const Rules& rules, std::int64_t count,
                                                    bool finite, Random& random) {
  std::vector<typename Rules::Stored> all;
  for (const T& x : elements<T>(count, finite, random)) {
    const auto row = [&] { return static_cast<std::int32_t>(below(random, rows)); };
    auto value = rules.lift(x, row());
    for (std::int64_t k = below(random, 3); k > 0; --k)
      value = rules.combine(value, rules.lift(element<T>(random), row()));
    all.push_back(rules.store(value));
  }
  return all;
}

// Some hops of one call. All read from one buffer of inputs and one of partial results, and write
// to a third, with gaps that nobody may touch.
template <class T, class Rules>
void check(Device device, const Rules& rules, std::int64_t most_elements, std::uint64_t seed) {
  using S = typename Rules::Stored;
  static_assert(std::is_trivially_copyable_v<S>);
  Random random(seed);
  SCOPED_TRACE(fmt::format("{}, seed {}", describe(rules.rules), seed));
  ASSERT_EQ(carried_bytes(rules.rules), sizeof(S));

  const std::int64_t held = most_elements + 16;
  const bool finite = chance(random, 60);
  const std::vector<T> leaves = elements<T>(held, finite, random);
  const std::vector<S> partials = partial_results<T>(rules, held, finite, random);
  const std::int64_t count = below(random, 12);
  const std::int64_t slot = (most_elements + 3) * static_cast<std::int64_t>(sizeof(S));
  const std::int64_t rank_slot = 4 * (most_elements + 3);
  // Behind the results the ranks of some.
  const std::size_t out_bytes = static_cast<std::size_t>(count * (slot + rank_slot) + 16);
  std::vector<std::byte> right(out_bytes, std::byte{0xa5});

  const DeviceBuffer device_leaves(leaves.size() * sizeof(T), device);
  const DeviceBuffer device_partials(partials.size() * sizeof(S), device);
  const DeviceBuffer out(out_bytes, device);
  device_leaves.copy_from_host(leaves.data(), leaves.size() * sizeof(T));
  device_partials.copy_from_host(partials.data(), partials.size() * sizeof(S));
  out.copy_from_host(right.data(), out_bytes);

  std::vector<Hop> hops;
  for (std::int64_t k = 0; k < count; ++k) {
    Hop hop{.kind = static_cast<Hop::Kind>(below(random, 3)),
            .a_is_leaf = chance(random, 50),
            .b_is_leaf = chance(random, 50),
            .own = static_cast<std::uint8_t>(below(random, 3)),
            .a_row = static_cast<std::int32_t>(below(random, rows)),
            .b_row = static_cast<std::int32_t>(below(random, rows)),
            .elements = below(random, most_elements + 1),
            .position = below(random, 5000)};
    const auto from = [&](bool is_leaf, std::int64_t first, const void* leaf_memory,
                          const void* partial_memory) {
      return is_leaf
                 ? reinterpret_cast<const std::byte*>(static_cast<const T*>(leaf_memory) + first)
                 : reinterpret_cast<const std::byte*>(static_cast<const S*>(partial_memory) +
                                                      first);
    };
    const std::int64_t a = below(random, 16), b = below(random, 16);
    hop.a = from(hop.a_is_leaf, a, leaves.data(), partials.data());
    hop.b = from(hop.b_is_leaf, b, leaves.data(), partials.data());
    hop.dst = right.data() + k * slot;
    const bool tells_rank = finds_rank(rules.rules.op) && hop.kind == Hop::Kind::lower &&
                            !hop.a_is_leaf && chance(random, 70);
    const std::int64_t ranks_at = count * slot + k * rank_slot;
    if (tells_rank) hop.ranks = right.data() + ranks_at;
    reference_hop<T>(hop, rules);
    hop.a = from(hop.a_is_leaf, a, device_leaves.data(), device_partials.data());
    hop.b = from(hop.b_is_leaf, b, device_leaves.data(), device_partials.data());
    hop.dst = static_cast<std::byte*>(out.data()) + k * slot;
    if (tells_rank) hop.ranks = static_cast<std::byte*>(out.data()) + ranks_at;
    hops.push_back(hop);
  }
  backend_for(device).run_hops(hops, rules.rules, device.index);
  std::vector<std::byte> found(out_bytes);
  out.copy_to_host(found.data(), out_bytes);
  for (std::size_t k = 0; k < out_bytes; ++k) {
    if (found[k] == right[k]) continue;
    const auto at = static_cast<std::int64_t>(k);
    ASSERT_LT(at, count * slot) << "rank " << (at - count * slot) % rank_slot / 4 << " of hop "
                                << (at - count * slot) / rank_slot;
    const Hop& hop = hops[static_cast<std::size_t>(std::min(at / slot, count - 1))];
    FAIL() << "byte " << at % slot << " of hop " << at / slot << ": " << static_cast<int>(found[k])
           << " instead of " << static_cast<int>(right[k]) << "; kind "
           << static_cast<int>(hop.kind) << ", a is leaf " << hop.a_is_leaf << ", b is leaf "
           << hop.b_is_leaf << ", own " << static_cast<int>(hop.own) << ", " << hop.elements
           << " elements at position " << hop.position;
  }
}

TEST_P(HopOnDevice, EveryRule) {
  std::uint64_t seed = 0;
  for (const DTypeInfo& dtype : dtypes())
    for (Arithmetic rules : all_rules(dtype.dtype))
      for (const std::int64_t group : {1, 2, 3, 8, 100, 128, 40000})
        for (const std::int64_t most_elements : {7, 200, 3000}) {
          if (most_elements == 3000 && group != 3) continue;
          Random random(++seed);
          set_random_numbers(rules, rows, random);
          rules.group = group;
          visit(dtype.dtype, [&]<class T>() {
            reference::with_rules<T>(rules, [&](const auto& reference) {
              check<T>(GetParam(), reference, most_elements, seed);
            });
          });
          if (HasFatalFailure()) return;
        }
}

VR_ON_EVERY_DEVICE(HopOnDevice);

}  // namespace
}  // namespace vranks
