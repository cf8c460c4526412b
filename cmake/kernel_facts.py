#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiler made of each CUDA kernel: registers, spills, and how wide memory is accessed.

As a compiler launcher, `kernel_facts.py [ccache] NVCC ARGUMENT ...` compiles as told, and writes
beside the object, into <object>.kernels.json, a list of

    {"kernel": mangled name, "file": its source, "toolkit": "13.0", "arch": "sm_90",
     "registers": int, "stack": bytes, "spill_stores": bytes, "spill_loads": bytes,
     "loads", "stores", "streamed_loads", "streamed_stores": {bytes: how many instructions}}

The first half is what ptxas tells; a function that the kernel calls adds its spills. The second is
counted in the kernel's own PTX: accesses of global memory, which ptxas neither splits nor joins;
those with the cache operator .cs (__ldcs, __stcs) are the streamed ones.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "vranks kernel facts: "  # a line of stderr, which ccache keeps with the object
TELLS = "VRANKS_TELLS_KERNEL_FACTS"  # set where the script is to call nvcc itself
ACCESSES = ("loads", "stores", "streamed_loads", "streamed_stores")


def path_of(compiled):
    return Path(f"{compiled}.kernels.json")


def ptxas_facts(text):
    """[{kernel, arch, registers, stack, spill_stores, spill_loads}] of what `ptxas -v` wrote."""
    facts, function = [], None
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line):
            facts.append({"kernel": match[1], "arch": match[2], "registers": None, "stack": 0,
                          "spill_stores": 0, "spill_loads": 0})
        elif match := re.search(r"Function properties for (\S+)", line):
            function = match[1]
        elif not facts:
            continue
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                r"(\d+) bytes spill loads", line):
            if function == facts[-1]["kernel"]:
                facts[-1]["stack"] = int(match[1])
            facts[-1]["spill_stores"] += int(match[2])
            facts[-1]["spill_loads"] += int(match[3])
        elif match := re.search(r"Used (\d+) registers", line):
            facts[-1]["registers"] = int(match[1])
    return facts


def is_ptxas_report(line):
    return line.startswith("ptxas info") or re.match(r"\s+\d+ bytes stack frame, ", line) is not None


def ptx_facts(text):
    """(toolkit, architecture as a number, {kernel: {loads, ...}}) of a PTX text."""
    toolkit = re.search(r"^// Cuda compilation tools, release ([\d.]+)", text, re.MULTILINE)
    target = re.search(r"^\.target sm_(\d+)", text, re.MULTILINE)
    kernels, accesses = {}, None
    for line in text.splitlines():
        if match := re.search(r"\.entry (\S+?)\(", line):
            accesses = kernels[match[1]] = {kind: {} for kind in ACCESSES}
        elif line.startswith("}"):
            accesses = None
        elif accesses is not None:
            match = re.match(r"\s*(?:@!?%\w+\s+)?(ld|st)((?:[.][\w:]+)+)\s", line)
            words = match[2].split(".")[1:] if match else []
            if not words or {word.split("::")[0] for word in words} & {"param", "local", "shared",
                                                                       "const"}:
                continue
            vector = next((int(word[1:]) for word in words if re.fullmatch(r"v\d", word)), 1)
            width = str(vector * int(re.sub(r"\D", "", words[-1])) // 8)
            kind = ("streamed_" if "cs" in words else "") + ("loads" if match[1] == "ld" else "stores")
            accesses[kind][width] = accesses[kind].get(width, 0) + 1
    return toolkit and toolkit[1], target and int(target[1]), kernels


def join(file, from_ptxas, ptx_texts):
    """The facts of a file. A kernel's PTX is that of the newest architecture up to its own."""
    texts = sorted((ptx_facts(text) for text in ptx_texts), key=lambda facts: facts[1])
    joined = []
    for fact in from_ptxas:
        arch = int(re.search(r"\d+", fact["arch"])[0])
        fitting = [t for t in texts if t[1] <= arch and fact["kernel"] in t[2]]
        if not fitting:
            raise ValueError(f"{file}: ptxas names {fact['kernel']} for {fact['arch']}, no PTX does")
        toolkit, _, kernels = fitting[-1]
        joined.append({"file": str(file), "toolkit": toolkit, **fact, **kernels[fact["kernel"]]})
    return joined


def source_of(arguments):
    return next((a for a in arguments if a.endswith(".cu")), None)


def compile_and_tell(command):
    """Compiles; the facts are one line of stderr more. Returns nvcc's exit status."""
    compiled = command[command.index("-o") + 1]
    with tempfile.TemporaryDirectory(prefix="kernel_facts-", dir=Path(compiled).parent) as kept:
        run = subprocess.run([*command, "-Xptxas", "-v", "--keep", "--keep-dir", kept],
                             stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        for line in run.stderr.splitlines(keepends=True):
            if not is_ptxas_report(line):
                sys.stderr.write(line)
        if run.returncode == 0:
            try:
                texts = [path.read_text() for path in sorted(Path(kept).glob("*.ptx"))]
                facts = join(source_of(command), ptxas_facts(run.stderr), texts)
                print(MARK + json.dumps(facts), file=sys.stderr)
            except Exception as error:  # no reason to fail a build: the test misses the facts
                print(f"kernel_facts.py can't read what nvcc wrote: {error}", file=sys.stderr)
    return run.returncode


def main(command):
    if TELLS in os.environ:
        return compile_and_tell(command)
    if "-c" not in command or "-o" not in command or source_of(command) is None:
        return subprocess.run(command, check=False).returncode
    environment = {**os.environ, TELLS: "1"}
    if Path(command[0]).name == "ccache":
        # On a miss it calls the compiler by way of this script. What it kept depends on the script
        # too, so that a result without facts is none.
        script = os.path.abspath(__file__)
        extra = filter(None, [environment.get("CCACHE_EXTRAFILES"), script])
        environment["CCACHE_EXTRAFILES"] = os.pathsep.join(extra)
        environment["CCACHE_PREFIX"] = script
    else:
        command = [sys.executable, "-B", __file__, *command]
    facts_path = path_of(command[command.index("-o") + 1])
    facts_path.unlink(missing_ok=True)
    run = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True,
                         errors="replace", check=False)
    for line in run.stderr.splitlines(keepends=True):
        if line.startswith(MARK):
            facts_path.write_text(line.removeprefix(MARK))
        else:
            sys.stderr.write(line)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
