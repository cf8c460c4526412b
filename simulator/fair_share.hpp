// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Flows of bytes over links that they share, max-min fair: no flow could be faster without another
// one, no faster than it, becoming slower (Bertsekas and Gallager, Data Networks, section 6.5.2).
// Rates change only when a flow starts or ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vranks {

class FairShare {
 public:
  // capacities   of the links, bytes a second
  // route_links  the links of all routes: of flow 0, of flow 1, ...
  // route_ends   behind the last link of each flow
  FairShare(const std::vector<double>& capacities, std::vector<std::int32_t> route_links,
            const std::vector<std::size_t>& route_ends);

  bool is_active(std::int32_t flow) const { return flows_[index(flow)].is_active; }
  // Bytes a second that a flow would have alone.
  double alone(std::int32_t flow) const { return flows_[index(flow)].alone; }
  double rate(std::int32_t flow) const { return flows_[index(flow)].rate; }
  double capacity(std::int32_t link) const { return links_[index(link)].capacity; }
  std::span<const std::int32_t> route(std::int32_t flow) const;

  // A flow starts, of at most `cap` bytes a second (as alone() if less), or ends, or gets another
  // cap. Rates are right after the next solve().
  void start(std::int32_t flow, double bytes, double cap, double now);
  void end(std::int32_t flow);
  void set_cap(std::int32_t flow, double cap);

  // Gives every flow its rate and calls changed(flow, seconds it still needs) for those whose rate
  // is another one.
  template <class F>
  void solve(double now, F&& changed) {
    if (dirty_links_.empty() && fresh_.empty()) return;
    find_rates();
    for (const std::int32_t f : changed_) {
      Flow& flow = flows_[index(f)];
      flow.remaining -= flow.rate * (now - flow.updated);
      flow.updated = now;
      flow.rate = flow.next_rate;
      changed(f, flow.remaining > 0 ? flow.remaining / flow.rate : 0);
    }
    changed_.clear();
  }

 private:
  struct Flow {
    std::uint32_t begin = 0, end = 0;  // of its links in hops_
    double alone = 0, cap = 0, rate = 0, next_rate = 0, remaining = 0, updated = 0;
    bool is_active = false, is_fixed = false, is_seen = false;
  };
  struct Link {
    double capacity = 0;
    double demand = 0;                // of its flows: the sum of their caps
    std::vector<std::uint32_t> hops;  // of its flows, numbers in hops_
    double left = 0;                  // for flows without a rate, while rates are found
    std::int32_t open = 0;            // such flows
    bool is_dirty = false, is_seen = false;

    // Where all caps fit the link decides nothing. The slack is for sums that were rounded.
    bool is_tight() const { return demand > capacity * (1 + 1e-12); }
  };
  struct Hop {
    std::int32_t link = 0, flow = 0;
    std::uint32_t place = 0;  // in the link's hops
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  void mark(std::int32_t link);
  void find_rates();
  void see(std::int32_t flow);
  void fill();
  void fix(std::int32_t flow, double rate);

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<Hop> hops_;
  std::vector<std::int32_t> route_links_;  // of hops_
  std::vector<std::int32_t> dirty_links_, fresh_;
  std::vector<std::int32_t> seen_flows_, seen_links_, changed_;
};

}  // namespace vranks
