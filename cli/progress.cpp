// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace vranks::cli {

namespace {

constexpr double quiet_seconds = 0.5;
constexpr double refresh_seconds = 0.1;

double seconds_since_start() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

ProgressLine::ProgressLine(std::string stage) : stage_(std::move(stage)) {
  if (seconds_since_start() > quiet_seconds) show(stage_ + " ...");
}

ProgressLine::~ProgressLine() {
  if (!is_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void ProgressLine::operator()(std::int64_t done, std::int64_t total) {
  const double now = seconds_since_start();
  if (now < quiet_seconds || now - shown_at_ < refresh_seconds || total <= 0) return;
  shown_at_ = now;
  show(fmt::format("{} {:3.0f} %", stage_,
                   100 * static_cast<double>(done) / static_cast<double>(total)));
}

void ProgressLine::show(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  is_shown_ = true;
  std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace vranks::cli
