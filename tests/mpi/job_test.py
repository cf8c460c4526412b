#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""vranks under mpirun: what one process finds wrong, all report, and none is left waiting.

    job_test.py VRANKS MPIRUN [options of mpirun]

VRANKS_WRONG_MPI names a library that, preloaded, makes MPI's results wrong (wrong_mpi.cpp).
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

VRANKS, MPIRUN = os.path.abspath(sys.argv[1]), sys.argv[2:]
WRONG_MPI = os.environ.get("VRANKS_WRONG_MPI")
SECONDS = 60  # a run takes one or two; a job that hangs would take for ever


def npy(shape, data=None, dtype="<f4", size=4):
    """The bytes of a .npy file of zeros, or of `data`."""
    count = 1
    for dimension in shape:
        count *= dimension
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    return start + (bytes(count * size) if data is None else data)


class JobTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def start(self, *parts, before=(), without=()):
        """Runs each part (processes, arguments of vranks, options of mpirun) in one job, `without`
        some variables of the environment."""
        command = list(MPIRUN) + list(before)
        for i, (processes, arguments, *options) in enumerate(parts):
            command += [":"] if i > 0 else []
            command += ["-np", str(processes), *options, VRANKS, *arguments]
        environment = {k: v for k, v in os.environ.items() if k not in without}
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                              cwd=self.folder, env=environment)

    def check(self, processes, *arguments, before=()):
        return self.start((processes, ["check", *arguments]), before=before)

    def expect_error(self, result, *texts, speakers=()):
        """Exit code 2 and all texts; a line of each process in speakers, or one without number."""
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        for text in texts:
            self.assertIn(text, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("vranks")]
        self.assertEqual(len(lines), max(1, len(speakers)), result.stderr)
        for process in speakers:
            self.assertTrue(any(f": process {process} of {len(speakers)}: " in line
                                for line in lines), result.stderr)


class Agreement(JobTest):
    def test_every_number_of_processes_agrees_on_everything(self):
        for processes in (1, 2, 3, 4, 7):
            with self.subTest(processes=processes):
                result = self.check(processes, "--against", "mpi", "--format", "json")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                comparisons = json.loads(result.stdout)["comparisons"]
                seen = {(each["dtype"], each["op"]) for each in comparisons}
                # Sum, mean, prod, min, max of 14 real dtypes (a bool has no mean), bits and truth
                # values of 8 integers and bool.
                self.assertEqual(len(seen), 14 * 5 + 4 + 9 * 6)
                for each in comparisons:
                    self.assertEqual(each["processes"], processes)
                    self.assertEqual(each["shape"], [2 * processes + 1, 1000])
                    self.assertEqual(each["verdict"], "PASS")
                    self.assertEqual(each["compared"], 1000 * processes)
                    if each["data"] == "whole":
                        self.assertEqual(each["different"], 0)

    def test_a_plain_start_is_one_process(self):
        result = subprocess.run([VRANKS, "check", "--shape", "3,7"], capture_output=True, text=True,
                                timeout=SECONDS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 process with all 3 ranks", result.stdout)

    def test_prints_once(self):
        result = self.check(4, "--op", "max", "--dtype", "i32", "--shape", "6,5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("PASS: 2 of 2 comparisons agree"), 1)
        self.assertIn("4 processes, 2 with 2 ranks and 2 with 1", result.stdout)
        self.assertIn("MPI 3.", result.stdout)

    def test_reduce_ends_in_process_0(self):
        result = self.check(3, "--collective", "reduce", "--shape", "7,33", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        for each in json.loads(result.stdout)["comparisons"]:
            self.assertEqual(each["compared"], 33)

    def test_no_elements(self):
        for shape in ("4,0", "5,0,3"):
            self.expect_error(self.check(3, "--shape", shape), "nothing to compare", "no elements")

    def test_reads_a_file_in_blocks(self):
        numbers = bytes(range(200)) * 7  # 7 ranks of 200 different bytes
        for dtype, name, size in (("|u1", "u8", 1), ("<i4", "i32", 4), ("<u2", "bf16", 2)):
            path = self.file("x.npy", npy((7, 200 // size), numbers, dtype))
            arguments = ["--input", path, "--format", "json"]
            arguments += ["--dtype", name] if name == "bf16" else []
            arguments += ["--op", "max"]
            result = self.check(3, *arguments)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            (comparison,) = json.loads(result.stdout)["comparisons"]
            self.assertEqual(comparison["dtype"], name)
            self.assertEqual(comparison["shape"], [7, 200 // size])

    def test_sums_that_the_library_saturates_are_left_out_and_no_agreement(self):
        result = self.check(2, "--op", "sum", "--dtype", "i8", "--data", "random", "--shape",
                            "300,40")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("nothing compared", result.stdout)
        self.assertIn("saturates", result.stdout)

    @unittest.skipUnless(WRONG_MPI, "VRANKS_WRONG_MPI is not set")
    def test_a_wrong_library_is_found(self):
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        preload = ["-x", f"LD_PRELOAD={WRONG_MPI}", "-x", f"ASAN_OPTIONS={sanitizer}"]
        for collective in ("all_reduce", "reduce"):
            result = self.check(3, "--op", "sum", "--data", "whole", "--collective", collective,
                                "--format", "json", before=preload)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            for each in json.loads(result.stdout)["comparisons"]:
                self.assertEqual(each["verdict"], "FAIL")
                self.assertEqual(each["over_bound"], 1)
                self.assertEqual(each["worst_element"], 13)


class DifferentArguments(JobTest):
    def test_both_values_are_named(self):
        result = self.start((1, ["check", "--op", "sum"]), (1, ["check", "--op", "mean"]))
        self.expect_error(result, "process 1 has '--op mean' where process 0 has '--op sum'",
                          speakers=(0, 1))

    def test_all_who_differ_are_named(self):
        result = self.start((2, ["check", "--op", "sum"]), (2, ["check", "--op", "mean"]),
                            (1, ["check"]))
        self.expect_error(result,
                          "processes 2 and 3 have '--op mean' where process 0 has '--op sum'",
                          "process 4 has nothing where process 0 has '--op sum'",
                          speakers=range(5))

    def test_other_commands(self):
        result = self.start((2, ["check"]), (1, ["list"]))
        self.expect_error(result, "process 2 has 'list' where process 0 has 'check'",
                          speakers=range(3))

    def test_help_on_one_process(self):
        result = self.start((1, ["check", "--help"]), (1, ["check"]))
        self.expect_error(result, "process 1 has nothing where process 0 has '--help'",
                          speakers=range(2))

    def test_words_that_look_alike_when_joined(self):
        result = self.start((1, ["check", "--op", "a b"]), (1, ["check", "--op", "a", "b"]))
        self.expect_error(result, "process 1 has", speakers=range(2))

    def test_different_environments_are_no_difference(self):
        result = self.start((1, ["check", "--op", "sum"], "-x", "OMP_NUM_THREADS=1"),
                            (1, ["check", "--op", "sum"], "-x", "A=b"),
                            without=("OMP_NUM_THREADS",))
        self.assertEqual(result.returncode, 0, result.stderr)


class BadUse(JobTest):
    def test_more_processes_than_ranks(self):
        for processes in (2, 4, 7):
            result = self.check(processes, "--shape", "1,10")
            self.expect_error(result, f"{processes} processes can't share 1 rank:")

    def test_no_ranks(self):
        for processes in (1, 3):
            self.expect_error(self.check(processes, "--shape", "0,10"), "R = 0")

    def test_what_does_not_exist_is_answered_with_what_does(self):
        self.expect_error(self.check(3, "--against", "ucc"), "ucc", "there are: mpi nccl")
        self.expect_error(self.check(3, "--op", "xor"), "xor", "sum mean prod min max")
        self.expect_error(self.check(3, "--dtype", "f8"), "f8", "f64 f32 f16 bf16")
        self.expect_error(self.check(3, "--algorithm", "rings"), "rings", "direct")
        self.expect_error(self.check(3, "--data", "zeros"), "zeros", "whole random")

    def test_a_missing_device(self):
        self.expect_error(self.check(3, "--device", "cuda:77", "--op", "sum"), "cuda:77",
                          speakers=range(3))

    def test_data_and_input(self):
        self.expect_error(self.check(2, "--data", "whole", "--input", "x.npy"), "--data")

    def test_too_much_memory(self):
        self.expect_error(self.check(2, "--shape", "4,99999999999999", "--op", "sum"), "memory")


class BadInput(JobTest):
    def expect_same_error(self, content, *texts):
        path = self.file("x.npy", content)
        for processes in (1, 2, 3, 4, 7):
            with self.subTest(processes=processes):
                self.expect_error(self.check(processes, "--input", path), *texts)

    def test_missing(self):
        self.expect_error(self.check(4, "--input", "nowhere.npy"), "nowhere.npy")

    def test_corrupt(self):
        self.expect_same_error(b"no array at all", "x.npy")

    def test_truncated(self):
        self.expect_same_error(npy((8, 100))[:-1], "x.npy")

    def test_fewer_ranks_than_processes(self):
        path = self.file("x.npy", npy((3, 100)))
        self.expect_error(self.check(4, "--input", path), "4 processes can't share 3 ranks")

    def test_on_one_process_only(self):
        # Processes start in folders of their own; only one of these holds a file, or a whole one.
        self.file("with/x.npy", npy((8, 100)))
        self.file("without/y.npy", b"")
        self.file("truncated/x.npy", npy((8, 100))[:-40])
        arguments = ["check", "--input", "x.npy"]
        for first, others, at_fault in (("with", "without", "processes 1 and 2: "),
                                        ("without", "with", "process 0: "),
                                        ("with", "truncated", "processes 1 and 2: "),
                                        ("truncated", "with", "process 0: ")):
            with self.subTest(first=first, others=others):
                result = self.start((1, arguments, "-wdir", os.path.join(self.folder, first)),
                                    (2, arguments, "-wdir", os.path.join(self.folder, others)))
                self.expect_error(result, at_fault, "x.npy", speakers=range(3))

    def test_other_shapes_on_other_processes(self):
        self.file("a/x.npy", npy((8, 100)))
        self.file("b/x.npy", npy((8, 50)))
        arguments = ["check", "--input", "x.npy"]
        result = self.start((1, arguments, "-wdir", os.path.join(self.folder, "a")),
                            (1, arguments, "-wdir", os.path.join(self.folder, "b")))
        self.expect_error(result, "'(8, 50)' where process 0 has '(8, 100)'", speakers=range(2))


class OneProcessCommands(JobTest):
    def test_bench_says_that_it_is_one_process(self):
        self.expect_error(self.start((2, ["bench"])), "without mpirun")

    def test_list_and_info_print_once(self):
        for command in ("list", "info"):
            alone = subprocess.run([VRANKS, command], capture_output=True, text=True,
                                   timeout=SECONDS)
            result = self.start((3, [command]))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(result.stdout.splitlines()), len(alone.stdout.splitlines()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
