// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic_rules.hpp"

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr PolicyInfo<Accumulate> accumulate_table[] = {
#define X(name, aliases, meaning) {Accumulate::name, #name, aliases, meaning},
    VR_ACCUMULATES(X)
#undef X
};

constexpr PolicyInfo<MeanMode> mean_table[] = {
#define X(name, aliases, meaning) {MeanMode::name, #name, aliases, meaning},
    VR_MEAN_MODES(X)
#undef X
};

constexpr PolicyInfo<Fp8Mode> fp8_table[] = {
#define X(name, aliases, meaning) {Fp8Mode::name, #name, aliases, meaning},
    VR_FP8_MODES(X)
#undef X
};
}  // namespace

std::span<const PolicyInfo<Accumulate>> accumulates() { return accumulate_table; }
std::string_view name(Accumulate accumulate) {
  return accumulate_table[static_cast<std::size_t>(accumulate)].name;
}
Accumulate parse_accumulate(std::string_view text) {
  return find_by_name(accumulates(), text, "accumulate policy").policy;
}

std::span<const PolicyInfo<Fp8Mode>> fp8_modes() { return fp8_table; }
std::string_view name(Fp8Mode mode) { return fp8_table[static_cast<std::size_t>(mode)].name; }
Fp8Mode parse_fp8_mode(std::string_view text) {
  return find_by_name(fp8_modes(), text, "fp8 mode").policy;
}

std::span<const PolicyInfo<MeanMode>> mean_modes() { return mean_table; }
std::string_view name(MeanMode mode) { return mean_table[static_cast<std::size_t>(mode)].name; }
MeanMode parse_mean_mode(std::string_view text) {
  return find_by_name(mean_modes(), text, "way to make a mean").policy;
}

}  // namespace vranks
