// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ranks/error.hpp"

namespace vranks {

namespace {

// What is wrong, the first few of it.
class Faults {
 public:
  void add(const std::string& fault) {
    if (count_++ < shown) (text_ += text_.empty() ? "" : "; ") += fault;
  }
  bool any() const { return count_ > 0; }
  std::string text() const {
    return count_ > shown ? fmt::format("{}; and {} more", text_, count_ - shown) : text_;
  }

 private:
  static constexpr std::int64_t shown = 4;
  std::string text_;
  std::int64_t count_ = 0;
};

// The text up to the next comma, which is taken off `rest`; `more` tells whether there was one.
std::string_view next_word(std::string_view& rest, bool& more) {
  const std::size_t comma = rest.find(',');
  const std::string_view word = rest.substr(0, comma);
  more = comma != std::string_view::npos;
  rest = more ? rest.substr(comma + 1) : std::string_view{};
  return word;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string names_of(std::span<const MeshAxis> mesh) {
  std::string all;
  for (const MeshAxis& axis : mesh) (all += all.empty() ? "" : " ") += axis.name;
  return all;
}

// All ranks that those axes of the mesh reach from rank 0, the last of them varying fastest.
Group reached(std::span<const MeshAxis> mesh, std::span<const std::size_t> axes) {
  Group ranks = {0};
  for (const std::size_t a : axes) {
    const std::int64_t stride = mesh_ranks(mesh.subspan(a + 1));
    Group deeper;
    deeper.reserve(ranks.size() * static_cast<std::size_t>(mesh[a].size));
    for (const std::int64_t rank : ranks)
      for (std::int64_t i = 0; i < mesh[a].size; ++i) deeper.push_back(rank + i * stride);
    ranks = std::move(deeper);
  }
  return ranks;
}

}  // namespace

void check_partition(const Groups& groups, std::int64_t ranks) {
  Faults faults;
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> group_of(static_cast<std::size_t>(std::max<std::int64_t>(ranks, 0)),
                                    none);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) faults.add(fmt::format("group {} is empty", g));
    for (const std::int64_t rank : groups[g]) {
      if (rank < 0 || rank >= ranks) {
        faults.add(fmt::format("rank {} of group {} is not among them", rank, g));
        continue;
      }
      std::size_t& owner = group_of[static_cast<std::size_t>(rank)];
      if (owner == g)
        faults.add(fmt::format("rank {} is in group {} twice", rank, g));
      else if (owner != none)
        faults.add(fmt::format("rank {} is in groups {} and {}", rank, owner, g));
      else
        owner = g;
    }
  }
  for (std::size_t rank = 0; rank < group_of.size(); ++rank)
    if (group_of[rank] == none) faults.add(fmt::format("rank {} is in no group", rank));
  if (faults.any())
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("the groups must hold each of {} ranks once: {}", ranks, faults.text()));
}

std::vector<MeshAxis> parse_mesh(std::string_view text) {
  std::vector<MeshAxis> mesh;
  std::int64_t ranks = 1;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string_view word = next_word(rest, more);
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string_view digits = word.substr(std::min(equals + 1, word.size()));
    std::int64_t size = 0;
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, size);
    const bool too_large = parsed.ec == std::errc::result_out_of_range && digits.front() != '-';
    if (!is_name(name) || parsed.ec == std::errc::invalid_argument || parsed.ptr != end ||
        (size < 1 && !too_large))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("mesh '{}' is not a list of names and sizes such as dp=4,tp=2: '{}' "
                              "is none",
                              text, word));
    if (std::ranges::find(mesh, name, &MeshAxis::name) != mesh.end())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("mesh '{}' has the axis '{}' more than once", text, name));
    if (too_large || size > most_mesh_ranks / ranks)
      throw Error(ErrorKind::not_supported,
                  fmt::format("mesh '{}' has more than {} ranks", text, most_mesh_ranks));
    ranks *= size;
    mesh.push_back({std::string(name), size});
  }
  return mesh;
}

std::int64_t mesh_ranks(std::span<const MeshAxis> mesh) {
  std::int64_t ranks = 1;
  for (const MeshAxis& axis : mesh) ranks *= axis.size;
  return ranks;
}

Groups mesh_groups(std::span<const MeshAxis> mesh, std::string_view axes) {
  std::vector<std::size_t> along;
  std::string_view rest = axes;
  for (bool more = true; more;) {
    const std::string_view name = next_word(rest, more);
    const auto found = std::ranges::find(mesh, name, &MeshAxis::name);
    if (found == mesh.end())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("the mesh has no axis '{}'; it has: {}", name, names_of(mesh)));
    const auto axis = static_cast<std::size_t>(found - mesh.begin());
    if (std::ranges::find(along, axis) != along.end())
      throw Error(ErrorKind::bad_argument,
                  fmt::format("axes '{}' name '{}' more than once", axes, name));
    along.push_back(axis);
  }
  std::vector<std::size_t> across;
  for (std::size_t axis = 0; axis < mesh.size(); ++axis)
    if (std::ranges::find(along, axis) == along.end()) across.push_back(axis);

  const Group steps = reached(mesh, along);
  Groups groups;
  for (const std::int64_t first : reached(mesh, across)) {
    Group& group = groups.emplace_back(steps);
    for (std::int64_t& rank : group) rank += first;
  }
  return groups;
}

}  // namespace vranks
