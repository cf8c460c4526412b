#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` under mpirun: ranks spread over processes give what one process gives, and a process
that is lost takes nobody with it for longer than the timeout.

    run_test.py VRANKS MPIRUN [options of mpirun]
"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

VRANKS, MPIRUN = os.path.abspath(sys.argv[1]), sys.argv[2:]
SECONDS = 120
IS_SANITIZED = bool(os.environ.get("VRANKS_SANITIZE"))


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_in(self, processes, *arguments):
        """One process runs without mpirun."""
        start = [] if processes == 0 else [*MPIRUN, "-np", str(processes)]
        return subprocess.run([*start, VRANKS, "run", *arguments], capture_output=True, text=True,
                              timeout=SECONDS, cwd=self.folder)

    def output_of(self, processes, *arguments):
        """The bytes of the result, and the report."""
        result = self.run_in(processes, *arguments, "--output", "y.npy", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(self.path("y.npy"), "rb") as file:
            content = file.read()
        os.remove(self.path("y.npy"))
        return content, json.loads(result.stdout)

    def expect_error(self, processes, *arguments, texts):
        result = self.run_in(processes, *arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)


class SameResult(RunTest):
    def test_every_number_of_processes(self):
        arguments = ["--algorithm", "ring", "--op", "sum", "--shape", "64,1000"]
        right, _ = self.output_of(0, *arguments)
        for processes in (3, 8) if IS_SANITIZED else (1, 2, 3, 4, 7, 8):
            with self.subTest(processes=processes):
                found, report = self.output_of(processes, *arguments)
                self.assertEqual(found, right)
                if processes > 1:
                    self.assertEqual(report["processes"], processes)
                    self.assertEqual(report["engine"], "schedule")
                    self.assertIn("MPI", report["library"])
                self.assertEqual(report["equal_ranks"], 64)

    def test_collectives(self):
        for arguments in (
            ["--collective", "reduce", "--op", "max", "--root", "4", "--shape", "5,33"],
            ["--collective", "reduce_scatter", "--op", "mean", "--dtype", "bf16", "--shape", "5,35"],
            ["--collective", "all_gather", "--shape", "5,7,2"],
            ["--collective", "broadcast", "--root", "3", "--shape", "5,9"],
            ["--collective", "gather", "--root", "2", "--shape", "5,9"],
            ["--collective", "scatter", "--root", "1", "--shape", "5,10"],
            ["--collective", "all_to_all", "--shape", "5,15"],
            ["--collective", "scan", "--op", "sum", "--shape", "5,11"],
            ["--collective", "exscan", "--op", "prod", "--shape", "5,11"],
            ["--collective", "permute", "--permutation", "[[0, 3], [3, 1]]", "--shape", "5,6"],
            ["--collective", "all_gather_v", "--counts", "[3, 0, 1, 2, 4]", "--shape", "5,4"],
            ["--groups", "[[0, 4], [3, 1, 2]]", "--shape", "5,8"],
            ["--op", "min_loc", "--shape", "5,8"],
            ["--collective", "reduce", "--op", "max_loc", "--root", "4", "--shape", "5,8"],
            ["--collective", "reduce", "--shape", "5,0"],
            ["--collective", "gather", "--shape", "5,0"],
            ["--collective", "gather_v", "--counts", "[0, 0, 0, 0, 0]", "--shape", "5,0"],
        ):
            with self.subTest(arguments=arguments):
                right, _ = self.output_of(0, *arguments)
                found, _ = self.output_of(3, *arguments)
                self.assertEqual(found, right)

    def test_outputs_of_groups_come_in_their_order(self):
        arguments = ["--collective", "reduce", "--groups", "[[5, 0], [1, 4], [3, 2]]", "--shape",
                     "6,8", "--op", "sum"]
        right, _ = self.output_of(0, *arguments)
        self.assertEqual(self.output_of(4, *arguments)[0], right)

    def test_copies_by_one_mpi_collective(self):
        for arguments in (["--collective", "all_to_all", "--shape", "6,12"],
                          ["--collective", "all_gather", "--shape", "6,3"],
                          ["--collective", "scatter", "--root", "5", "--shape", "6,12"]):
            right, _ = self.output_of(0, *arguments)
            found, report = self.output_of(4, *arguments, "--engine", "mpi")
            self.assertEqual(found, right)
            self.assertEqual(report["engine"], "mpi")

    def test_reductions_by_one_mpi_collective_keep_to_the_bound(self):
        for dtype in ("f32", "bf16", "i16"):
            _, report = self.output_of(3, "--engine", "mpi", "--dtype", dtype, "--shape", "10,5000")
            self.assertEqual(report["equal_ranks"], 10)

    def test_what_is_asked_of_partial_results_holds_inside_a_process(self):
        arguments = ["--op", "sum", "--dtype", "bf16", "--accumulate", "storage", "--shape", "8,4096"]
        right, _ = self.output_of(0, *arguments)
        self.assertEqual(self.output_of(1, *arguments, "--engine", "mpi")[0], right)

    def test_a_file_is_read_in_blocks(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }"
        header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
        data = struct.pack("<15f", *range(15))
        with open(self.path("x.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data)
        found, _ = self.output_of(2, "--input", "x.npy", "--op", "sum")
        self.assertEqual(struct.unpack("<15f", found[-60:]), (30.0, 35.0, 40.0) * 5)

    def test_a_barrier(self):
        result = self.run_in(3, "--collective", "barrier", "--ranks", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\n  time ", result.stdout)
        self.assertNotIn("bandwidth", result.stdout)  # of no bytes


class BadUse(RunTest):
    def test_fewer_ranks_than_processes(self):
        self.expect_error(4, "--shape", "3,5", texts=["4 processes can't share 3 ranks"])

    def test_what_one_process_has(self):
        for arguments in (["--steps", "s.json"], ["--in-place", "nccl"], ["--executor", "steps"]):
            self.expect_error(2, *arguments, texts=[arguments[0], "2 processes"])

    def test_engines(self):
        self.expect_error(2, "--engine", "mpy", texts=["mpy", "schedule", "mpi", "nccl"])
        self.expect_error(2, "--engine", "nccl", "--device", "cpu", texts=["CUDA"])
        self.expect_error(2, "--engine", "mpi", "--algorithm", "ring",
                          texts=["ring", "--engine schedule"])
        self.expect_error(2, "--engine", "mpi", "--groups", "[[0, 1], [2, 3]]", texts=["groups"])

    def test_what_all_find_is_said_once(self):
        for arguments, text in ((["--collective", "broadcast", "--root", "9"], "root 9"),
                                (["--collective", "reduce_scatter", "--shape", "4,7"], "7"),
                                (["--nccl-library", "x.so"], "--engine nccl")):
            result = self.run_in(3, *arguments)
            self.assertEqual(result.returncode, 2)
            lines = [line for line in result.stderr.splitlines() if line.startswith("vranks")]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertIn(text, lines[0])

    def test_timeouts(self):
        for text in ("0", "-1", "nan", "1e99", "x"):
            self.expect_error(2, "--timeout=" + text, texts=[text, "seconds"])

    def test_memory_that_no_process_has(self):
        if IS_SANITIZED:
            self.skipTest("the sanitizer has its own idea of memory")
        self.expect_error(2, "--shape", "4,1000000000000", texts=["memory"])


class TooLittleMemory(RunTest):
    @unittest.skipIf(IS_SANITIZED, "the sanitizer takes more than the limit")
    def test_one_process_has_too_little(self):
        limited = ["sh", "-c", f"ulimit -v 1000000; exec {VRANKS} run --shape 6,100000000 --timeout 30"]
        free = [VRANKS, "run", "--shape", "6,100000000", "--timeout", "30"]
        result = subprocess.run([*MPIRUN, "-np", "1", *free, ":", "-np", "1", *limited],
                                capture_output=True, text=True, timeout=SECONDS, cwd=self.folder)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertRegex(result.stderr, "process 1.*memory")


@unittest.skipIf(IS_SANITIZED, "the release build tests it, and it takes its time")
class LostProcesses(RunTest):
    RUN = ["run", "--shape", "12,3000000", "--timeout", "4", "--output", "y.npy"]
    CHECK = ["check", "--against", "mpi", "--shape", "12,100000", "--timeout", "4"]

    def start_and_signal(self, process, number, *arguments):
        """Sends the signal to that one of three processes in the middle of its work."""
        job = subprocess.Popen([*MPIRUN, "-np", "3", VRANKS, *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=self.folder)
        try:
            target = self.wait_for(job.pid, process)
            time.sleep(0.7)
            os.kill(target, number)
            begin = time.monotonic()
            _, errors = job.communicate(timeout=60)
        finally:
            if job.poll() is None:
                job.kill()
        self.assertFalse(os.path.exists(self.path("y.npy")), errors)
        return job.returncode, errors, time.monotonic() - begin

    def wait_for(self, parent, process):
        mark = f"OMPI_COMM_WORLD_RANK={process}\0"
        for _ in range(500):
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{name}/stat") as file:
                        if int(file.read().rsplit(")", 1)[1].split()[1]) != parent:
                            continue
                    with open(f"/proc/{name}/environ") as file:
                        if mark in file.read():
                            return int(name)
                except OSError:
                    pass  # it has ended meanwhile
            time.sleep(0.02)
        self.fail(f"process {process} never started")

    def test_a_stopped_process_is_named_by_every_other_one(self):
        for process, arguments in ((2, self.RUN), (1, [*self.RUN, "--engine", "mpi"]),
                                   (0, [*self.RUN, "--engine", "mpi"]), (1, self.CHECK)):
            with self.subTest(process=process, arguments=arguments):
                code, errors, seconds = self.start_and_signal(process, signal.SIGSTOP, *arguments)
                self.assertEqual(code, 1, errors)
                self.assertLess(seconds, 10)
                # It is continued before it is killed, and may still speak.
                lines = [line for line in errors.splitlines()
                         if "no answer" in line and f": process {process} of 3: " not in line]
                self.assertEqual(len(lines), 2, errors)
                for line in lines:
                    self.assertIn(f"from process {process} of 3", line)

    def test_a_killed_process_ends_the_job(self):
        code, errors, seconds = self.start_and_signal(1, signal.SIGKILL, *self.RUN)
        self.assertNotEqual(code, 0)
        self.assertLess(seconds, 10)
        self.assertRegex(errors, "signal 9|process 1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
