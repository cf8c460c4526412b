# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""More ranks than an f32 can count, R = 33554432: 400 MB of input, 2 GB of memory in all."""

import numpy as np

import program

RANKS = 33554432


class ManyRanksTest(program.ProgramTest):
    """Case RND-3: a running f32 sum stops growing at 2^24, which halves the mean."""

    def test_mean_of_ones_is_one(self):
        y, report = self.run_on(np.ones((RANKS, 3), "f4"), "--collective", "reduce")
        np.testing.assert_array_equal(y, np.ones(3, "f4"))
        self.assertEqual((report["ranks"], report["different"]), (RANKS, 0))

    def test_mean_against_numpy(self):
        x = np.random.default_rng(3).random((RANKS, 3), "f4")
        y, _ = self.run_on(x, "--collective", "reduce")
        exact = x.mean(axis=0, dtype="f8")
        bound = (25 + 2) * 2.0**-24 * np.abs(x).mean(axis=0, dtype="f8")
        self.assertTrue((np.abs(y - exact) <= bound).all(), f"{y} {exact}")


if __name__ == "__main__":
    program.main()
