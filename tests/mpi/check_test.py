#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks check --against mpi`: every collective that MPI has, algorithms that the real Open MPI is
made to use, libraries that are wrong, and bad use.

    check_test.py VRANKS MPIRUN [options of mpirun]

VRANKS_WRONG_MPI names a library that, preloaded, makes MPI's results wrong (wrong_mpi.cpp).
"""
import json
import os
import subprocess
import sys
import unittest

VRANKS, MPIRUN = os.path.abspath(sys.argv[1]), sys.argv[2:]
WRONG_MPI = os.environ.get("VRANKS_WRONG_MPI")
SECONDS = 120
IS_SANITIZED = bool(os.environ.get("VRANKS_SANITIZE"))  # ten times slower
PROCESSES = (3,) if IS_SANITIZED else (1, 2, 3, 4, 7)

COPIES = ("all_gather broadcast gather scatter all_to_all all_gather_v gather_v scatter_v "
          "all_to_all_v").split()
REDUCTIONS = "all_reduce reduce reduce_scatter scan exscan reduce_scatter_v".split()
ONE_RANK_EACH = "all_to_all scan exscan barrier all_to_all_v".split()
# What Open MPI calls them, in the order of their ids.
ALGORITHMS = {
    "all_reduce": ["linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring",
                   "rabenseifner"],
    "reduce": ["linear", "chain", "pipeline", "binary", "binomial", "in_order_binary",
               "rabenseifner"],
    "reduce_scatter": ["linear", "recursive_doubling", "recursive_halving", "butterfly"],
    "reduce_scatter_v": [None, "recursive_halving", None, "butterfly"],
    "all_gather": ["linear", "bruck", "recursive_doubling", "ring", "neighbor_exchange"],
}


class CheckTest(unittest.TestCase):
    def check(self, processes, *arguments, before=(), environment=None):
        return subprocess.run([*MPIRUN, *before, "-np", str(processes), VRANKS, "check", *arguments],
                              capture_output=True, text=True, timeout=SECONDS,
                              env={**os.environ, **(environment or {})})

    def comparisons(self, processes, *arguments, code=0, **options):
        result = self.check(processes, *arguments, "--format", "json", **options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)["comparisons"]

    def expect_error(self, processes, *arguments, texts, **options):
        result = self.check(processes, *arguments, **options)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        for text in texts:
            self.assertIn(text, result.stderr)


class Collectives(CheckTest):
    def test_all_of_them(self):
        for processes in PROCESSES:
            with self.subTest(processes=processes):
                all = self.comparisons(processes, "--collective", "all")
                expected = {*COPIES, *REDUCTIONS, "barrier"}
                if processes == 1:  # MPI leaves the only result undefined
                    expected.remove("exscan")
                self.assertEqual({each["collective"] for each in all}, expected)
                for each in all:
                    self.assertEqual(each["verdict"], "PASS", each)
                    ranks = processes if each["collective"] in ONE_RANK_EACH else 2 * processes + 1
                    self.assertEqual(each["shape"][0], ranks)
                    self.assertGreater(each["compared"], 0)
                    if each["collective"] in COPIES or each["data"] == "whole":
                        self.assertEqual(each["different"], 0, each)
                copies = [each for each in all if each["collective"] == "all_gather"]
                self.assertEqual(len(copies), 17)  # dtypes, complex ones too

    def test_one_rank_a_process_has_the_natural_call(self):
        calls = {"all_gather": "MPI_Allgather", "gather": "MPI_Gather", "scatter": "MPI_Scatter",
                 "reduce_scatter": "MPI_Reduce_scatter_block", "all_reduce": "MPI_Allreduce"}
        for collective, call in calls.items():
            for each in self.comparisons(3, "--collective", collective, "--shape", "3,12,2"):
                self.assertEqual(each["verdict"], "PASS")
                self.assertEqual(each["mpi_calls"], call)

    def test_ranks_of_nccl(self):
        self.expect_error(2, "--against", "nccl", "--ranks", "3",
                          texts=["--ranks", "2 processes, each of which is a rank"])
        self.expect_error(2, "--against", "nccl", "--collective", "reduce", "--root", "5",
                          texts=["--root 5", "0 to 1"])

    def test_roots(self):
        for collective in ("reduce", "broadcast", "gather", "scatter", "gather_v", "scatter_v"):
            for root in (0, 3, 6):
                for each in self.comparisons(3, "--collective", collective, "--root", str(root),
                                             "--dtype", "f32", "--data", "random"):
                    self.assertEqual((each["verdict"], each["root"]), ("PASS", root))

    def test_counts(self):
        counts = {"all_to_all_v": [[3, 0, 2], [1, 1, 0], [0, 4, 7]]}
        for collective in (each for each in (*COPIES, *REDUCTIONS) if each.endswith("_v")):
            given = counts.get(collective, [5, 0, 2, 9])
            for each in self.comparisons(3, "--collective", collective, "--counts",
                                         json.dumps(given), "--dtype", "i32"):
                self.assertEqual(each["verdict"], "PASS")
                flat = sum(given, []) if collective == "all_to_all_v" else given
                self.assertEqual(each["counts"], flat)

    def test_all_of_a_given_shape(self):
        all = self.comparisons(3, "--collective", "all", "--shape", "3,12,2", "--dtype", "f32")
        self.assertEqual({each["collective"] for each in all},
                         {*COPIES, *REDUCTIONS, "barrier"})
        for each in all:
            self.assertEqual(each["verdict"], "PASS", each)

    def test_exscan_leaves_rank_0_out(self):
        for each in self.comparisons(4, "--collective", "exscan", "--dtype", "f64"):
            self.assertEqual((each["compared"], each["left_out"]), (3000, 1000))

    def test_copies_by_any_algorithm(self):
        (each,) = self.comparisons(4, "--collective", "all_gather", "--algorithm", "ring",
                                   "--dtype", "f32")
        self.assertEqual((each["verdict"], each["algorithm"]), ("PASS", "ring"))

    def test_people_get_a_line_each(self):
        result = self.check(2, "--collective", "all", "--dtype", "f32")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = result.stdout.splitlines()
        for collective in (*COPIES, *REDUCTIONS, "barrier"):
            found = [line for line in lines if line.split()[:1] == [collective]]
            self.assertEqual(len(found), 1, result.stdout)
            self.assertTrue(found[0].endswith("PASS"), found[0])


class Forced(CheckTest):
    def setUp(self):
        result = self.check(1, "--collective", "barrier")
        if "Open MPI 4.1." not in result.stdout:
            self.skipTest("the algorithms are those of Open MPI 4.1")

    def test_every_algorithm(self):
        names = sorted({name for all in ALGORITHMS.values() for name in all if name})
        for processes in (3,) if IS_SANITIZED else (2, 3, 4, 7):
            for name in names:
                with self.subTest(processes=processes, name=name):
                    self.expect_equal_bits(processes, name)

    def expect_equal_bits(self, processes, name):
        all = self.comparisons(processes, "--collective", "all", "--algorithm", f"ompi_{name}")
        seen = {}
        for each in all:
            collective = each["collective"]
            self.assertEqual(each["verdict"], "PASS", each)
            self.assertTrue(each["forced_name"])
            self.assertTrue(each["library"].startswith("Open MPI 4.1."))
            seen.setdefault(collective, set()).add((each["dtype"], each["op"]))
            if name in ALGORITHMS[collective]:
                self.assertEqual(each["forced_id"], ALGORITHMS[collective].index(name) + 1)
        self.assertLessEqual({each for each in ALGORITHMS if name in ALGORITHMS[each]}, set(seen))
        for collective, variants in seen.items():
            # Dtypes; sum, prod, min, max, and bits and truth values of integers and bool.
            self.assertEqual(len(variants), 17 if collective == "all_gather" else 2 * 4 + 9 * 10)
        self.assertLessEqual({each["data"] for each in all if each["dtype"] == "f32"},
                             {"random", "special"})

    def test_rules_and_parameters(self):
        for arguments in (["--collective", "all", "--algorithm", "ompi_auto"],
                          ["--collective", "all", "--algorithm", "ompi_auto_v"],
                          ["--algorithm", "ompi_segmented_ring", "--segment-bytes", "64"],
                          ["--algorithm", "ompi_nonoverlapping", "--reduce-algorithm",
                           "ompi_binary"],
                          ["--collective", "reduce", "--algorithm", "ompi_chain", "--fanout", "2",
                           "--root", "2"]):
            for each in self.comparisons(4, *arguments, "--dtype", "f32"):
                self.assertEqual(each["verdict"], "PASS", each)

    def test_fallbacks_are_named(self):
        # Fewer elements than ranks.
        for each in self.comparisons(4, "--algorithm", "ompi_rabenseifner", "--shape", "4,3",
                                     "--dtype", "f32", "--data", "random"):
            self.assertEqual((each["verdict"], each["algorithm"]), ("PASS", "ompi_linear"))
            self.assertTrue(each["reason"])

    def test_nan_is_left_out_of_min_and_max_alone(self):
        for each in self.comparisons(3, "--algorithm", "ompi_ring", "--dtype", "f64", "--data",
                                     "special"):
            self.assertEqual(each["left_out"] > 0, each["op"] in ("min", "max"))

    def test_what_can_not_be_forced(self):
        forced = ["--algorithm", "ompi_ring"]
        self.expect_error(4, *forced, "--shape", "5,10", texts=["R = 5", "5 processes", "are 4"])
        self.expect_error(1, *forced, texts=["coll/self"])
        self.expect_error(2, *forced, texts=["Open MPI 4.1.", "OMPI_MCA_coll_tuned_use_dynamic_rules"],
                          environment={"OMPI_MCA_coll_tuned_use_dynamic_rules": "0"})
        self.expect_error(2, *forced, "--op", "mean", texts=["op mean", "no operator of its own"])
        self.expect_error(2, *forced, "--dtype", "bf16", texts=["bf16"])
        self.expect_error(2, *forced, "--segment-bytes", "8", texts=["--segment-bytes"])
        self.expect_error(2, "--algorithm", "ompi_segmented_ring", "--chunks", "3",
                          texts=["--chunks", "--segment-bytes"])
        self.expect_error(2, "--algorithm", "ompi_bruck", texts=["ompi_bruck", "only all_gather"])


@unittest.skipIf(IS_SANITIZED, "a library that is preloaded comes before the sanitizer's")
@unittest.skipUnless(WRONG_MPI, "VRANKS_WRONG_MPI is not set")
class WrongLibrary(CheckTest):
    """A fault that was planted is found, and named by rank, element and both values."""

    def find(self, fault, *arguments):
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        preload = ["-x", f"LD_PRELOAD={WRONG_MPI}", "-x", f"ASAN_OPTIONS={sanitizer}"]
        all = self.comparisons(4, *arguments, code=1, before=preload,
                               environment={"VRANKS_FAULT": fault})
        for each in all:
            self.assertEqual(each["verdict"], "FAIL", each)
            self.assertEqual(each["worst_rank"], 0 if each["collective"] == "reduce" else 1)
            self.assertNotEqual(each["worst_ours_bits"], each["worst_theirs_bits"])
        return all

    def expect_element_13(self, all):
        for each in all:
            self.assertEqual((each["worst_element"], each["over_bound"]), (13, 1))

    def test_one_wrong_bit(self):
        for collective in ("all_reduce", "reduce", "reduce_scatter", "scan", "all_gather",
                           "broadcast", "all_to_all"):
            op = ["--op", "sum"] if collective in REDUCTIONS else []
            self.expect_element_13(self.find("bit", "--collective", collective, "--data", "whole",
                                             "--shape", "4,64", *op))

    def test_a_wrong_bit_in_a_known_order(self):
        self.expect_element_13(self.find("bit", "--algorithm", "ompi_ring", "--data", "random",
                                         "--dtype", "f32", "--op", "sum"))

    def test_another_order_than_was_forced(self):
        before = ["-x", f"LD_PRELOAD={WRONG_MPI}"]
        for name in ("ring", "recursive_doubling", "rabenseifner"):
            for each in self.comparisons(4, "--algorithm", f"ompi_{name}", "--dtype", "f32",
                                         "--op", "sum", code=1, before=before,
                                         environment={"VRANKS_FAULT": "order"}):
                self.assertEqual(each["verdict"], "FAIL")
                self.assertGreater(each["over_bound"], each["compared"] // 10)

    def test_nan(self):
        for collective in ("all_reduce", "all_gather"):
            all = self.find("nan", "--collective", collective, "--dtype", "f32", "--shape", "4,64")
            self.expect_element_13(all)
            for each in all:
                self.assertEqual(each["worst_theirs_bits"], "ffffffff")

    def test_an_unreduced_tail(self):
        for collective in ("all_reduce", "scan", "reduce_scatter"):
            for each in self.find("tail", "--collective", collective, "--op", "sum", "--dtype",
                                  "f32", "--shape", "4,240"):
                length = 60 if collective == "reduce_scatter" else 240
                self.assertGreaterEqual(each["worst_element"], length * 2 // 3)
                self.assertGreater(each["over_bound"], length // 6)

    def test_exchanged_shards(self):
        for collective, block in (("all_gather", 64), ("all_to_all", 16)):
            for each in self.find("shards", "--collective", collective, "--shape", "4,64",
                                  "--dtype", "f32"):
                self.assertGreater(each["over_bound"], block)
                self.assertLess(each["worst_element"], 2 * block)

    def test_people_read_rank_element_and_both_values(self):
        before = ["-x", f"LD_PRELOAD={WRONG_MPI}"]
        result = self.check(4, "--collective", "all_gather", "--dtype", "i32", "--shape", "4,64",
                            before=before, environment={"VRANKS_FAULT": "bit"})
        self.assertEqual(result.returncode, 1, result.stderr)
        worst = result.stdout.split("worst elements\n")[1].splitlines()
        for column in ("rank", "element", "ours", "theirs"):
            self.assertIn(column, worst[0].split())
        self.assertIn("13", worst[1].split())

    def test_a_barrier_that_returns_early(self):
        preload = ["-x", f"LD_PRELOAD={WRONG_MPI}"]
        (each,) = self.comparisons(4, "--collective", "barrier", code=1, before=preload,
                                   environment={"VRANKS_FAULT": "early"})
        self.assertGreater(each["over_bound"], 0)


class BadUse(CheckTest):
    def test_ranks_and_processes(self):
        self.expect_error(4, "--collective", "all_gather", "--shape", "3,5",
                          texts=["4 processes can't share 3 ranks"])
        for collective, call in (("scan", "MPI_Scan"), ("all_to_all", "MPI_Alltoall"),
                                 ("all_to_all_v", "MPI_Alltoallv")):
            self.expect_error(3, "--collective", collective, "--shape", "5,5",
                              texts=[call, "R = 5", "5 processes", "are 3"])
        self.expect_error(1, "--collective", "exscan", texts=["R = 1", "undefined"])

    def test_roots(self):
        self.expect_error(2, "--collective", "gather", "--root", "5", texts=["5", "0 to 4"])
        self.expect_error(2, "--root", "1", texts=["all_reduce has none"])

    def test_counts(self):
        self.expect_error(3, "--collective", "scatter_v", "--counts", "[1,2,3]", "--shape", "3,7",
                          texts=["6", "7"])
        self.expect_error(3, "--collective", "all_to_all_v", "--counts", "[[1,2],[3]]",
                          texts=["row 1 has 1"])
        self.expect_error(3, "--collective", "gather", "--counts", "[1,2,3]", texts=["gather"])
        self.expect_error(3, "--collective", "gather_v", "--counts", "[1,2,3]", "--shape", "4,3",
                          texts=["4", "3"])
        self.expect_error(3, "--collective", "all", "--counts", "[1,2,3]", texts=["--collective"])

    def test_shapes_that_can_not_be_cut(self):
        self.expect_error(3, "--collective", "reduce_scatter", "--shape", "3,10",
                          texts=["10", "3 blocks"])

    def test_what_there_is_not(self):
        self.expect_error(3, "--collective", "permute", texts=["permute"])
        self.expect_error(3, "--collective", "gathers", texts=["gathers", "all_gather", " all"])
        self.expect_error(3, "--collective", "all_gather", "--op", "sum", texts=["only copies"])
        self.expect_error(3, "--collective", "scan", "--op", "mean", texts=["op mean", "scan"])
        self.expect_error(3, "--data", "special", texts=["direct"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
