# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks simulate`: times, crossovers, parts of a time, traces, published times, refusals."""

import csv
import io
import json
import pathlib
import re
import shlex

import program

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "cli.md"


class SimulateTest(program.ProgramTest):
    def json_of(self, *arguments):
        return json.loads(self.succeed("simulate", "--format", "json", *arguments))


class TimesTest(SimulateTest):
    def test_ring_on_a_switch_by_formula(self):
        tables = self.json_of("--topology", "switch", "--ranks", "5", "--algorithm", "ring",
                              "--bytes", "20K:20M", "--step-factor", "1000")
        for row in tables["times"]:
            expected = 8 * (1.5 + row["size"] / 5 / 25e3)
            self.assertAlmostEqual(row["time_us"] / expected, 1, delta=1e-3)
            self.assertAlmostEqual(row["busbw_GBs"] / (row["algbw_GBs"] * 8 / 5), 1, places=9)
        self.assertIsNone(tables["machine"][0]["calibration"])

    def test_fastest_is_the_least_and_borders_lie_between(self):
        tables = self.json_of("--topology", "switch", "--ranks", "8", "--algorithm",
                              "ring,recursive_doubling,halving_doubling", "--bytes", "64:64M",
                              "--step-factor", "4")
        times = tables["times"]
        for row in times:
            least = min(r["time_us"] for r in times if r["size"] == row["size"])
            self.assertEqual(row["fastest"], row["time_us"] == least)
        borders = tables["fastest"]
        self.assertEqual(borders[0]["algorithm"], "recursive_doubling")
        self.assertGreater(len(borders), 1)
        self.assertEqual([b["from_bytes"] for b in borders],
                         sorted(b["from_bytes"] for b in borders))

    def test_every_algorithm_of_every_collective(self):
        listed = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        for collective in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                           "gather", "scatter", "all_to_all", "scan", "exscan", "barrier"):
            tables = self.json_of("--collective", collective, "--ranks", "6", "--bytes", "64K",
                                  "--topology", "torus")
            timed = {row["algorithm"].split()[0] for row in tables["times"]}
            left = {row["reason"].split(":")[0].split()[0] for row in tables["left_out"]}
            names = {row["name"] for row in listed if collective in row["collectives"]}
            self.assertEqual(timed | left, names, collective)
            # What refuses six ranks, picks others and has no time of its own, or needs such switches.
            self.assertLessEqual(left, {"nccl_pat", "two_level", "nvls"}, collective)
            for row in tables["times"]:
                self.assertGreater(row["time_us"], 0, row)

    def test_slower_links_and_costs_never_help(self):
        def time(*arguments):
            return self.json_of("--ranks", "8", "--algorithm", "ring", "--bytes", "1M",
                                *arguments)["times"][0]["time_us"]
        base = time("--topology", "switch")
        self.assertAlmostEqual(time("--topology", "switch", "--set", "launch=5us"), base + 5,
                               places=6)
        self.assertGreater(time("--topology", "switch", "--set", "link_efficiency=0.5"), base)
        (self.folder / "slow.yaml").write_text(
            "name: slow\ninclude: switch\n"
            "network: {kind: switch, bandwidth: 5 GB/s, latency: 1.5 us}\n")
        self.assertGreater(time("--topology", "./slow.yaml"), base)

    def test_algorithms_know_the_nodes_of_the_machine(self):
        for algorithm in ("nccl_tree", "two_level"):
            arguments = ["--topology", "nvswitch_h100", "--ranks", "16", "--bytes", "64M",
                         "--algorithm", algorithm]
            said = self.json_of(*arguments, "--ranks-per-node", "8")["times"]
            self.assertEqual(self.json_of(*arguments)["times"], said)

    def test_a_barrier_has_no_size(self):
        self.succeed("simulate", "--collective", "barrier", "--algorithm", "dissemination",
                     "--trace", "t.json")
        self.assertTrue((self.folder / "t.json").exists())

    def test_sizes_beyond_all_that_is_run(self):
        row, = self.json_of("--topology", "switch", "--ranks", "4", "--algorithm", "ring",
                            "--bytes", "16T")["times"]
        self.assertAlmostEqual(row["time_us"] / (6 * 2**42 / 25e3), 1, places=6)

    def test_parts_add_up(self):
        tables = self.json_of("--topology", "mare_nostrum5", "--ranks", "16", "--algorithm",
                              "ompi_rabenseifner", "--bytes", "1M")
        path = tables["critical_path"][0]
        parts = sum(path[f"{part}_us"] for part in ("start", "links", "latency", "work", "waiting"))
        self.assertAlmostEqual(parts / tables["times"][0]["time_us"], 1, places=9)

    def test_one_rank_takes_no_time(self):
        text = self.succeed("simulate", "--topology", "switch", "--ranks", "1", "--algorithm",
                            "ring", "--bytes", "1M")
        self.assertNotIn("nan", text)

    def test_csv_has_the_rows_of_json(self):
        arguments = ["--topology", "ring", "--ranks", "4", "--bytes", "1K:64K"]
        rows = list(csv.DictReader(io.StringIO(self.succeed("simulate", "--format", "csv",
                                                            *arguments))))
        self.assertEqual([float(r["time_us"]) for r in rows],
                         [r["time_us"] for r in self.json_of(*arguments)["times"]])

    def test_guide(self):
        text = GUIDE.read_text()
        section = text[text.index("## vranks simulate"):text.index("## vranks list")]
        shown = re.search(r"```\n\$ vranks (simulate [^\n]*)\n(.*?)\n```", section, re.DOTALL)
        self.assertEqual(self.succeed(*shlex.split(shown[1])).rstrip("\n"), shown[2])
        documented = set(re.findall(r"`(\w+)`", "".join(
            line.split("|")[1] for line in section[section.index("### JSON"):].splitlines()
            if line.startswith("| `"))))
        tables = self.json_of("--algorithm", "ring", "--bytes", "1K")
        (self.folder / "t.csv").write_text(
            "collective,machine,nranks,algo,size_bytes,time_us\n"
            "all_reduce,switch,4,ring,4096,10\nall_reduce,nowhere,4,ring,4096,10\n")
        tables |= {"more": [], **self.json_of("--measured", "t.csv")}
        two = self.json_of("--algorithm", "ring,chain", "--bytes", "1K:2K")
        keys = {key for each in (tables, two) for rows in each.values() for row in rows
                for key in row}
        self.assertEqual(documented, keys)


class TraceTest(SimulateTest):
    def test_events_are_complete_and_arrows_inside_slices(self):
        self.succeed("simulate", "--topology", "mare_nostrum5", "--ranks", "5", "--algorithm",
                     "ring", "--bytes", "64K", "--trace", "t.json")
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        slices = {}
        for event in events:
            self.assertIn(event["ph"], "MXsfC")
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                slices.setdefault((event["pid"], event["tid"]), []).append(
                    (event["ts"], event["ts"] + event["dur"]))
        for lane in slices.values():  # no two of a lane overlap
            lane.sort()
            for (_, end), (begin, _) in zip(lane, lane[1:]):
                self.assertLessEqual(end, begin + 2e-6)
        arrows = {}
        for event in events:
            if event["ph"] in "sf":
                arrows.setdefault(event["id"], []).append(event)
                lane = slices[event["pid"], event["tid"]]
                self.assertTrue(any(begin - 2e-6 <= event["ts"] <= end + 2e-6
                                    for begin, end in lane), event)
        self.assertEqual(len(arrows), 2 * 4 * 5)
        for start, finish in arrows.values():
            self.assertEqual((start["ph"], finish["ph"]), ("s", "f"))
            self.assertLess(start["ts"], finish["ts"])
        self.assertTrue(any(event["ph"] == "C" for event in events))


class MeasuredTest(SimulateTest):
    def test_rows_bands_and_reasons(self):
        (self.folder / "t.csv").write_text(
            "collective,machine,nranks,algo,size_bytes,time_us\n"
            "all_reduce,switch,4,ring,4096,18.0\n"
            "all_reduce,switch,4,ring,400000000,24009.0\n"
            "all_reduce,switch,4,swing,4096,18.0\n"
            "all_reduce,moon,4,ring,4096,18.0\n")
        tables = self.json_of("--measured", "t.csv")
        self.assertEqual([row["line"] for row in tables["rows"]], [2, 3])
        self.assertEqual([row["line"] for row in tables["left_out"]], [4, 5])
        self.assertEqual({row["band"] for row in tables["bands"]}, {"small", "large"})
        first, second = tables["rows"]
        self.assertAlmostEqual(first["predicted_us"], 6 * (1.5 + 1024 / 25e3), places=6)
        self.assertAlmostEqual(second["predicted_us"], 6 * (1.5 + 1e8 / 25e3), places=3)

    def test_bad_tables(self):
        (self.folder / "t.csv").write_text("collective,machine\nall_reduce,switch\n")
        self.refuse(["simulate", "--measured", "t.csv"], "t.csv:1", "nranks")
        self.refuse(["simulate", "--measured", "none.csv"], "none.csv")


class RefusalTest(SimulateTest):
    def test_bad_use(self):
        for arguments, *phrases in (
                (["--topology", "swich"], "swich", "switch"),
                (["--topology", "./none.yaml"], "none.yaml"),
                (["--topology", "nvswitch_a100", "--ranks", "1000"], "1000 ranks", "1 to 128"),
                (["--set", "lunch=1us"], "lunch", "launch"),
                (["--set", "launch=1"], "launch", "no unit"),
                (["--set", "launch"], "launch", "name=value"),
                (["--bytes", "1M:1K"], "1024"),
                (["--collective", "permute"], "permute"),
                (["--collective", "all_gather_v"], "all_gather"),
                (["--op", "sum", "--collective", "broadcast"], "--op"),
                (["--root", "1"], "--root"),
                (["--algorithm", "rings"], "rings"),
                (["--algorithm", "ring", "--channels", "2"], "channels"),
                (["--channels", "2"], "--channels", "--algorithm"),
                (["--trace", "t.json"], "--trace", "one call"),
                (["--trace", "t.json", "--algorithm", "nccl_ring", "--bytes", "1M"], "--trace",
                 "stands for 3", "--protocol"),
                (["--bytes", "4", "--collective", "reduce_scatter"], "4 bytes", "8 ranks"),
                (["--set", "link_efficiency=0"], "link_efficiency", "share"),
                (["--set", "slots=0.5"], "slots", "whole"),
                (["--set", "piece_bytes=0.1B"], "piece_bytes", "less than a byte"),
                (["--algorithm", "ring,ring"], "ring", "twice"),
                (["--algorithm", "all,ring"], "all"),
                (["--measured", "t.csv", "--ranks", "4"], "--measured"),
                (["--trace", "t.json", "--measured", "t.csv"], "--trace", "--measured")):
            self.refuse(["simulate", *arguments], *phrases)

    def test_bad_topology_names_the_line(self):
        (self.folder / "bad.yaml").write_text("name: bad\nnode:\n  ranks: 2\n  links:\n"
                                              "    - {from: rank 0, to: rank 1, bandwidth: 1}\n")
        self.refuse(["simulate", "--topology", "bad.yaml"], "bad.yaml:5", "bandwidth", "no unit")


if __name__ == "__main__":
    program.main()
