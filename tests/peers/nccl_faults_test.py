# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks check --against nccl` must see whatever a library that passes for NCCL does wrong.

Run as: python3 nccl_faults_test.py PATH_TO_VRANKS PATH_TO_FAKE_NCCL [unittest options]
Exit code 77, with the reason, where there is no CUDA device. Needs nothing but Python.
"""

import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

program, library = "", ""


def documented_keys():
    """First column of the table under '### JSON of check against NCCL' in docs/cli.md."""
    guide = (pathlib.Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    section = guide.split("### JSON of check against NCCL\n")[1].split("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def check(fault, *arguments, seconds=60):
    """Runs a check against the fake with that fault; returns the finished process."""
    environment = {**os.environ, "FAKE_NCCL_FAULT": fault}
    options = {"--algorithm": "nccl_tree", "--protocol": "simple", "--channels": "1",
               "--dtype": "f32", "--op": "sum", "--data": "random", "--ranks": "3",
               "--elements": "1000", **dict(zip(arguments[::2], arguments[1::2]))}
    return subprocess.run(
        [program, "check", "--against", "nccl", "--nccl-library", library,
         *(word for option in options.items() for word in option)],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)


class NcclFaults(unittest.TestCase):
    def expect_differences(self, fault, different, first):
        done = check(fault, "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        (row,) = json.loads(done.stdout)["comparisons"]
        self.assertEqual(row["verdict"], "FAIL")
        self.assertIn(row["different"], different)
        self.assertRegex(row["first"], first)
        done = check(fault)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("FAIL: 0 of 1 comparisons agree", done.stdout)
        self.assertRegex(" ".join(done.stdout.split()), first)  # lines are broken anywhere

    def expect_failure(self, fault, *phrases, timeout=2, most=30):
        start = time.monotonic()
        done = check(fault, "--timeout", str(timeout), seconds=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)
        self.assertLess(time.monotonic() - start, most)

    def test_a_right_library_passes(self):
        done = check("", "--elements", "0,1,2,1000,65553", "--ranks", "2..5", "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = json.loads(done.stdout)["comparisons"]
        self.assertEqual(len(rows), 20)
        self.assertEqual(list(rows[0]), documented_keys())
        self.assertEqual({row["different"] for row in rows}, {0})
        self.assertEqual({(row["ran"], row["ran_protocol"]) for row in rows if row["elements"]},
                         {("tree", "simple")})
        told = [row["told_apart"] for row in rows if row["ranks"] > 2 and row["elements"] > 2]
        self.assertGreater(min(told), 100)

    def test_wrong_results_are_seen(self):
        self.expect_differences("swapped_shards", range(900, 1001), "rank 1, element 0: ")
        self.expect_differences("wrong_bit", [1], r"rank 2, element 333: ours .* theirs ")
        self.expect_differences("wrong_order", range(300, 3001), "rank 0, element ")
        self.expect_differences("unreduced_tail", [1], "rank 0, element 999: ")
        self.expect_differences("unwritten", range(999, 1001), r"rank 2, element 0: .*a5a5a5a5")
        self.expect_differences("nan", [1], r"rank 2, element 500: .* theirs nan \(7fffffff\)")

    def test_failures_are_told(self):
        self.expect_failure("error", "rank 1: all_reduce: NCCL failed while calling ncclAllReduce: "
                            "system error; the fake is to blame")
        self.expect_failure("async_error", "rank 1: all_reduce: NCCL failed while running (an "
                            "asynchronous error): system error")

    def test_hangs_end(self):
        self.expect_failure("hang", "all_reduce sum of f32, 3 ranks with 1000 elements, random",
                            "ranks 0, 1, 2 of 3 did not finish all_reduce within 2 s")
        self.expect_failure("busy", "rank 1 of 3 did not finish all_reduce within 2 s")
        self.expect_failure("no_start", "3 ranks on cuda:0",
                            "ranks 0, 1, 2 of 3 did not finish starting within 2 s")

    def test_what_nccl_did_otherwise_is_seen(self):
        done = check("other_choice")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("NCCL ran ring simple instead", done.stdout)

    def test_what_is_missing_is_bad_use(self):
        for fault, phrase in (("no_log", "NCCL's log: it names no rings"),
                              ("old", "is NCCL 2.29.3; several ranks on one device need NCCL 2.30")):
            done = check(fault)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(phrase, done.stderr)

    def test_no_log_stays_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.environ.get("TMPDIR")
            os.environ["TMPDIR"] = folder
            try:
                for fault in ("", "error", "no_log"):
                    check(fault, "--timeout", "2")
                    self.assertEqual(glob.glob(folder + "/*"), [])
            finally:
                os.environ.pop("TMPDIR")
                if before is not None:
                    os.environ["TMPDIR"] = before


def main():
    global program, library
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} PATH_TO_VRANKS PATH_TO_FAKE_NCCL [unittest options]")
    program, library = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    done = check("")
    if "device cuda:0 can't be used" in done.stderr:
        print("skipped:", done.stderr.strip())
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
