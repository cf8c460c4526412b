// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that are under way to lanes, or there: first in, first out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vranks {

class Mailboxes {
 public:
  struct Message {
    double arrival;
    std::int32_t event;  // that sent it; -1: events aren't kept
  };

  explicit Mailboxes(std::size_t lanes) : boxes_(lanes) {}

  void put(std::int32_t lane, const Message& message) {
    if (free_ < 0) {
      free_ = static_cast<std::int32_t>(entries_.size());
      entries_.push_back({{}, -1});
    }
    const std::int32_t number = std::exchange(free_, entry(free_).next);
    entry(number) = {message, -1};
    Box& box = boxes_[static_cast<std::size_t>(lane)];
    (box.first < 0 ? box.first : entry(box.last).next) = number;
    box.last = number;
  }
  // The oldest; null if there is none.
  const Message* first(std::int32_t lane) const {
    const std::int32_t number = boxes_[static_cast<std::size_t>(lane)].first;
    return number < 0 ? nullptr : &entries_[static_cast<std::size_t>(number)].message;
  }
  // Removes the oldest. Precondition: there is one.
  void take(std::int32_t lane) {
    Box& box = boxes_[static_cast<std::size_t>(lane)];
    const std::int32_t number = std::exchange(box.first, entry(box.first).next);
    entry(number).next = std::exchange(free_, number);
  }

 private:
  struct Entry {
    Message message;
    std::int32_t next;  // of the same box, or of the free ones
  };
  struct Box {
    std::int32_t first = -1, last = -1;
  };

  Entry& entry(std::int32_t number) { return entries_[static_cast<std::size_t>(number)]; }

  std::vector<Box> boxes_;
  std::vector<Entry> entries_;
  std::int32_t free_ = -1;
};

}  // namespace vranks
