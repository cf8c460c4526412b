// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm.hpp"

#include <string>

#include "ranks/names.hpp"

namespace vranks {

namespace {
constexpr Algorithm table[] = {
    {"direct", "", "all_reduce reduce", "((x0+x1)+(x2+x3)) + ((x4+x5)+x6)",
     "balanced binary tree over ranks: N. J. Higham, The accuracy of floating point summation, "
     "SIAM J. Sci. Comput. 14(4), 1993, section 3 (pairwise summation)"},
};
}  // namespace

std::span<const Algorithm> algorithms() { return table; }

const Algorithm& find_algorithm(std::string_view text, Collective collective) {
  const Algorithm& algorithm = find_by_name(algorithms(), text, "algorithm");
  if (!has_word(algorithm.collectives, name(collective)))
    throw Error(ErrorKind::not_supported, "algorithm " + std::string(algorithm.name) + " has no " +
                                              std::string(name(collective)) +
                                              "; it has: " + std::string(algorithm.collectives));
  return algorithm;
}

}  // namespace vranks
