# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""More ranks than an f32 can count, R = 33554432: 400 MB of input, 2 GB of memory in all."""

import os
import signal
import subprocess
import time

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


class LongScanTest(program.ProgramTest):
    def test_a_scan_is_compared_in_one_pass(self):
        # Row by row from the first rank on, these would be 2e10 additions.
        x = np.zeros((200000, 1), "f4")
        x[1000] = np.inf
        started = time.monotonic()
        _, report = self.run_on(x, "--collective", "scan", "--op", "max_loc")
        self.assertEqual((report["over_bound"], report["wrong_ranks"]), (0, 0))
        _, report = self.run_on(x, "--collective", "scan")
        self.assertEqual((report["compared"], report["over_bound"]), (200000, 0))
        self.assertLess(time.monotonic() - started, 60)


class StoppedTest(program.ProgramTest):
    """A run that is stopped while it writes leaves nothing behind."""

    def has_no_names(self):
        """Whether the folder's file system has files without one."""
        try:
            os.close(os.open(self.folder, os.O_WRONLY | os.O_TMPFILE))
            return True
        except OSError:
            return False

    def bytes_written(self, process):
        """Of the file in the folder that the process has open."""
        try:
            folder = f"/proc/{process.pid}/fd"
            open_files = [f"{folder}/{each}" for each in os.listdir(folder)]
            return max((os.stat(each).st_size for each in open_files
                        if os.readlink(each).startswith(f"{self.folder}/")), default=0)
        except OSError:  # closed in between
            return 0

    def test_no_file_is_left(self):
        if not self.has_no_names():
            self.skipTest("no O_TMPFILE here")
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            process = subprocess.Popen(
                [program.path(), "run", "--device", "cpu", "--shape", "4,20000000", "--output", "y.npy"],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and self.bytes_written(process) < 1000000:
                time.sleep(0.002)
            process.send_signal(stop)
            self.assertEqual(process.wait(), -stop)
            self.assertEqual(self.files(), {})


if __name__ == "__main__":
    program.main()
