// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One line on standard error that says what a long command is doing. It appears only on a terminal,
// only once the command has run for half a second, and is gone when the work is done.
#pragma once

#include <cstdint>
#include <string>

namespace vranks::cli {

class ProgressLine {
 public:
  // `stage` says what happens now: "reading x.npy".
  explicit ProgressLine(std::string stage);
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // That much of the stage is done. May be called often: most calls only look at the clock.
  void operator()(std::int64_t done, std::int64_t total);

 private:
  void show(const std::string& text);

  std::string stage_;
  double shown_at_ = 0;
  bool is_shown_ = false;
};

}  // namespace vranks::cli
