// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/nccl_bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "ranks/error.hpp"

namespace vranks::nccl_bench {

const char* const help =
    R"(vranks beside real NCCL ranks on the same card, in turns; the bits must be equal.
  nccl_bench [options]
  --library PATH     NCCL 2.30 or newer                       default: libnccl.so.2
  --settings LIST    auto: what NCCL itself chooses; or ring or tree, with :simple, :ll or
                     :ll128 behind it                         default: auto,ring:simple
  --channels LIST    NCCL_MAX_CTAS                            default: 1,2,4
  --ranks LIST       ranks, all on device 0                   default: 2,4,8
  --bytes LIST       of a rank; k and m are allowed           default: 4k,64k,1m,16m,256m
  --dtypes LIST      f32, bf16                                default: f32,bf16
  --rounds NUMBER    turns of NCCL and vranks                 default: 21
  --timeout SECONDS  how long NCCL may be silent              default: 60
  --output FILE      what was measured, as JSON
All-reduce avg, in place, of random data that differ from rank to rank. A NCCL rank has a thread and
a stream; NCCL's time is by the clock from the first rank's start to the last one's end, or by the
events of the rank whose stream was busy for the shortest time, whichever is less. vranks' time is
the same of its one stream. A turn is 4 to 100 calls. Medians; 'ratio' is NCCL's time by the time of
the vranks algorithm that has NCCL's bits, the median over turns: above 1, vranks is faster.
'bits': that algorithm, after one call of each; 'auto' is compared with every algorithm and
protocol. 'direct' tells how many elements another order changes: 0 means that bits prove nothing.
Exit code: 0; 1 if bits differ or something failed or hung.
)";

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::bad_argument, message + " (see --help)");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::int64_t parse_number(std::string_view option, std::string_view text, std::int64_t least,
                          std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  const std::string_view unit(end, text.end());
  const std::int64_t factor = unit == "k" ? 1 << 10 : unit == "m" ? 1 << 20 : 1;
  if (error != std::errc{} || (factor == 1 && !unit.empty()) || number < 1 ||
      number > most / factor || number * factor < least)
    refuse(fmt::format("{} takes numbers from {} to {}, not '{}'", option, least, most, text));
  return number * factor;
}

Setting parse_setting(const std::string& text) {
  if (text == "auto") return {};
  const std::vector<std::string> words = split(text, ':');
  const auto is_one_of = [](const std::string& word, std::initializer_list<const char*> list) {
    return std::ranges::find(list, word) != list.end();
  };
  if (words.size() > 2 || !is_one_of(words[0], {"ring", "tree"}) ||
      (words.size() == 2 && !is_one_of(words[1], {"simple", "ll", "ll128"})))
    refuse(
        fmt::format("--settings takes auto, ring or tree, and then :simple, :ll or :ll128, not "
                    "'{}'",
                    text));
  return {words[0], words.size() == 2 ? words[1] : ""};
}

DType parse_bench_dtype(const std::string& text) {
  const DType dtype = parse_dtype(text);
  if (dtype != DType::f32 && dtype != DType::bf16)
    refuse(fmt::format("--dtypes takes f32 and bf16, not '{}'", text));
  return dtype;
}

}  // namespace

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string option = arguments[i];
    if (option == "--child") {
      options.is_child = true;
      continue;
    }
    const auto value = [&]() -> std::string {
      if (++i == arguments.size()) refuse(option + " needs a value");
      return arguments[i];
    };
    const auto number = [&](std::int64_t least, std::int64_t most) {
      return static_cast<int>(parse_number(option, value(), least, most));
    };
    const auto numbers = [&](std::vector<std::int64_t>& list, std::int64_t least,
                             std::int64_t most) {
      list.clear();
      for (const std::string& text : split(value(), ','))
        list.push_back(parse_number(option, text, least, most));
    };
    if (option == "--library") {
      options.library = value();
    } else if (option == "--settings") {
      options.settings.clear();
      for (const std::string& text : split(value(), ','))
        options.settings.push_back(parse_setting(text));
    } else if (option == "--dtypes") {
      options.dtypes.clear();
      for (const std::string& text : split(value(), ','))
        options.dtypes.push_back(parse_bench_dtype(text));
    } else if (option == "--channels") {
      numbers(options.channels, 1, 32);
    } else if (option == "--ranks") {
      numbers(options.ranks, 2, 16);
    } else if (option == "--bytes") {
      numbers(options.bytes, 4, std::int64_t{1} << 32);
    } else if (option == "--rounds") {
      options.rounds = number(1, 100000);
    } else if (option == "--timeout") {
      options.timeout = number(1, 3600);
    } else if (option == "--output") {
      options.output = value();
    } else {
      refuse(fmt::format("there is no option '{}'", option));
    }
  }
  for (const std::int64_t bytes : options.bytes)
    if (bytes % 4 != 0) refuse(fmt::format("--bytes takes multiples of 4, not {}", bytes));
  return options;
}

}  // namespace vranks::nccl_bench
