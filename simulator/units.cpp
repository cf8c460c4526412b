// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "simulator/units.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

#include "ranks/error.hpp"

namespace vranks {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
constexpr Unit sizes[] = {{"B", 1},       {"kB", 1e3},       {"MB", 1e6},         {"GB", 1e9},
                          {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}};
constexpr Unit rates[] = {
    {"B/s", 1},          {"kB/s", 1e3},       {"MB/s", 1e6},          {"GB/s", 1e9},
    {"TB/s", 1e12},      {"MiB/s", 1048576.}, {"GiB/s", 1073741824.}, {"Mbit/s", 1e6 / 8},
    {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}};
constexpr Unit ratios[] = {{"", 1}, {"%", 0.01}};
constexpr Unit counts[] = {{"", 1}};

struct Kind {
  std::string_view what, example;
  std::span<const Unit> units;
};

Kind kind_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return {"a time", "1.5 us", times};
    case Quantity::bandwidth:
      return {"a bandwidth", "12.5 GB/s", rates};
    case Quantity::bytes:
      return {"a size", "512 KiB", sizes};
    case Quantity::ratio:
      return {"a ratio", "0.9", ratios};
    case Quantity::count:
      return {"a number", "8", counts};
  }
  __builtin_unreachable();
}

}  // namespace

double parse_quantity(Quantity quantity, std::string_view text, std::string_view what) {
  const Kind kind = kind_of(quantity);
  const auto refuse = [&](std::string_view problem) {
    std::string units;
    for (const Unit& unit : kind.units)
      if (!unit.name.empty()) (units += units.empty() ? "; units: " : " ") += unit.name;
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}: '{}' {}; {} is right, such as {}{}", what, text, problem,
                            kind.what, kind.example, units));
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) refuse("is no number");
  if (std::signbit(number)) refuse("is below 0");
  std::string_view rest(at, static_cast<std::size_t>(end - at));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const Unit& unit : kind.units) {
    if (unit.name != rest) continue;
    const double value = number * unit.factor;
    if (value != 0 && (value < 1e-15 || value > 1e18))
      refuse("is beyond all that there is, from 1e-15 to 1e18");
    if (quantity == Quantity::count && (value != std::floor(value) || value > 2147483647))
      refuse("is no whole number below 2^31");
    if (quantity == Quantity::bytes && value > 0 && std::round(value) < 1)
      refuse("is less than a byte");
    return quantity == Quantity::bytes ? std::round(value) : value;
  }
  // Zero is zero in any unit.
  if (rest.empty() && number == 0) return 0;
  refuse(rest.empty() ? std::string("has no unit")
                      : fmt::format("has the unknown unit '{}'", rest));
  return 0;
}

}  // namespace vranks
