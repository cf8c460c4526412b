// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The generated table's rows. Row k of a collective and algorithm takes the k-th value, cyclically,
// of 9 numbers of ranks, 7 numbers of elements, 5 group shapes, 4 placements, 17 dtypes and 16 ops.
// The numbers have no common divisor (but for 4 and 16), so 63 rows in succession have every pair
// of ranks, elements, groups and placements, and 272 every op with every dtype. Roots, data, rows,
// displacements and factors are drawn by a hash of k, so that they have nothing to do with these.
#pragma once

#include <array>

#include "collectives/algorithm.hpp"
#include "tests/collectives/trial.hpp"

namespace vranks {

inline constexpr std::array<std::int64_t, 9> table_ranks{1, 2, 3, 4, 5, 7, 8, 16, 33};

inline std::int64_t table_elements(std::size_t k, std::int64_t ranks) {
  const std::array<std::int64_t, 7> elements{0,   1, ranks - 1, ranks, ranks + 1, 3 * ranks + 2,
                                             1000};
  return elements[k % elements.size()];
}

// One, contiguous, along a mesh axis, permuted, and of unequal size where that has a meaning.
inline Groups table_groups(std::size_t k, std::int64_t ranks, bool may_be_unequal) {
  const std::size_t shape = k % 5;
  std::int64_t size = ranks;
  for (std::int64_t d = 2; d < ranks && size == ranks; ++d)
    if (ranks % d == 0) size = ranks / d;
  Groups groups;
  switch (shape) {
    case 0:
      break;
    case 1:
      for (std::int64_t r = 0; r < ranks; ++r) {
        if (r % size == 0) groups.emplace_back();
        groups.back().push_back(r);
      }
      break;
    case 2: {
      const auto mesh = parse_mesh(fmt::format("a={},b={}", size, ranks / size));
      groups = mesh_groups(mesh, "a");
      break;
    }
    case 3:  // member i of group g, counted down and shifted by one
      groups.resize(static_cast<std::size_t>(ranks / size));
      for (std::int64_t r = 0; r < ranks; ++r)
        groups[static_cast<std::size_t>(r % (ranks / size))].push_back((2 * ranks - r) % ranks);
      break;
    default:
      if (!may_be_unequal || ranks < 2) return table_groups(3, ranks, false);
      groups = {{ranks / 2}, {}};
      for (std::int64_t r = ranks - 1; r >= 0; --r)
        if (r != ranks / 2) groups[1].push_back(r);
      break;
  }
  return groups;
}

// The k-th op and dtype that go together.
struct Kind {
  DType dtype;
  ReduceOp op;
};
inline Kind table_kind(std::size_t k, Collective collective) {
  const auto all = dtypes();
  const auto ops = reduce_ops();
  const DType dtype = all[k % all.size()].dtype;
  for (std::size_t i = k;; ++i) {
    const ReduceOp op = ops[i % ops.size()].op;
    const bool has_meaning =
        !is_prefix(collective) || (op != ReduceOp::mean && op != ReduceOp::weighted_mean);
    if (supports(op, dtype) && has_meaning) return {dtype, op};
  }
}

namespace detail {

// Counts of a _v form with zeros among them; if `displaced`, displacements that leave gaps.
inline void set_counts(Trial& trial, std::size_t k, std::int64_t elements, bool displaced) {
  CollectiveOptions& o = trial.meaning.options;
  const Collective form = even_form(trial.meaning.collective);
  const std::size_t size = trial.meaning.groups()[0].size();
  const bool is_matrix = form == Collective::all_to_all;
  const std::size_t blocks = is_matrix ? size * size : size;
  const auto most = static_cast<std::size_t>(2 * elements) / size + 1;
  for (std::size_t b = 0; b < blocks; ++b)
    o.counts.push_back(elements == 0 ? 0
                                     : static_cast<std::int64_t>((b * 7 + k * 5 + b * b) % most));
  o.ragged = is_matrix;
  if (!displaced || form == Collective::reduce_scatter) return;
  // One row of blocks: the last one first, a row between any two.
  const auto reversed = [](const Counts& counts) {
    Counts starts(counts.size());
    std::int64_t end = 0;
    for (std::size_t b = counts.size(); b-- > 0; end += counts[b] + 1) starts[b] = end;
    return starts;
  };
  const auto append = [](Counts& all, const Counts& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (!is_matrix) {
    (form == Collective::scatter ? o.send_displacements : o.receive_displacements) =
        reversed(o.counts);
    return;
  }
  for (std::size_t r = 0; r < size; ++r) {
    append(o.send_displacements, reversed(plain::matrix_row(o.counts, size, r)));
    append(o.receive_displacements, reversed(plain::matrix_column(o.counts, size, r)));
  }
}

// Of a _v form: one tensor with the same rows for all ranks, some of which nobody uses.
inline void use_one_tensor(Trial& trial) {
  const Collective form = even_form(trial.meaning.collective);
  const auto make_equal = [](std::vector<std::int64_t>& rows, std::int64_t more) {
    rows.assign(rows.size(), *std::ranges::max_element(rows) + more);
  };
  if (form != Collective::scatter && form != Collective::reduce_scatter)
    make_equal(trial.in_rows, 0);
  make_equal(trial.out_rows, 1);
}

inline void set_operands(CollectiveOptions& o, const Trial& trial, std::size_t k) {
  const DType dtype = trial.meaning.dtype;
  const bool is_unsigned = info(dtype).kind == DTypeKind::unsigned_integer;
  constexpr double integers[] = {3, 0, 100, -2};
  constexpr double exact[] = {0.5, -0.25, 1, -1}, any[] = {0.7, -0.3, 1.5, -1};
  if (o.op == ReduceOp::premul_sum)
    o.factor = is_integer(dtype)           ? integers[mixed(k, 4) % (is_unsigned ? 3 : 4)]
               : trial.data == Data::whole ? exact[mixed(k, 4) % 4]
                                           : any[mixed(k, 4) % 4];
  if (o.op != ReduceOp::weighted_mean) return;
  o.weights.resize(static_cast<std::size_t>(trial.meaning.ranks));
  for (const Group& group : trial.meaning.groups())
    for (std::size_t r = 0; r < group.size(); ++r)
      o.weights[static_cast<std::size_t>(group[r])] = trial.data == Data::whole
                                                          ? static_cast<double>(r % 2 == 0)
                                                          : 0.25 * static_cast<double>(r % 5 + 1);
}

}  // namespace detail

// Row k. `kind`: op and dtype.
inline Trial table_trial(Collective collective, std::string_view algorithm,
                         const Parameters& parameters, std::size_t k, Kind kind, Device device) {
  const Collective form = even_form(collective);
  const std::int64_t ranks = table_ranks[k % table_ranks.size()];
  const bool may_be_unequal = collective == Collective::all_reduce || is_prefix(collective) ||
                              collective == Collective::reduce ||
                              collective == Collective::broadcast;
  Trial trial{.meaning = {.collective = collective,
                          .ranks = ranks,
                          .row = mixed(k, 1) % 3 == 0 ? 3 : 1,
                          .dtype = kind.dtype,
                          .options = {.op = kind.op,
                                      .algorithm = algorithm,
                                      .parameters = parameters,
                                      .groups = table_groups(k, ranks, may_be_unequal)}},
              .device = device,
              .placement = static_cast<Placement>(k % 4),
              .data = static_cast<Data>(mixed(k, 2) % 3)};
  if (kind.op == ReduceOp::log_sum_exp && trial.data == Data::whole) trial.data = Data::random;
  CollectiveOptions& o = trial.meaning.options;
  const Groups groups = trial.meaning.groups();
  auto size = static_cast<std::int64_t>(groups[0].size());
  for (const Group& group : groups) size = std::min(size, static_cast<std::int64_t>(group.size()));
  if (has_root(collective))
    o.root = std::array{std::int64_t{0}, size / 2, size - 1}[mixed(k, 5) % 3];
  // Every rank of many gathering many elements would only take time.
  const bool is_large = form == Collective::all_gather && ranks > 8;
  const std::int64_t elements =
      std::min<std::int64_t>(table_elements(k, ranks), is_large ? 101 : 1000);
  trial.meaning.rows = (elements + trial.meaning.row - 1) / trial.meaning.row;
  const bool cuts = form == Collective::reduce_scatter || form == Collective::scatter ||
                    form == Collective::all_to_all;
  if (cuts && !takes_counts(collective)) trial.meaning.rows = (elements + size - 1) / size * size;
  if (takes_counts(collective)) detail::set_counts(trial, k, elements, mixed(k, 3) % 2 != 0);
  if (collective == Collective::permute) {
    const bool is_whole = size == 1 || mixed(k, 6) % 3 == 0;  // otherwise one rank sends nothing
    const auto by = static_cast<std::int64_t>(1 + mixed(k, 7) % 2);
    for (std::int64_t r = 0; r < (is_whole ? size : size - 1); ++r)
      o.permutation.emplace_back(r, (r + by) % size);
  }
  if (reduces(collective)) {
    detail::set_operands(o, trial, k);
    if (kind.op == ReduceOp::mean && is_floating(kind.dtype) && trial.data == Data::whole)
      o.mean = MeanMode::divide;
  }
  trial.lay_out();
  if (takes_counts(collective) && trial.placement == Placement::padded) {
    detail::use_one_tensor(trial);
    trial.lay_out();
  }
  return trial;
}

}  // namespace vranks
