# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""What the program prints: tables for people, JSON and CSV for programs, and docs/cli.md."""

import csv
import io
import json
import pathlib
import re
import shlex

import numpy as np

import program

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "cli.md"
TOPICS = ("collectives", "ops", "dtypes", "algorithms", "costs", "layouts", "parameters", "policies",
          "protocols", "engines", "backends", "topologies", "machine-costs")
BARRIER = ["--collective", "barrier"]
# Every collective that needs more than its name and a barrier can do without, for (4, 8) ranks.
CALLS = [["--collective", collective] for collective in
         ("reduce_scatter", "all_gather", "broadcast", "gather", "scatter", "all_to_all", "scan",
          "exscan")]
CALLS += [["--collective", collective, "--counts", "[8,0,8,8]"] for collective in
          ("all_gather_v", "gather_v")]
CALLS += [["--collective", collective, "--counts", "[1,0,2,5]"] for collective in
          ("reduce_scatter_v", "scatter_v")]
CALLS += [["--collective", "all_to_all_v", "--counts", "[[2,2,2,2],[8,0,0,0],[0,0,0,8],[1,2,2,3]]"],
          ["--collective", "permute", "--permutation", "[[0,1],[3,0]]"],
          ["--op", "max_loc"], ["--op", "premul_sum", "--factor", "0.5"],
          ["--op", "weighted_mean", "--weights", "[1,2,3,4]"], ["--op", "log_sum_exp"],
          ["--groups", "[[0,2],[1,3]]"], ["--mesh", "dp=2,tp=2", "--axis", "tp"],
          ["--dtype", "c64"], ["--dtype", "bool", "--op", "lor"],
          ["--dtype", "f8e5m2", "--op", "sum"],
          ["--collective", "broadcast", "--dtype", "bytes5"]]
COMMANDS = ("run", "check", "show", "verify", "list", "info")


def documented_keys(command):
    """First column of the table under '### JSON of COMMAND' in docs/cli.md."""
    section = GUIDE.read_text().split(f"### JSON of {command}\n")[1].split("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def examples():
    """(command line, first line it prints) of each example in docs/cli.md."""
    return re.findall(r"^```\n\$ ([^\n]+)\n([^\n]+)", GUIDE.read_text(), re.MULTILINE)


class GuideTest(program.ProgramTest):
    def test_run_has_the_documented_keys(self):
        for arguments in ([], ["--op", "max"], ["--shape", "4,0"], ["--collective", "reduce"],
                          ["--collective", "reduce_scatter"], ["--collective", "all_gather"],
                          ["--algorithm", "nccl_ring"], ["--executor", "steps"], ["--op", "min_loc"],
                          *([*words, "--shape", "4,8"] for words in CALLS), BARRIER):
            report = json.loads(self.succeed("run", "--format", "json", *arguments))
            self.assertEqual(list(report), documented_keys("run"))

    def test_check_has_the_documented_keys(self):
        if json.loads(self.succeed("info", "--format", "json"))["mpi_library"] is None:
            self.skipTest("this build has no MPI")
        arguments = ["check", "--op", "sum", "--dtype", "f32", "--format", "json"]
        for comparison in json.loads(self.succeed(*arguments))["comparisons"]:
            self.assertEqual(list(comparison), documented_keys("check"))

    def test_verify_has_the_documented_keys(self):
        tables = json.loads(self.succeed("verify", "--ranks", "2", "--format", "json"))
        self.assertEqual(list(tables), ["schedules", "findings"])
        wrong = {"vranks": "schedule", "version": 1, "collective": "all_reduce", "ranks": 1,
                 "chunks": 1, "steps": []}
        (self.folder / "x.json").write_text(json.dumps(wrong))
        done = self.vranks("verify", "--input", "x.json", "--format", "json")
        findings = json.loads(done.stdout)["findings"]
        found = {key for row in (tables["schedules"][0], findings[0]) for key in row}
        self.assertEqual(found, set(documented_keys("verify")))

    def test_show_has_the_documented_keys(self):
        keys = documented_keys("show")
        show = ("show", "--format", "json")
        schedule = json.loads(self.succeed(*show))
        self.assertEqual(list(schedule), [key for key in keys if key not in ("lanes", "sources")])
        program = json.loads(self.succeed(*show, "--as", "program"))
        self.assertEqual(list(program), [key for key in keys if key not in ("steps", "sources")])
        permute = json.loads(self.succeed(*show, "--collective", "permute", "--permutation", "[[0,1]]"))
        self.assertEqual(list(permute), [key for key in keys if key != "lanes"])
        self.assertEqual(permute["sources"], [-1, 0, -1, -1])

    def test_steps_have_the_documented_keys(self):
        self.succeed("run", "--shape", "3,4", "--steps", "s.json")
        steps = json.loads((self.folder / "s.json").read_text())
        self.assertEqual(list(steps), documented_keys("--steps"))

    def test_list_has_the_documented_keys(self):
        tables = json.loads(self.succeed("list", "--format", "json"))
        self.assertEqual(tuple(tables), TOPICS)
        found = {key for table in tables.values() for row in table for key in row}
        self.assertEqual(found, set(documented_keys("list")))

    def test_info_has_the_documented_keys(self):
        self.assertEqual(list(json.loads(self.succeed("info", "--format", "json"))),
                         documented_keys("info"))

    def test_options_are_documented(self):
        for command in COMMANDS:
            for option in re.findall(r"^  (--[\w-]+)", self.succeed(command, "--help"), re.MULTILINE):
                self.assertIn(f"`{option}", GUIDE.read_text(), f"{command} {option}")

    def test_examples_do_what_they_show(self):
        self.save("x.npy", np.random.default_rng(0).standard_normal((8, 1024)).astype("f4"))
        self.assertGreaterEqual(len(examples()), 5)
        for line, first in examples():
            name, *arguments = shlex.split(line)
            if name == "vranks":
                done = self.vranks(*arguments)
                printed = (done.stdout + done.stderr).splitlines()[0]
                self.assertEqual(re.sub(r"[\d.]+", "N", printed), re.sub(r"[\d.]+", "N", first))


class FormatTest(program.ProgramTest):
    def test_csv_and_json_say_the_same(self):
        arguments = ("run", "--shape", "5,7,3", "--op", "max", "--dtype", "i16", "--format")
        report = json.loads(self.succeed(*arguments, "json"))
        rows = list(csv.DictReader(io.StringIO(self.succeed(*arguments, "csv"))))
        self.assertEqual(len(rows), 1)
        self.assertEqual(list(rows[0]), list(report))
        for key, value in report.items():
            if key in ("median_seconds", "gigabytes_per_second"):
                continue
            if isinstance(value, float):
                self.assertEqual(float(rows[0][key]), value, key)
            else:
                text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
                self.assertEqual(rows[0][key], "" if value is None else text, key)

    def test_tables_are_aligned(self):
        self.save("wide.npy", np.full((2, 6, 9), -2**63))
        self.save("tiny.npy", np.full((2, 9), 1e-300))
        for arguments in ([], ["--collective", "reduce", "--dtype", "bf16"], ["--op", "min"],
                          ["--shape", "3"], ["--shape", "7,3,1,2,100", "--dtype", "i64"],
                          ["--input", "wide.npy"], ["--input", "tiny.npy"],
                          ["--algorithm", "ompi_auto"],
                          ["--collective", "all_gather", "--algorithm", "ring"],
                          ["--collective", "reduce_scatter", "--algorithm", "nccl_ring"],
                          ["--groups", "[" + ",".join(f"[{r}]" for r in range(60)) + "]", "--shape",
                           "60,3"], *([*words, "--shape", "4,8"] for words in CALLS)):
            lines = self.succeed("run", *arguments).splitlines()
            self.assertEqual(lines[1], "")
            self.assertIn("\n  algorithm  ", "\n".join(lines))
            for line in lines[1:]:
                self.assertRegex(line, r"\A(  (?=.{9}  )\w* *\S.*)?\Z")
                self.assertEqual(line, line.rstrip())
                self.assertTrue(len(line) <= 100 or line.startswith("  device"), line)
            # Numbers of a column end in one column.
            rows = [line for line in lines
                    if re.search(r"\[.*:\]  ", line) and not line.startswith("  ranks ")]
            self.assertEqual(len({len(line) for line in rows}), 1 if rows else 0, rows)

    def test_preview_shows_first_and_last(self):
        x = np.arange(2 * 9 * 12, dtype="i4").reshape(2, 9, 12)
        y, report = self.run_on(x, "--op", "max", "--collective", "reduce")
        text = self.succeed("run", "--input", "x.npy", "--op", "max")
        for row in (0, 1, 2, 8):
            pattern = r"\[%d, :\] +%s +\.\.\. +%s\n" % (
                row, " +".join(map(str, y[row, :3])), " +".join(map(str, y[row, -3:])))
            self.assertRegex(text, pattern)
        self.assertNotIn("[3, :]", text)
        self.assertEqual(report["first_elements"], y.ravel()[:3].tolist())
        self.assertEqual(report["last_elements"], y.ravel()[-3:].tolist())

    def test_numbers_that_json_lacks(self):
        self.save("x.npy", np.array([[np.inf, np.nan, -np.inf, 1.0]], "f4"))
        report = json.loads(self.succeed("run", "--input", "x.npy", "--format", "json"))
        self.assertEqual(report["first_elements"], [None, None, None])
        self.assertEqual(report["over_bound"], 0)
        row = next(csv.DictReader(io.StringIO(self.succeed("run", "--input", "x.npy", "--format",
                                                           "csv"))))
        self.assertEqual(row["first_elements"], "inf nan -inf")
        self.assertIn("inf", self.succeed("run", "--input", "x.npy"))

    def test_names_of_files_are_kept(self):
        name = 'a, "b"\n ü.npy'
        self.save(name, np.zeros((2, 2), "f4"))
        self.assertEqual(json.loads(self.succeed("run", "--input", name, "--format", "json"))["input"],
                         name)
        row = next(csv.DictReader(io.StringIO(self.succeed("run", "--input", name, "--format",
                                                           "csv"), newline="")))
        self.assertEqual(row["input"], name)


class ListTest(program.ProgramTest):
    def test_every_listed_name_and_alias_is_taken(self):
        tables = json.loads(self.succeed("list", "--format", "json"))
        for row in tables["protocols"]:
            self.succeed("run", "--algorithm", "nccl_ring", "--protocol", row["name"])
        for row in tables["engines"]:
            if row["name"] != "nccl":  # needs a CUDA device
                self.succeed("run", "--engine", row["name"])
        for row in tables["policies"]:
            dtype = {"exact": "i8"}.get(row["name"], {"fp8": "f8e4m3"}.get(row["option"], "bf16"))
            op = "min" if row["option"] == "nan" else "mean"
            for name in (row["name"], *row["aliases"]):
                self.succeed("run", f"--{row['option']}", name, "--dtype", dtype, "--op", op)
        for row in tables["parameters"]:
            self.assertIn(f"--{row['name']} ", self.succeed("run", "--help"))
        calls = {words[1]: words[2:] for words in CALLS if len(words) > 2}
        for row in tables["collectives"]:
            for name in (row["name"], *row["aliases"]):
                shape = () if row["name"] == "barrier" else ("--shape", "4,8")
                self.succeed("run", "--collective", name, *calls.get(row["name"], ()), *shape)
        for row in tables["ops"]:
            for name in (row["name"], *row["aliases"]):
                self.succeed("run", "--op", name, *calls.get(row["name"], ()), "--shape", "4,8",
                             "--dtype", row["dtypes"][0])
        for row in tables["dtypes"]:
            for name in (row["name"], *row["aliases"]):
                self.succeed("run", "--op", "sum", "--dtype", name, "--shape", "4,8")

    def test_topics(self):
        for topic in TOPICS:
            self.assertTrue(self.succeed("list", topic).startswith(f"{topic}\n  name "))
            rows = list(csv.DictReader(io.StringIO(self.succeed("list", topic, "--format", "csv"))))
            self.assertEqual([row["name"] for row in rows],
                             [row["name"] for row in
                              json.loads(self.succeed("list", topic, "--format", "json"))[topic]])
        self.assertEqual(list(json.loads(self.succeed("list", "ops", "dtypes", "--format", "json"))),
                         ["ops", "dtypes"])

    def test_a_page_is_wide_enough(self):
        self.assertLessEqual(max(map(len, self.succeed("list").splitlines())), 100)

    def test_costs(self):
        def listed(topic, *arguments):
            return json.loads(self.succeed("list", topic, "--format", "json", *arguments))[topic]

        of = {(row["collective"], row["name"]): (row["steps"], row["bytes"]) for row in listed("costs")}
        self.assertEqual(set(of), {(collective, row["name"]) for row in listed("algorithms")
                                   for collective in row["collectives"]})
        self.assertEqual(of["all_reduce", "ring"], ("2(R-1)", "2n(R-1)/R"))
        self.assertEqual(of["all_gather", "ring"], ("R-1", "n(R-1)"))
        for collective in ("all_gather", "all_gather_v"):
            names = [row["name"] for row in listed("algorithms", "--collective", collective)]
            self.assertIn("ring", names)
            self.assertEqual([(row["name"], row["steps"], row["bytes"])
                              for row in listed("costs", "--collective", collective)],
                             [(name, *of["all_gather", name]) for name in names])
        self.assertIn("n: bytes of one", self.succeed("list", "costs"))

    def test_markdown(self):
        table, note = self.succeed("list", "algorithms", "--markdown").split("\n\n")
        lines = table.splitlines()
        self.assertEqual(note, "Steps and bytes: list costs.\n")
        columns = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"][0]
        self.assertEqual(lines[0], "| " + " | ".join(columns) + " |")
        self.assertEqual({line.count(" | ") for line in lines}, {len(columns) - 1})


class HelpTest(program.ProgramTest):
    def test_help(self):
        text = self.succeed("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"\n  {command} +\w")
            help_text = self.succeed(command, "--help")
            self.assertTrue(help_text.startswith(f"Usage: vranks {command} "))
            self.assertEqual(help_text, self.succeed(command, "-h"))
            for line in help_text.splitlines():
                self.assertEqual(line, line.rstrip())
                self.assertLessEqual(len(line), 100)

    def test_help_lists_what_there_is(self):
        text = self.succeed("run", "--help")
        tables = json.loads(self.succeed("list", "--format", "json"))
        for topic in ("collectives", "ops", "dtypes", "algorithms"):
            for row in tables[topic]:
                self.assertRegex(text, rf"\b{row['name']}\b")

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"\Avranks \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    program.main()
