# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Runs an example and compares its output with the comment behind "// Prints:" in its source.

check_output.py SOURCE [mpirun OPTION ...] PROGRAM
"""
import subprocess
import sys
from pathlib import Path

source, *command = sys.argv[1:]
expected = []
for line in Path(source).read_text().split("// Prints:\n", 1)[1].splitlines():
    expected.append(line.removeprefix("//").removeprefix(" "))
done = subprocess.run(command, capture_output=True, text=True)
if done.returncode != 0:
    print(done.stdout, done.stderr)
    sys.exit(done.returncode)  # 77: it can't run here, and says why
printed = done.stdout.splitlines()
if printed != expected:
    sys.exit("printed:\n" + "\n".join(printed) + "\nexpected:\n" + "\n".join(expected))
