# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Mean over ranks on the CPU beside numpy.mean(axis=0), in turns, as medians and their ratio.

numpy_ratio.py PATH_TO_VRANKS [R [n [dtype]]]      default: 4 4194304 f32
"""
import json
import statistics
import subprocess
import sys
import time

import numpy as np

vranks = sys.argv[1]
ranks, elements = (int(x) for x in (sys.argv[2:4] + ["4", "4194304"][len(sys.argv[2:4]):]))
dtype = sys.argv[4] if len(sys.argv) > 4 else "f32"
x = np.random.default_rng(0).random((ranks, elements)).astype({"f32": "f4", "f64": "f8"}[dtype])

ours, theirs = [], []
for _ in range(7):
    command = [vranks, "run", "--collective", "reduce", "--device", "cpu", "--dtype", dtype,
               "--shape", f"{ranks},{elements}", "--format", "json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    ours.append(report["median_seconds"])
    turns = []
    for _ in range(21):
        start = time.perf_counter()
        x.mean(axis=0)
        turns.append(time.perf_counter() - start)
    theirs.append(statistics.median(turns))
mine, numpy_time = statistics.median(ours), statistics.median(theirs)
print(f"R = {ranks}, n = {elements}, {dtype}: vranks {mine * 1e3:.3f} ms, numpy {np.__version__} "
      f"{numpy_time * 1e3:.3f} ms, ratio {numpy_time / mine:.2f} "
      f"(turns {min(t / o for t, o in zip(theirs, ours)):.2f} to "
      f"{max(t / o for t, o in zip(theirs, ours)):.2f})")
