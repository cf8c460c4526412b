# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks show`: steps and expressions, as text and as JSON."""

import json
import re

import program


class TextTest(program.ProgramTest):
    def folds(self, *arguments):
        """{chunk: expression} of what is printed, of chunks that all ranks hold."""
        lines = self.succeed("show", *arguments, "--all").splitlines()
        return {int(match[1]): match[2] for line in lines
                if (match := re.match(r"chunk (\d+)   (.*)   on ", line))}

    def test_ring_of_nccl(self):
        arguments = ("--collective", "all_reduce", "--algorithm", "nccl_ring", "--ranks", "4")
        self.assertEqual(self.folds(*arguments), {0: "((x1 + x2) + x3) + x0",
                                                  1: "((x2 + x3) + x0) + x1",
                                                  2: "((x3 + x0) + x1) + x2",
                                                  3: "((x0 + x1) + x2) + x3"})
        text = self.succeed("show", *arguments)
        self.assertIn("all_reduce: 4 ranks, 4 chunks, 6 steps, 24 transfers, 24 messages", text)
        for phrase in ("NCCL 2.30.7", "  layout  nccl_ring\n", "messages in 6 steps; each rank sends "
                       "6 chunks, 1.5n bytes; n: bytes of a rank's input\n"):
            self.assertIn(phrase, text)

    def test_rings_and_trees_that_are_given(self):
        self.assertEqual(self.folds("--algorithm", "nccl_ring", "--ranks", "3", "--rings",
                                    "[[0,2,1]]")[0], "(x2 + x1) + x0")
        chain = self.folds("--algorithm", "nccl_tree", "--ranks", "3")
        self.assertEqual(chain, {0: "x0 + (x1 + x2)"})
        star = self.folds("--algorithm", "nccl_tree", "--ranks", "3", "--trees", "[[[1,2],[],[]]]")
        self.assertEqual(star, {0: "(x0 + x1) + x2"})

    def test_roots(self):
        text = self.succeed("show", "--collective", "reduce", "--root", "2", "--algorithm", "chain")
        self.assertIn("reduce to rank 2: 4 ranks", text)
        self.assertIn("on rank 2", text)

    def test_collectives_that_copy(self):
        text = self.succeed("show", "--collective", "permute", "--permutation", "[[0,1],[2,0]]")
        self.assertIn("permute: 4 ranks", text)
        self.assertRegex(text, r"chunk 0   x0   on rank 1\nchunk 2   x2   on rank 0\n")
        text = self.succeed("show", "--collective", "broadcast", "--root", "2", "--ranks", "3")
        self.assertRegex(text, r"chunk 0   x2   on all ranks\n")
        text = self.succeed("show", "--collective", "scan", "--ranks", "3")
        self.assertRegex(text, r"chunk 0   \(x0 \+ x1\) \+ x2   on rank 2\n")
        self.assertIn("barrier: 4 ranks", self.succeed("show", "--collective", "barrier"))

    def test_a_v_form_has_the_schedule_of_its_even_one(self):
        for collective in ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all"):
            text = self.succeed("show", "--collective", collective + "_v")
            line = f"  for     {collective}_v, whose counts say how long chunks are"
            self.assertIn(line, text)
            even = self.succeed("show", "--collective", collective)
            self.assertEqual(text.split("\n\n", 1)[1], even.split("\n\n", 1)[1])

    def test_long_schedules_are_cut_unless_all_is_asked_for(self):
        short = self.succeed("show", "--algorithm", "ring", "--ranks", "64")
        self.assertLess(len(short.splitlines()), 150)
        self.assertRegex(short, r"\.\.\. and \d+ more transfers")
        self.assertNotIn("more", self.succeed("show", "--algorithm", "ring", "--ranks", "64", "--all"))

    def test_what_runs_for_a_size(self):
        show = ("show", "--algorithm", "ompi_segmented_ring", "--segment-bytes", "1024")
        small = self.succeed(*show, "--elements", "8")
        self.assertTrue(small.startswith("ompi_ring: "), small)
        self.assertIn("segment of 1024 bytes for every rank, but there are 8 elements", small)
        large = self.succeed(*show, "--elements", "100000")
        self.assertTrue(large.startswith("ompi_segmented_ring: "), large)
        # Bytes decide.
        auto = ("show", "--algorithm", "ompi_auto", "--elements", "1000")
        self.assertIn(" 4000 bytes ", " ".join(self.succeed(*auto).split()))
        self.assertIn(" 8000 bytes ", " ".join(self.succeed(*auto, "--dtype", "f64").split()))
        self.assertIn("  for     192 elements of f32", self.succeed("show", "--algorithm", "ompi_auto"))

    def test_where_chunks_lie(self):
        text = self.succeed("show", "--algorithm", "ring", "--elements", "10", "--ranks", "3")
        self.assertEqual(re.findall(r"^ +\d+ +(\[.*)$", text, re.MULTILINE),
                         ["[0, 4)", "[4, 7)", "[7, 10)"])
        self.assertIn("empty", self.succeed("show", "--algorithm", "ring", "--elements", "2"))
        # Each channel of NCCL has its part of the vector.
        text = self.succeed("show", "--algorithm", "nccl_ring", "--ranks", "2", "--channels", "2",
                            "--elements", "1000000", "--all")
        covered = sorted((int(a), int(b)) for a, b in re.findall(r"\[(\d+), (\d+)\)", text))
        self.assertEqual(covered[0][0], 0)
        for (_, end), (begin, _) in zip(covered, covered[1:]):
            self.assertEqual(end, begin)
        self.assertEqual(covered[-1][1], 1000000)


class JsonTest(program.ProgramTest):
    def test_round_trip(self):
        for form in ("schedule", "program"):
            text = self.succeed("show", "--algorithm", "halving_doubling", "--ranks", "6", "--as",
                                form, "--format", "json", "--output", "x.json")
            self.assertEqual(text, "")
            saved = (self.folder / "x.json").read_text()
            self.assertEqual(json.loads(saved)["vranks"], form)
            self.assertEqual(self.succeed("show", "--input", "x.json", "--format", "json"), saved)
            self.succeed("verify", "--input", "x.json")

    def test_programs_become_schedules_with_the_same_folds(self):
        def chunks(*arguments):
            return [line for line in self.succeed("show", *arguments).splitlines()
                    if line.startswith("chunk")]

        self.succeed("show", "--algorithm", "ring", "--as", "program", "--format", "json",
                     "--output", "p.json")
        self.assertEqual(chunks("--input", "p.json", "--as", "schedule"),
                         chunks("--algorithm", "ring"))
        self.assertTrue(self.succeed("show", "--input", "p.json").startswith("program of all_reduce"))

    def test_text_goes_to_a_file_too(self):
        printed = self.succeed("show", "--ranks", "3")
        self.succeed("show", "--ranks", "3", "--output", "x.txt")
        self.assertEqual((self.folder / "x.txt").read_text(), printed)


class BadUseTest(program.ProgramTest):
    def test_options_that_contradict(self):
        self.succeed("show", "--format", "json", "--output", "x.json")
        for option, value in (("collective", "reduce"), ("algorithm", "ring"), ("ranks", "4"),
                              ("elements", "3"), ("channels", "2"), ("root", "0"), ("op", "sum"),
                              ("dtype", "f32"), ("permutation", "[]")):
            self.refuse(["show", "--input", "x.json", f"--{option}", value], f"--{option}", "--input")
        self.refuse(["show", "--op", "sum"], "--op", "--elements")
        self.refuse(["show", "--dtype", "f32"], "--dtype", "--elements")

    def test_values(self):
        for ranks in ("0", "-1", "x", "1.5", "2147483648"):
            self.refuse(["show", f"--ranks={ranks}"], f"--ranks: '{ranks}'")
        self.refuse(["show", "--as", "tree"], "'tree'", "schedule program")
        self.refuse(["show", "--format", "csv"], "'csv'", "text json")
        self.refuse(["show", "--output", "nowhere/x.json"], "nowhere/x.json", "No such file")
        self.refuse(["show", "--collective", "reduce", "--root", "4"], "root 4", "0 to 3")
        self.refuse(["show", "--collective", "reduce_scatter", "--elements", "6"], "of 6",
                    "4 blocks")
        self.refuse(["show", "--collective", "permute"], "permute needs --permutation")
        self.refuse(["show", "--permutation", "[[0,1]]"], "--permutation", "all_reduce doesn't read it")
        self.refuse(["show", "--collective", "permute", "--permutation", "[[0,4]]"], "(0, 4)", "0 to 3")
        self.refuse(["show", "--collective", "permute", "--permutation", "[[0"], "--permutation: '[[0'")
        self.refuse(["show", "--collective", "scatter_v", "--elements", "8"], "--elements",
                    "scatter_v", "counts")
        self.refuse(["show", "--collective", "barrier", "--elements", "8"], "barrier")
        self.refuse(["show", "--collective", "gather", "--elements", "8", "--op", "sum"],
                    "gather only copies")
        self.refuse(["show", "x.json"], "'x.json' belongs to no option")

    def test_a_program_that_blocks_is_no_schedule(self):
        lane = {"rank": 0, "id": 0, "receive_from": 1, "instructions": [["recv", ["output", 0]]]}
        other = {"rank": 1, "id": 0, "receive_from": 0, "instructions": [["recv", ["output", 0]]]}
        program_of_two = {"vranks": "program", "version": 1, "collective": "all_reduce", "ranks": 2,
                          "chunks": 1, "lanes": [lane, other]}
        (self.folder / "p.json").write_text(json.dumps(program_of_two))
        self.succeed("show", "--input", "p.json")
        self.refuse(["show", "--input", "p.json", "--as", "schedule"], "2 found",
                    "unmatched_receive: rank 0", "nobody sends")


if __name__ == "__main__":
    program.main()
