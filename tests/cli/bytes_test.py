# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run` on elements of no dtype, `--dtype bytesN`, which are only copied."""

import json

import numpy as np

import expected
import program


def opaque(shape, width, seed=1):
    data = np.random.default_rng(seed).integers(0, 256, (*shape, width), "u1")
    return data.view(f"V{width}")[..., 0]


class BytesTest(program.ProgramTest):
    def test_every_copy(self):
        for width in (1, 3, 4, 12, 16, 100):
            x = opaque((4, 8, 3), width)
            for collective in ("all_gather", "broadcast", "gather", "scatter", "all_to_all",
                               "permute"):
                pairs = [[0, 3], [1, 0]]
                how = ["--permutation", json.dumps(pairs)] if collective == "permute" else []
                y, report = self.run_on(x, "--collective", collective, *how)
                bits = x.view("u1").reshape(*x.shape, width)
                right = expected.result(collective, bits, **({"pairs": pairs} if how else {}))
                self.assertEqual((y.dtype, y.shape), (x.dtype, right.shape[:-1]))
                self.assertEqual(y.tobytes(), right.tobytes(), (width, collective))
                self.assertEqual((report["dtype"], report["different"], report["op"]),
                                 (f"bytes{width}", 0, None))
                self.assertEqual((report["input_shape"], report["output_shape"],
                                  report["elements_per_rank"], report["compared"]),
                                 ([4, 8, 3], list(y.shape), 24, y.size))

    def test_one_element_a_rank(self):
        x = opaque((3,), 5)
        y, report = self.run_on(x, "--collective", "all_gather", "--dtype", "bytes5")
        self.assertEqual(y.tobytes(), 3 * x.tobytes())
        self.assertEqual((report["input_shape"], report["output_shape"]), ([3], [3, 3]))
        self.assertEqual(report["first_elements"], [element.tobytes().hex() for element in x])

    def test_counts_are_of_elements(self):
        x = opaque((3, 6), 12)
        y, report = self.run_on(x, "--collective", "scatter_v", "--counts", "[1,2,3]", "--root", "1")
        self.assertEqual(y.tobytes(), x[1].tobytes())
        self.assertEqual((report["output_counts"], report["counts"], report["output_shape"]),
                         ([1, 2, 3], [1, 2, 3], [6]))
        y, report = self.run_on(x, "--collective", "all_gather_v", "--counts", "[6,0,1]",
                                "--recv-displacements", "[1,0,0]")
        self.assertEqual([row.tobytes() for row in y],
                         3 * [x[2, :1].tobytes() + x[0].tobytes()])

    def test_groups_and_places(self):
        x = opaque((4, 2, 2), 6)
        for how in ((), ("--in-place", "nccl"), ("--executor", "steps")):
            y, _ = self.run_on(x, "--collective", "all_to_all", "--groups", "[[0,3],[2,1]]", *how)
            bits = x.view("u1").reshape(4, 2, 2, 6)
            right = expected.result("all_to_all", bits, [[0, 3], [2, 1]])
            self.assertEqual(y.tobytes(), right.tobytes())

    def test_random_data(self):
        report = json.loads(self.succeed("run", "--collective", "broadcast", "--dtype", "bytes7",
                                         "--shape", "2,5", "--format", "json", "--output", "y.npy"))
        self.assertEqual((report["dtype"], report["input_shape"]), ("bytes7", [2, 5]))
        self.assertEqual(np.load(self.folder / "y.npy").dtype, np.dtype("V7"))
        text = self.succeed("run", "--collective", "broadcast", "--dtype", "bytes7", "--shape", "2,5")
        self.assertIn("(2, 5) bytes7", text)

    def test_what_is_refused(self):
        self.save("x.npy", opaque((4, 6), 12))
        run = ["run", "--input", "x.npy", "--output", "y.npy"]
        self.refuse(run, "op mean", "bytes12", "only copied")
        self.refuse([*run, "--op", "band"], "op band", "bytes12")
        self.refuse(["run", "--dtype", "bytes3", "--op", "sum"], "op sum", "bytes3")
        self.refuse([*run, "--collective", "broadcast", "--dtype", "bytes4"], "bytes12", "bytes4")
        self.refuse([*run, "--collective", "broadcast", "--dtype", "f32"], "12 bytes", "f32")
        self.refuse([*run, "--collective", "scatter"], "dimension 1", "6", "4 blocks")
        self.refuse([*run, "--collective", "scatter_v", "--counts", "[1,1,1,1]"], "4", "6")
        self.refuse([*run, "--collective", "broadcast", "--steps", "s.json"], "--steps", "bytes12")
        self.refuse([*run, "--collective", "broadcast", "--nan", "ignore"], "only copies")
        for width in ("0", "-1", "x", "1.5", "9999999999"):
            self.refuse(["run", "--collective", "broadcast", "--dtype", f"bytes{width}"], "bytes",
                        width)
        self.refuse(["check", "--dtype", "bytes4"], "bytes4", "only copied")
        self.save("x.npy", np.zeros((4, 6), "f4"))
        self.refuse([*run, "--collective", "broadcast", "--dtype", "bytes4"], "f32", "bytes4")
        self.save("x.npy", opaque((), 12))
        self.refuse([*run, "--collective", "broadcast"], "dimension 0 counts the ranks")


if __name__ == "__main__":
    program.main()
