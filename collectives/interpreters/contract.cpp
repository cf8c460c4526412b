// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/interpreters/contract.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace vranks {

Contributions contract(const ScheduleShape& shape, std::int32_t rank, std::int32_t index) {
  const auto only = [](std::int32_t owner, std::int32_t chunk) {
    return Contributions{owner, owner + 1, chunk};
  };
  const std::int32_t part = shape.part_chunks(), block = shape.block_chunks();
  switch (even_form(shape.collective)) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::barrier:
      return {0, shape.ranks, index};
    case Collective::reduce_scatter:
      return {0, shape.ranks, rank * part + index};
    case Collective::scan:
      return {0, rank + 1, index};
    case Collective::exscan:
      return {0, rank, index};
    case Collective::all_gather:
    case Collective::gather:
      return only(index / part, index % part);
    case Collective::broadcast:
      return only(shape.root, index);
    case Collective::scatter:
      return only(shape.root, rank * part + index);
    case Collective::all_to_all:
      return only(index / block, rank * block + index % block);
    case Collective::permute:
      return only(shape.sources[static_cast<std::size_t>(rank)], index);
    default:
      break;  // even_form() gives no other
  }
  return {};
}

namespace {

std::string input_chunk(std::int32_t rank, std::int32_t chunk) {
  return to_string(input(rank, chunk));
}

std::string describe(const Contributions& wanted) {
  if (wanted.last - wanted.first == 1) return input_chunk(wanted.first, wanted.chunk);
  return fmt::format("input[{}] of the ranks {} to {}, each once", wanted.chunk, wanted.first,
                     wanted.last - 1);
}

// The first few of a long list, in words.
class Few {
 public:
  void add(const std::string& item) {
    if (++count_ <= 5) text_ += (count_ == 1 ? "" : ", ") + item;
  }
  bool empty() const { return count_ == 0; }
  std::string text() const {
    return count_ <= 5 ? text_ : fmt::format("{} and {} more", text_, count_ - 5);
  }

 private:
  std::string text_;
  std::int64_t count_ = 0;
};

struct Difference {
  FindingKind kind;
  std::string found;
};

class Comparison {
 public:
  explicit Comparison(const Folds& folds, const ScheduleShape& shape)
      : graph_(folds.graph),
        // To hear from a rank twice does a barrier no harm.
        may_repeat_(shape.collective == Collective::barrier),
        seen_in_(static_cast<std::size_t>(shape.ranks)),
        compared_in_(may_repeat_ ? static_cast<std::size_t>(folds.graph.size()) : 0) {}

  // What that fold and those contributions differ in. Kept until asked about others: most chunks of
  // a schedule are computed for many ranks.
  const std::vector<Difference>& operator()(FoldId fold, const Contributions& wanted) {
    if (fold != fold_ || wanted != wanted_) {
      fold_ = fold;
      wanted_ = wanted;
      compare();
    }
    return differences_;
  }

 private:
  void compare() {
    differences_.clear();
    Few repeated, wrong, missing;
    ++stamp_;
    // A fold can have exponentially many leaves, but not many more than are wanted without one that
    // is there twice or wrong. Where leaves may be there twice no fold is looked at twice.
    std::int64_t left =
        may_repeat_ ? graph_.size() : 2 * (std::int64_t{wanted_.last} - wanted_.first) + 16;
    std::int64_t good = 0;
    todo_.assign(1, fold_);
    while (!todo_.empty() && left > 0) {
      const FoldId fold = todo_.back();
      todo_.pop_back();
      if (may_repeat_) {
        std::int64_t& compared = compared_in_[static_cast<std::size_t>(fold)];
        if (compared == stamp_) continue;
        compared = stamp_;
      }
      if (!graph_.is_leaf(fold)) {
        todo_.push_back(graph_.right(fold));
        todo_.push_back(graph_.left(fold));
        continue;
      }
      --left;
      const std::int32_t rank = graph_.leaf_rank(fold), chunk = graph_.leaf_chunk(fold);
      if (chunk != wanted_.chunk || !wanted_.holds(rank)) {
        wrong.add(input_chunk(rank, chunk));
      } else if (seen_in_[static_cast<std::size_t>(rank)] == stamp_) {
        repeated.add(input_chunk(rank, chunk));
      } else {
        seen_in_[static_cast<std::size_t>(rank)] = stamp_;
        ++good;
      }
    }
    if (todo_.empty() && good < std::int64_t{wanted_.last} - wanted_.first)
      for (std::int32_t rank = wanted_.first; rank < wanted_.last; ++rank)
        if (seen_in_[static_cast<std::size_t>(rank)] != stamp_)
          missing.add(input_chunk(rank, wanted_.chunk));
    const auto differ = [&](FindingKind kind, const Few& few, const char* what) {
      if (!few.empty())
        differences_.push_back(
            {kind, fmt::format("{}, {}: {}", to_string(graph_, fold_), what, few.text())});
    };
    differ(FindingKind::missing_contribution, missing, "which lacks");
    differ(FindingKind::repeated_contribution, repeated, "which holds once more");
    differ(FindingKind::wrong_contribution, wrong, "which holds what doesn't belong there");
  }

  const FoldGraph& graph_;
  bool may_repeat_;
  FoldId fold_ = no_fold;
  Contributions wanted_;
  std::vector<Difference> differences_;
  std::vector<std::int64_t> seen_in_;      // by rank: number of the comparison
  std::vector<std::int64_t> compared_in_;  // by fold, likewise
  std::int64_t stamp_ = 0;
  std::vector<FoldId> todo_;
};

}  // namespace

void check_contract(const ScheduleShape& shape, const Folds& folds,
                    const std::function<LastWrite(const ChunkRef&)>& last_write,
                    Findings& findings) {
  Comparison compare(folds, shape);
  const std::int32_t chunks = shape.slot_chunks(Slot::output);
  for (std::int32_t index = 0; index < chunks; ++index) {
    for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
      if (!shape.has_output(rank)) continue;
      const FoldId fold = folds.output(shape, rank, index);
      const Contributions wanted = contract(shape, rank, index);
      const auto add = [&](FindingKind kind, const std::string& found) {
        findings.add([&] {
          const ChunkRef chunk = output(rank, index);
          const LastWrite last = last_write(chunk);
          return Finding{kind, rank, last.lane, last.step, chunk, describe(wanted), found};
        });
      };
      if (fold != no_fold) {
        for (const Difference& difference : compare(fold, wanted))
          add(difference.kind, difference.found);
        continue;
      }
      // Nothing, or made of what nobody has written.
      if (last_write(output(rank, index)).step < 0)
        add(FindingKind::unwritten_output, "nothing");
      else
        add(FindingKind::missing_contribution, "what was made of a chunk that nobody had written");
    }
  }
}

}  // namespace vranks
