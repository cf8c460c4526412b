// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/contract.hpp"
#include "collectives/interpreters/verify.hpp"

namespace vranks {

Findings verify(const Schedule& schedule) { return verify(schedule, interpret(schedule)); }

Findings verify(const Schedule& schedule, const Folds& folds) {
  Findings findings;
  const WritableChunks chunks(schedule.shape());
  std::vector<std::int32_t> written_in(chunks.size(), -1);  // step that wrote last
  for (std::size_t s = 0; s < schedule.steps(); ++s) {
    const auto step = static_cast<std::int32_t>(s);
    const auto check = [&](const Transfer& t, const ChunkRef& ref) {
      if (ref.slot == Slot::input) return;
      const std::size_t first = chunks.number(ref);
      for (std::size_t c = first; c < first + static_cast<std::size_t>(ref.count); ++c) {
        if (written_in[c] >= 0) continue;
        findings.add([&] {
          return Finding{.kind = FindingKind::unwritten_read,
                         .rank = t.dst.rank,
                         .step = step,
                         .chunk = chunks.chunk(c),
                         .expected = "a chunk that an earlier step has written",
                         .found = to_string(t)};
        });
      }
    };
    schedule.for_each(s, [&](const Transfer& t) {
      check(t, t.a);
      if (t.action == Action::reduce) check(t, t.b);
    });
    schedule.for_each(s, [&](const Transfer& t) {
      std::fill_n(&written_in[chunks.number(t.dst)], t.dst.count, step);
    });
  }
  const auto last_write = [&](const ChunkRef& chunk) {
    return LastWrite{-1, written_in[chunks.number(chunk)]};
  };
  check_contract(schedule.shape(), folds, last_write, findings);
  return findings;
}

}  // namespace vranks
