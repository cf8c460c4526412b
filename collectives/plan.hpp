// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One problem made ready to run: what really runs, its arithmetic, and the pass over memory that
// gives its bits. Depends on shapes and types, not on pointers, so one plan serves any number of
// calls; calls keep the plans they made.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "kernels/backend.hpp"
#include "ranks/tensor_view.hpp"

namespace vranks {

// What a plan is made from.
struct PlanKey {
  Problem problem = {};
  std::string algorithm = "direct";
  Parameters parameters = {};
  Policies policies = {};
  Device device = {};

  bool operator==(const PlanKey&) const = default;
};

// What produced a result.
struct Provenance {
  std::string algorithm;      // that really ran
  std::string reason;         // why not the one that was asked for; else empty
  std::string device;         // "cpu", "cuda:0"
  std::string executor;       // "fused" or "steps"
  std::string layout;         // name of the layout of its chunks
  std::string accumulate;     // dtype that partial results are carried in
  std::string mean;           // "divide" or "premultiply" for op mean, else empty
  std::string nan;            // "propagate" or "ignore" for min and max, else empty
  std::string protocol;       // of nccl_*, else empty
  std::int64_t channels = 0;  // of nccl_*, else 0
};

// What a key stands for before anything is built: cheap.
struct Choice {
  Selection selection;
  Arithmetic rules;
  Provenance provenance;
};

// Throws bad_argument or not_supported.
Choice choose(const PlanKey& key);

// The schedule and layout of a choice. Throws as Algorithm::build, and not_available if the machine
// has no memory for them.
Schedule build_schedule(const Problem& problem, const Selection& selection);
Layout make_layout(const Problem& problem, const Schedule& schedule, const Selection& selection);

class Plan {
 public:
  // Builds and proves nothing twice: what was planned for an equal key is found again. Throws as
  // choose() and build_schedule(). Must not be called while a stream of the device is captured,
  // unless an equal plan was made before.
  static std::shared_ptr<const Plan> of(const PlanKey& key);

  explicit Plan(const PlanKey& key);

  const Provenance& provenance() const { return choice_.provenance; }
  const Choice& choice() const { return choice_; }
  // Bytes that a run needs. `in_place`: its output overlaps its input; `staged`: in such a way that
  // the input has to be copied first.
  std::size_t workspace_bytes(bool in_place, bool staged) const;
  // in: R rows. out: R rows, or one where only the root has an output. Enqueues on `stream` and
  // returns.
  void run(const Rows& in, const Rows& out, bool in_place, bool staged, Workspace workspace,
           Stream stream) const;

 private:
  std::vector<TreeFold> tree_folds(const Rows& in, const Rows& out) const;
  std::size_t kernel_bytes() const;  // what the kernels alone need, rounded up to 256

  PlanKey key_;
  const Backend& backend_;
  Choice choice_;
  bool is_tree_fold_ = false;
  bool rereads_ = false;                    // see FusedProgram
  std::unique_ptr<PreparedFold> prepared_;  // unless it is a tree fold
};

}  // namespace vranks
