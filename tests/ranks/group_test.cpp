// SPDX-FileCopyrightText: 2026 The vranks authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks: what is a partition, and which groups a mesh has.
#include "ranks/group.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tests/ranks/expect_error.hpp"

namespace vranks {

void showValue(const MeshAxis& axis, std::ostream& out) { out << axis.name << '=' << axis.size; }

namespace {

void refuse(const Groups& groups, std::int64_t ranks, std::initializer_list<const char*> phrases) {
  expect_error(ErrorKind::bad_argument, phrases, [&] { check_partition(groups, ranks); });
}

TEST(Partition, TakesAnyGroupsThatHoldEachRankOnce) {
  check_partition({}, 0);
  check_partition({{0}}, 1);
  check_partition({{0, 1, 2, 3}}, 4);
  check_partition({{3, 1}, {0}, {2, 4, 5}}, 6);
}

TEST(Partition, NamesWhatIsWrong) {
  refuse({{0, 1}, {1, 2}}, 3, {"each of 3 ranks once", "rank 1 is in groups 0 and 1"});
  refuse({{0, 1, 0}}, 2, {"rank 0 is in group 0 twice"});
  refuse({{0, 3}}, 4, {"rank 1 is in no group; rank 2 is in no group"});
  refuse({{0, 1}, {2, 4}}, 3, {"rank 4 of group 1 is not among them"});
  refuse({{-1, 0}}, 1, {"rank -1 of group 0"});
  refuse({{0}, {}}, 1, {"group 1 is empty"});
  refuse({}, 2, {"rank 0 is in no group"});
  refuse({{0}}, -1, {"rank 0 of group 0"});
}

TEST(Partition, NamesTheFirstFewFaultsInOneMessage) {
  refuse({{0, 0, 9}, {}, {5, 0}}, 8,
         {"rank 0 is in group 0 twice; rank 9 of group 0 is not among them; group 1 is empty; rank "
          "0 is in groups 0 and 2; and 6 more"});
  refuse({{}}, 1'000'000, {"and 999997 more"});
}

RC_GTEST_PROP(Partition, AnyCutOfAnyOrderIsOneAndOneChangeIsNot, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 40);
  Group order;
  for (std::int64_t r = 0; r < ranks; ++r) order.push_back(r);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
  Groups groups(1);
  for (const std::int64_t rank : order) {
    if (!groups.back().empty() && *rc::gen::arbitrary<bool>()) groups.emplace_back();
    groups.back().push_back(rank);
  }
  check_partition(groups, ranks);
  auto& group = groups[*rc::gen::inRange<std::size_t>(0, groups.size())];
  auto& member = group[*rc::gen::inRange<std::size_t>(0, group.size())];
  const auto other = *rc::gen::distinctFrom(rc::gen::inRange<std::int64_t>(-2, ranks + 2), member);
  member = other;
  RC_ASSERT_THROWS_AS(check_partition(groups, ranks), Error);
}

TEST(Mesh, ReadsNamesAndSizes) {
  using Mesh = std::vector<MeshAxis>;
  EXPECT_EQ(parse_mesh("dp=4,tp=2"), (Mesh{{"dp", 4}, {"tp", 2}}));
  EXPECT_EQ(parse_mesh("x=1"), (Mesh{{"x", 1}}));
  EXPECT_EQ(parse_mesh("_0=1048576,B=1"), (Mesh{{"_0", 1 << 20}, {"B", 1}}));
  EXPECT_EQ(mesh_ranks(parse_mesh("dp=4,pp=3,tp=2")), 24);
}

TEST(Mesh, RefusesAnythingElse) {
  for (const char* text :
       {"",           ",",     "dp",    "dp=",   "=4",    "dp=4,",     ",dp=4",
        "dp=4,,tp=2", "dp=0",  "dp=-1", "dp=+4", "dp= 4", "dp =4",     "dp=4 ",
        "dp=4.0",     "dp=4x", "dp==4", "d p=4", "d-p=4", "dp=4;tp=2", "dp=-99999999999999999999",
        "\xff=1"})
    expect_error(ErrorKind::bad_argument,
                 {("mesh '" + std::string(text) + "'").c_str(), "such as dp=4,tp=2"},
                 [&] { parse_mesh(text); });
  expect_error(ErrorKind::bad_argument, {"has the axis 'dp' more than once"},
               [] { parse_mesh("dp=4,tp=2,dp=2"); });
  for (const char* text : {"dp=1048577", "a=1024,b=1025", "a=9223372036854775807,b=2",
                           "a=99999999999999999999", "a=4294967296,b=4294967296"})
    expect_error(ErrorKind::not_supported, {text, "more than 1048576 ranks"},
                 [&] { parse_mesh(text); });
}

TEST(Mesh, GroupsRunAlongItsAxes) {
  const auto mesh = parse_mesh("dp=2,tp=3");
  EXPECT_EQ(mesh_groups(mesh, "tp"), (Groups{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(mesh_groups(mesh, "dp"), (Groups{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(mesh_groups(mesh, "dp,tp"), (Groups{{0, 1, 2, 3, 4, 5}}));
  EXPECT_EQ(mesh_groups(mesh, "tp,dp"), (Groups{{0, 3, 1, 4, 2, 5}}));
  const auto deep = parse_mesh("dp=2,pp=2,tp=2");
  EXPECT_EQ(mesh_groups(deep, "pp"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(mesh_groups(deep, "dp,tp"), (Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(mesh_groups(parse_mesh("a=1,b=2"), "a"), (Groups{{0}, {1}}));
}

TEST(Mesh, RefusesAxesThatAreNotThere) {
  const auto mesh = parse_mesh("dp=2,tp=3");
  for (const char* axes : {"", "pp", "dp,", "dp,pp", "DP", "dp tp", " dp"})
    expect_error(ErrorKind::bad_argument, {"no axis '", "it has: dp tp"},
                 [&] { mesh_groups(mesh, axes); });
  expect_error(ErrorKind::bad_argument, {"axes 'tp,dp,tp' name 'tp' more than once"},
               [&] { mesh_groups(mesh, "tp,dp,tp"); });
}

// The place of a rank in the box, by division; a group is what agrees in all other places.
RC_GTEST_PROP(Mesh, GroupsAreThePlacesThatDifferInThoseAxesAlone, ()) {
  const auto sizes = *rc::gen::nonEmpty(
      rc::gen::resize(4, rc::gen::container<Group>(rc::gen::inRange<std::int64_t>(1, 5))));
  std::vector<MeshAxis> mesh;
  for (std::size_t a = 0; a < sizes.size(); ++a)
    mesh.push_back({"a" + std::to_string(a), sizes[a]});
  std::vector<std::size_t> named;
  for (std::size_t a = 0; a < mesh.size(); ++a)
    if (*rc::gen::arbitrary<bool>()) named.push_back(a);
  if (named.empty()) named.push_back(0);
  std::shuffle(named.begin(), named.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
  std::string axes;
  for (const std::size_t a : named) (axes += axes.empty() ? "" : ",") += mesh[a].name;

  const std::int64_t ranks = mesh_ranks(mesh);
  // By the places that a group shares: its ranks by the places that they differ in.
  std::map<Group, std::map<Group, std::int64_t>> expected;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Group place(mesh.size());
    std::int64_t rest = rank;
    for (std::size_t a = mesh.size(); a-- > 0; rest /= sizes[a]) place[a] = rest % sizes[a];
    Group differs;
    for (const std::size_t a : named) differs.push_back(std::exchange(place[a], 0));
    expected[place][differs] = rank;
  }
  const Groups groups = mesh_groups(mesh, axes);
  check_partition(groups, ranks);
  RC_ASSERT(groups.size() == expected.size());
  auto group = groups.begin();
  for (const auto& [shared, members] : expected) {
    Group in_order;
    for (const auto& [differs, rank] : members) in_order.push_back(rank);
    RC_ASSERT(*group++ == in_order);
  }
}

// Any text is read as a mesh that fits, or refused.
RC_GTEST_PROP(Mesh, AnyTextIsReadOrRefused, ()) {
  const auto characters = rc::gen::oneOf(rc::gen::elementOf(std::string("dp=4,tp=2,_019-+ ")),
                                         rc::gen::arbitrary<char>());
  const auto text = *rc::gen::container<std::string>(characters);
  try {
    const auto mesh = parse_mesh(text);
    RC_ASSERT(mesh_ranks(mesh) >= 1 && mesh_ranks(mesh) <= most_mesh_ranks);
    if (mesh_ranks(mesh) < 1000) check_partition(mesh_groups(mesh, mesh[0].name), mesh_ranks(mesh));
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::bad_argument || error.kind() == ErrorKind::not_supported);
  }
}

}  // namespace
}  // namespace vranks
