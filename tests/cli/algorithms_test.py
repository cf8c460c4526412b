# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` by algorithm: collectives, orders, policies, places of the output."""

import json
import struct

import numpy as np

import program

REDUCES = {"all_reduce", "reduce", "reduce_scatter", "scan", "exscan"}


def f32(x):
    """x rounded to f32, without numpy; sums of two f32 are exact enough in doubles for that."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


class CollectiveTest(program.ProgramTest):
    def test_reduce_scatter_gives_rank_r_block_r(self):
        x = np.arange(4 * 8 * 3, dtype="i4").reshape(4, 8, 3)
        for algorithm in ("direct", "ring", "nccl_ring", "ompi_recursive_halving", "two_shot"):
            y, report = self.run_on(x, "--collective", "reduce_scatter", "--op", "sum",
                                    "--algorithm", algorithm)
            np.testing.assert_array_equal(y, x.sum(axis=0).reshape(4, 2, 3))
            self.assertEqual((report["compared"], report["equal_ranks"]), (24, None))

    def test_all_gather_gives_every_rank_all_slices(self):
        x = np.random.default_rng(1).integers(0, 2**32, (5, 3, 2), "u4").view("f4")  # any bits
        for algorithm in ("direct", "bruck", "ring", "nccl_ring", "ompi_neighbor_exchange"):
            y, report = self.run_on(x, "--collective", "all_gather", "--algorithm", algorithm)
            self.assertEqual(y.tobytes(), np.tile(x, (5, 1, 1, 1)).tobytes())
            self.assertEqual((report["compared"], report["equal_ranks"], report["op"]), (150, 5, None))

    def test_the_root_gets_what_rank_0_would(self):
        x = np.arange(4 * 6, dtype="i8").reshape(4, 6)
        for root in range(4):
            y, report = self.run_on(x, "--collective", "reduce", "--op", "sum", "--root", root,
                                    "--algorithm", "binomial_tree")
            np.testing.assert_array_equal(y, x.sum(axis=0))
            self.assertEqual((report["root"], report["output_shape"]), (root, [6]))

    def test_in_place_and_executors_change_no_bit(self):
        x = np.random.default_rng(2).standard_normal((6, 12, 5)).astype("f4")
        for collective in ("all_reduce", "reduce", "reduce_scatter", "all_gather"):
            for algorithm in ("direct", "ring", "two_level"):
                how = ("--collective", collective, "--algorithm", algorithm)
                expected, report = self.run_on(x, *how)
                self.assertEqual((report["in_place"], report["executor"]), (None, "fused"))
                for place in ("nccl", "mpi"):
                    for executor in ("fused", "steps"):
                        y, report = self.run_on(x, *how, "--in-place", place, "--executor", executor)
                        self.assertEqual(y.tobytes(), expected.tobytes(), (how, place, executor))
                        self.assertEqual((report["in_place"], report["executor"]), (place, executor))
                        self.assertEqual(report["over_bound"], 0)

    def test_no_elements(self):
        for collective, shape in (("reduce_scatter", (2, 0)), ("all_gather", (2, 2, 2, 0))):
            y, _ = self.run_on(np.zeros((2, 2, 0) if len(shape) == 4 else (2, 0), "f4"),
                               "--collective", collective, "--algorithm", "ring", "--in-place", "nccl")
            self.assertEqual(y.shape, shape)


class OrderTest(program.ProgramTest):
    def test_ring(self):
        """Chunk c starts at rank c and goes up; the first n mod R chunks are one longer."""
        for ranks, n in ((3, 7), (4, 16), (5, 3), (7, 100)):
            x = np.random.default_rng(n).standard_normal((ranks, n)).astype("f4")
            rows = [[float(value) for value in row] for row in x]
            expected = []
            for chunk in range(ranks):
                for _ in range(n // ranks + (chunk < n % ranks)):
                    i = len(expected)
                    total = rows[chunk][i]
                    for hop in range(1, ranks):
                        total = f32(total + rows[(chunk + hop) % ranks][i])
                    expected.append(total)
            y, report = self.run_on(x, "--op", "sum", "--algorithm", "ring")
            self.assertEqual(y.tobytes(), struct.pack(f"<{n}f", *expected) * ranks)
            self.assertEqual((report["algorithm"], report["layout"], report["accumulate"]),
                             ("ring", "even", "f32"))

    def test_orders_differ(self):
        x = np.random.default_rng(5).standard_normal((7, 1000)).astype("f4")
        results = {self.run_on(x, "--op", "sum", "--algorithm", algorithm)[0].tobytes()
                   for algorithm in ("direct", "ring", "chain", "nccl_ring", "ompi_linear")}
        self.assertEqual(len(results), 5)

    def test_parameters_change_the_order(self):
        x = np.random.default_rng(6).standard_normal((4, 5000)).astype("f4")
        ring = ("--op", "sum", "--algorithm", "nccl_ring")
        plain, _ = self.run_on(x, *ring)
        same, _ = self.run_on(x, *ring, "--rings", "[[0,1,2,3]]")
        other, _ = self.run_on(x, *ring, "--rings", "[[0,3,1,2]]")
        self.assertEqual(plain.tobytes(), same.tobytes())
        self.assertNotEqual(plain.tobytes(), other.tobytes())
        _, report = self.run_on(x, *ring, "--protocol", "ll128", "--channels", "2")
        self.assertEqual((report["protocol"], report["channels"]), ("ll128", 2))

    def test_fallbacks_are_reported(self):
        _, report = self.run_on(np.ones((4, 3), "f4"), "--algorithm", "ompi_ring")
        self.assertEqual((report["asked_algorithm"], report["algorithm"]),
                         ("ompi_ring", "ompi_recursive_doubling"))
        self.assertIn("3 for 4 ranks", report["reason"])
        self.assertIn("not ompi_ring: ", self.succeed("run", "--input", "x.npy", "--algorithm",
                                                      "ompi_ring"))
        _, report = self.run_on(np.ones((4, 4), "f4"), "--algorithm", "ompi_ring")
        self.assertEqual((report["algorithm"], report["reason"]), ("ompi_ring", None))


class PolicyTest(program.ProgramTest):
    def test_accumulate(self):
        # In f16, 2048 + 1 is 2048: only wider partial results count the ones.
        x = np.array([[2048]] + [[1]] * 4, "f2")
        for policy, expected in (("storage", 2048), ("f32", 2052), ("f64", 2052), ("auto", 2048)):
            y, report = self.run_on(x, "--op", "sum", "--algorithm", "chain", "--accumulate", policy)
            self.assertEqual((y[0, 0], report["over_bound"]), (expected, 0))
            self.assertEqual(report["accumulate"], {"auto": "f16", "storage": "f16"}.get(policy, policy))
        y, report = self.run_on(x, "--op", "sum")
        self.assertEqual((y[0, 0], report["accumulate"]), (2052, "f32"))

    def test_mean(self):
        x = np.array([[40000], [40000]], "f2")
        for mode, expected in (("divide", np.inf), ("premultiply", 40000), ("auto", 40000)):
            y, report = self.run_on(x, "--algorithm", "chain", "--mean", mode)
            self.assertEqual(y[0, 0], np.float16(expected))
            self.assertEqual(report["mean"], "premultiply" if mode == "auto" else mode)

    def test_integer_means(self):
        x = np.array([[100], [100]], "i1")
        for policy, expected in (("exact", 100), ("storage", (200 - 256) // 2)):
            y, report = self.run_on(x, "--algorithm", "chain", "--accumulate", policy)
            self.assertEqual((y[0, 0], report["over_bound"]), (expected, 0))

    def test_nan(self):
        x = np.array([[np.nan], [1.0]], "f4")
        for algorithm, policy, expected in (("chain", "auto", np.nan), ("nccl_ring", "auto", 1.0),
                                            ("chain", "ignore", 1.0),
                                            ("nccl_ring", "propagate", np.nan)):
            y, report = self.run_on(x, "--op", "max", "--algorithm", algorithm, "--nan", policy)
            np.testing.assert_array_equal(y, np.full((2, 1), expected, "f4"))
            self.assertEqual(report["over_bound"], 0)

    def test_every_algorithm_keeps_its_bound(self):
        algorithms = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        for row in algorithms:
            for collective in REDUCES.intersection(row["collectives"]):
                for dtype in ("f32", "bf16"):
                    report = json.loads(self.succeed(
                        "run", "--algorithm", row["name"], "--collective", collective, "--op", "sum",
                        "--shape", "6,48,3", "--dtype", dtype, "--format", "json"))
                    self.assertEqual(report["asked_algorithm"], row["name"])
                    self.assertEqual(report["over_bound"], 0)


if __name__ == "__main__":
    program.main()
