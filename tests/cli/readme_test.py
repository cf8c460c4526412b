# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""README.md shows the example that is built and run as a test, its output, and commands that work."""

import pathlib
import re
import unittest

import numpy as np
import program

ROOT = pathlib.Path(__file__).parents[2]


class ReadmeTest(program.ProgramTest):
    readme = (ROOT / "README.md").read_text()

    def test_program_and_output_are_the_quickstart_example(self):
        example = (ROOT / "examples" / "quickstart.cpp").read_text()
        code, prints = example.split("\n// Prints:\n")
        code = "\n".join(line for line in code.splitlines() if not line.startswith("// SPDX"))
        output = "\n".join(line.removeprefix("// ") for line in prints.splitlines())
        blocks = re.findall(r"```(\w*)\n(.*?)\n```", self.readme, re.DOTALL)
        self.assertEqual(blocks[0], ("cpp", code.strip()))
        self.assertEqual(blocks[1], ("", output.strip()))

    def test_command_line(self):
        command = re.search(r"^vranks (run --input .*)$", self.readme, re.MULTILINE)[1]
        ranks = np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)
        np.save(self.folder / "gradients.npy", ranks)
        self.succeed(*command.split())
        averaged = np.load(self.folder / "averaged.npy")
        self.assertEqual(averaged.shape, (3, 5))
        self.assertLess(abs(averaged - ranks.mean(axis=0, dtype=np.float64)).max(), 1e-6)

    def test_links_lead_somewhere(self):
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")


if __name__ == "__main__":
    program.main()
