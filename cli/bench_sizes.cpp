// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_sizes.hpp"

#include <fmt/format.h>

#include <charconv>

#include "ranks/error.hpp"

namespace vranks::cli {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 46;

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::bad_argument, problem);
}

bool has_blocks(Collective collective) {
  switch (even_form(collective)) {
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::int64_t parse_size(std::string_view what, const std::string& text) {
  constexpr std::string_view units = "kKmMgGtT";
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, number);
  int shift = 0;
  if (error == std::errc{} && at == end - 1 && units.find(*at) != std::string_view::npos) {
    shift = 10 * (static_cast<int>(units.find(*at)) / 2 + 1);
    ++at;
  }
  if (error != std::errc{} || at != end || number < 1 || number > most_bytes >> shift)
    refuse(
        fmt::format("{}: '{}' is no number of bytes from 1 to 64T, such as 4096, 32K, 8M or 1G "
                    "(K is 1024)",
                    what, text));
  return number << shift;
}

SizeRange parse_size_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  SizeRange range{.begin = parse_size("--bytes", text.substr(0, colon))};
  if (colon != std::string::npos) range.end = parse_size("--bytes", text.substr(colon + 1));
  return range;
}

std::vector<std::int64_t> sizes_of(const SizeRange& range) {
  constexpr std::size_t most_sizes = 10000;
  if (range.step_factor && range.step_bytes)
    refuse("--step-factor and --step-bytes both say how sizes grow; give one of them");
  if (!range.end && (range.step_factor || range.step_bytes))
    refuse(fmt::format("--step-{} is about a range of sizes, but --bytes {} is one",
                       range.step_factor ? "factor" : "bytes", range.begin));
  const std::int64_t end = range.end.value_or(range.begin);
  if (end < range.begin)
    refuse(fmt::format("--bytes: the range ends with {}, below {}, with which it begins", end,
                       range.begin));
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = range.begin; size <= end;
       size = range.step_bytes ? size + *range.step_bytes : size * range.step_factor.value_or(2)) {
    if (sizes.size() == most_sizes)
      refuse(fmt::format("--step-bytes {} from {} to {} makes more than {} sizes",
                         *range.step_bytes, range.begin, end, most_sizes));
    sizes.push_back(size);
  }
  return sizes;
}

std::optional<BenchSize> bench_size(Collective collective, std::int64_t ranks, std::int64_t bytes,
                                    std::int64_t element_bytes) {
  const std::int64_t elements = bytes / element_bytes;
  if (!has_blocks(collective)) {
    if (elements == 0) return {};
    return BenchSize{.bytes = elements * element_bytes, .count = elements, .elements = elements};
  }
  std::int64_t block = elements / ranks;
  if (const std::int64_t aligned = 16 / element_bytes; 16 % element_bytes == 0 && block >= aligned)
    block -= block % aligned;
  if (block == 0) return {};
  const Collective form = even_form(collective);
  const bool joins = form == Collective::all_gather || form == Collective::gather;
  return BenchSize{.bytes = block * ranks * element_bytes,
                   .count = block,
                   .elements = joins ? block : block * ranks};
}

double bus_factor(Collective collective, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (collective == Collective::all_reduce) return 2 * (n - 1) / n;
  return has_blocks(collective) ? (n - 1) / n : 1;
}

}  // namespace vranks::cli
