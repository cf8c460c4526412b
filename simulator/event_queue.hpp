// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens next: numbers by time, those of one time in the order in which they came. Ranks that
// do alike do it at the same time, so numbers are kept in lists, one a time, and only the lists are
// sorted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vranks {

class EventQueue {
 public:
  bool is_empty() const { return heap_.empty(); }
  // Precondition: not empty.
  double time() const { return heap_.front().time; }

  void push(double time, std::uint64_t number) {
    Recent& recent = recent_[slot(time)];
    if (recent.list == none || recent.time != time || lists_[recent.list].time != time) {
      recent = {time, open(time)};
    }
    lists_[recent.list].numbers.push_back(number);
  }

  // Takes all numbers of the earliest time that were pushed so far. Later ones of the same time
  // come with the next call.
  void pop(std::vector<std::uint64_t>& numbers) {
    numbers.clear();
    const std::uint32_t list = heap_.front().list;
    std::ranges::pop_heap(heap_, is_later);
    heap_.pop_back();
    numbers.swap(lists_[list].numbers);
    lists_[list].time = -1;  // a time that nothing has
    free_.push_back(list);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct List {
    double time = -1;
    std::vector<std::uint64_t> numbers;
  };
  struct Entry {
    double time;
    std::uint64_t order;  // in which the lists were opened
    std::uint32_t list;
  };
  struct Recent {
    double time = -1;
    std::uint32_t list = none;
  };

  static bool is_later(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
  static std::size_t slot(double time) {
    return static_cast<std::size_t>((std::bit_cast<std::uint64_t>(time) * 0x9e3779b97f4a7c15U) >>
                                    54);
  }

  std::uint32_t open(double time) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(lists_.size()));
      lists_.emplace_back();
    }
    const std::uint32_t list = free_.back();
    free_.pop_back();
    lists_[list].time = time;
    heap_.push_back({time, opened_++, list});
    std::ranges::push_heap(heap_, is_later);
    return list;
  }

  std::vector<Entry> heap_;
  std::vector<List> lists_;
  std::vector<std::uint32_t> free_;
  std::array<Recent, 1024> recent_;
  std::uint64_t opened_ = 0;
};

}  // namespace vranks
