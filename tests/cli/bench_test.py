# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""vranks bench: nccl-tests' columns and formulas, JSON, reports, and mistakes. No times are judged."""

import csv
import io
import json
import os
import pathlib
import re
import unittest

import program

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "cli.md"
# Options that make it quick, and their letters.
QUICK = {("--device", ""): "cpu", ("--iterations", "-n"): "3", ("--warmup", "-w"): "1",
         ("--cache-bytes", "--hot"): "64K"}
# Those of nccl-tests' doc/PERFORMANCE.md and of its source, by (collective, n).
FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "reduce": lambda n: 1,
    "broadcast": lambda n: 1,
    "permute": lambda n: 1,
    "scan": lambda n: 1,  # not theirs
    "exscan": lambda n: 1,
}
FACTORS.update({f"{name}_v": FACTORS[name] for name in
                ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all")})
BLOCKS = [name for name in FACTORS if "_v" in name or f"{name}_v" in FACTORS]
PLACES = ("out_of_place", "in_place")


def documented_keys(heading):
    """First column of the tables under that heading of docs/cli.md."""
    section = GUIDE.read_text().split(f"### {heading}\n")[1].split("\n#")[0]
    return re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)


def quick(arguments):
    """The arguments, and those that make it quick unless they are there."""
    words = ["bench", *arguments]
    for names, value in QUICK.items():
        if not set(names) & set(words):
            words += [names[0], value]
    return words


class BenchTest(program.ProgramTest):
    def print(self, *arguments):
        return self.succeed(*quick(arguments))

    def bench(self, *arguments):
        return json.loads(self.print("--format", "json", *arguments))

    def rows_of_table(self, text):
        return [line.split() for line in text.splitlines() if not line.startswith("#")]

    def test_every_collective_has_the_factor_of_nccl_tests(self):
        names = [row["name"] for row in
                 json.loads(self.succeed("list", "collectives", "--format", "json"))["collectives"]]
        self.assertEqual(set(FACTORS), set(names) - {"barrier"})
        for collective, factor in FACTORS.items():
            for ranks in (1, 2, 3, 8):
                found = self.bench("--collective", collective, "--ranks", ranks, "--bytes", "9K")
                about = f"{collective} {ranks}"
                self.assertAlmostEqual(found["bus_factor"], factor(ranks), msg=about)
                self.assertEqual(found["wrong"], 0, about)
                (row,) = found["rows"]
                for place in PLACES:
                    time = row[f"{place}_median_seconds"]
                    algbw = row["size"] / time / 1e9
                    moved = row["bytes_read"] + row["bytes_written"]
                    self.assertAlmostEqual(row[f"{place}_algbw"] / algbw, 1, 6, about)
                    self.assertAlmostEqual(row[f"{place}_busbw"], algbw * factor(ranks), 6, about)
                    self.assertAlmostEqual(row[f"{place}_gigabytes_per_second"] * time / moved * 1e9,
                                           1, 6, about)
                    self.assertEqual(row[f"{place}_wrong"], 0, about)
                    for what in ("", "copy_"):
                        self.assertLessEqual(row[f"{place}_{what}min_seconds"],
                                             row[f"{place}_{what}median_seconds"])
                        self.assertLessEqual(row[f"{place}_{what}median_seconds"],
                                             row[f"{place}_{what}max_seconds"])

    def test_size_and_count_are_those_of_nccl_tests(self):
        for collective in FACTORS:
            found = self.bench("--collective", collective, "--ranks", 3, "--bytes", "1000")
            (row,) = found["rows"]
            # 250 floats: 83 a block, of which 80 fill 16 bytes each time.
            size, count = (960, 80) if collective in BLOCKS else (1000, 250)
            joins = collective.startswith(("all_gather", "gather"))
            self.assertEqual((row["size"], row["count"]), (size, count), collective)
            self.assertEqual(row["elements_per_rank"], count if joins else size // 4, collective)

    def test_bytes_moved(self):
        for collective, read, written in (("all_reduce", 4, 4), ("reduce", 4, 1), ("broadcast", 1, 4),
                                          ("reduce_scatter", 4, 1), ("all_gather", 1, 4),
                                          ("all_to_all", 4, 4), ("gather", 1, 1), ("permute", 4, 4)):
            (row,) = self.bench("--collective", collective, "--bytes", "4K")["rows"]
            self.assertEqual((row["bytes_read"], row["bytes_written"]),
                             (4096 * read, 4096 * written), collective)

    def test_columns(self):
        text = self.print("--bytes", "8:2K", "--op", "sum", "--ranks", 8)
        lines = text.splitlines()
        heads = next(i for i, line in enumerate(lines) if line.split()[1:3] == ["size", "count"])
        place = ["time", "algbw", "busbw", "#wrong"]
        self.assertEqual(lines[heads].split(), ["#", "size", "count", "type", "redop", "root", *place,
                                                *place, "mem", "copy", "mem", "copy", "algorithm"])
        self.assertEqual(lines[heads + 1].split()[:3], ["#", "(B)", "(elements)"])
        rows = self.rows_of_table(text)
        self.assertEqual([int(row[0]) for row in rows], [8 << k for k in range(9)])
        for row in rows:
            self.assertEqual(row[1:5], [str(int(row[0]) // 4), "f32", "sum", "-1"])
            self.assertEqual((row[8], row[12]), ("0", "0"))
            self.assertEqual((len(row), row[-1]), (18, "direct"))
            for number in row[5:17]:
                self.assertGreaterEqual(float(number), 0)
        ends = [len(line) for line in lines if not line.startswith("#")]
        self.assertEqual(len(set(ends)), 1, "columns are not aligned")
        for line in lines:
            self.assertEqual(line, line.rstrip())
        self.assertIn("# Out of bounds values : 0 OK", lines)
        self.assertRegex(lines[-2], r"\A# Avg bus bandwidth    : [\d.e+-]+\Z")

    def test_without_check_and_in_place(self):
        (row,) = self.rows_of_table(self.print("--bytes", "4K", "--check", "0",
                                                 "--in-place", "none"))
        self.assertEqual([row[8], *row[9:13], *row[15:17]], ["N/A"] * 7)
        found = self.bench("--bytes", "4K", "-c", "0", "--in-place", "none")
        self.assertIsNone(found["wrong"])
        self.assertIsNone(found["in_place"])
        self.assertIsNone(found["rows"][0]["out_of_place_wrong"])
        self.assertEqual({value for key, value in found["rows"][0].items()
                          if key.startswith("in_place_")}, {None})

    def test_letters_of_nccl_tests(self):
        found = self.bench("-b", "16", "-e", "1K", "-f", "4", "-n", "7", "-w", "0", "-c", "1")
        self.assertEqual([row["size"] for row in found["rows"]], [16, 64, 256, 1024])
        self.assertEqual((found["iterations"], found["warmup"], found["step_factor"]), (7, 0, 4))
        found = self.bench("-b", "64", "-e", "200", "-i", "64")
        self.assertEqual([row["size"] for row in found["rows"]], [64, 128, 192])
        self.assertEqual((found["step_factor"], found["step_bytes"]), (None, 64))

    def test_algorithms(self):
        found = self.bench("--bytes", "256:512", "--algorithm", "direct,ring,ompi_auto")
        self.assertEqual([row["asked_algorithm"] for row in found["rows"]],
                         ["direct", "ring", "ompi_auto"] * 2)
        for row in found["rows"]:
            self.assertEqual(row["reason"] is None, row["algorithm"] == row["asked_algorithm"])
        known = {row["name"]: row["collectives"] for row in json.loads(
            self.succeed("list", "algorithms", "--format", "json"))["algorithms"]}
        for collective in ("all_reduce", "scan", "broadcast"):
            found = self.bench("--collective", collective, "--bytes", "1K", "--algorithm", "all",
                               "--ranks", 4)
            self.assertEqual(found["algorithms"] + [text.split(":")[0] for text in found["left_out"]],
                             [name for name, of in known.items() if collective in of])
            self.assertEqual(found["wrong"], 0)
        found = self.bench("--bytes", "1K", "--algorithm", "all", "--channels", "2")
        self.assertTrue(all(name.startswith("nccl_") for name in found["algorithms"]))
        self.assertIn("direct: algorithm direct doesn't read --channels; it reads: none",
                      found["left_out"])

    def test_what_a_call_is_about(self):
        for arguments, keys in (
                (["--mesh", "dp=2,tp=3", "--axis", "tp"], {"ranks": 6, "ranks_a_group": 3}),
                (["--groups", "[[0,2],[3,1]]", "--op", "max"], {"ranks": 4, "ranks_a_group": 2}),
                (["--collective", "broadcast", "--root", "2", "--dtype", "bytes12"],
                 {"dtype": "bytes12", "op": None}),
                (["--op", "max_loc"], {"op": "max_loc"}),
                (["--op", "premul_sum", "--factor", "0.5"], {"op": "premul_sum"}),
                (["--op", "weighted_mean", "--weights", "[1,2,3,4]"], {"op": "weighted_mean"}),
                (["--collective", "permute", "--permutation", "[[0,1],[3,0]]"], {"bus_factor": 1}),
                (["--dtype", "c64", "--op", "prod"], {"dtype": "c64"}),
                (["--dtype", "bf16", "--accumulate", "f32", "--hot"], {"hot": True}),
                (["--collective", "scatter", "--in-place", "mpi"], {"in_place": "mpi"})):
            found = self.bench("--bytes", "3K", *arguments)
            for key, value in keys.items():
                self.assertEqual(found[key], value, arguments)
            self.assertEqual(found["wrong"], 0, arguments)

    def test_buffers_rotate(self):
        (row,) = self.bench("--bytes", "4K", "--iterations", "100")["rows"]
        # 4 ranks of 4 KiB, in and out, against four times 64 KiB.
        self.assertEqual(row["out_of_place_buffers"], 8)
        (row,) = self.bench("--bytes", "1M")["rows"]
        self.assertEqual(row["out_of_place_buffers"], 1)

    def test_json_csv_and_file_say_the_same(self):
        keys = documented_keys("JSON of bench")
        top = keys[:keys.index("rows") + 1]
        of_row = [key for key in keys[len(top):] if not key.startswith("...")]
        of_place = [key[4:] for key in keys if key.startswith("...")]
        found = self.bench("--bytes", "64:256", "--output", "x.json")
        self.assertEqual(found, json.loads((self.folder / "x.json").read_text()))
        self.assertEqual(list(found), top)
        columns = of_row + [f"{place}_{key}" for place in PLACES for key in of_place]
        for row in found["rows"]:
            self.assertEqual(list(row), columns)
        text = self.print("--bytes", "64:256", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["size"] for row in rows], ["64", "128", "256"])
        self.assertEqual(list(rows[0]), columns)

    def test_sizes_that_are_too_small_are_left_out(self):
        found = self.bench("--collective", "all_gather", "--bytes", "4:64", "--ranks", 5)
        self.assertEqual([row["size"] for row in found["rows"]], [20, 60])
        self.assertEqual(len(found["left_out"]), 1)
        self.assertRegex(found["left_out"][0], r"\Asizes 4, 8, 16: .* 20 bytes at least\Z")

    def test_report(self):
        keys = documented_keys("JSON of bench --report")
        for arguments in (["--op", "sum"], ["--dtype", "bf16", "--algorithm", "ring"],
                          ["--collective", "all_gather", "--in-place", "nccl"],
                          ["--collective", "exscan", "--dtype", "c64"],
                          ["--collective", "reduce_scatter", "--dtype", "i32", "--op", "sum"]):
            found = self.bench("--report", "--bytes", "3K", "--trials", "4", "--ranks", 6, *arguments)
            self.assertEqual(list(found), keys)
            self.assertEqual((found["trials"], found["trials_right"], found["wrong"]), (4, 4, 0))
            data = found["input_bytes"], found["output_bytes"]
            self.assertEqual(found["peak_bytes"] - found["workspace_bytes"],
                             max(data) if found["in_place"] else sum(data), arguments)
            if found["op"] is None:
                self.assertIsNone(found["max_abs"])
                continue
            self.assertLessEqual(found["mean_abs"], found["max_abs"])
            self.assertLessEqual(found["mean_relative"], found["max_relative"])
            self.assertLessEqual(found["max_bound_used"], 1)
            exact = found["dtype"] == "i32"
            self.assertEqual(found["max_abs"] == 0, exact, arguments)
        text = self.print("--report", "--bytes", "3K", "--output", "r.json")
        self.assertIn("\n  correct    10 of 10 random trials, 0 elements wrong\n", text)
        self.assertEqual(list(json.loads((self.folder / "r.json").read_text())), keys)
        for word in ("launches", "occupancy"):
            self.assertNotIn(word, text)

    def test_errors_of_a_report_are_those_of_the_data(self):
        # One rank's mean is its input; a sum of small whole numbers is exact.
        for arguments in (["--ranks", 1], ["--dtype", "i64", "--op", "sum"]):
            found = self.bench("--report", "--bytes", "4K", *arguments)
            self.assertEqual([found[key] for key in ("max_abs", "mean_abs", "max_relative",
                                                     "mean_relative", "max_ulp")], [0] * 5)
        # Half a unit in the last place of a mean of bf16, which is at most 1.
        found = self.bench("--report", "--bytes", "4K", "--dtype", "bf16")
        self.assertLessEqual(found["max_abs"], 2**-9)
        self.assertLessEqual(found["max_relative"], 2**-8)
        self.assertGreater(found["mean_relative"], 2**-12)

    def test_options_are_documented(self):
        text = self.succeed("bench", "--help")
        for option in re.findall(r"^  (?:-[^h] \[ )?(--[\w-]+)", text, re.MULTILINE):
            self.assertIn(f"`{option}", GUIDE.read_text())
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100)
            self.assertEqual(line, line.rstrip())
        self.assertRegex(self.succeed("--help"), r"\n  bench +\w")


class MistakeTest(program.ProgramTest):
    def test_mistakes(self):
        for arguments, *phrases in (
                (["--bytes", "8:4"], "--bytes", "ends with 4", "8"),
                (["--bytes", "x"], "--bytes", "'x'", "K is 1024"),
                (["--bytes", "0"], "--bytes", "'0'", "from 1"),
                (["--bytes", "8:"], "--bytes", "''"),
                (["--bytes", "1.5M"], "--bytes", "'1.5M'"),
                (["--bytes", "99999T"], "--bytes", "64T"),
                (["--bytes", "2"], "--bytes 2", "an element has 4 bytes"),
                (["--bytes", "16", "--ranks", "8", "--collective", "gather"], "--bytes 16",
                 "32 bytes at least"),
                (["--bytes", "1M", "-f", "2"], "--step-factor", "1048576 is one"),
                (["--bytes", "1:8", "-f", "2", "-i", "2"], "--step-factor and --step-bytes"),
                (["--bytes", "1:1G", "-i", "1"], "more than 10000 sizes"),
                (["--bytes", "1:8", "-e", "8"], "--end-bytes", "give one of them"),
                (["--bytes", "8:16", "--step-factor", "1"], "--step-factor", "'1'", "from 2"),
                (["--iterations", "0"], "--iterations", "'0'", "from 1"),
                (["--warmup", "-1"], "--warmup", "'-1'", "from 0"),
                (["--check", "2"], "--check", "'2'", "from 0 to 1"),
                (["--ranks", "0"], "--ranks", "'0'"),
                (["--ranks", "3", "--mesh", "a=2", "--axis", "a"], "--ranks 3", "2 ranks"),
                (["--groups", "[[0,1],[2]]"], "--groups", "of 1 and of 2"),
                (["--groups", "[]"], "--groups"),
                (["--algorithm", "nope"], "'nope'", "direct"),
                (["--algorithm", "ring,ring"], "ring twice"),
                (["--algorithm", ""], "''"),
                (["--algorithm", "ring,"], "''"),
                (["--algorithm", "direct", "--channels", "2"], "direct", "--channels"),
                (["--algorithm", "all", "--collective", "scan", "--channels", "2"], "none can do this"),
                (["--collective", "barrier"], "barrier", "no data"),
                (["--collective", "all_gather", "--op", "sum"], "--op", "all_gather"),
                (["--collective", "all_reduce", "--root", "1"], "--root"),
                (["--collective", "reduce", "--root", "4"], "root 4"),
                (["--in-place", "there"], "'there'", "nccl mpi none"),
                (["--op", "mean", "--dtype", "bool"], "mean", "bool"),
                (["--dtype", "bytes3"], "bytes3"),
                (["--op", "weighted_mean", "--weights", "[1]"], "weights", "4 ranks"),
                (["--hot", "--cache-bytes", "1M"], "--cache-bytes", "--hot"),
                (["--report", "--bytes", "8:16"], "--report", "8:16"),
                (["--report", "--algorithm", "ring,direct"], "--report", "not 2"),
                (["--report", "--check", "0"], "--report", "--check 0"),
                (["--report", "--mesh", "a=2,b=2", "--axis", "a"], "--report", "--mesh"),
                (["--trials", "3"], "--trials", "--report"),
                (["--report", "--trials", "0"], "--trials", "'0'"),
                (["--output", "no/x.json"], "no/x.json"),
                (["--output", ""], "empty"),
                (["--shape", "4,4"], "--shape"),
                (["--input", "x.npy"], "--input"),
                (["--counts", "[1]"], "--counts"),
                (["--format", "xml"], "'xml'"),
                (["8:1G"], "'8:1G'", "no option")):
            self.refuse(["bench", *arguments], *phrases)

    @unittest.skipIf(os.environ.get("VRANKS_SANITIZE"), "the sanitizer stops at such sizes itself")
    def test_memory_that_no_machine_has(self):
        self.refuse(["bench", "--bytes", "64T", "--device", "cpu"], "--bytes",
                    "70368744177664 bytes", "give fewer")


if __name__ == "__main__":
    program.main()
