// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives that combine: this process's ranks first, in their order; then one reduction over
// processes by a library; then what each rank gets. In pieces, so that one is combined while
// the one in front of it travels.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "collectives/arithmetic.hpp"
#include "collectives/collectives.hpp"
#include "collectives/processes/exchange.hpp"
#include "ranks/error.hpp"

#if VRANKS_HAVE_MPI

namespace vranks {

namespace {

// Columns [begin, end) of the input, and the process that gets their result; -1: all do.
struct Columns {
  std::int64_t begin, end;
  int owner;
};

// One piece on its way.
struct Piece {
  std::byte* partials = nullptr;  // carried: of a prefix of every rank here, else of all of them
  std::byte* totals = nullptr;    // of all processes
  std::byte *sent = nullptr, *got = nullptr;  // both where the exchange wants them
  Columns columns = {};
};

class Reduction : public EngineRun {
 public:
  Reduction(const ProcessCall& call, MakeExchange make)
      : call_(call),
        problem_(call.key.problem),
        collective_(even_form(problem_.collective)),
        parts_(parts_of(problem_)),
        rules_(choose(call.key).rules),
        exchange_(make(call, &rules_)),
        backend_(backend_for(call.key.device)),
        width_(static_cast<std::int64_t>(carried_bytes(rules_))),
        element_(static_cast<std::int64_t>(size_bytes(parts_.dtype))),
        elements_(std::clamp<std::int64_t>(piece_bytes(call, *exchange_) / width_, 1,
                                           std::numeric_limits<int>::max())) {
    const std::int64_t all = row_elements(problem_, Slot::input) * parts_.count;
    elements_ = std::min(elements_, std::max<std::int64_t>(all, 1));
    starts_ = block_starts(problem_, Slot::input);
    lengths_ = block_lengths(problem_);
    int name = 0;
    const auto memory = [&](std::int64_t elements, Device device) {
      return call.memory->of(name++, bytes(elements), device);
    };
    for (Piece& piece : pieces_) {
      piece.partials = memory(elements_ * (is_prefix(collective_) ? here() : 2), call.key.device);
      piece.totals = memory(elements_, call.key.device);
      piece.sent = is_staged() ? memory(elements_, exchange_->device()) : nullptr;
      piece.got = is_staged() ? memory(elements_, exchange_->device()) : piece.totals;
    }
    if (is_prefix(collective_)) results_ = memory(elements_ * here(), call.key.device);
    cut(all);
  }

  void run() override {
    exchange_->begin();
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      pieces_[k % 2].columns = columns_[k];
      start(k % 2, combine_here(pieces_[k % 2]));
      if (k > 0) finish((k - 1) % 2);
    }
    if (!columns_.empty()) finish((columns_.size() - 1) % 2);
  }

 private:
  // The same on every process, wherever its tensors lie. A device takes longer to be told than to
  // do what a processor's cache holds.
  static std::int64_t piece_bytes(const ProcessCall& call, const Exchange& exchange) {
    constexpr std::int64_t least_on_device = 16 << 20;
    return exchange.device().kind == DeviceKind::cpu ? call.piece_bytes
                                                     : std::max(call.piece_bytes, least_on_device);
  }
  std::int64_t here() const { return call_.behind() - call_.first(); }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * width_);
  }
  bool is_on_host() const { return call_.key.device.kind == DeviceKind::cpu; }
  // Whether what is passed has to be copied from the device to the host, and back.
  bool is_staged() const { return exchange_->device() != call_.key.device; }
  void hops(std::span<const Hop> all) const {
    backend_.run_hops(all, rules_, call_.key.device.index);
  }

  // The pieces; no piece has columns of two owners.
  void cut(std::int64_t all) {
    const auto add = [&](std::int64_t begin, std::int64_t end, int owner) {
      for (; begin < end; begin += elements_)
        columns_.push_back({begin, std::min(end, begin + elements_), owner});
    };
    if (collective_ == Collective::reduce) return add(0, all, call_.process_of(problem_.root));
    if (collective_ != Collective::reduce_scatter) return add(0, all, -1);
    for (int p = 0; p < call_.processes(); ++p) {
      const auto first = static_cast<std::size_t>(call_.firsts[static_cast<std::size_t>(p)]);
      const auto last = static_cast<std::size_t>(call_.firsts[static_cast<std::size_t>(p) + 1]) - 1;
      add(starts_[first] * parts_.count, (starts_[last] + lengths_[last]) * parts_.count, p);
    }
  }

  const std::byte* input(std::int64_t rank, std::int64_t column) const {
    return call_.in[static_cast<std::size_t>(rank)] + column * element_;
  }

  // --- on this process ---

  // Whether elements and carried values are the same numbers, so that the kernels of `direct` give
  // the latter.
  bool is_carried_as_it_is() const {
    return width_ == element_ && rules_.op <= ReduceOp::bxor && rules_.op != ReduceOp::premul_sum &&
           rules_.op != ReduceOp::weighted_mean && !rules_.premultiplies() &&
           rules_.accumulate != Accumulate::exact;
  }

  // Returns what to pass on: the result over the ranks of this process.
  const std::byte* combine_here(Piece& piece) const {
    const auto& [begin, end, owner] = piece.columns;
    const std::int64_t elements = end - begin;
    if (is_carried_as_it_is() && !is_prefix(collective_)) {
      if (here() == 1) return input(call_.first(), begin);
      const std::int64_t apart = input(call_.first() + 1, 0) - input(call_.first(), 0);
      const TensorView rows{const_cast<std::byte*>(input(call_.first(), begin)),
                            parts_.dtype,
                            {here(), elements},
                            {apart / element_, 1},
                            call_.key.device};
      const CollectiveOptions options{.op = rules_.op == ReduceOp::mean ? ReduceOp::sum : rules_.op,
                                      .nan = call_.key.policies.nan,
                                      .accumulate = call_.key.policies.accumulate,
                                      .fp8 = call_.key.policies.fp8};
      reduce_ranks(rows, {piece.partials, parts_.dtype, {elements}, {}, call_.key.device}, options);
      return piece.partials;
    }
    // Partial results change places, since no hop may write what it reads. Those of a prefix are
    // all kept.
    const std::byte* before = nullptr;
    for (std::int64_t r = call_.first(); r < call_.behind(); ++r) {
      Hop hop{.a_is_leaf = true,
              .a = input(r, begin),
              .a_row = static_cast<std::int32_t>(r),
              .dst = piece.partials + bytes(slot_of(r) * elements_),
              .elements = elements};
      if (before != nullptr) {
        hop.kind = Hop::Kind::combine;
        hop.b_is_leaf = true;
        hop.b = std::exchange(hop.a, before);
        hop.b_row = hop.a_row;
        hop.a_is_leaf = false;
      }
      hops({&hop, 1});
      before = hop.dst;
    }
    return before;
  }
  // Where the partial result up to rank r lies.
  std::int64_t slot_of(std::int64_t r) const {
    return is_prefix(collective_) ? r - call_.first() : (r - call_.first()) % 2;
  }

  // --- over processes ---

  void start(std::size_t slot, const std::byte* partial) {
    Piece& piece = pieces_[slot];
    const std::int64_t elements = piece.columns.end - piece.columns.begin;
    if (is_staged()) {
      backend_.copy_to_host(piece.sent, partial, bytes(elements), call_.key.device.index);
      partial = piece.sent;
    }
    const int number = static_cast<int>(slot);
    if (is_prefix(collective_))
      exchange_->start_prefix(number, partial, piece.got, elements);
    else
      exchange_->start_reduction(number, partial, piece.got, elements, piece.columns.owner);
  }

  void finish(std::size_t slot) {
    Piece& piece = pieces_[slot];
    exchange_->finish(static_cast<int>(slot));
    const auto& [begin, end, owner] = piece.columns;
    if (owner >= 0 && owner != call_.process) return;
    const std::int64_t elements = end - begin;
    std::byte* const total = piece.totals;
    if (is_staged())
      backend_.copy_from_host(total, piece.got, bytes(elements), call_.key.device.index);
    if (is_prefix(collective_)) return finish_prefix(piece, total);
    std::vector<Hop> all;
    if (collective_ == Collective::reduce) {
      add_result(all, total, 0, 0, begin, elements);
    } else if (collective_ == Collective::all_reduce) {
      spread(total, begin, elements);
    } else {
      for (std::int64_t r = call_.first(); r < call_.behind(); ++r) {
        const std::int64_t from = starts_[static_cast<std::size_t>(r)] * parts_.count;
        const std::int64_t behind = from + lengths_[static_cast<std::size_t>(r)] * parts_.count;
        const std::int64_t first = std::max(from, begin), last = std::min(behind, end);
        if (first < last)
          add_result(all, total + bytes(first - begin), r, from, first, last - first);
      }
    }
    hops(all);
  }

  // To all ranks: lowered for the first, from which the others have it.
  void spread(const std::byte* total, std::int64_t begin, std::int64_t elements) const {
    std::vector<Hop> first;
    add_result(first, total, call_.first(), 0, begin, elements);
    const bool is_lowered = is_carried_as_it_is() && rules_.op != ReduceOp::mean;
    if (!is_lowered) hops(first);
    const auto copy_rows = [&](const std::vector<std::byte*>& rows, const std::byte* from,
                               std::int64_t skipped, std::int64_t width) {
      const auto r = static_cast<std::size_t>(call_.first() + skipped);
      if (call_.first() + skipped == call_.behind() || rows[r] == nullptr) return;
      std::byte* const to = rows[r] + begin * width;
      const std::int64_t count = here() - skipped;
      if (is_on_host()) {
        for (std::int64_t i = 0; i < count; ++i)
          std::memcpy(rows[r + static_cast<std::size_t>(i)] + begin * width, from,
                      static_cast<std::size_t>(elements * width));
        return;
      }
      const std::int64_t apart = count == 1 ? 0 : rows[r + 1] - rows[r];
      backend_.copy({.from = from,
                     .to = to,
                     .element_bytes = width,
                     .extents = {count, elements},
                     .from_strides = {0, width},
                     .to_strides = {apart, width}},
                    call_.key.device.index, nullptr);
    };
    if (is_lowered) return copy_rows(call_.out, total, 0, element_);
    const auto r = static_cast<std::size_t>(call_.first());
    copy_rows(call_.out, call_.out[r] + begin * element_, 1, element_);
    constexpr auto rank_width = static_cast<std::int64_t>(sizeof(std::int32_t));
    if (call_.ranks[r] != nullptr)
      copy_rows(call_.ranks, call_.ranks[r] + begin * rank_width, 1, rank_width);
  }

  // Columns from `begin` on of the output row, which starts with column `row_begin`.
  void add_result(std::vector<Hop>& all, const std::byte* carried, std::int64_t row,
                  std::int64_t row_begin, std::int64_t begin, std::int64_t elements) const {
    const auto r = static_cast<std::size_t>(row);
    Hop hop{.kind = Hop::Kind::lower,
            .a = carried,
            .dst = call_.out[r] + (begin - row_begin) * element_,
            .elements = elements};
    if (call_.ranks[r] != nullptr)
      hop.ranks =
          call_.ranks[r] + (begin - row_begin) * static_cast<std::int64_t>(sizeof(std::int32_t));
    all.push_back(hop);
  }

  void finish_prefix(const Piece& piece, const std::byte* before) const {
    const auto& [begin, end, owner] = piece.columns;
    const std::int64_t elements = end - begin;
    const bool has_before = call_.process > 0;
    const bool is_exscan = collective_ == Collective::exscan;
    std::vector<Hop> combines, results;
    for (std::int64_t r = call_.first(); r < call_.behind(); ++r) {
      const std::int64_t last = r - call_.first() - (is_exscan ? 1 : 0);
      const std::byte* value = last < 0 ? before : piece.partials + bytes(last * elements_);
      if (r == 0 && is_exscan) {
        fill(r, begin, elements);
        continue;
      }
      if (has_before && last >= 0) {
        std::byte* const to = results_ + bytes((r - call_.first()) * elements_);
        combines.push_back(
            {.kind = Hop::Kind::combine, .a = before, .b = value, .dst = to, .elements = elements});
        value = to;
      }
      add_result(results, value, r, 0, begin, elements);
    }
    hops(combines);
    hops(results);
  }

  // What no rank brings anything: the identity.
  void fill(std::int64_t rank, std::int64_t begin, std::int64_t elements) const {
    const std::array<std::byte, 16> identity_bytes = identity(rules_, problem_);
    const auto fill_with = [&](std::byte* to, const void* value, std::int64_t width) {
      std::vector<std::byte> row(static_cast<std::size_t>(elements * width));
      for (std::int64_t i = 0; i < elements; ++i)
        std::memcpy(row.data() + i * width, value, static_cast<std::size_t>(width));
      backend_.copy_from_host(to + begin * width, row.data(), row.size(), call_.key.device.index);
    };
    const auto r = static_cast<std::size_t>(rank);
    fill_with(call_.out[r], identity_bytes.data(), element_);
    const std::int32_t none = FoldProgram::no_rank;
    if (call_.ranks[r] != nullptr) fill_with(call_.ranks[r], &none, sizeof none);
  }

  const ProcessCall& call_;
  Problem problem_;
  Collective collective_;
  Parts parts_;
  Arithmetic rules_;
  std::unique_ptr<Exchange> exchange_;
  const Backend& backend_;
  std::int64_t width_, element_;  // bytes carried, and of an element
  std::int64_t elements_;         // of a piece
  std::vector<std::int64_t> starts_, lengths_;
  std::vector<Columns> columns_;
  std::array<Piece, 2> pieces_;
  std::byte* results_ = nullptr;  // of a prefix: carried, of every rank here
};

}  // namespace

std::unique_ptr<EngineRun> make_reduction(const ProcessCall& call, MakeExchange make) {
  return std::make_unique<Reduction>(call, make);
}

}  // namespace vranks

#endif  // VRANKS_HAVE_MPI
