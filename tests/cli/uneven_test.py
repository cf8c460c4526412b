# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` of the _v collectives: counts, displacements, ragged rows, against numpy."""

import json

import numpy as np

import expected
import program

VECTORS = ("reduce_scatter_v", "all_gather_v", "gather_v", "scatter_v")


def rows(ranks, length, rest=(), dtype="f4"):
    x = np.random.default_rng(length).integers(-50, 51, (ranks, length, *rest))
    return x.astype(dtype)


class UnevenTest(program.ProgramTest):
    def run_v(self, collective, x, counts, *arguments):
        words = ["--collective", collective, "--counts", json.dumps(np.array(counts).tolist())]
        if collective == "reduce_scatter_v":
            words += ["--op", "sum"]
        return self.run_on(x, *words, *arguments)

    def check(self, collective, x, counts, *arguments, about="", **how):
        y, report = self.run_v(collective, x, counts, *arguments)
        right = expected.uneven(collective, x, counts, **how)
        about = f"{collective} of {x.shape} by {counts} {arguments}"
        if isinstance(right, list):  # saved one behind the other
            self.assertEqual(report["output_counts"], [len(part) for part in right], about)
            right = np.concatenate(right)
        else:
            self.assertIsNone(report["output_counts"], about)
        self.assertEqual((y.shape, y.dtype), (right.shape, x.dtype), about)
        np.testing.assert_array_equal(y, right, about)
        self.assertEqual((report["different"], report["over_bound"]), (0, 0), about)
        self.assertEqual(report["counts"], np.ravel(counts).tolist(), about)
        return report

    def row_length(self, collective, counts):
        return sum(counts) if collective in ("reduce_scatter_v", "scatter_v") else max(counts)


class CountsTest(UnevenTest):
    def test_every_algorithm(self):
        algorithms = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        tried = set()
        for row in algorithms:
            for collective in row["uneven"]:
                ranks = 4
                counts = np.array([3, 0, 2, 1]) if collective != "all_to_all_v" else \
                    np.array([[1, 2, 0, 1], [0, 3, 1, 0], [2, 0, 0, 2], [0, 0, 4, 0]])
                length = 4 if counts.ndim == 2 else self.row_length(collective, counts.tolist())
                with self.subTest(algorithm=row["name"], collective=collective):
                    self.check(collective, rows(ranks, length, (2,)), counts, "--algorithm",
                               row["name"])
                    tried.add(collective)
        self.assertEqual(tried, {*VECTORS, "all_to_all_v"})

    def test_counts(self):
        for counts in ([5], [0, 4], [1, 2, 3], [7, 0, 0, 1, 2], [0, 0, 0]):
            for collective in VECTORS:
                for rest in ((), (3,)):
                    x = rows(len(counts), self.row_length(collective, counts), rest)
                    self.check(collective, x, counts)

    def test_roots(self):
        for root in range(3):
            self.check("scatter_v", rows(3, 6), [1, 2, 3], "--root", root, root=root)
            report = self.check("gather_v", rows(3, 3), [1, 2, 3], "--root", root)
            self.assertEqual(report["root"], root)

    def test_case_une_1(self):
        """Equal counts are the even form."""
        x = rows(4, 8)
        for collective in ("reduce_scatter", "scatter"):
            even, _ = self.run_on(x, "--collective", collective,
                                  *(("--op", "sum") if collective == "reduce_scatter" else ()))
            y, _ = self.run_v(collective + "_v", x, [2, 2, 2, 2])
            self.assertEqual(y.tobytes(), even.tobytes())

    def test_groups(self):
        x = rows(6, 5)
        y, report = self.run_v("all_gather_v", x, [5, 0, 2], "--groups", "[[0,2,4],[5,3,1]]")
        first, second = ([*x[a, :5], *x[c, :2]] for a, c in ((0, 4), (5, 1)))
        np.testing.assert_array_equal(y, [first, second] * 3)
        y, report = self.run_v("gather_v", x, [5, 0, 2], "--groups", "[[0,2,4],[5,3,1]]")
        np.testing.assert_array_equal(y, [first, second])
        y, report = self.run_v("scatter_v", rows(6, 5), [3, 0, 2], "--groups", "[[0,2,4],[5,3,1]]")
        x = rows(6, 5)
        np.testing.assert_array_equal(y, np.concatenate([x[0, :3], x[5, 3:], x[0, 3:], x[5, :3]]))
        self.assertEqual(report["output_counts"], [3, 2, 0, 0, 2, 3])

    def test_in_place_and_steps(self):
        for how in (("--in-place", "nccl"), ("--in-place", "mpi"), ("--executor", "steps")):
            self.check("reduce_scatter_v", rows(3, 6), [1, 2, 3], *how)
            self.check("all_gather_v", rows(3, 3), [1, 2, 3], *how)
            self.check("gather_v", rows(3, 3), [1, 2, 3], *how)
            self.check("scatter_v", rows(3, 6), [1, 2, 3], *how)

    def test_random_data_has_the_shape_that_is_said(self):
        text = self.succeed("run", "--collective", "scatter_v", "--shape", "3,6", "--counts",
                            "[1,2,3]")
        self.assertIn("(6,) f32", text)
        self.assertIn("1, 2, 3 of dimension 0", text)


class PairsTest(UnevenTest):
    COUNTS = [[0, 2, 1], [3, 0, 0], [1, 1, 1]]

    def test_all_to_all_v(self):
        self.check("all_to_all_v", rows(3, 3), self.COUNTS)
        self.check("all_to_all_v", rows(3, 3, (2, 2)), self.COUNTS)
        self.check("all_to_all_v", rows(2, 0), [[0, 0], [0, 0]])

    def test_numbers_may_be_a_flat_list(self):
        x = rows(3, 3)
        right, _ = self.run_v("all_to_all_v", x, self.COUNTS)
        y, report = self.run_on(x, "--collective", "all_to_all_v", "--send-counts",
                                json.dumps(sum(self.COUNTS, [])))
        np.testing.assert_array_equal(y, right)
        self.assertEqual(report["counts"], sum(self.COUNTS, []))

    def test_what_ranks_expect_is_the_transpose(self):
        self.check("all_to_all_v", rows(3, 3), self.COUNTS, "--recv-counts",
                   json.dumps(np.transpose(self.COUNTS).tolist()))

    def test_ragged_rows_are_longer_than_what_they_send(self):
        x = rows(3, 7)
        self.check("all_to_all_v", x, [[0, 2, 1], [3, 1, 3], [1, 1, 0]], "--ragged")

    def test_displacements(self):
        sent = [[5, 0, 3], [2, 0, 6], [4, 2, 0]]
        report = self.check("all_to_all_v", rows(3, 7), self.COUNTS, "--send-displacements",
                            json.dumps(sent), "--ragged", displacements=sent)
        self.assertEqual(report["send_displacements"], sum(sent, []))
        self.check("scatter_v", rows(3, 9), [2, 0, 3], "--send-displacements", "[6,0,1]",
                   displacements=[6, 0, 1])
        for collective in ("gather_v", "all_gather_v"):
            report = self.check(collective, rows(3, 3), [2, 1, 3], "--recv-displacements", "[4,1,6]",
                                displacements=[4, 1, 6])
            self.assertEqual(report["recv_displacements"], [4, 1, 6])

    def test_gaps_between_what_is_received_are_zeros(self):
        x = rows(2, 2)
        y, report = self.run_v("all_to_all_v", x, [[1, 1], [1, 1]], "--recv-displacements",
                               "[[3,0],[0,2]]")
        np.testing.assert_array_equal(y, [x[1, 0], 0, 0, x[0, 0], x[0, 1], 0, x[1, 1]])
        self.assertEqual((report["output_counts"], report["different"]), ([4, 3], 0))


if __name__ == "__main__":
    program.main()
