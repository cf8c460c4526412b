# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` by op, and what an op is for each dtype, against numpy."""

import json

import numpy as np

import expected
import program

INTEGERS = [np.dtype(code) for code in "i1 u1 i2 u2 i4 u4 i8 u8".split()]
RANDOM = np.random.default_rng


def integers(dtype, shape, seed=0):
    limits = np.iinfo(dtype)
    return RANDOM(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


class TableTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.ops = json.loads(self.succeed("list", "ops", "--format", "json"))["ops"]
        self.dtypes = json.loads(self.succeed("list", "dtypes", "--format", "json"))["dtypes"]

    def arguments(self, op):
        return ["--weights", "[1,2,0.5,4,1]"] if op == "weighted_mean" else \
            ["--factor", "3"] if op == "premul_sum" else []

    def test_every_op_on_every_dtype(self):
        kinds = {"floating": "floating", "signed integer": "integer", "unsigned integer": "integer",
                 "bool": "bool", "complex": "complex"}
        for op in self.ops:
            for dtype in self.dtypes:
                words = ["run", "--op", op["name"], "--dtype", dtype["name"], "--shape", "5,40",
                         *self.arguments(op["name"])]
                self.assertEqual(dtype["name"] in op["dtypes"], kinds[dtype["kind"]] in op["kinds"])
                if dtype["name"] not in op["dtypes"]:
                    self.refuse(words, f"op {op['name']}", dtype["name"])
                    continue
                with self.subTest(op=op["name"], dtype=dtype["name"]):
                    report = json.loads(self.succeed(*words, "--format", "json"))
                    numbers = 80 if dtype["kind"] == "complex" else 40
                    self.assertEqual((report["op"], report["dtype"], report["over_bound"],
                                      report["compared"], report["equal_ranks"]),
                                     (op["name"], dtype["name"], 0, numbers, 5))
                    if dtype["kind"] not in ("floating", "complex"):
                        self.assertEqual(report["different"], 0)

    def test_every_collective_that_combines(self):
        for collective in ("reduce", "reduce_scatter", "scan", "exscan"):
            for op in self.ops:
                words = ["run", "--op", op["name"], "--collective", collective, "--shape", "5,40",
                         "--dtype", op["dtypes"][0], *self.arguments(op["name"])]
                if collective in ("scan", "exscan") and op["name"] in ("mean", "weighted_mean"):
                    self.refuse(words, op["name"], collective)
                else:
                    report = json.loads(self.succeed(*words, "--format", "json"))
                    self.assertEqual((report["over_bound"], report["op"]), (0, op["name"]))


class IntegerTest(program.ProgramTest):
    def test_bits_and_truth(self):
        for dtype in INTEGERS:
            x = integers(dtype, (4, 30))
            x[RANDOM(1).random(x.shape) < 0.4] = 0
            for op in ("band", "bor", "bxor", "land", "lor", "lxor"):
                for algorithm in ("direct", "ring"):
                    y, report = self.run_on(x, "--op", op, "--algorithm", algorithm)
                    np.testing.assert_array_equal(y[3], expected.fold(op, x))
                    self.assertEqual(report["different"], 0)

    def test_premul_sum(self):
        for dtype in INTEGERS:
            x = integers(dtype, (4, 30))
            y, report = self.run_on(x, "--op", "premul_sum", "--factor", "3")
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(y[0], (x * dtype.type(3)).sum(axis=0, dtype=dtype))
            self.assertEqual((report["factor"], report["different"]), (3, 0))

    def test_bool(self):
        x = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], bool)
        for op, right in (("sum", "0111"), ("prod", "0001"), ("min", "0001"), ("max", "0111"),
                          ("band", "0001"), ("bor", "0111"), ("bxor", "0110"), ("land", "0001"),
                          ("lor", "0111"), ("lxor", "0110")):
            y, report = self.run_on(x, "--op", op)
            self.assertEqual((y.dtype, y[1].tolist()), (x.dtype, [bit == "1" for bit in right]), op)
            self.assertEqual(report["first_elements"], [bit == "1" for bit in right[:3]])
            self.assertEqual(report["dtype"], "bool")
        self.assertRegex(self.succeed("run", "--input", "x.npy", "--op", "lor"), r"false +true +true")


class FloatTest(program.ProgramTest):
    def test_premul_sum(self):
        x = RANDOM(1).integers(-9, 10, (4, 30)).astype("f4")
        y, report = self.run_on(x, "--op", "premul_sum", "--factor", "0.25")
        np.testing.assert_array_equal(y[0], x.sum(axis=0) / 4)
        self.assertEqual((report["factor"], report["different"]), (0.25, 0))
        y, report = self.run_on(x, "--op", "premul_sum", "--collective", "reduce")
        np.testing.assert_array_equal(y, x.sum(axis=0))
        self.assertEqual(report["factor"], 1)

    def test_weighted_mean(self):
        x = RANDOM(1).standard_normal((4, 30))
        weights = [1, 0.5, 0, 3]
        y, report = self.run_on(x, "--op", "weighted_mean", "--weights", json.dumps(weights))
        np.testing.assert_allclose(y[2], np.average(x, axis=0, weights=weights), 1e-14, 1e-14)
        self.assertEqual((report["weights"], report["over_bound"]), (weights, 0))
        # Of a group those of its ranks.
        y, report = self.run_on(x, "--op", "weighted_mean", "--weights", json.dumps(weights),
                                "--groups", "[[3,0],[1,2]]", "--collective", "reduce")
        np.testing.assert_allclose(y[0], (3 * x[3] + x[0]) / 4, 1e-14, 1e-14)
        np.testing.assert_array_equal(y[1], x[1])
        self.assertEqual(report["over_bound"], 0)

    def test_log_sum_exp(self):
        x = 30 * RANDOM(1).standard_normal((5, 40))
        x[:, 0], x[:, 1], x[0, 2] = -np.inf, 800, np.inf
        for algorithm in ("direct", "ring", "chain"):
            y, report = self.run_on(x, "--op", "log_sum_exp", "--algorithm", algorithm)
            with np.errstate(invalid="ignore"):
                np.testing.assert_allclose(y[4], np.logaddexp.reduce(x, axis=0), 1e-14)
            self.assertEqual(report["over_bound"], 0)

    def test_complex(self):
        for dtype in ("c8", "c16"):
            parts = RANDOM(1).integers(-3, 4, (2, 4, 30))
            x = (parts[0] + 1j * parts[1]).astype(dtype)
            for op, right in (("sum", x.sum(axis=0)), ("mean", x.sum(axis=0) / 4),
                              ("prod", x.prod(axis=0)), ("premul_sum", 2 * x.sum(axis=0))):
                y, report = self.run_on(x, "--op", op, *(("--factor", "2") if "pre" in op else ()))
                np.testing.assert_array_equal(y, np.stack([right] * 4))
                self.assertEqual(report["first_elements"],
                                 [[part.real, part.imag] for part in right[:3]])
                self.assertEqual((report["dtype"], report["over_bound"]),
                                 ({"c8": "c64", "c16": "c128"}[dtype], 0))
            x[:, 0] = complex(np.inf, np.nan)
            _, report = self.run_on(x, "--collective", "broadcast")
            self.assertEqual(report["first_elements"][0], [None, None])

    def test_8_bit_floats(self):
        # 448 and 57344 are the largest; 2 and 1.5.
        for dtype, largest, infinite, two, sum_of_two in (("f8e4m3", 0x7E, 0x7F, 0x40, 0x48),
                                                          ("f8e5m2", 0x7B, 0x7C, 0x40, 0x44)):
            x = np.array([[largest, two]] * 2, "u1")
            for mode, right in (("saturate", largest), ("ieee", infinite), ("auto", largest)):
                y, report = self.run_on(x, "--dtype", dtype, "--op", "sum", "--fp8", mode)
                self.assertEqual((y.dtype, y[1].tolist()), (np.uint8, [right, sum_of_two]))
                self.assertEqual((report["fp8"], report["over_bound"], report["dtype"]),
                                 ("saturate" if mode == "auto" else mode, 0, dtype))
                self.assertEqual(report["first_elements"],
                                 [{0x7E: 448, 0x7B: 57344}.get(right), 4])

    def test_what_overflows_on_the_way_is_not_called_exact(self):
        x = np.array([[60000, 1], [60000, 2], [-60000, 4]], "f2")
        y, report = self.run_on(x, "--op", "sum", "--algorithm", "ring")
        self.assertEqual(y[0].tolist(), [np.inf, 7])
        self.assertEqual([report[key] for key in ("compared", "different", "over_bound", "unjudged")],
                         [2, 1, 0, 1])
        text = self.succeed("run", "--input", "x.npy", "--op", "sum", "--algorithm", "ring")
        self.assertIn("1 of 2 elements are neither the exact result nor judged: partial results "
                      "leave the range of f16", text)
        self.assertNotIn("exact result rounded once", text)
        self.assertNotIn("none:", text)
        # 0x7C is 384: twice that, twice, saturates at 448 before the division by 4.
        self.save("x.npy", np.full((2, 2), 0x7C, "u1"))
        arguments = ["run", "--input", "x.npy", "--dtype", "f8e4m3", "--op", "weighted_mean",
                     "--weights", "[2,2]", "--algorithm", "ring"]
        self.assertIn("2 of 2 elements are neither", self.succeed(*arguments))
        report = json.loads(self.succeed(*arguments, "--format", "json"))
        self.assertEqual((report["first_elements"], report["unjudged"]), ([112, 112], 2))


class RankTest(program.ProgramTest):
    """min_loc and max_loc: the result, and the lowest rank that holds it."""

    def run_loc(self, x, op, *arguments):
        y, report = self.run_on(x, "--op", op, "--output-ranks", "r.npy", *arguments)
        ranks = np.load(self.folder / "r.npy")
        self.assertEqual((ranks.dtype, ranks.shape), (np.int32, y.shape))
        self.assertEqual((report["wrong_ranks"], report["different"]), (0, 0))
        self.assertEqual(report["output_ranks"], "r.npy")
        return y, ranks, report

    def test_against_numpy(self):
        for dtype in ("f4", "f2", "i1", "u8", "f8"):
            x = RANDOM(1).integers(0, 5, (6, 50)).astype(dtype)  # many ties
            for op, best, where in (("min_loc", x.min(axis=0), x.argmin(axis=0)),
                                    ("max_loc", x.max(axis=0), x.argmax(axis=0))):
                for algorithm in ("direct", "ring", "recursive_doubling", "two_level"):
                    y, ranks, report = self.run_loc(x, op, "--algorithm", algorithm)
                    np.testing.assert_array_equal(y, [best] * 6)
                    np.testing.assert_array_equal(ranks, [where] * 6)
                    self.assertEqual(report["first_ranks"], where[:3].tolist())
                    self.assertEqual(report["last_ranks"], where[-3:].tolist())

    def test_ranks_count_in_the_group(self):
        x = RANDOM(1).integers(0, 5, (6, 20)).astype("i4")
        groups = [[5, 0, 3], [4, 1, 2]]
        y, ranks, _ = self.run_loc(x, "max_loc", "--groups", json.dumps(groups))
        for group in groups:
            for rank in group:
                np.testing.assert_array_equal(y[rank], x[group].max(axis=0))
                np.testing.assert_array_equal(ranks[rank], x[group].argmax(axis=0))

    def test_other_collectives(self):
        x = RANDOM(1).integers(0, 5, (4, 8)).astype("i4")
        y, ranks, _ = self.run_loc(x, "min_loc", "--collective", "reduce")
        np.testing.assert_array_equal(ranks, x.argmin(axis=0))
        y, ranks, _ = self.run_loc(x, "min_loc", "--collective", "reduce_scatter")
        np.testing.assert_array_equal(ranks, x.argmin(axis=0).reshape(4, 2))
        y, ranks, _ = self.run_loc(x, "min_loc", "--collective", "reduce_scatter_v", "--counts",
                                   "[1,0,4,3]")
        np.testing.assert_array_equal(ranks, x.argmin(axis=0))
        y, ranks, _ = self.run_loc(x, "min_loc", "--collective", "scan", "--in-place", "nccl")
        np.testing.assert_array_equal(ranks, [x[:r + 1].argmin(axis=0) for r in range(4)])
        y, ranks, _ = self.run_loc(x, "min_loc", "--executor", "steps")
        np.testing.assert_array_equal(ranks, [x.argmin(axis=0)] * 4)

    def test_who_holds_a_nan(self):
        x = np.array([[1, np.nan, np.nan], [np.nan, 3, np.nan], [2, np.nan, np.nan]], "f4")
        y, ranks, _ = self.run_loc(x, "max_loc")
        np.testing.assert_array_equal(y[0], [np.nan] * 3)
        self.assertEqual(ranks[0].tolist(), [1, 0, 0])
        y, ranks, _ = self.run_loc(x, "max_loc", "--nan", "ignore")
        np.testing.assert_array_equal(y[0], [2, 3, np.nan])
        self.assertEqual(ranks[0].tolist(), [2, 1, 0])

    def test_the_table_shows_both(self):
        x = np.array([[3, 1], [2, 5]], "i4")
        self.save("x.npy", x)
        text = self.succeed("run", "--op", "max_loc", "--input", "x.npy")
        self.assertRegex(text, r"result +\[:\] +3 +5\n(?:.*\n)*? +ranks +\[:\] +0 +1\n")


if __name__ == "__main__":
    program.main()
