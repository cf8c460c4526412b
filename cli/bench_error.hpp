// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// How far the elements of results are from the exact ones: the largest and the mean distance, as
// numbers and relative to what is right.
#pragma once

#include <cstdint>

#include "cli/outcome.hpp"

namespace vranks::cli {

class ErrorSums {
 public:
  // The elements of a reduction whose ranks are one group, after judge(). Of more than a million
  // each k-th is looked at.
  void add(const Outcome& outcome);

  std::int64_t compared() const { return compared_; }
  double max_absolute() const { return max_absolute_; }
  double max_relative() const { return max_relative_; }
  double mean_absolute() const { return sum_absolute_ / static_cast<double>(compared_); }
  // Over the elements that should not be 0.
  double mean_relative() const {
    return relatives_ == 0 ? 0 : sum_relative_ / static_cast<double>(relatives_);
  }

 private:
  std::int64_t compared_ = 0, relatives_ = 0;
  double max_absolute_ = 0, max_relative_ = 0, sum_absolute_ = 0, sum_relative_ = 0;
};

}  // namespace vranks::cli
