// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vranks run --steps` writes: a schedule at work on real data, as JSON. Its keys are stable;
// docs/cli.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/interpreters/execute_steps.hpp"
#include "collectives/plan.hpp"
#include "ranks/tensor.hpp"

namespace vranks::cli {

class StepsDocument {
 public:
  static constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

  // Throws not_supported if the document could be longer than that, before anything is run. What it
  // is given must outlive it.
  StepsDocument(const Problem& problem, const Choice& choice, const Schedule& schedule,
                const Layout& layout, const Tensor& in);

  // Step by step; see StepObserver.
  void add(std::size_t step, const std::vector<SlotState>& changed);
  // The whole document. `out` is the result. Steps that never ran, for there are no elements, are
  // added.
  std::string text(const Tensor& out) &&;

 private:
  using Elements = std::optional<std::vector<std::byte>>;  // of a chunk; nothing if unwritten

  void check_size() const;
  std::size_t cell(std::int32_t rank, Slot slot, std::int32_t index) const;
  void add_head();
  void add_transfers(std::size_t step);
  void add_state(std::int32_t rank);
  void add_slot(std::int32_t rank, Slot slot);
  void add_elements(const std::byte* data, std::int64_t count);
  void add_rows(const char* key, const Tensor& tensor, Slot slot);

  const Problem& problem_;
  const Choice& choice_;
  const Schedule& schedule_;
  const Layout& layout_;
  const Tensor& in_;
  std::vector<Elements> state_;  // of every rank's output chunks, then scratch chunks
  std::string text_;
  std::size_t steps_ = 0;
  std::int64_t messages_ = 0, bytes_ = 0;  // of all steps so far
};

}  // namespace vranks::cli
