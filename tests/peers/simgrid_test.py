# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks simulate` must say what SimGrid's SMPI says of the same algorithm on the same platform.

Run as: python3 simgrid_test.py PATH_TO_VRANKS [unittest options]
Prints every difference, and how much longer SMPI took to answer. Exit code 77, with the reason,
where there is no smpicc or smpirun (Debian: libsimgrid-dev).
"""

import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

program = ""
MiB = 2**20
allowed = 0.001  # 5 % is what is promised; so far it's 0.02 %

# What vranks doesn't model, or models otherwise, is switched off in SMPI. Some are the defaults of
# CM02 in SimGrid 3.32, said for other versions.
settings = {
    # Fluid flows that share links. smpirun's own default scales both numbers by message size.
    "network/model": "CM02",
    "network/bandwidth-factor": 1,
    "network/latency-factor": 1,
    # No TCP: no window, no weight of slow links, no acknowledgements on the way back.
    "network/TCP-gamma": 0,
    "network/weight-S": 0,
    "network/crosstraffic": 0,
    # A receiver is taken to be ready (docs/model.md): a message needn't wait for its MPI_Recv.
    "smpi/async-small-thresh": 2**30,
    "smpi/send-is-detached-thresh": 2**30,
    # Calls, clock and computation cost nothing, as in a topology without `costs`.
    "smpi/os": "0:0:0:0:0",
    "smpi/or": "0:0:0:0:0",
    "smpi/ois": "0:0:0:0:0",
    "smpi/wtime": 0,
    "smpi/simulate-computation": "no",
    "smpi/host-speed": "1Gf",  # not used, but asked for
}
# A rank that takes turns ends its send before it goes on, which a detached one wouldn't make it do.
own_settings = {"pairwise": {"smpi/async-small-thresh": 0, "smpi/send-is-detached-thresh": 0}}
# SMPI copies such messages; with memory that is kept that takes half as long.
fast_copies = {"MALLOC_MMAP_THRESHOLD_": str(2**31 - 1), "MALLOC_TRIM_THRESHOLD_": str(2**40)}

# Of an algorithm of vranks: the collective, and SMPI's algorithm that passes the same messages.
same = {
    "ring": ("all_reduce", "allreduce:lr"),
    "recursive_doubling": ("all_reduce", "allreduce:rdb"),
    "rabenseifner": ("all_reduce", "allreduce:rab_rdb"),
    "pairwise": ("all_to_all", "alltoall:pair"),
    "direct": ("all_to_all", "alltoall:basic_linear"),
}
any_ranks = {"ring", "direct"}  # SMPI's others want a power of two, or do otherwise
otherwise = {"pairwise": "alltoall:ring"}  # what stands for one of them where it isn't

Cable = collections.namedtuple("Cable", "a b gigabytes_per_second microseconds")
bandwidth, latency = 10, 2  # of a node's own cable, either way

# A platform is its cables. Nodes are numbers, switches are names. Only far_tree has routes of
# several latencies: CM02 shares a link in inverse proportion to them, as TCP does, and max-min
# fairness doesn't. It is for all_reduce alone, where no such flows share a link.


def star(ranks):
    return [Cable(node, "hub", bandwidth, latency) for node in range(ranks)]


def tree(ranks, above=0):
    """Four nodes a leaf, 2:1 oversubscribed; `above` us from a leaf to the core."""
    return [*(Cable(node, f"leaf{node // 4}", bandwidth, latency) for node in range(ranks)),
            *(Cable(f"leaf{leaf}", "core", 2 * bandwidth, above) for leaf in range(ranks // 4))]


def far_tree(ranks):
    return tree(ranks, above=5)


def circle(ranks):
    """A switch a node, in a circle that is slower than the nodes' own cables."""
    return [*(Cable(node, f"switch{node}", bandwidth, latency) for node in range(ranks)),
            *(Cable(f"switch{node}", f"switch{(node + 1) % ranks}", bandwidth / 2, 0)
              for node in range(ranks))]


def routes(cables):
    """Vertices of a shortest way between each two nodes."""
    near = collections.defaultdict(list)
    for cable in cables:
        near[cable.a].append(cable.b)
        near[cable.b].append(cable.a)
    for start in [vertex for vertex in near if isinstance(vertex, int)]:
        ways = {start: [start]}
        queue = [start]
        for vertex in queue:
            for other in near[vertex]:
                if other not in ways:
                    ways[other] = [*ways[vertex], other]
                    queue.append(other)
        yield from (way for end, way in ways.items() if isinstance(end, int) and end != start)


def switches(cables):
    return sorted({end for cable in cables for end in cable[:2] if isinstance(end, str)})


def for_vranks(ranks, cables):
    def name(vertex):
        return f"node {vertex}" if isinstance(vertex, int) else vertex
    links = [f"    - {{from: {name(cable.a)}, to: {name(cable.b)}, "
             f"bandwidth: {cable.gigabytes_per_second} GB/s, latency: {cable.microseconds} us}}\n"
             for cable in cables]
    ways = [f"    - [{', '.join(map(name, way))}]\n" for way in routes(cables)]
    return (f"name: platform\nnodes: {ranks}\nnode: {{ranks: 1}}\nnetwork:\n  kind: links\n"
            f"  switches: [{', '.join(switches(cables))}]\n"
            f"  links:\n{''.join(links)}  routes:\n{''.join(ways)}")


def for_simgrid(ranks, cables, bandwidth_factor=1):
    links, direction = [], {}
    for number, cable in enumerate(cables):
        direction[cable.a, cable.b] = f'<link_ctn id="{number}" direction="UP"/>'
        direction[cable.b, cable.a] = f'<link_ctn id="{number}" direction="DOWN"/>'
        links.append(f'<link id="{number}" latency="{cable.microseconds}us" '
                     f'bandwidth="{cable.gigabytes_per_second * bandwidth_factor}GBps" '
                     'sharing_policy="SPLITDUPLEX"/>\n')
    hosts = [f'<host id="node{rank}" speed="1Gf"/>\n' for rank in range(ranks)]
    routers = [f'<router id="{switch}"/>\n' for switch in switches(cables)]
    ways = [f'<route src="node{way[0]}" dst="node{way[-1]}" symmetrical="NO">'
            + "".join(direction[pair] for pair in zip(way, way[1:])) + "</route>\n"
            for way in routes(cables)]
    return ('<?xml version="1.0"?>\n'
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n<zone id="platform" routing="Full">\n'
            f'{"".join(hosts + routers + links + ways)}</zone>\n</platform>\n')


def is_power(ranks):
    return ranks & (ranks - 1) == 0


class SimGrid(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source = pathlib.Path(__file__).parent / "simgrid_collective.c"
        cls.run_here("smpicc", "-O1", "-o", "collective", source)
        cls.seconds = []  # of vranks and of SMPI, a pair a question
        print(f"\n{'platform':8} {'ranks':>5} {'MiB':>4} {'vranks':20} {'SMPI':24} "
              f"{'vranks us':>10} {'SMPI us':>10} {'difference':>10} {'longer':>7}")

    @classmethod
    def tearDownClass(cls):
        if not cls.seconds:
            return
        ratios = [smpi / vranks for vranks, smpi in cls.seconds]
        vranks, smpi = map(sum, zip(*cls.seconds))
        print(f"{len(ratios)} questions: vranks {vranks:.1f} s, SMPI {smpi:.1f} s, "
              f"{smpi / vranks:.0f} times as long; of one {min(ratios):.0f} to "
              f"{max(ratios):.0f} times, median {statistics.median(ratios):.0f}")

    @classmethod
    def run_here(cls, *words):
        done = subprocess.run(
            words, cwd=cls.folder.name, env={**os.environ, **fast_copies},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def set_platform(self, platform, ranks, bandwidth_factor=1):
        folder = pathlib.Path(self.folder.name)
        cables = platform(ranks)
        (folder / "platform.yaml").write_text(for_vranks(ranks, cables))
        (folder / "platform.xml").write_text(for_simgrid(ranks, cables, bandwidth_factor))
        (folder / "hosts").write_text("".join(f"node{rank}\n" for rank in range(ranks)))

    def difference(self, platform, ranks, size, algorithm):
        """vranks' time over SMPI's; less one."""
        collective, theirs = same[algorithm]
        if not is_power(ranks):
            theirs = otherwise.get(algorithm, theirs)
        configuration = {**settings, **own_settings.get(algorithm, {})}
        size -= size % (ranks * 4)  # parts alike: SMPI makes another call of what is left over
        start = time.monotonic()
        answer = self.run_here(
            program, "simulate", "--topology", "platform.yaml", "--ranks", str(ranks),
            "--collective", collective, "--algorithm", algorithm, "--bytes", str(size),
            "--format", "json")
        middle = time.monotonic()
        seconds = self.run_here(
            "smpirun", "-no-privatize", "-np", str(ranks), "-platform", "platform.xml",
            "-hostfile", "hosts",
            *(f"--cfg={name}:{value}" for name, value in configuration.items()),
            f"--cfg=smpi/{theirs}",
            "--log=root.thres:error", "./collective", collective, str(size))
        end = time.monotonic()
        self.seconds.append((middle - start, end - middle))
        (row,) = json.loads(answer)["times"]
        ours_us, theirs_us = row["time_us"], float(seconds) * 1e6
        difference = ours_us / theirs_us - 1
        print(f"{platform.__name__:8} {ranks:5} {round(size / MiB):4} {algorithm:20} {theirs:24} "
              f"{ours_us:10.2f} {theirs_us:10.2f} {difference:+10.3%} "
              f"{(end - middle) / (middle - start):6.0f}x", flush=True)
        return difference

    def test_all_algorithms(self):
        for platform, counts in ((star, (4, 5, 7, 8, 16)), (tree, (8, 16)), (far_tree, (8, 16)),
                                 (circle, (5, 8, 16))):
            for ranks in counts:
                self.set_platform(platform, ranks)
                for algorithm in same:
                    if (not is_power(ranks) and algorithm not in any_ranks | otherwise.keys()
                            or platform is far_tree and same[algorithm][0] != "all_reduce"):
                        continue
                    for size in (2 * MiB, 8 * MiB, 32 * MiB):
                        with self.subTest(platform=platform.__name__, ranks=ranks, size=size,
                                          algorithm=algorithm):
                            self.assertLess(
                                abs(self.difference(platform, ranks, size, algorithm)), allowed)

    def test_another_platform_is_seen(self):
        self.set_platform(star, 8, bandwidth_factor=0.99)
        for algorithm in same:
            self.assertLess(self.difference(star, 8, 8 * MiB, algorithm), -allowed)


def main():
    global program
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PATH_TO_VRANKS [unittest options]")
    program = os.path.abspath(sys.argv.pop(1))
    for needed in ("smpicc", "smpirun"):
        if not shutil.which(needed):
            print(f"skipped: there is no {needed} (Debian: libsimgrid-dev)")
            sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
