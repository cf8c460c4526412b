# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Groups, counts, permutations, factors and weights that are wrong: one line that says what, exit 2,
nothing written."""

import numpy as np

import program

MALFORMED = (("[", "'['", "character 2", "such as ["), ("x", "'x'", "character 1", "such as ["),
             ("", "empty"), ("{}", "{} is wrong", "list"), ('["a"]', '[0] = "a"'),
             ("[1.5]", "[0] = 1.5"), ("[-1]", "[0] = -1"))


class CallTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.save("x.npy", np.zeros((4, 6), "f4"))

    def refuse_run(self, arguments, *phrases):
        self.refuse(["run", "--input", "x.npy", "--output", "y.npy", *arguments], *phrases)

    def refuse_of(self, collective, arguments, *phrases):
        self.refuse_run(["--collective", collective, *arguments], *phrases)


class GroupTest(CallTest):
    def test_lists(self):
        for text, *phrases in (*MALFORMED, ("[0,1]", "[0] = 0", "list"),
                               ("[[0,-1]]", "[0][1] = -1", "ranks are 0 to R-1", "[[0,2],[1,3]]"),
                               ("[]", "no group"), ("[[0,1],[]]", "group 1"),
                               ("[[0,1],[1,2,3]]", "rank 1"), ("[[0,0],[1,2,3]]", "rank 0"),
                               ("[[0,1],[3]]", "rank 2"), ("[[0,1],[2,3,4]]", "rank 4")):
            with self.subTest(text):
                self.refuse_run(["--groups", text], *phrases)

    def test_sizes_that_must_be_equal(self):
        for collective in ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all"):
            self.refuse_of(collective, ["--groups", "[[0,1,2],[3]]"], collective, "group 0 has 3",
                           "group 1 has 1")

    def test_ranks_of_a_group(self):
        self.refuse_of("broadcast", ["--groups", "[[0,1],[2,3]]", "--root", "2"], "root 2",
                       "group 0 has 2 ranks, 0 to 1")
        self.refuse_of("reduce", ["--groups", "[[0,1,2],[3]]", "--root", "1"], "root 1",
                       "group 1 has 1 rank, 0 to 0")
        self.refuse_of("reduce", ["--root", "-1"], "'-1' is no rank", "ranks are 0 to R-1")
        self.refuse_of("permute", ["--groups", "[[0,1],[2,3]]", "--permutation", "[[0,2]]"],
                       "(0, 2)", "rank 2", "0 to 1")

    def test_meshes(self):
        for mesh, axis, *phrases in (("dp=2,tp=3", "tp", "6 ranks", "4"),
                                     ("dp=2,tp=2", "pp", "'pp'", "dp"),
                                     ("dp=2,tp=2", "tp,tp", "'tp' more than once"),
                                     ("dp=2,dp=2", "dp", "dp"), ("dp=0,tp=4", "tp", "dp"),
                                     ("dp", "dp", "dp"), ("=4", "dp", "=4"), ("dp=x", "dp", "dp=x"),
                                     ("dp=4,", "dp", "dp=4"),
                                     ("dp=99999999999,tp=2", "dp", "99999999999")):
            with self.subTest(mesh):
                self.refuse_run(["--mesh", mesh, "--axis", axis], *phrases)
        self.refuse_run(["--mesh", "dp=4"], "--mesh", "--axis")
        self.refuse_run(["--axis", "tp"], "--axis tp", "--mesh")
        self.refuse_run(["--mesh", "dp=4", "--axis", "dp", "--groups", "[[0,1,2,3]]"], "--groups",
                        "--mesh")

    def test_steps_show_one_group(self):
        for how in (["--groups", "[[0,2],[1,3]]"], ["--mesh", "dp=2,tp=2", "--axis", "tp"]):
            self.refuse_run([*how, "--steps", "s.json"], "--steps", "group")


class CountTest(CallTest):
    def test_numbers(self):
        for text, *phrases in (*MALFORMED, ("[]", "--counts"), ("[1,2,3]", "3", "4"),
                               ("[1,2,3,4,5]", "5", "4"),
                               ("[1,2,3,1]", "add up to 7", "dimension 1 is 6"),
                               ("[1,1,1,1]", "add up to 4", "dimension 1 is 6", "equal"),
                               ("[[1,2],[1,2]]", "all_to_all_v"), ("[[1,2]]", "one number a rank"),
                               ("[9223372036854775807,1,1,1]", "2^63"),
                               ("[99999999999999999999999,1,1,1]", "[0] = 1e+23", "2^63 - 1"),
                               ("[1e999,1,1,1]", "beyond the range of f64")):
            with self.subTest(text):
                self.refuse_of("scatter_v", ["--counts", text], *phrases)
        self.refuse_of("all_gather_v", ["--counts", "[1,7,1,1]"], "rank 1 sends 7",
                       "its input has 6")
        self.refuse_of("scatter_v", [], "scatter_v needs --counts", "such as [3,0,2]")
        self.refuse_of("all_to_all_v", [], "all_to_all_v needs --counts", "[[1,2],[0,3]]")

    def test_matrices(self):
        for text, *phrases in (("[[1,2],[3,4]]", "4", "16"), ("[[1,2,3],[1,2],[1,2,3]]", "row 1 has 2", "3 in each"),
                               ("[[1,2,3,0]]", "1"), ("[1,2,3,4]", "16"), ("[[1,-1],[1,1]]", "[0][1] = -1")):
            with self.subTest(text):
                self.refuse_of("all_to_all_v", ["--counts", text], *phrases)

        self.refuse_of("all_to_all_v", ["--counts", "[[2,2,1,1],[2,2,1,1],[2,2,1,1],[2,2,1,2]]"],
                       "rank 3 sends 7", "its input has 6")

    def test_displacements(self):
        counts = ["--counts", "[1,2,1,2]"]
        self.refuse_of("scatter_v", [*counts, "--send-displacements", "[0,1,3]"], "3", "4")
        self.refuse_of("scatter_v", [*counts, "--send-displacements", "[0,1,3,5]"], "7", "6")
        self.refuse_of("gather_v", [*counts, "--recv-displacements", "[0,0,3,5]"], "0", "1")
        self.refuse_of("gather_v", [*counts, "--send-displacements", "[0,1,3,4]"],
                       "--send-displacements", "scatter_v", "gather_v doesn't read it")
        self.refuse_of("scatter_v", [*counts, "--recv-displacements", "[0,1,3,4]"],
                       "--recv-displacements", "scatter_v doesn't read it")
        self.refuse_of("gather_v", [*counts, "--recv-displacements", "[[0]]"], "one number a rank")

    def test_options_that_are_not_read(self):
        for option, value in (("--counts", "[1,1,1,1]"), ("--send-counts", "[1]"),
                              ("--recv-counts", "[1]"), ("--send-displacements", "[0]"),
                              ("--recv-displacements", "[0]"), ("--permutation", "[[0,1]]")):
            self.refuse_run([option, value], option, "all_reduce doesn't read it")
        self.refuse_run(["--ragged"], "--ragged", "all_to_all_v")
        self.refuse_of("scatter_v", ["--send-counts", "[1]", "--counts", "[1]"], "--send-counts",
                       "scatter_v doesn't read it")
        self.refuse_of("all_to_all_v", ["--send-counts", "[1]", "--counts", "[1]"], "--counts",
                       "--send-counts")

    def test_case_err_1(self):
        """Splits that don't fit: (a) to (d) of the public reports, each with its numbers."""
        self.save("x.npy", np.zeros((3, 4), "f4"))
        self.refuse_of("all_to_all", [], "dimension 1 of 4", "3 blocks")
        self.refuse_of("all_to_all_v", ["--counts", "[[2,1,0],[2,1,1],[0,2,2]]"], "rank 0", "sends 3",
                       "4")
        self.refuse_of("all_to_all_v", ["--counts", "[[1,2,1],[2,1,1],[0,2,2]]", "--recv-counts",
                                        "[[1,2,0],[3,1,2],[1,1,2]]"], "pair 0->1", "sends 2",
                       "expects 3")
        self.save("x.npy", np.zeros((3, 2), "f4"))
        self.refuse_of("scatter", [], "dimension 1 of 2", "3 blocks")


class PermutationTest(CallTest):
    def test_pairs(self):
        for text, *phrases in (*MALFORMED, ("[[0]]", "[0] = [0]", "list of 2"),
                               ("[[0,1,2]]", "[0] = [0,1,2]", "list of 2"),
                               ("[[0,4]]", "(0, 4)", "rank 4", "0 to 3"), ("[[9,0]]", "rank 9"),
                               ("[[0,1],[2,1]]", "rank 1", "0 and 2"), ("[[0,1],[0,2]]", "rank 0",
                                                                       "twice"),
                               ("[[0,-1]]", "[0][1] = -1", "ranks are 0 to R-1")):
            with self.subTest(text):
                self.refuse_of("permute", ["--permutation", text], *phrases)
        self.refuse_of("permute", [], "permute needs --permutation")


class OpTest(CallTest):
    def test_factors(self):
        self.refuse_run(["--factor", "2"], "--factor", "premul_sum", "mean")
        self.refuse_run(["--op", "sum", "--factor", "2"], "--factor", "op sum doesn't read it")
        self.refuse_of("broadcast", ["--factor", "2"], "--factor", "broadcast doesn't read it")
        for factor in ("x", "", "1e999", "inf", "nan", "2 "):
            self.refuse_run(["--op", "premul_sum", "--factor", factor], f"'{factor}'" if factor else "")
        for factor, phrase in (("1e-50", "too small"), ("1e39", "beyond the range")):
            self.refuse_run(["--op", "premul_sum", "--factor", factor], phrase, "f32")
        self.save("x.npy", np.zeros((4, 6), "i1"))
        for factor in ("0.5", "300", "-129"):
            self.refuse_run(["--op", "premul_sum", "--factor=" + factor], "i8", factor)

    def test_weights(self):
        weighted = ["--op", "weighted_mean", "--weights"]
        for text, *phrases in (("[", "character 2"), ("{}", "list"), ('["a"]', '[0] = "a"'), ("[]", "4"),
                               ("[1,1,1,1e999]", "beyond the range of f64"),
                               ("[1e-60,1e-60,0,0]", "rank 0 is 1e-60", "too small for f32"),
                               ("[1,2,3]", "4", "3"), ("[1,-1,0,0]", "weights", "0"),
                               ("[1e308,1e308,1e308,1e308]", "weights"), ("[0,0,0,0]", "0")):
            with self.subTest(text):
                self.refuse_run([*weighted, text], *phrases)
        self.refuse_run([*weighted, "[1,2,0,0]", "--groups", "[[0,1],[2,3]]"], "weights", "0")
        self.refuse_run(["--op", "weighted_mean"], "weighted_mean needs --weights")
        self.refuse_run(["--weights", "[1,1,1,1]"], "--weights", "op mean doesn't read it")

    def test_ranks_of_winners(self):
        for op in ("sum", "min"):
            self.refuse_run(["--op", op, "--output-ranks", "r.npy"], "--output-ranks", op)
        self.refuse_of("broadcast", ["--output-ranks", "r.npy"], "--output-ranks", "broadcast")
        self.refuse_run(["--op", "min_loc", "--output-ranks", "y.npy"], "--output", "--output-ranks",
                        "'y.npy'")
        self.refuse_run(["--op", "min_loc", "--output-ranks", "nowhere/r.npy"], "nowhere/r.npy")

    def test_8_bit_floats(self):
        self.refuse_run(["--fp8", "ieee"], "fp8", "f32")
        self.refuse_run(["--fp8", "clamp"], "'clamp'", "saturate ieee")
        self.save("x.npy", np.zeros((4, 6), "u1"))
        self.refuse_of("broadcast", ["--fp8", "ieee", "--dtype", "f8e5m2"], "only copies")

    def test_ops_and_dtypes(self):
        self.refuse_run(["--op", "band"], "op band", "f32")
        self.save("x.npy", np.zeros((4, 6), "c8"))
        for op in ("min", "max", "min_loc", "log_sum_exp", "lor"):
            self.refuse_run(["--op", op], f"op {op}", "c64")
        self.save("x.npy", np.zeros((4, 6), bool))
        for op in ("mean", "premul_sum", "log_sum_exp"):
            self.refuse_run(["--op", op], f"op {op}", "bool")

    def test_prefixes_have_no_mean(self):
        for collective in ("scan", "exscan"):
            self.refuse_of(collective, ["--op", "mean"], "mean", collective, "sum and divide")
            self.refuse_of(collective, ["--op", "weighted_mean", "--weights", "[1,1,1,1]"],
                           "multiply by the weights")

    def test_nan_is_about_floats(self):
        for dtype in ("i4", "?"):
            self.save("x.npy", np.zeros((4, 6), dtype))
            for policy in ("propagate", "ignore"):
                self.refuse_run(["--op", "max", "--nan", policy], f"NaN policy {policy}", "no NaN")


class BarrierTest(program.ProgramTest):
    def test_it_has_no_data(self):
        for option, value in (("shape", "4,3"), ("input", "x.npy"), ("dtype", "f32"), ("seed", "1"),
                              ("output", "y.npy"), ("in-place", "nccl"), ("dtype", "bytes4")):
            self.refuse(["run", "--collective", "barrier", f"--{option}", value], f"--{option}",
                        "barrier has none")
        self.refuse(["run", "--collective", "barrier", "--op", "sum"],
                    "passes no data")

    def test_ranks(self):
        self.refuse(["run", "--ranks", "4", "--shape", "4,2"], "--ranks", "--shape")
        self.refuse(["run", "--ranks", "4", "--input", "x.npy"], "--ranks", "--input")
        for ranks in ("0", "-1", "x", "2147483648"):
            self.refuse(["run", f"--ranks={ranks}"], f"--ranks: '{ranks}'")


if __name__ == "__main__":
    program.main()
