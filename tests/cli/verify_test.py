# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks verify`: what is right is proved, what was tampered with is found."""

import copy
import csv
import io
import json

import program


class VerifyTest(program.ProgramTest):
    def json_of(self, *arguments):
        done = self.vranks("verify", "--format", "json", *arguments)
        self.assertEqual(done.stderr, "")
        tables = json.loads(done.stdout)
        wrong = [row for row in tables["schedules"] if row["result"] == "wrong"]
        self.assertEqual(done.returncode, 1 if wrong else 0)
        return tables

    def schedule(self, *arguments):
        return json.loads(self.succeed("show", "--format", "json", *arguments))

    def findings(self, document, *arguments):
        (self.folder / "x.json").write_text(json.dumps(document))
        return self.json_of("--input", "x.json", *arguments)["findings"]


class AlgorithmTest(VerifyTest):
    def test_every_algorithm_is_proved(self):
        tables = self.json_of("--ranks", "1..9,16,33")
        self.assertEqual(tables["findings"], [])
        listed = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        expected = {(collective, row["name"], ranks) for row in listed
                    for collective in row["collectives"] for ranks in (*range(1, 10), 16, 33)}
        rows = {(row["collective"], row["algorithm"], row["ranks"]): row
                for row in tables["schedules"]}
        self.assertEqual(set(rows), expected)
        proved = [key for key, row in rows.items() if row["result"] == "proved"]
        self.assertGreater(len(proved), 0.95 * len(rows))
        for key, row in rows.items():
            self.assertEqual(row["reason"] is None, key in proved, row)

    def test_counts(self):
        row, = self.json_of("--algorithm", "ring", "--collective", "all_reduce", "--ranks",
                            "8")["schedules"]
        ranks = 8
        expected = {"steps": 2 * (ranks - 1), "transfers": 2 * ranks * (ranks - 1),
                    "messages": 2 * ranks * (ranks - 1), "instructions": 4 * ranks * (ranks - 1),
                    "depth": 1, "findings": 0, "runs": "ring", "input": None}
        self.assertEqual({key: row[key] for key in expected}, expected)

    def test_rules_are_followed_and_named(self):
        row, = self.json_of("--algorithm", "ompi_auto", "--collective", "all_reduce", "--ranks", "4",
                            "--elements", "1000000")["schedules"]
        self.assertEqual((row["algorithm"], row["runs"]), ("ompi_auto", "ompi_rabenseifner"))
        self.assertIn("ompi_auto -> ompi_rabenseifner",
                      self.succeed("verify", "--algorithm", "ompi_auto", "--elements", "1000000",
                                   "--ranks", "4", "--collective", "all_reduce"))

    def test_parameters(self):
        for arguments in (("nccl_ring", "--channels", "3"), ("chain", "--chunks", "9"),
                          ("nccl_tree", "--ranks-per-node", "2"),
                          ("two_level", "--ranks-per-node", "2", "--inner", "chain")):
            self.succeed("verify", "--ranks", "8", "--algorithm", *arguments)

    def test_permutations(self):
        row, = self.json_of("--collective", "permute", "--algorithm", "pairwise", "--ranks", "4",
                            "--permutation", "[[0,1],[1,0]]")["schedules"]
        self.assertEqual((row["messages"], row["result"]), (2, "proved"))
        self.refuse(["verify", "--collective", "permute", "--permutation", "[[0,3]]", "--ranks", "3"],
                    "(0, 3)", "0 to 2")
        self.refuse(["verify", "--permutation", "[[0,1]]"], "--permutation", "all_reduce")

    def test_a_v_form_is_proved_if_it_is_named(self):
        tables = self.json_of("--collective", "all_gather_v", "--ranks", "4")["schedules"]
        listed = json.loads(self.succeed("list", "algorithms", "--format", "json"))["algorithms"]
        self.assertEqual({row["algorithm"] for row in tables},
                         {row["name"] for row in listed if "all_gather_v" in row["uneven"]})
        self.assertEqual({row["collective"] for row in tables}, {"all_gather_v"})

    def test_formats(self):
        arguments = ("verify", "--algorithm", "ring", "--ranks", "2..3")
        rows = list(csv.DictReader(io.StringIO(self.succeed(*arguments, "--format", "csv"))))
        tables = self.json_of(*arguments[1:])["schedules"]
        self.assertEqual([row["algorithm"] for row in rows], [row["algorithm"] for row in tables])
        self.assertEqual(list(rows[0]), list(tables[0]))
        self.assertRegex(self.succeed(*arguments), r"\nPASS: 12 of 12 schedules proved")

    def test_a_page_is_wide_enough(self):
        text = self.succeed("verify", "--ranks", "3,6")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertRegex(text, r"\nnone of neighbor_exchange, all_gather over 3 ranks: ")
        text = self.succeed("verify", "--ranks", "3..7", "--algorithm", "neighbor_exchange")
        self.assertIn("none of neighbor_exchange, all_gather over 3, 5 and 7 ranks: ", text)

    def test_a_large_ring(self):
        self.succeed("verify", "--algorithm", "ring", "--collective", "all_reduce", "--ranks", "300")


class TamperedTest(VerifyTest):
    """Every fault is found, where it is."""

    def test_a_transfer_that_is_missing(self):
        document = self.schedule("--algorithm", "ring")
        gone = document["steps"][-1].pop()
        found = self.findings(document)
        self.assertEqual({(row["kind"], row["rank"]) for row in found},
                         {("missing_contribution", gone[1][0])})
        self.assertEqual(found[0]["chunk"], [*gone[1], 1])

    def test_a_source_that_is_another(self):
        document = self.schedule("--algorithm", "ring")
        document["steps"][-1][0][2][1] = "input"  # a part instead of the result
        found, = self.findings(document)
        self.assertEqual((found["kind"], found["step"]), ("missing_contribution", 5))
        self.assertIn("lacks", found["found"])

    def test_a_contribution_that_comes_twice(self):
        document = self.schedule("--algorithm", "ring", "--ranks", "2")
        dst = document["steps"][0][0][1]
        document["steps"].insert(1, [["reduce", dst, dst, [dst[0], "input", dst[2]]]])
        self.assertIn("repeated_contribution", {row["kind"] for row in self.findings(document)})

    def test_a_chunk_that_is_read_too_early(self):
        document = self.schedule("--algorithm", "ring")
        document["steps"].reverse()
        self.assertIn("unwritten_read", {row["kind"] for row in self.findings(document)})

    def test_an_exchange_that_blocks_without_buffers(self):
        document = self.schedule("--algorithm", "recursive_doubling", "--ranks", "4")
        self.assertEqual(self.findings(document, "--depth", "1"), [])
        self.assertEqual({row["kind"] for row in self.findings(document, "--depth", "0")}, {"cycle"})

    def program(self):
        """Two ranks that exchange what they have."""
        return {"vranks": "program", "version": 1, "collective": "all_reduce", "ranks": 2,
                "chunks": 1, "lanes": [
                    {"rank": r, "id": i, **({"send_to": 1 - r} if i == 0 else
                                            {"receive_from": 1 - r}),
                     "instructions": [["send", ["input", 0]] if i == 0 else
                                      ["recv_reduce", ["output", 0], "message", ["input", 0]]]}
                    for r in (0, 1) for i in (0, 1)]}

    def test_programs(self):
        good = self.program()
        self.assertEqual(self.findings(good), [])

        unsent = copy.deepcopy(good)
        unsent["lanes"][0]["instructions"] = []
        self.assertIn("unmatched_receive", {row["kind"] for row in self.findings(unsent)})

        unreceived = copy.deepcopy(good)
        unreceived["lanes"][0]["instructions"] *= 2
        self.assertIn("unmatched_send", {row["kind"] for row in self.findings(unreceived)})

        racing = copy.deepcopy(good)
        racing["lanes"].append({"rank": 0, "id": 2,
                                "instructions": [["copy", ["output", 0], ["input", 0]]]})
        races = [row for row in self.findings(racing) if row["kind"] == "write_write_race"]
        self.assertEqual((races[0]["rank"], races[0]["chunk"]), (0, [0, "output", 0, 1]))

        waiting = copy.deepcopy(good)
        waiting["lanes"][0]["instructions"] = [["send", ["input", 0], [[1, 0]]]]
        waiting["lanes"][2]["instructions"] = [["send", ["input", 0], [[1, 0]]]]
        cycle, = (row for row in self.findings(waiting) if row["kind"] == "cycle")
        self.assertIn("rank 0 lane 0 step 0", cycle["found"])

    def test_the_table_says_where(self):
        document = self.schedule("--algorithm", "ring")
        document["steps"][-1].pop()
        (self.folder / "x.json").write_text(json.dumps(document))
        done = self.vranks("verify", "--input", "x.json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        for phrase in ("WRONG: 1 finding", "missing_contribution: rank ", "expected", "found",
                       "FAIL: 0 of 1 schedules proved"):
            self.assertIn(phrase, done.stdout)


class BadInputTest(VerifyTest):
    def refuse_text(self, text, *phrases):
        (self.folder / "x.json").write_text(text)
        self.refuse(["verify", "--input", "x.json"], "'x.json'", *phrases)
        self.refuse(["show", "--input", "x.json"], "'x.json'", *phrases)

    def test_texts_that_are_no_schedules(self):
        good = json.dumps(self.schedule("--algorithm", "ring"))
        self.refuse_text("", "line 1, column 1")
        self.refuse_text("[]", "an object is needed")
        self.refuse_text('{"vranks": "schedule"', "line 1, column 22")
        self.refuse_text(good[:len(good) // 2], "line 1, column")
        self.refuse_text(good.replace('"schedule"', '"plan"', 1), "at /vranks", "plan")
        self.refuse_text(good.replace('"version": 1', '"version": 2'), "at /version", "version 1")
        self.refuse_text(good.replace('"steps"', '"stages"'), "'stages'")
        self.refuse_text(good.replace('"reduce"', '"fold"', 1), "at /steps/0/0/0", "copy reduce")
        self.refuse_text(good.replace('"ranks": 4', '"ranks": 3'), "rank 3")
        self.refuse_text(good.replace('"ranks": 4', '"ranks": 2000000000'), "out of proportion")
        self.refuse_text('{"a":' * 100, "more than 8 levels")
        self.refuse_text(good.replace('{"vranks"', '{"ranks": 1, "vranks"'), "'ranks'", "twice")

    def test_texts_that_were_changed_somewhere(self):
        good = json.dumps(self.schedule("--algorithm", "ring", "--ranks", "2"))
        for place in range(0, len(good), 7):
            for piece in ("", "9", '"', "[", "-"):
                (self.folder / "x.json").write_text(good[:place] + piece + good[place + 1:])
                done = self.vranks("verify", "--input", "x.json")
                self.assertIn(done.returncode, (0, 1, 2), (place, piece, done.stderr))
                self.assertEqual(done.returncode == 2, done.stderr != "", (place, piece))

    def test_files(self):
        self.refuse(["verify", "--input", "nowhere.json"], "nowhere.json", "No such file")
        (self.folder / "folder").mkdir()
        self.refuse(["verify", "--input", "folder"], "'folder'", "not a regular file")

    def test_values(self):
        for ranks in ("", "0", "1..", "3..1", "1,,2", "x", "1..20000", "2147483648"):
            self.refuse(["verify", f"--ranks={ranks}"] if ranks else ["verify", "--ranks", ""],
                        "--ranks" if ranks else "")
        self.refuse(["verify", "--depth=-1"], "--depth: '-1'")
        self.refuse(["verify", "--root", "1"], "--root is about reduce", "all_reduce has none")
        self.refuse(["verify", "--collective", "reduce", "--root", "3", "--ranks", "2..4"],
                    "root 3 is no rank where R = 2: ranks are 0 to 1")
        self.refuse(["verify", "--algorithm", "two_level", "--ranks-per-node", "3", "--ranks", "4"],
                    "multiple of ranks-per-node")


if __name__ == "__main__":
    program.main()
