// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/fair_share.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace vranks {

FairShare::FairShare(const std::vector<double>& capacities, std::vector<std::int32_t> route_links,
                     const std::vector<std::size_t>& route_ends)
    : flows_(route_ends.size()), links_(capacities.size()), route_links_(std::move(route_links)) {
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l].capacity = capacities[l];
  hops_.reserve(route_links_.size());
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    Flow& flow = flows_[f];
    flow.begin = static_cast<std::uint32_t>(hops_.size());
    flow.end = static_cast<std::uint32_t>(route_ends[f]);
    flow.alone = std::numeric_limits<double>::infinity();
    for (std::uint32_t h = flow.begin; h < flow.end; ++h) {
      hops_.push_back({route_links_[h], static_cast<std::int32_t>(f), 0});
      const auto times = std::count(route_links_.begin() + flow.begin,
                                    route_links_.begin() + flow.end, route_links_[h]);
      flow.alone = std::min(flow.alone,
                            links_[index(route_links_[h])].capacity / static_cast<double>(times));
    }
  }
}

std::span<const std::int32_t> FairShare::route(std::int32_t flow) const {
  const Flow& f = flows_[index(flow)];
  return std::span(route_links_).subspan(f.begin, f.end - f.begin);
}

void FairShare::mark(std::int32_t link) {
  Link& l = links_[index(link)];
  if (l.is_dirty || !l.is_tight()) return;
  l.is_dirty = true;
  dirty_links_.push_back(link);
}

void FairShare::start(std::int32_t flow, double bytes, double cap, double now) {
  Flow& f = flows_[index(flow)];
  f.is_active = true;
  f.cap = std::min(cap, f.alone);
  f.rate = 0;
  f.remaining = bytes;
  f.updated = now;
  for (std::uint32_t h = f.begin; h < f.end; ++h) {
    Link& link = links_[index(hops_[h].link)];
    hops_[h].place = static_cast<std::uint32_t>(link.hops.size());
    link.hops.push_back(h);
    link.demand += f.cap;
    mark(hops_[h].link);
  }
  fresh_.push_back(flow);
}

void FairShare::end(std::int32_t flow) {
  Flow& f = flows_[index(flow)];
  f.is_active = false;
  for (std::uint32_t h = f.begin; h < f.end; ++h) {
    Link& link = links_[index(hops_[h].link)];
    mark(hops_[h].link);  // as long as it is tight: the others of the link may become faster
    hops_[link.hops.back()].place = hops_[h].place;
    link.hops[hops_[h].place] = link.hops.back();
    link.hops.pop_back();
    link.demand = link.hops.empty() ? 0 : link.demand - f.cap;
  }
}

void FairShare::set_cap(std::int32_t flow, double cap) {
  Flow& f = flows_[index(flow)];
  cap = std::min(cap, f.alone);
  if (!f.is_active || cap == f.cap) return;
  for (std::uint32_t h = f.begin; h < f.end; ++h) {
    mark(hops_[h].link);
    links_[index(hops_[h].link)].demand += cap - f.cap;
    mark(hops_[h].link);
  }
  f.cap = cap;
  fresh_.push_back(flow);
}

void FairShare::see(std::int32_t flow) {
  Flow& f = flows_[index(flow)];
  if (f.is_seen || !f.is_active) return;
  f.is_seen = true;
  f.is_fixed = false;
  seen_flows_.push_back(flow);
}

// New rates of the flows that started or changed and of all that share a tight link with them,
// directly or over others.
void FairShare::find_rates() {
  for (const std::int32_t flow : fresh_) see(flow);
  for (const std::int32_t link : dirty_links_)
    for (const std::uint32_t h : links_[index(link)].hops) see(hops_[h].flow);
  for (std::size_t i = 0; i < seen_flows_.size(); ++i) {
    const Flow& f = flows_[index(seen_flows_[i])];
    for (std::uint32_t h = f.begin; h < f.end; ++h) {
      Link& link = links_[index(hops_[h].link)];
      if (link.is_seen || !link.is_tight()) continue;
      link.is_seen = true;
      link.left = link.capacity;
      link.open = static_cast<std::int32_t>(link.hops.size());
      seen_links_.push_back(hops_[h].link);
      for (const std::uint32_t other : link.hops) see(hops_[other].flow);
    }
  }
  if (seen_links_.empty())
    for (const std::int32_t flow : seen_flows_) fix(flow, flows_[index(flow)].cap);
  else
    fill();
  for (const std::int32_t flow : seen_flows_) {
    Flow& f = flows_[index(flow)];
    f.is_seen = false;
    if (f.next_rate != f.rate) changed_.push_back(flow);
  }
  for (const std::int32_t link : seen_links_) links_[index(link)].is_seen = false;
  for (const std::int32_t link : dirty_links_) links_[index(link)].is_dirty = false;
  seen_flows_.clear();
  seen_links_.clear();
  dirty_links_.clear();
  fresh_.clear();
}

void FairShare::fix(std::int32_t flow, double rate) {
  Flow& f = flows_[index(flow)];
  f.is_fixed = true;
  f.next_rate = rate;
  for (std::uint32_t h = f.begin; h < f.end; ++h) {
    Link& link = links_[index(hops_[h].link)];
    if (!link.is_seen) continue;
    link.left = std::max(0.0, link.left - rate);
    --link.open;
  }
}

// Progressive filling: all rates grow alike until a link is full or a flow has its cap. Flows that
// stop at the same rate, but for rounding, are fixed together.
void FairShare::fill() {
  std::vector<std::int32_t> by_cap = seen_flows_;
  const auto cap_of = [&](std::int32_t flow) { return flows_[index(flow)].cap; };
  if (!std::ranges::is_sorted(by_cap, {}, cap_of)) std::ranges::stable_sort(by_cap, {}, cap_of);
  std::vector<std::int32_t> links = seen_links_;
  auto next_cap = by_cap.begin();
  for (;;) {
    while (next_cap != by_cap.end() && flows_[index(*next_cap)].is_fixed) ++next_cap;
    if (next_cap == by_cap.end()) return;
    double share = std::numeric_limits<double>::infinity();
    std::erase_if(links, [&](std::int32_t l) { return links_[index(l)].open == 0; });
    for (const std::int32_t l : links)
      share = std::min(share, links_[index(l)].left / links_[index(l)].open);
    if (flows_[index(*next_cap)].cap <= share) {
      for (; next_cap != by_cap.end() && flows_[index(*next_cap)].cap <= share; ++next_cap)
        if (!flows_[index(*next_cap)].is_fixed) fix(*next_cap, flows_[index(*next_cap)].cap);
      continue;
    }
    const double limit = share * (1 + 1e-9);
    for (const std::int32_t l : links) {
      const Link& link = links_[index(l)];
      if (link.open == 0 || link.left / link.open > limit) continue;
      for (const std::uint32_t h : link.hops)
        if (!flows_[index(hops_[h].flow)].is_fixed) fix(hops_[h].flow, share);
    }
  }
}

}  // namespace vranks
