// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One collective call in one block of memory, checked against the plain reference: every element
// that the call must write is right, and every other byte of the block is what it was.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/collectives.hpp"
#include "ranks/error.hpp"
#include "ranks/random.hpp"
#include "ranks/tensor.hpp"
#include "tests/collectives/reference_ops.hpp"
#include "tests/collectives/special_values.hpp"

namespace vranks {

enum class Placement {
  apart,     // slices one behind the other
  padded,    // gaps between slices
  in_place,  // the input itself, or NCCL's place
  at_start,  // in place: results at the start of the input's slices, MPI's place
};

// special: NaN, infinities, zeros of both signs, subnormal numbers, of 8-bit floats what saturates;
// any bits where floats aren't combined.
enum class Data { whole, random, special };

struct Trial {
  plain::Meaning meaning;
  Device device = {};
  Placement placement = Placement::apart;
  Data data = Data::random;
  bool steps = false;  // run_steps() instead of run()

  // Rows of every slice of the input and the output, and where they lie in the block, in bytes.
  std::vector<std::int64_t> in_rows = {}, out_rows = {}, in_at = {}, out_at = {};
  std::int64_t block_bytes = 0;
  bool lists = false;  // a tensor a rank instead of one of all ranks

  // Whether op min_loc or max_loc tells its ranks, into memory of their own.
  bool tells_ranks() const {
    return finds_rank(meaning.options.op) && reduces(meaning.collective) && !lists;
  }
  bool is_in_place() const {
    return placement == Placement::in_place || placement == Placement::at_start;
  }
  std::int64_t width() const { return static_cast<std::int64_t>(size_bytes(meaning.dtype)); }
  std::int64_t row_bytes() const { return meaning.row * width(); }

  // Sets rows and places. Without in_rows or out_rows the slices are as long as they must be.
  void lay_out();
  // What `lay_out` gives has all input elements; the rest of the block is 0xa5.
  std::vector<std::byte> filled_block() const;
  // Runs the call in a block of the device; returns its bytes after, and ranks behind them.
  std::vector<std::byte> run(const std::vector<std::byte>& before, Provenance& provenance) const;
  // "" if `after` is right, otherwise what is wrong.
  std::string judge(const std::vector<std::byte>& before, const std::vector<std::byte>& after,
                    const Provenance& provenance) const;
  // For messages.
  std::string to_string() const;

 private:
  std::vector<TensorView> views(std::byte* block, const std::vector<std::int64_t>& rows,
                                const std::vector<std::int64_t>& at) const;
  TensorView one_view(const std::vector<TensorView>& slices) const;
  std::size_t rank_elements() const;
};

inline void Trial::lay_out() {
  const Groups groups = meaning.groups();
  const auto ranks = static_cast<std::size_t>(meaning.ranks);
  const bool at_root = ends_at_root(meaning.collective);
  const Collective form = even_form(meaning.collective);
  const CollectiveOptions& o = meaning.options;
  std::vector<std::int64_t> group_of(ranks), local(ranks);
  if (in_rows.empty()) {
    in_rows.resize(ranks);
    out_rows.resize(at_root ? groups.size() : ranks);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t r = 0; r < groups[g].size(); ++r) {
        const auto rank = static_cast<std::size_t>(groups[g][r]);
        const plain::SliceRows rows = plain::slice_rows(meaning, groups[g].size(), r);
        in_rows[rank] = rows.in;
        out_rows[at_root ? g : rank] = rows.out;
        // What is sent and what is received lie in one row.
        if (form == Collective::all_to_all && is_in_place())
          in_rows[rank] = out_rows[rank] = std::max(rows.in, rows.out);
      }
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t r = 0; r < groups[g].size(); ++r) {
      group_of[static_cast<std::size_t>(groups[g][r])] = static_cast<std::int64_t>(g);
      local[static_cast<std::size_t>(groups[g][r])] = static_cast<std::int64_t>(r);
    }
  constexpr std::int64_t guard = 256;
  const std::int64_t gap = placement == Placement::padded ? 3 * width() : 0;
  std::int64_t end = guard;
  const auto place = [&](std::vector<std::int64_t>& at, const std::vector<std::int64_t>& rows) {
    at.clear();
    for (const std::int64_t count : rows) {
      at.push_back(end);
      end += count * row_bytes() + gap;
    }
    end = (end + 2 * guard - 1) / guard * guard;
  };
  // Where rank r's block starts in a slice that holds all of them.
  const auto start = [&](std::size_t rank) {
    const auto size =
        static_cast<std::int64_t>(groups[static_cast<std::size_t>(group_of[rank])].size());
    const auto r = static_cast<std::size_t>(local[rank]);
    const bool cuts = form == Collective::scatter || form == Collective::reduce_scatter;
    const std::int64_t rows =
        takes_counts(meaning.collective)
            ? plain::block_start(o.counts, cuts ? o.send_displacements : o.receive_displacements, r)
            : local[rank] * (cuts ? meaning.rows / size : meaning.rows);
    return rows * row_bytes();
  };
  if (is_in_place() && (form == Collective::all_gather || form == Collective::gather)) {
    place(out_at, out_rows);
    in_at.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      in_at[rank] = out_at[at_root ? static_cast<std::size_t>(group_of[rank]) : rank] + start(rank);
  } else {
    place(in_at, in_rows);
    if (!is_in_place()) {
      place(out_at, out_rows);
    } else if (form == Collective::reduce) {
      out_at.clear();
      for (const Group& group : groups)
        out_at.push_back(in_at[static_cast<std::size_t>(group[static_cast<std::size_t>(o.root)])]);
    } else {
      out_at = in_at;
      const bool cuts = form == Collective::scatter || form == Collective::reduce_scatter;
      if (cuts && placement == Placement::in_place)
        for (std::size_t rank = 0; rank < ranks; ++rank) out_at[rank] += start(rank);
    }
  }
  block_bytes = end + guard;
  const auto is_regular = [](const std::vector<std::int64_t>& rows,
                             const std::vector<std::int64_t>& at) {
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (rows[i] != rows[0] || at[i] - at[i - 1] != at[1] - at[0] || at[1] < at[0]) return false;
    return true;
  };
  lists = !is_regular(in_rows, in_at) || !is_regular(out_rows, out_at);
}

inline std::vector<std::byte> Trial::filled_block() const {
  std::vector<std::byte> block(static_cast<std::size_t>(block_bytes), std::byte{0xa5});
  const std::int64_t longest = *std::ranges::max_element(in_rows) * meaning.row;
  const Tensor numbers(meaning.dtype, {meaning.ranks, longest});
  if (longest == 0) return block;
  if (data == Data::whole && reduces(meaning.collective))
    fill_whole_numbers(numbers.view(), 7, meaning.ranks, meaning.options.op);
  else if (data == Data::special)
    fill_special(numbers, meaning.options.op, reduces(meaning.collective));
  else
    fill_random(numbers.view(), static_cast<std::uint64_t>(meaning.ranks * 1000 + longest));
  for (std::size_t r = 0; r < in_rows.size(); ++r)
    if (in_rows[r] > 0)
      std::memcpy(block.data() + in_at[r],
                  numbers.data() + static_cast<std::int64_t>(r) * longest * width(),
                  static_cast<std::size_t>(in_rows[r] * row_bytes()));
  return block;
}

inline std::vector<TensorView> Trial::views(std::byte* block, const std::vector<std::int64_t>& rows,
                                            const std::vector<std::int64_t>& at) const {
  std::vector<TensorView> slices;
  // What a rank gathers has a dimension that counts ranks.
  const bool gathers = &rows == &out_rows && (meaning.collective == Collective::all_gather ||
                                              meaning.collective == Collective::gather);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    slices.push_back({block + at[r], meaning.dtype, {rows[r], meaning.row}, {}, device});
    if (gathers)
      slices.back().shape = {static_cast<std::int64_t>(meaning.groups()[0].size()), meaning.rows,
                             meaning.row};
  }
  return slices;
}

// All slices as one tensor, whose ranks lie at equal distances.
inline TensorView Trial::one_view(const std::vector<TensorView>& slices) const {
  TensorView all = slices[0];
  all.shape.insert(all.shape.begin(), static_cast<std::int64_t>(slices.size()));
  all.strides = contiguous_strides(all.shape);
  if (slices.size() > 1)
    all.strides[0] =
        (static_cast<std::byte*>(slices[1].data) - static_cast<std::byte*>(slices[0].data)) /
        width();
  return all;
}

inline std::size_t Trial::rank_elements() const {
  return tells_ranks() ? static_cast<std::size_t>(out_rows[0] * meaning.row) * out_rows.size() : 0;
}

inline std::vector<std::byte> Trial::run(const std::vector<std::byte>& before,
                                         Provenance& provenance) const {
  const DeviceBuffer memory(before.size(), device);
  memory.copy_from_host(before.data(), before.size());
  auto* const block = static_cast<std::byte*>(memory.data());
  const std::vector<TensorView> in = views(block, in_rows, in_at);
  const std::vector<TensorView> out = views(block, out_rows, out_at);
  CollectiveOptions options = meaning.options;
  const std::size_t ranks_bytes = 4 * rank_elements();
  const DeviceBuffer ranks(ranks_bytes, device);
  const bool is_single = ends_at_root(meaning.collective) && options.groups.empty();
  TensorView to = is_single || lists ? out[0] : one_view(out);
  std::vector<std::byte> untold(ranks_bytes, std::byte{0xa5});
  ranks.copy_from_host(untold.data(), ranks_bytes);
  if (ranks_bytes > 0) options.ranks = {ranks.data(), DType::i32, to.shape, {}, device};
  if (lists)
    provenance = steps ? run_steps(meaning.collective, in, out, options)
                       : vranks::run(meaning.collective, in, out, options);
  else
    provenance = steps ? run_steps(meaning.collective, one_view(in), to, options)
                       : vranks::run(meaning.collective, one_view(in), to, options);
  std::vector<std::byte> after(before.size() + ranks_bytes);
  memory.copy_to_host(after.data(), before.size());
  ranks.copy_to_host(after.data() + before.size(), ranks_bytes);
  return after;
}

namespace detail {

inline std::string hex(const std::byte* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = count; i-- > 0;)
    text += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  return text;
}

}  // namespace detail

inline std::string Trial::judge(const std::vector<std::byte>& before,
                                const std::vector<std::byte>& after,
                                const Provenance& provenance) const {
  const bool real = is_floating(meaning.dtype) || is_complex(meaning.dtype);
  const DType carried = real && reduces(meaning.collective) && provenance.accumulate != ""
                            ? parse_dtype(provenance.accumulate)
                            : meaning.dtype;
  const plain::Rules rules{
      .nan = provenance.nan == "ignore" ? NanPolicy::ignore : NanPolicy::propagate,
      .carried = carried,
      .wraps = provenance.accumulate == name(meaning.dtype),
      .saturates = provenance.fp8 == "saturate"};
  const Groups groups = meaning.groups();
  const plain::Origins origins = plain::origins_of(meaning, out_rows);
  const auto bytes = static_cast<std::size_t>(width());
  const std::size_t parts = is_complex(meaning.dtype) ? 2 : 1;
  // Whole numbers make every order exact; scaling them first doesn't, nor do exp and log.
  const bool exact = data == Data::whole && provenance.mean != "premultiply" &&
                     meaning.options.op != ReduceOp::log_sum_exp;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, plain::Expected>
      known;
  std::vector<const std::byte*> x;
  std::vector<double> weights;
  const auto expect = [&](const plain::Origin& origin) -> const plain::Expected& {
    const auto [at, is_new] =
        known.try_emplace({origin.group, origin.first, origin.count, origin.element});
    if (!is_new) return at->second;
    x.clear();
    weights.clear();
    for (std::int32_t k = origin.first; k < origin.first + origin.count; ++k) {
      const auto rank = static_cast<std::size_t>(
          groups[static_cast<std::size_t>(origin.group)][static_cast<std::size_t>(k)]);
      x.push_back(before.data() + in_at[rank] + origin.element * width());
      if (!meaning.options.weights.empty()) weights.push_back(meaning.options.weights[rank]);
    }
    return at->second = plain::combined(meaning, rules, {x, origin.first, weights});
  };

  std::vector<std::byte> right(before);  // with the outputs' bytes as they came, once judged
  for (std::size_t s = 0; s < origins.size(); ++s)
    for (std::size_t i = 0; i < origins[s].size(); ++i) {
      const plain::Origin& origin = origins[s][i];
      if (tells_ranks()) {
        std::int32_t told = 0;
        std::memcpy(&told, after.data() + before.size() + 4 * (s * origins[s].size() + i), 4);
        const std::int32_t rank =
            origin.group < 0 ? static_cast<std::int32_t>(0xa5a5a5a5) : expect(origin).rank;
        if (told != rank)
          return fmt::format("slice {}, element {}: rank {} is told, not {}", s, i, told, rank);
      }
      if (origin.group < 0) continue;
      const plain::Expected& expected = expect(origin);
      const std::size_t at = static_cast<std::size_t>(out_at[s]) + i * bytes;
      const std::byte* const found = after.data() + at;
      std::memcpy(right.data() + at, found, bytes);
      if (std::memcmp(found, expected.bits.data(), bytes) == 0) continue;
      bool near = !expected.has_bits && !exact;
      std::string text;
      for (std::size_t p = 0; real && p < parts; ++p) {
        const plain::Real value = plain::real_at(meaning.dtype, found, p);
        const std::size_t part = bytes / parts;
        near = near && (std::abs(value - expected.value[p]) <= expected.bound[p] ||
                        (expected.may_be_nan && std::isnan(value)) ||
                        std::memcmp(found + p * part, expected.bits.data() + p * part, part) == 0);
        text += fmt::format(" {} instead of {} +- {}", static_cast<double>(value),
                            static_cast<double>(expected.value[p]),
                            static_cast<double>(expected.bound[p]));
      }
      if (!near)
        return fmt::format("slice {}, element {}: bits {} instead of {};{}", s, i,
                           detail::hex(found, bytes), detail::hex(expected.bits.data(), bytes),
                           text);
    }
  const auto [wrong, was] = std::mismatch(right.begin(), right.end(), after.begin());
  if (wrong == right.end()) return "";
  return fmt::format("byte {} of the block was written, which belongs to no result",
                     wrong - right.begin());
}

inline std::string Trial::to_string() const {
  const CollectiveOptions& o = meaning.options;
  std::string text = fmt::format(
      "{} {} {} of {} R={} d0={} row={} root={} placement={}{}{}", name(meaning.collective),
      o.algorithm, reduces(meaning.collective) ? name(o.op) : "copy", name(meaning.dtype),
      meaning.ranks, meaning.rows, meaning.row, o.root, static_cast<int>(placement),
      data == Data::whole     ? " whole"
      : data == Data::special ? " special"
                              : " random",
      steps ? " steps" : "");
  for (const Group& group : o.groups) text += fmt::format(" [{}]", fmt::join(group, " "));
  if (!o.counts.empty()) text += fmt::format(" counts {}", fmt::join(o.counts, " "));
  if (!o.receive_displacements.empty())
    text += fmt::format(" at {}", fmt::join(o.receive_displacements, " "));
  if (!o.send_displacements.empty())
    text += fmt::format(" from {}", fmt::join(o.send_displacements, " "));
  return text;
}

}  // namespace vranks
