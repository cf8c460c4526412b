# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` against numpy and exact fractions."""

import json
import math
import os
from fractions import Fraction

import numpy as np

import program

RANKS = (1, 2, 3, 4, 7, 64, 1000)
INTEGERS = tuple(np.dtype(code) for code in "i1 u1 i2 u2 i4 u4 i8 u8".split())

# numpy's name, bits that sums are carried with, and the spacing of the subnormals of the carried
# type and of the dtype itself as powers of two.
FLOATS = (("f8", 53, -1074, None), ("f4", 24, -149, None), ("f2", 24, -149, -24))


def exact_sums(x):
    """Column sums of a 2-D array, and of its absolute values, as fractions."""
    columns = [[Fraction(float(value)) for value in column] for column in x.T]
    return [sum(column) for column in columns], [sum(map(abs, column)) for column in columns]


def half_ulp(y, dtype):
    return Fraction(float(np.spacing(np.abs(y.astype(dtype))))) / 2


def bfloat16_bits(x):
    """f32 rounded to bf16, nearest even, as the uint16 that a file holds."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class FloatTest(program.ProgramTest):
    """Sums and means against rational numbers, and the bounds that docs/correctness.md states."""

    def check_sum_or_mean(self, op, ranks, dtype, digits, lowest, narrow):
        rng = np.random.default_rng(ranks)
        x = rng.standard_normal((ranks, 37)).astype(dtype)
        y, report = self.run_on(x, "--op", op, "--collective", "reduce")
        self.assertEqual((y.shape, y.dtype), ((37,), x.dtype))
        sums, magnitudes = exact_sums(x)
        levels = math.ceil(math.log2(ranks))
        for i in range(37):
            divisor, steps = (ranks, levels + 2) if op == "mean" else (1, levels)
            exact = sums[i] / divisor
            bound = steps * Fraction(1, 2**digits) * magnitudes[i] / divisor
            if op == "mean":
                bound += Fraction(1, 2 ** (1 - lowest))
            if narrow is not None:
                bound += half_ulp(y[i], dtype)
            self.assertLessEqual(abs(Fraction(float(y[i])) - exact), bound,
                                 f"{op} {dtype} R = {ranks} element {i}")
        worst = max(abs(Fraction(float(y[i])) - sums[i] / divisor) for i in range(37))
        self.assertAlmostEqual(report["max_abs"], float(worst), delta=1e-9 * float(worst))
        self.assertEqual(report["over_bound"], 0)

    def test_sum_and_mean(self):
        for ranks in RANKS:
            for dtype, digits, lowest, narrow in FLOATS:
                for op in ("sum", "mean"):
                    with self.subTest(ranks=ranks, dtype=dtype, op=op):
                        self.check_sum_or_mean(op, ranks, dtype, digits, lowest, narrow)

    def test_prod(self):
        for ranks in (1, 2, 7, 64):
            for dtype in ("f8", "f4"):
                rng = np.random.default_rng(ranks)
                x = rng.uniform(0.5, 1.5, (ranks, 9)).astype(dtype)
                y, _ = self.run_on(x, "--op", "prod", "--collective", "reduce")
                unit = Fraction(1, 2**53 if dtype == "f8" else 2**24)
                for i in range(9):
                    exact = math.prod(Fraction(float(value)) for value in x[:, i])
                    self.assertLessEqual(abs(Fraction(float(y[i])) - exact),
                                         2 * ranks * unit * abs(exact))

    def test_min_and_max(self):
        for dtype in ("f8", "f4", "f2"):
            x = np.random.default_rng(1).standard_normal((7, 33)).astype(dtype)
            for op, expected in (("min", x.min(axis=0)), ("max", x.max(axis=0))):
                y, report = self.run_on(x, "--op", op)
                self.assertEqual(y.tobytes(), np.tile(expected, (7, 1)).tobytes())
                self.assertEqual(report["different"], 0)

    def test_signed_zeros_and_nan_policies(self):
        x = np.array([[0.0, np.nan, np.nan], [-0.0, 1.0, np.nan]], "f4")
        for policy, second in (("propagate", np.nan), ("ignore", 1.0)):
            y, report = self.run_on(x, "--op", "min", "--nan", policy, "--collective", "reduce")
            np.testing.assert_array_equal(y, np.array([-0.0, second, np.nan], "f4"))
            self.assertTrue(np.signbit(y[0]))
            self.assertEqual(report["nan"], policy)
            self.assertIsNone(report["first_elements"][2])  # JSON has no NaN

    def test_mean_of_the_largest_numbers_does_not_overflow(self):
        for dtype in ("f8", "f4", "f2"):
            largest = np.finfo(dtype).max
            y, _ = self.run_on(np.full((8, 5), largest), "--collective", "reduce")
            np.testing.assert_array_equal(y, np.full(5, largest))
        # 0x7f7f is the largest bf16.
        y, report = self.run_on(np.full((10, 5), 0x7F7F, np.uint16), "--dtype", "bf16")
        np.testing.assert_array_equal(y, np.full((10, 5), 0x7F7F))
        self.assertEqual((report["dtype"], report["different"]), ("bf16", 0))

    def test_bfloat16(self):
        for ranks in (1, 3, 64):
            bits = bfloat16_bits(np.random.default_rng(ranks).standard_normal((ranks, 50)))
            wide = (bits.astype(np.uint32) << 16).view(np.float32)
            sums, _ = exact_sums(wide)
            y, report = self.run_on(bits, "--dtype", "bf16", "--collective", "reduce")
            self.assertEqual((y.dtype, report["over_bound"]), (np.uint16, 0))
            result = (y.astype(np.uint32) << 16).view(np.float32)
            for i in range(50):
                self.assertLess(abs(Fraction(float(result[i])) - sums[i] / ranks),
                                abs(sums[i] / ranks) * Fraction(1, 2**8) + Fraction(1, 2**20))

    def test_subnormals_are_kept(self):
        for dtype, smallest in (("f4", 2.0**-149), ("f2", 2.0**-24), ("f8", 2.0**-1074)):
            for ranks in (2, 64):
                y, _ = self.run_on(np.full((ranks, 1), smallest, dtype), "--op", "sum")
                np.testing.assert_array_equal(y, np.full((ranks, 1), ranks * smallest, dtype))


class IntegerTest(program.ProgramTest):
    """Exact: sum and prod wrap, mean truncates toward zero, min and max know the sign."""

    def expected(self, op, x):
        with np.errstate(over="ignore"):
            if op in ("sum", "prod"):
                return getattr(np, op)(x, axis=0, dtype=x.dtype)
        if op in ("min", "max"):
            return getattr(np, op)(x, axis=0)
        sums = [sum(map(int, column)) for column in x.T]
        return np.array([abs(s) // len(x) * (1 if s >= 0 else -1) for s in sums], x.dtype)

    def test_against_numpy(self):
        for dtype in INTEGERS:
            limits = np.iinfo(dtype)
            for ranks in (1, 2, 3, 64):
                x = np.random.default_rng(ranks).integers(limits.min, limits.max, (ranks, 21),
                                                          dtype, endpoint=True)
                x[0, :2] = limits.min, limits.max
                for op in ("sum", "mean", "prod", "min", "max"):
                    with self.subTest(dtype=dtype.name, ranks=ranks, op=op):
                        y, report = self.run_on(x, "--op", op, "--collective", "reduce")
                        np.testing.assert_array_equal(y, self.expected(op, x))
                        self.assertEqual(y.dtype, dtype)
                        self.assertEqual((report["different"], report["max_abs"]), (0, 0))

    def test_large_numbers_keep_their_digits(self):
        x = np.array([[9007199254740993], [9007199254740993]], np.int64)
        y, report = self.run_on(x)
        np.testing.assert_array_equal(y, x)
        self.assertEqual(report["first_elements"], [9007199254740993])


class ShapeTest(program.ProgramTest):
    def test_all_reduce_gives_every_rank_the_result_and_reduce_one(self):
        x = np.arange(2 * 3 * 5, dtype="f4").reshape(2, 3, 5)
        y, _ = self.run_on(x)
        np.testing.assert_array_equal(y, np.tile(x.mean(axis=0), (2, 1, 1)))
        y, report = self.run_on(x, "--collective", "reduce")
        np.testing.assert_array_equal(y, x.mean(axis=0))
        self.assertEqual((report["input_shape"], report["output_shape"]), ([2, 3, 5], [3, 5]))

    def test_one_number_a_rank(self):
        y, report = self.run_on(np.array([1, 2, 6], "f8"), "--collective", "reduce")
        self.assertEqual((y.shape, y), ((), 3.0))
        self.assertEqual((report["output_shape"], report["first_elements"]), ([], [3.0]))

    def test_no_elements(self):
        for shape in ((4, 0), (4, 1, 0, 2), (4, 648632, 0), (1, 0)):
            y, report = self.run_on(np.zeros(shape, "f4"))
            self.assertEqual(y.shape, shape)
            self.assertIsNone(report["median_seconds"])
            y, _ = self.run_on(np.zeros(shape, "f4"), "--collective", "reduce")
            self.assertEqual(y.shape, shape[1:])
            self.assertIn("no elements", self.succeed("run", "--input", "x.npy"))

    def test_versions_of_the_file_format(self):
        x = np.arange(12, dtype="f4").reshape(4, 3)
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.folder / "x.npy", "wb") as file:
                np.lib.format.write_array(file, x, version=version)
            self.succeed("run", "--input", "x.npy", "--collective", "reduce", "--output", "y.npy")
            np.testing.assert_array_equal(np.load(self.folder / "y.npy"), x.mean(axis=0))

    def test_output_may_be_the_input(self):
        self.save("x.npy", np.array([[1, 2], [3, 4]], "f4"))
        self.succeed("run", "--input", "x.npy", "--output", "x.npy")
        np.testing.assert_array_equal(np.load(self.folder / "x.npy"), [[2, 3], [2, 3]])


class RandomDataTest(program.ProgramTest):
    def result(self, *arguments, **options):
        self.succeed("run", "--device", "cpu", "--output", "y.npy", *arguments, **options)
        return (self.folder / "y.npy").read_bytes()

    def test_defaults_are_the_mean_over_4_16_48(self):
        report = json.loads(self.succeed("run", "--format", "json"))
        expected = {"collective": "all_reduce", "op": "mean", "dtype": "f32", "ranks": 4,
                    "input_shape": [4, 16, 48], "output_shape": [4, 16, 48], "seed": 0,
                    "algorithm": "direct", "equal_ranks": 4, "over_bound": 0}
        self.assertEqual({key: report[key] for key in expected}, expected)

    def test_the_seed_decides_the_data(self):
        self.assertEqual(self.result("--seed", 7), self.result("--seed", 7))
        self.assertNotEqual(self.result("--seed", 7), self.result("--seed", 8))
        self.assertEqual(self.result(), self.result("--seed", 0))

    def test_threads_change_no_bit(self):
        arguments = ("--shape", "3000,700", "--collective", "reduce")
        one = self.result(*arguments, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(one, self.result(*arguments, env={**os.environ, "OMP_NUM_THREADS": "3"}))

    def test_every_dtype_and_op(self):
        for dtype in "f64 f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64".split():
            for op in ("sum", "mean", "prod", "min", "max"):
                report = json.loads(self.succeed("run", "--shape", "5,100", "--dtype", dtype,
                                                 "--op", op, "--format", "json"))
                self.assertEqual((report["dtype"], report["op"]), (dtype, op))
                self.assertEqual(report["compared"], 100)

    def test_aliases(self):
        report = json.loads(self.succeed("run", "--dtype", "float16", "--op", "avg",
                                         "--collective", "allreduce", "--format", "json"))
        self.assertEqual((report["dtype"], report["op"], report["collective"]),
                         ("f16", "mean", "all_reduce"))


if __name__ == "__main__":
    program.main()
