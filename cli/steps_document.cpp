// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/steps_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "cli/report.hpp"
#include "ranks/error.hpp"

namespace vranks::cli {

namespace {

template <class... Args>
void append(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

// `text` as a JSON string, null if it is empty.
std::string json_string(std::string_view text) {
  return text.empty() ? "null" : nlohmann::json(text).dump();
}

// Calls f(first, ", " from the second call on) for 0 ... count - 1.
template <class F>
void separated(std::int64_t count, F&& f) {
  for (std::int64_t i = 0; i < count; ++i) f(i, i == 0 ? "" : ", ");
}

// JSON has no NaN and no infinities, and readers take -0 for an integer without sign.
template <class T>
void append_number(std::string& text, T x) {
  if constexpr (std::is_integral_v<T>) {
    append(text, "{}", x);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isfinite(x))
      append(text, "{}{}", x, x == 0 && std::signbit(x) ? ".0" : "");
    else
      append(text, "\"{}\"", std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  } else if constexpr (std::is_same_v<T, Bool>) {
    text += x.byte != 0 ? "true" : "false";
  } else if constexpr (requires { x.im; }) {
    text += '[';
    append_number(text, x.re);
    text += ", ";
    append_number(text, x.im);
    text += ']';
  } else {
    append_number(text, to_float(x));
  }
}

// Characters that an element and its comma take at most.
std::int64_t number_width(DType dtype) {
  if (is_complex(dtype)) return 2 * number_width(part_dtype(dtype)) + 2;
  if (is_floating(dtype)) return dtype == DType::f64 ? 26 : 17;
  if (dtype == DType::boolean) return 7;
  constexpr std::int64_t widths[] = {6, 8, 0, 13, 0, 0, 0, 22};
  return widths[size_bytes(dtype) - 1];
}

constexpr std::int64_t transfer_width = 150;  // characters of a transfer, about
constexpr std::int64_t rank_width = 60;       // of a rank's state beside elements

}  // namespace

StepsDocument::StepsDocument(const Problem& problem, const Choice& choice, const Schedule& schedule,
                             const Layout& layout, const Tensor& in)
    : problem_(problem), choice_(choice), schedule_(schedule), layout_(layout), in_(in) {
  check_size();
  const ScheduleShape& shape = schedule.shape();
  state_.resize(cell(shape.ranks, Slot::output, 0));
  add_head();
}

void StepsDocument::check_size() const {
  const ScheduleShape& shape = schedule_.shape();
  std::int64_t longest = 0, transfers = 0;
  for (std::int32_t c = 0; c < layout_.chunks(); ++c)
    longest = std::max(longest, layout_.length(c));
  for (std::size_t step = 0; step < schedule_.steps(); ++step)
    schedule_.for_each(step, [&](const Transfer& t) { transfers += t.dst.count; });
  const std::int64_t output = row_elements(problem_, Slot::output);
  // In doubles, which don't overflow.
  const double state =
      shape.ranks * (static_cast<double>(output) +
                     static_cast<double>(shape.scratch_chunks) * static_cast<double>(longest));
  const double numbers =
      static_cast<double>(in_.elements()) + (static_cast<double>(schedule_.steps()) + 1) * state;
  const double bytes =
      numbers * static_cast<double>(number_width(problem_.dtype)) +
      static_cast<double>(transfers) * static_cast<double>(transfer_width) +
      static_cast<double>(schedule_.steps()) * shape.ranks * static_cast<double>(rank_width);
  if (bytes > static_cast<double>(most_bytes))
    throw Error(ErrorKind::not_supported,
                fmt::format("--steps: {} steps of {} ranks with {} elements each and {} transfers "
                            "could fill {} of JSON; {} is the most, so take fewer elements",
                            schedule_.steps(), shape.ranks, problem_.elements, transfers,
                            bytes_text(bytes), bytes_text(static_cast<double>(most_bytes))));
}

std::size_t StepsDocument::cell(std::int32_t rank, Slot slot, std::int32_t index) const {
  const ScheduleShape& shape = schedule_.shape();
  const auto outputs = static_cast<std::size_t>(shape.slot_chunks(Slot::output));
  const auto scratches = static_cast<std::size_t>(shape.scratch_chunks);
  return static_cast<std::size_t>(rank) * (outputs + scratches) +
         (slot == Slot::scratch ? outputs : 0) + static_cast<std::size_t>(index);
}

void StepsDocument::add_elements(const std::byte* data, std::int64_t count) {
  text_ += '[';
  visit(problem_.dtype, [&]<class T>() {
    const T* const elements = reinterpret_cast<const T*>(data);
    separated(count, [&](std::int64_t i, const char* comma) {
      text_ += comma;
      append_number(text_, elements[i]);
    });
  });
  text_ += ']';
}

// What fills the shorter ones of rows of different lengths is left out.
void StepsDocument::add_rows(const char* key, const Tensor& tensor, Slot slot) {
  const bool is_one = slot == Slot::output && ends_at_root(problem_.collective);
  const std::int64_t rows = is_one ? 1 : problem_.ranks;
  append(text_, " \"{}\": [", key);
  separated(rows, [&](std::int64_t r, const char* comma) {
    append(text_, "{}\n  ", *comma ? "," : "");
    add_elements(tensor.data() + r * (tensor.bytes() / rows), row_elements(problem_, slot, r));
  });
  text_ += "]";
}

void StepsDocument::add_head() {
  const Provenance& ran = choice_.provenance;
  const bool combines = reduces(problem_.collective);
  append(text_, "{{\"vranks\": \"steps\", \"version\": 1,\n");
  append(text_, " \"collective\": {}, \"op\": {}, \"dtype\": {},\n",
         json_string(name(problem_.collective)), combines ? json_string(name(problem_.op)) : "null",
         json_string(name(problem_.dtype)));
  append(text_, " \"ranks\": {}, \"root\": {}, \"elements_per_rank\": {},\n", problem_.ranks,
         has_root(problem_.collective) ? std::to_string(problem_.root) : "null", problem_.elements);
  append(text_, " \"algorithm\": {}, \"reason\": {}, \"protocol\": {}, \"channels\": {},\n",
         json_string(ran.algorithm), json_string(ran.reason), json_string(ran.protocol),
         ran.channels == 0 ? "null" : std::to_string(ran.channels));
  append(text_,
         " \"accumulate\": {}, \"mean\": {}, \"nan\": {}, \"fp8\": {}, "
         "\"layout\": {},\n",
         json_string(ran.accumulate), json_string(ran.mean), json_string(ran.nan),
         json_string(ran.fp8), json_string(ran.layout));
  text_ += " \"chunks\": [";
  separated(layout_.chunks(), [&](std::int64_t c, const char* comma) {
    append(text_, "{}[", comma);
    const auto intervals = layout_.chunk(static_cast<std::int32_t>(c));
    separated(static_cast<std::int64_t>(intervals.size()),
              [&](std::int64_t i, const char* between) {
                const Interval& interval = intervals[static_cast<std::size_t>(i)];
                append(text_, "{}[{}, {}]", between, interval.begin, interval.end);
              });
    text_ += "]";
  });
  text_ += "],\n";
  add_rows("input", in_, Slot::input);
  text_ += ",\n \"steps\": [";
}

void StepsDocument::add(std::size_t step, const std::vector<SlotState>& changed) {
  for (const SlotState& each : changed)
    state_[cell(each.rank, each.slot, each.index)] = each.elements;
  append(text_, "{}\n  {{\"step\": {}, ", step == 0 ? "" : ",", step);
  add_transfers(step);
  text_ += "   \"state\": [";
  separated(schedule_.shape().ranks, [&](std::int64_t r, const char* comma) {
    append(text_, "{}\n    ", *comma ? "," : "");
    add_state(static_cast<std::int32_t>(r));
  });
  text_ += "]}";
  ++steps_;
}

// One entry a chunk, so that readers needn't know of transfers of several.
void StepsDocument::add_transfers(std::size_t step) {
  std::int64_t messages = 0, bytes = 0;
  std::string list;
  schedule_.for_each(step, [&](const Transfer& t) {
    messages += t.is_message();
    for (std::int32_t k = 0; k < t.dst.count; ++k) {
      const std::size_t dst = cell(t.dst.rank, t.dst.slot, t.dst.index + k);
      const auto length = static_cast<std::int64_t>(state_[dst] ? state_[dst]->size() : 0);
      const auto chunk = [&](const ChunkRef& ref) {
        return fmt::format("[{}, \"{}\", {}]", ref.rank, vranks::name(ref.slot), ref.index + k);
      };
      append(list, "{}\n    {{\"action\": \"{}\", \"from\": {}, \"to\": {}, ",
             list.empty() ? "" : ",", t.action == Action::copy ? "copy" : "reduce",
             t.is_message() ? std::to_string(t.source()) : "null", t.dst.rank);
      append(list, "\"dst\": {}, \"a\": {}, \"b\": {}, \"bytes\": {}}}", chunk(t.dst), chunk(t.a),
             t.action == Action::copy ? "null" : chunk(t.b), t.is_message() ? length : 0);
      if (t.is_message()) bytes += length;
    }
  });
  append(text_, "\"messages\": {}, \"bytes\": {},\n   \"transfers\": [{}],\n", messages, bytes,
         list);
  messages_ += messages;
  bytes_ += bytes;
}

void StepsDocument::add_state(std::int32_t rank) {
  append(text_, "{{\"rank\": {}, \"output\": ", rank);
  if (schedule_.shape().has_output(rank))
    add_slot(rank, Slot::output);
  else
    text_ += "null";
  text_ += ", \"scratch\": ";
  add_slot(rank, Slot::scratch);
  text_ += "}";
}

void StepsDocument::add_slot(std::int32_t rank, Slot slot) {
  text_ += "[";
  separated(schedule_.shape().slot_chunks(slot), [&](std::int64_t index, const char* comma) {
    text_ += comma;
    const Elements& elements = state_[cell(rank, slot, static_cast<std::int32_t>(index))];
    if (elements)
      add_elements(elements->data(),
                   static_cast<std::int64_t>(elements->size() / size_bytes(problem_.dtype)));
    else
      text_ += "null";
  });
  text_ += "]";
}

std::string StepsDocument::text(const Tensor& out) && {
  while (steps_ < schedule_.steps()) {
    std::vector<SlotState> empty;
    schedule_.for_each(steps_, [&](const Transfer& t) {
      for (std::int32_t k = 0; k < t.dst.count; ++k)
        empty.push_back({t.dst.rank, t.dst.slot, t.dst.index + k, {}});
    });
    add(steps_, empty);
  }
  text_ += "],\n";
  add_rows("result", out, Slot::output);
  append(text_, ",\n \"messages\": {}, \"bytes\": {}}}\n", messages_, bytes_);
  return std::move(text_);
}

}  // namespace vranks::cli
