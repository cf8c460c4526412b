# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: start it, expect success or a refusal.

Every test file is run as: python3 NAME_test.py PATH_TO_VRANKS [unittest options]
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

import numpy as np

_program = None


def path():
    """Where the program is."""
    return _program


def at_most(file_bytes):
    """For preexec_fn: files can't grow beyond that, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))


class ProgramTest(unittest.TestCase):
    """A test case with a fresh folder, which is also the program's working directory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vranks_cli_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def vranks(self, *arguments, **options):
        """Runs the program to its end; a hang is a failure."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("timeout", 300)
        return subprocess.run([_program, *map(str, arguments)], stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, cwd=self.folder, text=True, **options)

    def succeed(self, *arguments, **options):
        """Runs the program, expects exit 0 and nothing on stderr, and returns what it printed."""
        done = self.vranks(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"vranks {arguments}")
        return done.stdout

    def refuse(self, arguments, *phrases, **options):
        """Expects exit 2, one line on stderr with all phrases, no output and no file."""
        before = self.files()
        done = self.vranks(*arguments, **options)
        about = f"vranks {arguments}: {done.stderr}"
        self.assertEqual(done.returncode, 2, about)
        self.assertFalse(done.stdout, about)
        self.assertRegex(done.stderr, r"\Avranks[^\n]*: [^\n]+\n\Z", about)
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)
        self.assertEqual(self.files(), before, about)

    def files(self):
        """Names and contents of everything in the folder."""
        return {path.name: path.read_bytes() if path.is_file() else None
                for path in self.folder.iterdir()}

    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def run_on(self, array, *arguments):
        """`vranks run` on an array; returns (the saved result, the JSON report)."""
        self.save("x.npy", array)
        report = json.loads(self.succeed("run", "--device", "cpu", "--input", "x.npy", "--output",
                                         "y.npy", "--format", "json", *arguments))
        return np.load(self.folder / "y.npy"), report


def main():
    global _program
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PATH_TO_VRANKS [unittest options]")
    _program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
