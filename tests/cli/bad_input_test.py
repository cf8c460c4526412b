# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Bad use and bad input: exit 2, one line that says what would be right, nothing written."""

import errno
import json
import os
import resource
import shutil
import subprocess
import unittest

import numpy as np

import program


class ArgumentTest(program.ProgramTest):
    def test_commands(self):
        self.refuse(["rum"], "'rum'", "run check show verify list info")
        self.refuse(["--help", "run"], "--help stands alone")
        self.refuse(["--versio"], "'--versio'")
        nothing = self.vranks()
        self.assertEqual((nothing.returncode, nothing.stdout), (2, ""))
        self.assertIn("Usage: vranks COMMAND", nothing.stderr)

    def test_names(self):
        self.refuse(["run", "--op", "avgg"], "'avgg'", "sum mean prod min max")
        self.refuse(["run", "--dtype", "f33"], "'f33'", "f64 f32 f16 bf16 f8e4m3")
        self.refuse(["run", "--collective", "reduce_all"], "'reduce_all'", "all_reduce reduce")
        self.refuse(["run", "--algorithm", "rings"], "'rings'", "direct")
        self.refuse(["run", "--nan", "drop"], "'drop'", "propagate ignore")
        self.refuse(["run", "--format", "xml"], "'xml'", "table json csv")
        self.refuse(["run", "--device", "gpu"], "'gpu'", "cpu, cuda or cuda:N")
        self.refuse(["run", "--device", "cuda:-1"], "'cuda:-1'")
        self.refuse(["list", "operations"], "'operations'", "collectives ops dtypes")
        self.refuse(["run", "--op", ""], "no op ''")

    def test_options(self):
        self.refuse(["run", "--opp", "sum"], "'--opp'", "vranks run --help")
        self.refuse(["run", "--collect", "reduce"], "'--collect'")  # no abbreviations
        self.refuse(["run", "--op"], "'--op' is missing")
        self.refuse(["run", "--op", "--seed", "1"], "value of --op is missing", "--seed")
        self.refuse(["run", "--op", "sum", "--op", "max"], "'--op'", "more than once")
        self.refuse(["run", "-x"], "'-x'")
        self.refuse(["run", "x.npy"], "'x.npy' belongs to no option")
        self.refuse(["info", "cuda"], "'cuda' belongs to no option")
        self.refuse(["run", "--input", ""], "name can't be empty")
        self.refuse(["run", "--output", ""], "name can't be empty")
        for seed in ("-1", "x", "1.5", "18446744073709551616", ""):
            self.refuse(["run", f"--seed={seed}"] if seed else ["run", "--seed", ""], "seed" if seed
                        else "")

    def test_options_that_contradict(self):
        self.save("x.npy", np.zeros((2, 2), "f4"))
        self.refuse(["run", "--input", "x.npy", "--shape", "2,2"], "--shape", "--input")
        self.refuse(["run", "--input", "x.npy", "--seed", "0"], "--seed", "--input")
        self.refuse(["run", "--op", "sum", "--nan", "ignore"], "min and max")
        self.refuse(["check", "--op", "sum", "--nan", "ignore"], "min and max")
        self.refuse(["list", "--markdown", "--format", "json"], "--markdown and --format")
        self.refuse(["run", "--output", "y", "--steps", "y"], "--output and --steps", "'y'")
        self.refuse(["list", "--format", "csv"], "one table", "13")

    def test_algorithms(self):
        self.refuse(["run", "--algorithm", "nope", "--collective", "reduce"], "'nope'",
                    "for reduce there are: direct", "ompi_binomial")
        self.refuse(["run", "--algorithm", "bruck"], "bruck has no all_reduce, only all_gather")
        self.refuse(["show", "--algorithm", "nope"], "'nope'", "for all_reduce there are: direct")
        self.refuse(["verify", "--algorithm", "nope"], "'nope'", "nccl_ring")
        self.refuse(["verify", "--algorithm", "bruck", "--collective", "reduce"], "no reduce")
        self.refuse(["run", "--algorithm", "two_level", "--ranks-per-node", "3"],
                    "multiple of ranks-per-node", "4 ranks", "nodes of 3")
        self.refuse(["run", "--algorithm", "two_level", "--inner", "nope"], "--inner",
                    "'nope'", "it can be: direct")
        self.refuse(["run", "--algorithm", "two_level", "--outer", "ompi_auto"], "--outer",
                    "'ompi_auto'")

    def test_parameters(self):
        self.refuse(["run", "--chunks", "3"], "direct doesn't read --chunks", "none")
        # Also if it is the default, for it would say nothing.
        self.refuse(["run", "--algorithm", "ring", "--protocol", "simple"], "ring doesn't read")
        self.refuse(["verify", "--algorithm", "ring", "--channels", "2"], "--channels")
        self.refuse(["verify", "--channels", "2"], "--channels", "--algorithm")
        self.refuse(["show", "--algorithm", "ompi_pipeline", "--collective", "reduce",
                     "--segment-bytes", "64"], "--segment-bytes", "--elements")
        nccl = ["run", "--algorithm", "nccl_ring"]
        self.refuse([*nccl, "--protocol", "ll64"], "'ll64'", "simple ll ll128")
        self.refuse([*nccl, "--channels", "two"], "--channels: 'two'", "0 to 2147483647")
        self.refuse([*nccl, "--channels", "0"], "1 to 64 channels, not 0")
        self.refuse([*nccl, "--nccl-version", "1.0"], "1.0")
        for rings, *phrases in (("[[0,1", "'[[0,1'", "character 6", "[[0,1,2,3]]"),
                                ("[[0,1.5]]", "[0][1] = 1.5", "ranks are 0 to R-1"),
                                ("[0]", "[0] = 0", "list is needed"),
                                ("{}", "{} is wrong", "list is needed"), ("[]", "none in []"),
                                ("[[0,1,2,2]]", "rank 2 twice"),
                                ("[[0,1,2]]", "3 ranks", "each of 4"),
                                ("[" * 20, "more than 8 lists"),
                                ("[[0,99999999999,1,2]]", "[0][1] = 99999999999")):
            self.refuse([*nccl, "--rings", rings], *phrases)
        self.refuse(["run", "--algorithm", "nccl_tree", "--trees", "[[[1],[2],[1],[]]]"],
                    "rank 1 is a child of 0 and of 2")
        self.refuse(["run", "--algorithm", "nccl_tree", "--trees", '[[["1"]]]'], "--trees: [0][0][0] = ")
        self.refuse(["run", "--algorithm", "nccl_tree", "--trees", "[]"], "--trees", "none in []")

    def test_parameters_of_no_schedule(self):
        # What can't be built is refused at once, also where no size is given.
        self.refuse(["show", "--algorithm", "chain", "--chunks", "2000000000"], "2000000000",
                    "at most 65536")
        for algorithm in ("nccl_ring", "nccl_tree"):
            self.refuse(["show", "--algorithm", algorithm, "--nccl-version", "1.0"], "1.0", "2.30.7")
        self.refuse(["run", "--op", "sum", "--dtype", "i8", "--accumulate", "exact"], "exact",
                    "means")

    def test_policies(self):
        self.refuse(["run", "--accumulate", "f16"], "'f16'", "storage f32 f64 exact auto")
        self.refuse(["run", "--accumulate", "f32", "--dtype", "f64"], "f32", "f64")
        self.refuse(["run", "--accumulate", "exact"], "exact", "f32")
        self.refuse(["run", "--mean", "divide", "--op", "sum"], "about op mean")
        self.refuse(["run", "--mean", "premultiply", "--dtype", "i32"], "premultiply", "i32")
        self.refuse(["run", "--collective", "all_gather", "--nan", "ignore"], "only copies")
        self.refuse(["run", "--collective", "all_gather", "--op", "sum"], "--op", "only copies")

    def test_ways_to_run(self):
        self.refuse(["run", "--root", "0"], "--root is about reduce broadcast gather",
                    "all_reduce has none")
        self.refuse(["run", "--collective", "reduce", "--root", "4"], "root 4", "0 to 3")
        self.refuse(["run", "--root=-1", "--collective", "reduce"], "--root: '-1'")
        self.refuse(["run", "--in-place", "yes"], "'yes'", "nccl mpi")
        self.refuse(["run", "--executor", "fast"], "'fast'", "fused steps")
        self.refuse(["run", "--executor", "fused", "--steps", "s.json"], "--steps", "--executor")
        self.refuse(["run", "--steps", "nowhere/s.json"], "nowhere/s.json", "No such file")
        self.refuse(["run", "--collective", "reduce_scatter", "--shape", "4,6"], "dimension 1 of 6",
                    "4 blocks", "reduce_scatter_v takes counts")
        self.refuse(["run", "--collective", "reduce_scatter", "--shape", "4"], "first dimension",
                    "shape ()")

    def test_steps_that_no_file_should_hold(self):
        self.refuse(["run", "--shape", "4,1000000", "--steps", "s.json"], "4 steps of 4 ranks",
                    "1000000 elements", "67.11 MB is the most")

    def test_what_check_has_no_bound_for(self):
        self.refuse(["check", "--algorithm", "ring"], "algorithm direct", "ring")
        self.refuse(["check", "--collective", "permute"], "permute")
        for op in ("premul_sum", "weighted_mean", "min_loc", "log_sum_exp"):
            self.refuse(["check", "--op", op], f"op {op}")
        self.refuse(["check", "--dtype", "c64"], "c64")
        self.refuse(["check", "--op", "band", "--dtype", "f32"], "op band", "f32")

    @unittest.skipIf(os.environ.get("VRANKS_SANITIZE"), "the sanitizer stops at such sizes itself")
    def test_schedules_that_need_more_memory_than_there_is(self):
        few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, -1))}
        for command in (["show", "--ranks", "20000"], ["verify", "--ranks", "20000"],
                        ["run", "--shape", "20000,1"]):
            self.refuse([*command, "--algorithm", "ring"], "no memory", "20000 ranks", **few)
        self.refuse(["verify", "--algorithm", "one_shot", "--collective", "all_reduce", "--ranks",
                     "2000"], "no memory", "2000 ranks", **few)
        self.refuse(["show", "--algorithm", "ring", "--ranks", "2000000000"], "2^31 chunks")

    def test_shapes(self):
        self.refuse(["run", "--shape", "0,3"], "(0, 3)", "R = 0", "at least one rank")
        for shape in ("", "4,", ",4", "4,-1", "4x3", "(4,3)", "4, 3", "1e3", "99999999999999999999"):
            self.refuse(["run", "--shape", shape], f"'{shape}'", "such as 4,16,48")
        self.refuse(["run", "--shape", "4294967296,4294967296"], "2^63 - 1")
        self.refuse(["run", "--shape", "4611686018427387904,1", "--dtype", "f64"], "2^63 - 1")

    @unittest.skipIf(os.environ.get("VRANKS_SANITIZE"), "the sanitizer stops at such sizes itself")
    def test_memory_that_no_machine_has(self):
        self.refuse(["run", "--shape", "1000000,1000000,1000"], "no memory", "4000000000000000")


class InputTest(program.ProgramTest):
    def refuse_file(self, array_or_bytes, *phrases, arguments=(), **options):
        path = self.folder / "bad.npy"
        if isinstance(array_or_bytes, bytes):
            path.write_bytes(array_or_bytes)
        else:
            np.save(path, array_or_bytes, **options)
        self.refuse(["run", "--input", "bad.npy", "--output", "y.npy", *arguments], "bad.npy",
                    *phrases)

    def test_files_that_are_not_there(self):
        self.refuse(["run", "--input", "nowhere.npy"], "nowhere.npy", "No such file")
        (self.folder / "folder").mkdir()
        self.refuse(["run", "--input", "folder"], "'folder'", "not a regular file")

    def test_files_that_are_corrupt(self):
        np.save(self.folder / "good.npy", np.zeros((4, 3), "f4"))
        good = (self.folder / "good.npy").read_bytes()
        self.refuse_file(b"", "")
        self.refuse_file(b"R,x\n1,2\n", "no .npy file")
        for length in (3, 8, 9, 40, len(good) - 1):
            self.refuse_file(good[:length], "")
        self.refuse_file(good[:-1], "truncated", "48", "47")
        self.refuse_file(good + b"x", "behind its last element")
        self.refuse_file(good.replace(b"\x01\x00", b"\x09\x00", 1), "version is 9.0", "1.0, 2.0")
        self.refuse_file(good.replace(b"(4, 3)", b"(4,-3)"), "negative")
        self.refuse_file(good.replace(b"'shape'", b"'shepa'"), "'shepa'")

    def test_arrays_that_are_not_supported(self):
        x = np.arange(12).reshape(4, 3)
        self.refuse_file(np.asfortranarray(x.astype("f4")), "Fortran", "ascontiguousarray")
        self.refuse_file(x.astype(">f4"), "big endian", "newbyteorder")
        self.refuse_file(np.array([[1], ["two"]], object), "Python objects", allow_pickle=True)
        self.refuse_file(np.zeros(4, [("a", "f4"), ("b", "i4")]), "structured", "x['field']")
        self.refuse_file(x.astype("m8[s]"), "<m8", "supported")
        self.refuse_file(x.astype("U3"), "<U3", "supported")
        self.refuse_file(np.float32(1), "()", "dimension 0 counts the ranks")
        self.refuse_file(np.zeros((0, 3), "f4"), "R = 0")

    def test_dtypes_that_the_file_does_not_hold(self):
        x = np.zeros((2, 2), "f4")
        self.refuse_file(x, "f32", "f64", "never converted", arguments=("--dtype", "f64"))
        self.refuse_file(x, "bf16", arguments=("--dtype", "bf16"))
        self.refuse_file(np.zeros((2, 2), "u2"), "u16", arguments=("--dtype", "f16"))


class OutputTest(program.ProgramTest):
    def test_targets_that_cannot_be_written(self):
        self.refuse(["run", "--output", "nowhere/y.npy"], "nowhere/y.npy", "No such file")
        (self.folder / "folder").mkdir()
        self.refuse(["run", "--output", "folder"], "folder")
        # Found before the input is looked at.
        self.refuse(["run", "--output", "nowhere/y.npy", "--input", "missing.npy"], "nowhere/y.npy")

    def test_a_full_disk_leaves_the_old_file_whole(self):
        self.save("y.npy", np.arange(3.0))
        self.refuse(["run", "--output", "y.npy"], "y.npy", os.strerror(errno.EFBIG),
                    preexec_fn=program.at_most(5000))
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), np.arange(3.0))

    def test_a_full_disk_leaves_no_new_file(self):
        self.refuse(["run", "--output", "y.npy"], "y.npy", preexec_fn=program.at_most(0))
        self.assertEqual(self.files(), {})

    def test_standard_output_that_takes_nothing(self):
        with open("/dev/full", "w") as full:
            self.refuse(["run"], "standard output", os.strerror(errno.ENOSPC), stdout=full)
            self.refuse(["list"], "standard output", stdout=full)
            self.refuse(["info", "--help"], "standard output", stdout=full)
        closed = self.vranks("run", "--output", "y.npy", stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(closed.returncode, 2)
        self.assertIn("standard output", closed.stderr)
        self.assertEqual(np.load(self.folder / "y.npy").shape, (4, 16, 48))

    def test_no_standard_stream_at_all(self):
        def close_all():
            for stream in range(3):
                os.close(stream)

        self.assertEqual(self.vranks("run", preexec_fn=close_all).returncode, 2)


class DeviceTest(program.ProgramTest):
    def test_a_device_that_this_machine_lacks(self):
        self.refuse(["run", "--device", "cuda:99"], "cuda:99")

    def test_cuda_without_a_device(self):
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        self.refuse(["run", "--device", "cuda"], "cuda:0", env=hidden)
        self.succeed("run", env=hidden)  # falls back to the CPU


class MpirunTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.mpirun = shutil.which("mpirun")
        if not self.mpirun or not json.loads(self.succeed("info", "--format", "json"))["mpi_library"]:
            self.skipTest("there is no mpirun, or this build has no MPI")

    def run_two(self, *arguments):
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return subprocess.run([self.mpirun, *as_root, "--oversubscribe", "-np", "2", *arguments],
                              capture_output=True, text=True, timeout=60, cwd=self.folder)

    def test_bench_is_one_process(self):
        refused = self.run_two(program.path(), "bench")
        self.assertNotEqual(refused.returncode, 0)
        self.assertEqual(refused.stderr.count("vranks bench: bench is one process; start it without"),
                         1)

    def test_run_that_is_refused_leaves_no_file(self):
        refused = self.run_two(program.path(), "run", "--output", "y.npy", "--shape", "1,5")
        self.assertNotEqual(refused.returncode, 0)
        self.assertEqual(refused.stderr.count("vranks run: 2 processes can't share 1 rank"), 1)
        self.assertEqual(self.files(), {})

    def test_other_commands_print_once(self):
        listed = self.run_two(program.path(), "list", "ops", "--format", "json")
        self.assertEqual((listed.returncode, len(json.loads(listed.stdout)["ops"])), (0, 16))

    def test_arguments_that_differ_are_named_by_every_process(self):
        refused = self.run_two(program.path(), "list", "ops", ":", "-np", "1", program.path(),
                               "list", "dtypes")
        self.assertNotEqual(refused.returncode, 0)
        for process in range(3):
            self.assertIn(f"vranks list: process {process} of 3: ", refused.stderr)
        self.assertIn("process 2 has 'dtypes' where process 0 has 'ops'", refused.stderr)


if __name__ == "__main__":
    program.main()
