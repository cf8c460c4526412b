// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// The plain calls that one thread made last: one that differs from them in nothing but where its
// tensors lie is checked and planned already, but for what is about memory. On small tensors all
// other checks together cost as much as the kernel. A thread's plans, and what they hold on the
// device, live until others take their place or the thread ends.
#pragma once

#include <list>
#include <memory>

#include "collectives/call.hpp"

namespace vranks {

struct PreparedCall {
  TensorView in, out;  // what the caller gave; the pointers mean nothing any more
  Call call;
  std::shared_ptr<const Plan> plan;
};

class PreparedCalls {
 public:
  // Whether calls with these options are kept: not those with lists of numbers, which take as long
  // to compare as to check.
  static bool keeps(const CollectiveOptions& options);

  // The equal call, its operands moved to these tensors; null if there is none, or if a pointer is
  // to be refused. Throws as make_call() for an overlap.
  const PreparedCall* find(Collective collective, const TensorView& in, const TensorView& out,
                           const CollectiveOptions& options);
  // Precondition: keeps() its options, and it isn't empty.
  const PreparedCall& keep(TensorView in, TensorView out, Call call,
                           std::shared_ptr<const Plan> plan);

 private:
  std::list<PreparedCall> kept_;  // latest use first
};

}  // namespace vranks
