// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// One problem made ready to run: what really runs, its arithmetic, and the pass over memory that
// gives its bits. Depends on shapes and types, not on pointers, so one plan serves any number of
// calls; calls keep the plans they made.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "kernels/backend.hpp"
#include "ranks/group.hpp"

namespace vranks {

// What a plan is made from.
struct PlanKey {
  Problem problem = {};  // over all ranks: with the weights of all
  // In the order in which rows come: group after group. Empty: all ranks are one.
  Groups groups = {};
  std::string algorithm = "direct";
  Parameters parameters = {};
  Policies policies = {};
  Device device = {};
  bool scattered = false;  // rows don't follow each other at equal distances
  bool is_custom = false;  // the op is the caller's own; problem.op means nothing

  bool operator==(const PlanKey&) const = default;
};

// The problem of one group: what its ranks would see, were they alone.
Problem group_problem(const PlanKey& key, std::size_t group);
// Groups of a key; all ranks are one.
inline std::size_t group_count(const PlanKey& key) {
  return key.groups.empty() ? 1 : key.groups.size();
}

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
  std::string fp8;            // "saturate" or "ieee" for 8-bit floats, else empty
  std::string protocol;       // of nccl_*, else empty
  std::int64_t channels = 0;  // of nccl_*, else 0
};

// What a key stands for before anything is built: cheap.
struct Choice {
  Selection selection;
  Arithmetic rules;
  Provenance provenance;
};

// For the first group (others differ in what depends on their size alone). Throws bad_argument or
// not_supported.
Choice choose(const PlanKey& key, std::size_t group = 0);
// The same, once all groups have been checked.
Choice choose_all(const PlanKey& key);

// The schedule and layout of a choice. Throws as Algorithm::build, and not_available if the machine
// has no memory for them.
Schedule build_schedule(const Problem& problem, const Selection& selection);
Layout make_layout(const Problem& problem, const Schedule& schedule, const Selection& selection);

// Takes a program to the device of a key.
using Prepare = std::function<std::unique_ptr<PreparedFold>(FoldProgram, const PlanKey&)>;

class Plan {
 public:
  // Builds nothing twice: what was planned for an equal key is found again. Throws as choose() and
  // build_schedule(). Must not be called while a stream of the device is captured, unless an equal
  // plan was made before.
  static std::shared_ptr<const Plan> of(const PlanKey& key);

  // `prepare`: of a custom op; otherwise the backend does it.
  explicit Plan(const PlanKey& key, const Prepare& prepare = {});

  const Provenance& provenance() const { return provenance_; }
  // Whether a run reads elements of the input after it has written others at their places, so that
  // in place the input has to be copied first.
  bool rereads() const { return rereads_; }
  // Bytes of workspace that a run needs, a multiple of 256.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // Rows of the input and the output, group after group; one output row a group where only the
  // root has an output. Enqueues on `stream` and returns. rows.in and rows.out may be the same
  // memory unless rereads().
  void run(const FoldRows& rows, Workspace workspace, Stream stream) const;

 private:
  void prepare_groups(const Prepare& prepare);
  // Calls run(TreeFold) for each fold that makes up the plan.
  template <class Run>
  void for_tree_folds(const FoldRows& rows, Run&& run) const;

  PlanKey key_;
  const Backend& backend_;
  Provenance provenance_;
  Arithmetic rules_;        // of the only group, where it is a tree fold
  std::int64_t parts_ = 1;  // of an element
  bool is_tree_fold_ = false;
  bool rereads_ = false;
  std::vector<std::unique_ptr<PreparedFold>> prepared_;  // unless it is a tree fold
  std::size_t workspace_bytes_ = 0;
};

// The plans that were used last.
class PlanCache {
 public:
  // Of an equal key, made before or now.
  std::shared_ptr<const Plan> of(const PlanKey& key, const Prepare& prepare = {});

 private:
  std::mutex mutex_;
  std::list<std::pair<PlanKey, std::shared_ptr<const Plan>>> kept_;  // latest use first
};

}  // namespace vranks
