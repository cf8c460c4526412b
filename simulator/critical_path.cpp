// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/critical_path.hpp"

#include <algorithm>
#include <map>

namespace vranks {

namespace {

// When what waits for the event may go on.
double effect(const TimedEvent& event) {
  return event.kind == TimedEvent::Kind::message ? event.arrival : event.end;
}

}  // namespace

const char* CriticalPath::bound() const {
  const double most = std::max({start, links, latency, work});
  if (most == latency) return "latency";
  if (most == links) return "bandwidth";
  return most == work ? "work" : "start";
}

CriticalPath critical_path(const Timeline& timeline) {
  CriticalPath path;
  const std::vector<TimedEvent>& events = timeline.events;
  path.counted = timeline.counted;
  path.start = timeline.device_seconds;
  if (events.empty()) return path;
  std::map<std::int32_t, double> by_link;
  auto at = static_cast<std::int32_t>(
      std::ranges::max_element(events, {}, [](const TimedEvent& e) { return effect(e); }) -
      events.begin());
  double until = effect(events[static_cast<std::size_t>(at)]);  // accounted for behind it
  for (; at >= 0; at = events[static_cast<std::size_t>(at)].cause) {
    const TimedEvent& event = events[static_cast<std::size_t>(at)];
    path.events.push_back(at);
    // A cause on the same lane ended before its message arrived, or the arrival is what counted.
    const double arrived = std::min(until, effect(event));
    path.waiting += until - arrived;
    const double ended = std::min(arrived, event.end);
    path.latency += arrived - ended;
    if (event.kind == TimedEvent::Kind::message) {
      path.links += ended - event.begin;
      ++path.messages;
      if (event.link >= 0) by_link[event.link] += ended - event.begin;
    } else {
      path.work += ended - event.begin;
    }
    until = event.begin;
  }
  path.start = until;
  std::ranges::reverse(path.events);
  for (const auto& [link, seconds] : by_link) path.by_link.push_back({link, seconds});
  std::ranges::stable_sort(path.by_link, std::ranges::greater{}, &CriticalPath::Share::seconds);
  return path;
}

}  // namespace vranks
