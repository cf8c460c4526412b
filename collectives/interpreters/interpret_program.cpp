// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/access_log.hpp"
#include "collectives/interpreters/verify.hpp"

namespace vranks {

namespace {

// Beside no_fold, which is what comes of such a read.
constexpr FoldId never_written = -2;

// The messages of each lane, one behind the other.
struct Mailboxes {
  explicit Mailboxes(const Program& program) {
    std::size_t end = 0;
    for (std::int32_t lane = 0; lane < static_cast<std::int32_t>(program.lanes().size()); ++lane) {
      sent.push_back(end);
      const std::int32_t begin = program.lane_begin(lane);
      for (std::int32_t n = begin; n < begin + program.lane_size(lane); ++n)
        if (info(program.instruction(n).kind).sends)
          end += static_cast<std::size_t>(program.instruction(n).count);
    }
    taken = sent;
    folds.resize(end, no_fold);
  }

  std::vector<FoldId> folds;
  std::vector<std::size_t> sent, taken;  // by sending lane: behind the last one
};

}  // namespace

Folds interpret(const Program& program, const std::vector<Place>& order,
                const std::function<void(const Place&, const ChunkRef&)>& unwritten) {
  const ScheduleShape& shape = program.shape();
  const WritableChunks chunks(shape);
  FoldGraph graph(shape.ranks, shape.slot_chunks(Slot::input));
  std::vector<FoldId> values(chunks.size(), never_written);
  Mailboxes mail(program);
  std::vector<FoldId> results;
  for (const Place& place : order) {
    const Instruction& i = program.instruction(program.number(place));
    const InstructionInfo& does = info(i.kind);
    if (i.kind == InstructionKind::nop) continue;
    const auto read = [&](const LocalChunk& chunk, std::int32_t k) {
      const ChunkRef ref = program.chunk(place.lane, {chunk.index + k, chunk.slot}, 1);
      if (ref.slot == Slot::input) return graph.leaf(ref.rank, ref.index);
      const FoldId fold = values[chunks.number(ref)];
      if (fold != never_written) return fold;
      if (unwritten) unwritten(place, ref);
      return no_fold;
    };
    const auto combine = [&](FoldId left, FoldId right, Own own) {
      return left == no_fold || right == no_fold ? no_fold : graph.combine(left, right, own);
    };
    results.clear();
    for (std::int32_t k = 0; k < i.count; ++k) {
      FoldId result = no_fold;
      if (does.receives)
        result = mail.folds[mail.taken[static_cast<std::size_t>(program.sender(place.lane))]++];
      const FoldId a = does.reads_a ? read(i.a, k) : no_fold;
      const bool own_a = i.a.slot == Slot::input, own_b = i.b.slot == Slot::input;
      if (does.combines_message())
        result = i.own_left ? combine(a, result, own_a ? Own::left : Own::none)
                            : combine(result, a, own_a ? Own::right : Own::none);
      else if (does.reads_b)
        result = combine(a, read(i.b, k), own_b ? Own::right : own_a ? Own::left : Own::none);
      else if (does.reads_a)
        result = a;
      results.push_back(result);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (does.writes) values[chunks.number(program.chunk(place.lane, i.dst, 1)) + k] = results[k];
      if (does.sends) mail.folds[mail.sent[static_cast<std::size_t>(place.lane)]++] = results[k];
    }
  }

  Folds folds{std::move(graph), {}};
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank)
    for (std::int32_t index = 0; index < shape.slot_chunks(Slot::output); ++index) {
      const FoldId fold = values[chunks.number(output(rank, index))];
      folds.outputs.push_back(fold == never_written ? no_fold : fold);
    }
  return folds;
}

}  // namespace vranks
