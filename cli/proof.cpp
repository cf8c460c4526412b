// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/report.hpp"
#include "collectives/interpreters/linearize.hpp"
#include "collectives/interpreters/lower.hpp"
#include "collectives/interpreters/verify.hpp"

namespace vranks::cli {

namespace {

void count(const Schedule& schedule, Proof& proof) {
  proof.steps = static_cast<std::int64_t>(schedule.steps());
  proof.transfers = schedule.transfers();
  for (std::size_t step = 0; step < schedule.steps(); ++step)
    schedule.for_each(step, [&](const Transfer& t) { proof.messages += t.is_message(); });
}

std::string verdict(const Proof& proof) {
  if (!proof.not_there.empty()) return "none";
  if (proof.is_wrong())
    return fmt::format("WRONG: {} finding{}", proof.findings.total,
                       proof.findings.total == 1 ? "" : "s");
  return "proved";
}

// What was proved, for people.
std::string title(const Proof& proof) {
  if (!proof.input.empty()) return proof.input;
  if (proof.runs.empty() || proof.runs == proof.algorithm) return proof.algorithm;
  return fmt::format("{} -> {}", proof.algorithm, proof.runs);
}

std::string_view result(const Proof& proof) {
  if (!proof.not_there.empty()) return "not_supported";
  return proof.is_wrong() ? "wrong" : "proved";
}

Table proofs_for_people(const std::vector<Proof>& proofs) {
  Table table{.name = "proofs",
              .columns = {"schedule", "collective", "ranks", "steps", "messages", "instructions",
                          "seconds", "result"},
              .rows = {}};
  for (const Proof& proof : proofs)
    table.rows.push_back({title(proof), name(proof.collective), proof.ranks, proof.steps,
                          proof.messages, proof.instructions, fmt::format("{:.4f}", proof.seconds),
                          verdict(proof)});
  return table;
}

Table proofs_for_programs(const std::vector<Proof>& proofs, std::int32_t depth) {
  Table table{
      .name = "schedules",
      .columns = {"input", "collective", "algorithm", "runs", "ranks", "steps", "transfers",
                  "messages", "instructions", "depth", "result", "findings", "reason", "seconds"},
      .rows = {}};
  for (const Proof& proof : proofs)
    table.rows.push_back({text_or_null(proof.input), name(proof.collective),
                          text_or_null(proof.algorithm), text_or_null(proof.runs), proof.ranks,
                          proof.steps, proof.transfers, proof.messages, proof.instructions, depth,
                          result(proof), proof.findings.total, text_or_null(proof.not_there),
                          proof.seconds});
  return table;
}

Value chunk_value(const std::optional<ChunkRef>& chunk) {
  if (!chunk) return {};
  return List{chunk->rank, name(chunk->slot), chunk->index, chunk->count};
}

Value number_or_null(std::int32_t number) { return number < 0 ? Value() : Value(number); }

Table findings_for_programs(const std::vector<Proof>& proofs) {
  Table table{.name = "findings",
              .columns = {"input", "collective", "algorithm", "ranks", "kind", "rank", "lane",
                          "step", "chunk", "expected", "found"},
              .rows = {}};
  for (const Proof& proof : proofs)
    for (const Finding& finding : proof.findings.list)
      table.rows.push_back({text_or_null(proof.input), name(proof.collective),
                            text_or_null(proof.algorithm), proof.ranks, name(finding.kind),
                            number_or_null(finding.rank), number_or_null(finding.lane),
                            number_or_null(finding.step), chunk_value(finding.chunk),
                            finding.expected, finding.found});
  return table;
}

void print_findings(const Proof& proof) {
  constexpr std::size_t most = 10;
  fmt::print("\n{}, {} over {} ranks\n", title(proof), name(proof.collective), proof.ranks);
  const std::vector<Finding>& list = proof.findings.list;
  const std::size_t shown = std::min(list.size(), most);
  for (std::size_t i = 0; i < shown; ++i)
    fmt::print("  {}\n", wrapped(to_string(list[i]), page_columns - 4, 4));
  if (const std::int64_t more = proof.findings.total - static_cast<std::int64_t>(shown); more > 0)
    fmt::print("  ... and {} more; --format json has the first {}\n", more, list.size());
}

// "3, 5 and 7", of those that aren't there.
std::string missing_ranks(std::span<const Proof> proofs) {
  std::vector<std::int64_t> ranks;
  for (const Proof& proof : proofs)
    if (!proof.not_there.empty()) ranks.push_back(proof.ranks);
  if (ranks.size() == 1) return fmt::format("{}", ranks[0]);
  return fmt::format("{} and {}", fmt::join(ranks.begin(), ranks.end() - 1, ", "), ranks.back());
}

// Why there are none: a line for each algorithm and collective, which has the reason of the first.
void print_missing(const std::vector<Proof>& proofs) {
  fmt::print("\n");
  for (auto first = proofs.begin(); first != proofs.end();) {
    const auto end = std::find_if(first, proofs.end(), [&](const Proof& proof) {
      return proof.algorithm != first->algorithm || proof.collective != first->collective;
    });
    const auto is_missing = [](const Proof& proof) { return !proof.not_there.empty(); };
    const auto missing = std::find_if(first, end, is_missing);
    if (missing != end)
      fmt::print("{}\n", wrapped(fmt::format("none of {}, {} over {} ranks: {}", missing->algorithm,
                                             name(missing->collective),
                                             missing_ranks({missing, end}), missing->not_there),
                                 page_columns - 2, 2));
    first = end;
  }
}

}  // namespace

void prove(const Schedule& schedule, std::int32_t depth, Proof& proof) {
  count(schedule, proof);
  proof.findings = verify(schedule);
  if (proof.is_wrong()) return;
  const Program program = lower(schedule);
  proof.instructions = program.size();
  proof.findings = verify(program, depth);
  if (!proof.is_wrong()) proof.findings = verify(linearize(program, depth));
}

void prove(const Program& program, std::int32_t depth, Proof& proof) {
  proof.instructions = program.size();
  proof.findings = verify(program, depth);
  if (proof.is_wrong()) return;
  const Schedule schedule = linearize(program, depth);
  count(schedule, proof);
  proof.findings = verify(schedule);
}

void print_proofs(const std::vector<Proof>& proofs, std::int32_t depth, Format format) {
  if (format == Format::json)
    return print_tables({proofs_for_programs(proofs, depth), findings_for_programs(proofs)},
                        format);
  if (format == Format::csv) return print_tables({proofs_for_programs(proofs, depth)}, format);
  print_tables({proofs_for_people(proofs)}, format);
  for (const Proof& proof : proofs)
    if (proof.is_wrong()) print_findings(proof);
  const auto wrong = std::ranges::count_if(proofs, &Proof::is_wrong);
  const auto missing =
      std::ranges::count_if(proofs, [](const Proof& proof) { return !proof.not_there.empty(); });
  const auto there = static_cast<std::ptrdiff_t>(proofs.size()) - missing;
  fmt::print("\n{}: {} of {} schedules proved, channels hold {} message{}\n",
             wrong == 0 ? "PASS" : "FAIL", there - wrong, there, depth, depth == 1 ? "" : "s");
  if (missing > 0) print_missing(proofs);
}

}  // namespace vranks::cli
