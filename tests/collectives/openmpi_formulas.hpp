// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Open MPI's reductions as formulas per element, written down once more and without schedules: x[r]
// is the value of one element on rank r. What they say was found true by running Open MPI 4.1.4.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "collectives/parameters.hpp"
#include "collectives/problem.hpp"

namespace vranks::openmpi_formulas {

template <class T>
using Column = std::vector<T>;  // the value of one element on each rank

template <class T>
T falling(const Column<T>& x) {
  T sum = x.back();
  for (std::size_t r = x.size() - 1; r-- > 0;) sum = sum + x[r];
  return sum;
}

template <class T>
T rising_from(const Column<T>& x, std::size_t first) {
  T sum = x[first % x.size()];
  for (std::size_t k = 1; k < x.size(); ++k) sum = sum + x[(first + k) % x.size()];
  return sum;
}

// Leaf j: a pair, or the rank behind the pairs.
template <class T>
Column<T> leaves(const Column<T>& x) {
  std::size_t power = 1;
  while (2 * power <= x.size()) power *= 2;
  const std::size_t extra = x.size() - power;
  Column<T> v;
  for (std::size_t j = 0; j < power; ++j)
    v.push_back(j < extra ? x[2 * j] + x[2 * j + 1] : x[j + extra]);
  return v;
}

template <class T>
T up(const Column<T>& x) {
  Column<T> v = leaves(x);
  for (; v.size() > 1; v.resize(v.size() / 2))
    for (std::size_t j = 0; j < v.size() / 2; ++j) v[j] = v[2 * j] + v[2 * j + 1];
  return v[0];
}

template <class T>
T down(const Column<T>& x) {
  Column<T> v = leaves(x);
  for (; v.size() > 1; v.resize(v.size() / 2))
    for (std::size_t j = 0; j < v.size() / 2; ++j) v[j] = v[j] + v[j + v.size() / 2];
  return v[0];
}

// Neighbouring groups of 1, 2, 4 ...; missing ranks are ignored.
template <class T>
T aligned(const Column<T>& x) {
  Column<T> v = x;
  while (v.size() > 1) {
    Column<T> next;
    for (std::size_t j = 0; j < v.size(); j += 2)
      next.push_back(j + 1 < v.size() ? v[j] + v[j + 1] : v[j]);
    v = next;
  }
  return v[0];
}

// Sums along a tree given by the children of s, counted from the root.
template <class T>
T tree(const Column<T>& x, std::size_t root, std::size_t s,
       const std::function<std::vector<std::size_t>(std::size_t)>& children) {
  const T own = x[(s + root) % x.size()];
  const std::vector<std::size_t> below = children(s);
  if (below.empty()) return own;
  T sum = tree(x, root, below[0], children) + own;
  for (std::size_t k = 1; k < below.size(); ++k) sum = sum + tree(x, root, below[k], children);
  return sum;
}

template <class T>
T chain(const Column<T>& x, std::size_t root, std::size_t fanout) {
  const std::size_t others = x.size() - 1;
  if (others == 0) return x[0];
  std::vector<std::vector<std::size_t>> columns(std::min(fanout, others));
  std::size_t s = 1;
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t k = 0; k < others / columns.size() + (c < others % columns.size()); ++k)
      columns[c].push_back(s++);
  return tree<T>(x, root, 0, [&](std::size_t node) {
    std::vector<std::size_t> children;
    for (const auto& column : columns) {
      if (node == 0) children.push_back(column[0]);
      for (std::size_t k = 0; k + 1 < column.size(); ++k)
        if (column[k] == node) children.push_back(column[k + 1]);
    }
    return children;
  });
}

template <class T>
T binary(const Column<T>& x, std::size_t root) {
  return tree<T>(x, root, 0, [&](std::size_t s) {
    std::size_t level = 0;
    while (s >= (std::size_t{2} << level) - 1) ++level;
    std::vector<std::size_t> children;
    for (const std::size_t k : {1u, 2u})
      if (s + (k << level) < x.size()) children.push_back(s + (k << level));
    return children;
  });
}

template <class T>
T binomial(const Column<T>& x, std::size_t root) {
  return tree<T>(x, root, 0, [&](std::size_t s) {
    std::vector<std::size_t> children;
    for (std::size_t m = 1; s + m < x.size() && (s == 0 || m < (s & (~s + 1))); m *= 2)
      children.push_back(s + m);
    return children;
  });
}

// The block [low, low + length) of ranks.
template <class T>
T in_order(const Column<T>& x, std::size_t low, std::size_t length) {
  const T own = x[low + length - 1];
  if (length == 1) return own;
  if (length == 2) return x[low] + own;
  const std::size_t half = length / 2;
  return (in_order(x, low + half, length - half - 1) + own) + in_order(x, low, half);
}

// --- what each algorithm should give for element i of n ---

struct Case {
  Problem problem;
  std::string algorithm;
  Parameters parameters;
};

template <class T>
T reduced(const Case& c, const std::string& algorithm, const Column<T>& x) {
  const auto root = static_cast<std::size_t>(c.problem.root);
  const std::size_t power = std::size_t{1} << (std::bit_width(x.size()) - 1);
  if (algorithm == "ompi_chain")
    return chain(x, root,
                 c.parameters.fanout == 0 ? 4 : static_cast<std::size_t>(c.parameters.fanout));
  if (algorithm == "ompi_pipeline") return chain(x, root, 1);
  if (algorithm == "ompi_binary") return binary(x, root);
  if (algorithm == "ompi_binomial") return binomial(x, root);
  if (algorithm == "ompi_in_order_binary") return in_order(x, 0, x.size());
  if (algorithm == "ompi_rabenseifner" && c.problem.elements >= static_cast<std::int64_t>(power))
    return up(x);
  return falling(x);
}

template <class T>
T expected(const Case& c, std::size_t i, const Column<T>& x) {
  const std::string& a = c.algorithm;
  const auto n = static_cast<std::size_t>(c.problem.elements);
  if (c.problem.collective == Collective::reduce) return reduced(c, a, x);
  if (a == "ompi_nonoverlapping") return reduced(c, c.parameters.reduce_algorithm, x);
  if (c.problem.collective == Collective::reduce_scatter) {
    if (a == "ompi_ring") return rising_from(x, i / (n / x.size()) + 1);
    if (a == "ompi_recursive_halving") return down(x);
    if (a == "ompi_butterfly") return up(x);
    return aligned(x);
  }
  if (a == "ompi_ring" || a == "ompi_segmented_ring") {
    if (n < x.size()) return up(x);
    const std::size_t late = n / x.size(), split = n % x.size();
    return rising_from(
        x, i < split * (late + 1) ? i / (late + 1) : split + (i - split * (late + 1)) / late);
  }
  if (a == "ompi_recursive_doubling") return up(x);
  return reduced(c, a, x);
}

}  // namespace vranks::openmpi_formulas
