// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Random fold programs and the rows they run on, and what must come out: by the expressions, not by
// the code made of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/fold_program.hpp"
#include "random_expression.hpp"

namespace vranks {

struct Sizes {
  std::int32_t rows;
  std::int64_t columns;
};

// --- rows ----------------------------------------------------------------------------------------

// Where the rows of a tensor begin, in elements: at equal distances, or each anywhere.
struct RowPlaces {
  std::vector<std::int64_t> at;
  std::int64_t stride = 0;
  std::int64_t elements = 0;  // of the memory that holds them, with some behind
  bool in_table = false;

  // `unit`: elements that rows begin at multiples of.
  static RowPlaces random(std::int64_t rows, std::int64_t columns, std::int64_t unit,
                          Random& random) {
    RowPlaces places;
    places.in_table = chance(random, 40);
    const std::int64_t start = below(random, 3) * unit;
    places.stride = (columns + below(random, 3) * unit + unit - 1) / unit * unit;
    for (std::int64_t r = 0; r < rows; ++r) places.at.push_back(start + r * places.stride);
    places.elements = start + rows * places.stride + 16;
    if (!places.in_table) return places;
    std::ranges::shuffle(places.at, random);
    if (places.stride > columns)
      for (std::int64_t& at : places.at) at += below(random, places.stride - columns + 1);
    return places;
  }

  // The rows in memory; `table` keeps their addresses.
  RowAddresses in_memory(void* memory, std::int64_t element_bytes,
                         std::vector<std::byte*>& table) const {
    std::byte* const data = static_cast<std::byte*>(memory);
    if (!in_table)
      return {.data = data + at[0] * element_bytes, .stride_bytes = stride * element_bytes};
    table.clear();
    for (const std::int64_t row : at) table.push_back(data + row * element_bytes);
    return {.table = table};
  }
};

// --- programs ------------------------------------------------------------------------------------

// A fold from left to right, some of whose partial results are results of their own.
struct RunningFold {
  struct Step {
    std::int32_t row;
    bool own;
    std::int32_t out_row;  // or none
  };
  static constexpr std::int32_t none = -1;
  std::vector<Step> steps;

  std::vector<FoldStep> code() const {
    std::vector<FoldStep> code;
    for (const Step& step : steps) {
      code.push_back({.row = step.row,
                      .action = code.empty() ? FoldAction::load : FoldAction::leaf_right,
                      .own = step.own});
      if (step.out_row != none) code.push_back({.row = step.out_row, .action = FoldAction::store});
    }
    return code;
  }
};

class RandomProgram {
 public:
  struct Shape {
    Sizes sizes;
    std::int32_t out_rows;
    bool in_place;
    std::int64_t unit;  // of places where pieces begin, in elements
  };

  RandomProgram(const Arithmetic& rules, const Shape& shape, Random& random) : shape_(shape) {
    program_.arithmetic = rules;
    for (std::byte& byte : program_.filling) byte = static_cast<std::byte>(random());
    for (std::int64_t k = 1 + below(random, 3); k > 0; --k) {
      expressions_.push_back(random_expression(shape.sizes.rows, random));
      add_code(expressions_.back().code(random));
      program_.stack = std::max(program_.stack, expressions_.back().stack());
    }
    add_code({{.action = FoldAction::fill}});
    if (!rules.rescues && shape.out_rows == shape.sizes.rows) {
      running_ = random_running_fold(random);
      add_code(running_.code());
    }
    add_pieces(random);
  }

  const FoldProgram& program() const { return program_; }

  // Calls write(output row, column, element, rank) for every element that the program writes.
  // x(row, column): an input.
  template <class T, class Reference, class X, class Write>
  void evaluate(const Reference& reference, const X& x, const Write& write) const {
    for (const FoldPiece& piece : program_.pieces)
      for (std::int64_t column = piece.begin; column < piece.end; ++column)
        evaluate_column<T>(reference, piece, column, x, write);
  }

 private:
  void add_code(const std::vector<FoldStep>& steps) {
    codes_.emplace_back(static_cast<std::int32_t>(program_.code.size()),
                        static_cast<std::int32_t>(steps.size()));
    program_.code.insert(program_.code.end(), steps.begin(), steps.end());
  }

  RunningFold random_running_fold(Random& random) const {
    const std::int32_t rows = shape_.sizes.rows;
    std::vector<std::int32_t> in(static_cast<std::size_t>(rows)), out;
    std::iota(in.begin(), in.end(), 0);
    if (chance(random, 50)) std::ranges::shuffle(in, random);
    out = in;
    if (!shape_.in_place) std::ranges::shuffle(out, random);
    const int own_percent = std::array{0, 50, 100}[random() % 3];
    RunningFold fold;
    for (std::size_t k = 0; k < in.size(); ++k)
      fold.steps.push_back({in[k], k > 0 && chance(random, own_percent),
                            chance(random, 80) ? out[k] : RunningFold::none});
    return fold;
  }

  // Pieces one behind the other, some with columns between them that no piece owns. Results lie
  // where the inputs do, or closer together.
  void add_pieces(Random& random) {
    const std::int64_t most = std::array<std::int64_t, 4>{1, 20, 200, 100000}[random() % 4];
    const bool packed = !shape_.in_place && chance(random, 30);
    std::int64_t packed_end = 0;
    for (std::int64_t at = below(random, 2) * shape_.unit; at < shape_.sizes.columns;) {
      const std::int64_t end = std::min(shape_.sizes.columns,
                                        at + (below(random, most) / shape_.unit + 1) * shape_.unit);
      const std::size_t which = random() % codes_.size();
      const bool all = shape_.out_rows > 1 && chance(random, 60);
      FoldPiece piece{.begin = at,
                      .end = end,
                      .out_begin = packed ? packed_end : at,
                      .origin = below(random, at + 1),
                      .code = codes_[which].first,
                      .length = codes_[which].second,
                      .out_row = static_cast<std::int32_t>(below(random, shape_.out_rows)),
                      .first_row = static_cast<std::int32_t>(below(random, 3))};
      if (all) {
        piece.out_row = static_cast<std::int32_t>(below(random, 2));
        piece.out_rows = shape_.out_rows - piece.out_row;
      }
      if (is_running(which)) piece.out_row = piece.out_rows = 0;
      program_.pieces.push_back(piece);
      which_.push_back(which);
      packed_end += end - at;
      at = end + (chance(random, 20) ? below(random, 9) : 0);
    }
  }

  bool is_fill(std::size_t which) const { return which == expressions_.size(); }
  bool is_running(std::size_t which) const { return which > expressions_.size(); }

  template <class T, class Reference, class X, class Write>
  void evaluate_column(const Reference& reference, const FoldPiece& piece, std::int64_t column,
                       const X& x, const Write& write) const {
    const Arithmetic& rules = program_.arithmetic;
    const std::size_t which = which_[static_cast<std::size_t>(&piece - program_.pieces.data())];
    const bool fuse = rules.fuse == Fuse::own ||
                      (rules.fuse == Fuse::ll128 && fuses_at(column - piece.origin, sizeof(T)));
    const auto at = [&](std::int32_t row) { return x(row, column); };
    const auto put = [&](std::int32_t row, const T& element, std::int32_t rank) {
      write(row, piece.out_begin + column - piece.begin, element, rank);
    };
    const auto put_rows = [&](const T& element, std::int32_t rank) {
      for (std::int32_t r = 0; r < piece.out_rows; ++r) put(piece.out_row + r, element, rank);
    };
    const auto rank_of = [&](const auto& value) -> std::int32_t {
      if constexpr (requires { reference.lower_rank(value, 0); })
        return reference.lower_rank(value, piece.first_row);
      else
        return FoldProgram::no_rank;
    };

    if (is_fill(which)) {
      T element;
      std::memcpy(&element, program_.filling.data(), sizeof(T));
      return put_rows(element, FoldProgram::no_rank);
    }
    if (is_running(which)) {
      const RunningFold::Step& first = running_.steps[0];
      auto value = reference.lift(at(first.row), first.row);
      for (const RunningFold::Step& step : running_.steps) {
        if (&step != &first)
          value = step.own ? reference.combine_own(at(step.row), step.row, value, false, fuse)
                           : reference.combine(value, reference.lift(at(step.row), step.row));
        if (step.out_row != RunningFold::none)
          put(step.out_row, reference.lower(value), rank_of(value));
      }
      return;
    }
    const Expression& expression = expressions_[which];
    if (expression.is_copy() && !rules.computes_alone)
      return put_rows(at(expression.first_row()), FoldProgram::no_rank);
    const auto value = expression.value(reference, at, fuse);
    if constexpr (requires { reference.rescue(); })
      if (reference.must_rescue(value)) {
        const auto scaled = reference.rescue();
        return put_rows(scaled.lower(expression.value(scaled, at, fuse)), FoldProgram::no_rank);
      }
    put_rows(reference.lower(value), rank_of(value));
  }

  Shape shape_;
  FoldProgram program_;
  std::vector<Expression> expressions_;
  RunningFold running_;
  std::vector<std::pair<std::int32_t, std::int32_t>> codes_;  // expressions, fill, running fold
  std::vector<std::size_t> which_;                            // of those, for each piece
};

}  // namespace vranks
