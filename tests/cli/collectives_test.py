# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run`: every collective by every algorithm, over all ranks and in groups, against numpy."""

import json

import numpy as np

import expected
import program

REDUCES = ("all_reduce", "reduce", "reduce_scatter", "scan", "exscan")
ROOTED = ("reduce", "broadcast", "gather", "scatter")
EVEN = (*REDUCES, "all_gather", "broadcast", "gather", "scatter", "all_to_all", "permute")


def whole_numbers(shape, seed=0, dtype="f4"):
    return np.random.default_rng(seed).integers(-50, 51, shape).astype(dtype)


class CallTest(program.ProgramTest):
    def check(self, collective, x, *arguments, groups=None, root=None, pairs=None, **how):
        """Runs it and compares with numpy, bit by bit; returns the report."""
        words = ["--collective", collective, *arguments]
        if collective in REDUCES:
            words += ["--op", how.setdefault("op", "sum")]
        if root is not None:
            words += ["--root", root]
            how["root"] = root
        if pairs is not None:
            words += ["--permutation", json.dumps(pairs)]
            how["pairs"] = pairs
        about = f"{words} of {x.shape}, groups {groups}"
        y, report = self.run_on(x, *words)
        right = expected.result(collective, x, groups, **how)
        self.assertEqual((y.shape, y.dtype), (right.shape, x.dtype), about)
        self.assertEqual(y.tobytes(), right.tobytes(), about)
        self.assertEqual((report["over_bound"], report["different"]), (0, 0), about)
        self.assertEqual((report["collective"], report["output_shape"]),
                         (collective, list(right.shape)), about)
        return report


class EvenTest(CallTest):
    def test_every_algorithm_of_every_collective(self):
        algorithms = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        tried = set()
        for row in algorithms:
            for collective in set(row["collectives"]) - {"barrier"}:
                ranks = 6
                pairs = [[0, 2], [2, 1], [4, 4], [5, 0]] if collective == "permute" else None
                with self.subTest(algorithm=row["name"], collective=collective):
                    report = self.check(collective, whole_numbers((ranks, 12, 2)), "--algorithm",
                                        row["name"], pairs=pairs)
                    self.assertEqual(report["asked_algorithm"], row["name"])
                    tried.add(collective)
        self.assertEqual(tried, set(EVEN))

    def test_numbers_of_ranks_and_shapes(self):
        for ranks in (1, 2, 3, 7, 16):
            for rest in ((), (3,)):
                for collective in EVEN:
                    pairs = [[r, (r + 3) % ranks] for r in range(ranks)]
                    self.check(collective, whole_numbers((ranks, 2 * ranks, *rest), ranks, "i4"),
                               pairs=pairs if collective == "permute" else None)

    def test_every_root(self):
        for collective in ROOTED:
            for root in range(5):
                report = self.check(collective, whole_numbers((5, 10), root), root=root)
                self.assertEqual(report["root"], root)

    def test_a_scan_has_one_order(self):
        # direct: a running fold from the left; recursive doubling another.
        x = np.random.default_rng(1).standard_normal((8, 50)).astype("f4")
        y, report = self.run_on(x, "--collective", "scan")
        self.assertEqual((report["op"], report["over_bound"]), ("sum", 0))
        np.testing.assert_array_equal(y, np.add.accumulate(x, axis=0))
        other, _ = self.run_on(x, "--collective", "scan", "--algorithm", "recursive_doubling")
        self.assertNotEqual(y.tobytes(), other.tobytes())

    def test_identities_of_an_exscan(self):
        x = whole_numbers((3, 4), dtype="i2")
        for op, identity in (("sum", 0), ("prod", 1), ("min", 32767), ("max", -32768), ("band", -1),
                             ("bor", 0), ("bxor", 0), ("land", 1), ("lor", 0), ("lxor", 0)):
            y, report = self.run_on(x, "--collective", "exscan", "--op", op)
            np.testing.assert_array_equal(y[0], np.full(4, identity))
            np.testing.assert_array_equal(y[2], expected.fold(op, x[:2]))
            self.assertEqual(report["over_bound"], 0)

    def test_copies_keep_all_bits(self):
        x = np.random.default_rng(1).integers(0, 2**32, (4, 8), "u4").view("f4")  # NaNs, too
        for collective in ("all_gather", "broadcast", "gather", "scatter", "all_to_all"):
            report = self.check(collective, x)
            self.assertEqual((report["op"], report["accumulate"]), (None, None))

    def test_a_permutation_of_few_fills_with_zeros(self):
        x = np.full((4, 3), -1.5, "f4")
        report = self.check("permute", x, pairs=[[3, 1]])
        self.assertEqual(report["permutation"], [[3, 1]])
        self.refuse(["run", "--input", "x.npy", "--collective", "permute", "--permutation", "[]"],
                    "permute needs a permutation")

    def test_barrier(self):
        for algorithm in ("direct", "linear", "dissemination", "recursive_doubling"):
            report = json.loads(self.succeed("run", "--collective", "barrier", "--ranks", "5",
                                             "--algorithm", algorithm, "--format", "json"))
            self.assertEqual((report["ranks"], report["dtype"], report["input_shape"],
                              report["bytes_moved"]), (5, None, None, 0))
        self.assertIn("barrier over 4 ranks", self.succeed("run", "--collective", "barrier"))

    def test_ranks_of_random_data(self):
        report = json.loads(self.succeed("run", "--ranks", "6", "--format", "json"))
        self.assertEqual(report["input_shape"], [6, 16, 48])

    def test_no_elements(self):
        for collective in EVEN:
            pairs = [[0, 1]] if collective == "permute" else None
            self.check(collective, np.zeros((3, 0), "f4"), pairs=pairs)
            self.check(collective, np.zeros((3, 3, 0), "f4"), pairs=pairs)

    def test_in_place_changes_no_bit(self):
        x = whole_numbers((6, 12, 5), 2)
        for collective in EVEN:
            pairs = [[0, 5], [5, 2], [2, 0]] if collective == "permute" else None
            for place in ("nccl", "mpi"):
                for executor in ("fused", "steps"):
                    report = self.check(collective, x, "--in-place", place, "--executor", executor,
                                        pairs=pairs)
                    self.assertEqual((report["in_place"], report["executor"]), (place, executor))


class GroupTest(CallTest):
    GROUPS = ([[0, 2, 4], [1, 3, 5]], [[5, 0, 3], [4, 1, 2]], [[0, 1], [2, 3], [5, 4]],
              [[r] for r in range(6)], [[3, 1, 0, 2, 5, 4]])

    def test_every_collective_in_every_kind_of_group(self):
        for groups in self.GROUPS:
            size = len(groups[0])
            for collective in EVEN:
                pairs = [[r, r + 1] for r in range(size - 1)] or [[0, 0]]
                pairs = pairs if collective == "permute" else None
                root = size - 1 if collective in ROOTED else None
                report = self.check(collective, whole_numbers((6, 12)), "--groups",
                                    json.dumps(groups), groups=groups, root=root, pairs=pairs)
                self.assertEqual(report["groups"], groups)

    def test_groups_of_unequal_size(self):
        groups = [[4], [5, 1, 0], [2, 3]]
        for collective in ("all_reduce", "reduce", "broadcast", "scan", "exscan"):
            self.check(collective, whole_numbers((6, 7)), "--groups", json.dumps(groups),
                       groups=groups)

    def test_a_mean_divides_by_the_size_of_the_group(self):
        groups = [[0], [1, 2, 3], [4, 5]]
        x = 6 * whole_numbers((6, 7))
        self.check("all_reduce", x, "--groups", json.dumps(groups), groups=groups, op="mean")

    def test_in_place_and_steps(self):
        groups = [[5, 0, 3], [4, 1, 2]]
        for collective in EVEN:
            pairs = [[0, 2], [2, 1]] if collective == "permute" else None
            for how in (("--in-place", "nccl"), ("--in-place", "mpi"), ("--executor", "steps")):
                self.check(collective, whole_numbers((6, 12)), *how, "--groups", json.dumps(groups),
                           groups=groups, pairs=pairs)

    def test_axes_of_a_mesh(self):
        x = whole_numbers((8, 16))
        mesh = np.arange(8).reshape(2, 2, 2)  # dp, pp, tp
        for axes, groups in (("tp", mesh.reshape(4, 2)), ("pp", mesh.swapaxes(1, 2).reshape(4, 2)),
                             ("dp", mesh.transpose(1, 2, 0).reshape(4, 2)),
                             ("dp,tp", mesh.transpose(1, 0, 2).reshape(2, 4)),
                             ("tp,dp", mesh.transpose(1, 2, 0).reshape(2, 4)),
                             ("dp,pp,tp", mesh.reshape(1, 8))):
            for collective in ("all_reduce", "all_gather", "reduce_scatter"):
                report = self.check(collective, x, "--mesh", "dp=2,pp=2,tp=2", "--axis", axes,
                                    groups=groups.tolist())
                self.assertEqual(report["groups"], groups.tolist())

    def test_the_table_names_groups(self):
        text = self.succeed("run", "--groups", "[[0,2],[1,3]]", "--collective", "reduce")
        for phrase in ("reduce mean over 4 ranks in 2 groups of 2", "[0,2]", "on rank 0 of each group"):
            self.assertIn(phrase, text.replace(", ", ","))


if __name__ == "__main__":
    program.main()
