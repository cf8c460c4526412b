// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks: each member is in one group, and a collective runs in every group by itself. A
// rank's place in its group's list is its rank there. Groups can be listed, or cut from a mesh: a
// box of ranks whose axes have names, as in JAX and torch's DeviceMesh.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vranks {

using Group = std::vector<std::int64_t>;
using Groups = std::vector<Group>;

// Throws bad_argument unless every rank 0 ... ranks - 1 is in exactly one group, once, and no group
// is empty. The message names ranks and groups, the first few where there are many.
void check_partition(const Groups& groups, std::int64_t ranks);

struct MeshAxis {
  std::string name;
  std::int64_t size;

  bool operator==(const MeshAxis&) const = default;
};

// More ranks than any mesh has; whoever has more lists groups.
inline constexpr std::int64_t most_mesh_ranks = std::int64_t{1} << 20;

// Reads "dp=4,tp=2": names of letters, digits and _, sizes of 1 or more. Throws bad_argument for
// anything else, and for a repeated name; not_supported beyond most_mesh_ranks ranks.
std::vector<MeshAxis> parse_mesh(std::string_view text);

// The ranks of a mesh: the product of its sizes, which parse_mesh() keeps small.
std::int64_t mesh_ranks(std::span<const MeshAxis> mesh);

// The groups along one axis ("tp") or several ("dp,tp"): ranks that differ in those alone. In the
// mesh the last axis varies fastest; in a group the one that is named last. Groups are in the order
// of their first ranks. Throws bad_argument for axes that are repeated or that the mesh lacks.
//   dp=2,tp=3   tp: (0 1 2) (3 4 5)   dp: (0 3) (1 4) (2 5)   tp,dp: (0 3 1 4 2 5)
Groups mesh_groups(std::span<const MeshAxis> mesh, std::string_view axes);

}  // namespace vranks
