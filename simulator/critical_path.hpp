// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call's time is made of: the chain of events that had to wait for one another, from the
// last one back to the start.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/timeline.hpp"

namespace vranks {

struct CriticalPath {
  // Seconds; all together the device's time.
  double start = 0;    // before the first event: launch, input copies, memory
  double links = 0;    // sending: bytes on links, overhead and rendezvous of messages
  double latency = 0;  // of messages, from their end at the sender to their arrival
  double work = 0;     // combining and copying
  double waiting = 0;  // for a rank's core
  double counted = 0;  // of what does as the rest did, and wasn't run
  std::int64_t messages = 0;
  struct Share {
    std::int32_t link;
    double seconds;
  };
  std::vector<Share> by_link;        // of `links`: the link that held the message; longest first
  std::vector<std::int32_t> events;  // in the order of time

  // "latency", "bandwidth", "work" or "start": the longest part.
  const char* bound() const;
};

// Precondition: the events of the timeline were kept. Where nothing happens all of it is start.
CriticalPath critical_path(const Timeline& timeline);

}  // namespace vranks
