# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run --steps`: replaying the listed transfers with numpy gives every state and the result."""

import json

import numpy as np

import program

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32}
OPS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


class Replay:
    """Does what a document of steps says, on its input."""

    def __init__(self, document):
        self.document = document
        self.dtype = DTYPES[document["dtype"]]
        self.ranks = document["ranks"]
        self.input = [self.array(row) for row in document["input"]]
        self.chunks = document["chunks"]
        self.part = len(self.chunks) // self.ranks
        self.state = {}

    def array(self, elements):
        return np.array([self.dtype(element) for element in elements], self.dtype)

    def read(self, chunk):
        rank, slot, index = chunk
        if slot != "input":
            return self.state[rank, slot, index]
        gathers = self.document["collective"] == "all_gather"
        whole, first = (rank * self.part + index, rank * len(self.input[0])) if gathers else (index, 0)
        return np.concatenate([self.input[rank][begin - first:end - first]
                               for begin, end in self.chunks[whole]] or [self.array([])])

    def step(self, step):
        """Returns the bytes and messages that moved."""
        written, moved = {}, 0
        for transfer in step["transfers"]:  # reads before writes
            value = self.read(transfer["a"])
            if transfer["action"] == "reduce":
                value = OPS[self.document["op"]](value, self.read(transfer["b"]))
            written[tuple(transfer["dst"])] = value
            sources = {chunk[0] for chunk in (transfer["a"], transfer["b"]) if chunk}
            others = sources - {transfer["to"]}
            assert others == ({transfer["from"]} - {None}) and transfer["dst"][0] == transfer["to"]
            assert transfer["bytes"] == (value.nbytes if others else 0)
            moved += transfer["bytes"]
        self.state.update(written)
        return moved

    def output(self, rank):
        """The elements of that rank's output slot."""
        scatters = self.document["collective"] == "reduce_scatter"
        mine = range(rank * self.part, (rank + 1) * self.part) if scatters else range(len(self.chunks))
        intervals = [(begin, end, i, self.chunks[whole][:k]) for i, whole in enumerate(mine)
                     for k, (begin, end) in enumerate(self.chunks[whole])]
        pieces = []
        for begin, end, index, before in sorted(intervals):
            at = sum(e - b for b, e in before)
            pieces.append(self.state[rank, "output", index][at:at + end - begin])
        return np.concatenate(pieces or [self.array([])])


class StepsTest(program.ProgramTest):
    def steps(self, *arguments):
        self.succeed("run", "--steps", "s.json", "--output", "y.npy", *arguments)
        return json.loads((self.folder / "s.json").read_text())

    def check(self, document):
        replay = Replay(document)
        total = 0
        for number, step in enumerate(document["steps"]):
            self.assertEqual(step["step"], number)
            moved = replay.step(step)
            self.assertEqual(step["bytes"], moved)
            total += moved
            for rank, state in enumerate(step["state"]):
                self.assertEqual(state["rank"], rank)
                for slot in ("output", "scratch"):
                    if state[slot] is None:
                        continue
                    for index, elements in enumerate(state[slot]):
                        held = replay.state.get((rank, slot, index))
                        self.assertEqual(held is None, elements is None, (number, rank, slot, index))
                        if held is not None:
                            np.testing.assert_array_equal(
                                held.view(f"V{held.itemsize}"),
                                replay.array(elements).view(f"V{held.itemsize}"))
        self.assertEqual(document["bytes"], total)
        self.assertEqual(document["messages"], sum(step["messages"] for step in document["steps"]))
        saved = np.load(self.folder / "y.npy")
        rows = saved.reshape(len(document["result"]), -1)
        ranks = [document["root"]] if document["root"] is not None else range(document["ranks"])
        for rank, row, listed in zip(ranks, rows, document["result"]):
            result = replay.output(rank)
            if document["mean"] == "divide":
                result = (result / replay.dtype(document["ranks"])).astype(replay.dtype)
            self.assertEqual(row.tobytes(), result.tobytes())
            self.assertEqual(row.tobytes(), replay.array(listed).tobytes())

    def test_replay(self):
        for collective in ("all_reduce", "reduce", "reduce_scatter", "all_gather"):
            for algorithm in ("direct", "ring", "halving_doubling", "double_binary_tree", "two_level",
                              "nccl_ring"):
                for ranks in (1, 4, 5):
                    arguments = ["--collective", collective, "--algorithm", algorithm]
                    if collective != "all_gather":
                        arguments += ["--op", "sum"]
                    with self.subTest(arguments=arguments, ranks=ranks):
                        self.check(self.steps(*arguments, "--shape", f"{ranks},{3 * ranks},2"))

    def test_ops_and_dtypes(self):
        for dtype in DTYPES:
            for op in OPS:
                accumulate = () if op in ("min", "max") else ("--accumulate", "storage")
                mean = ("--mean", "divide") if op == "mean" else ()
                if dtype == "i32" and op == "mean":  # truncates toward zero
                    continue
                self.check(self.steps("--algorithm", "ring", "--op", op, "--dtype", dtype, "--shape",
                                      "4,10", *accumulate, *mean))

    def test_channels_and_windows(self):
        self.check(self.steps("--algorithm", "nccl_ring", "--channels", "2", "--protocol", "ll",
                              "--op", "sum", "--shape", "3,9000"))

    def test_ring_moves_what_it_says(self):
        document = self.steps("--algorithm", "ring", "--shape", "4,8", "--op", "sum")
        self.assertEqual((document["messages"], document["bytes"]), (24, 24 * 2 * 4))
        self.assertEqual(len(document["steps"]), 6)
        first = document["steps"][0]["transfers"][0]
        self.assertEqual(set(first), {"action", "from", "to", "dst", "a", "b", "bytes"})

    def test_numbers_that_json_lacks(self):
        self.save("x.npy", np.array([[np.nan, np.inf, -np.inf, -0.0]], "f4"))
        document = self.steps("--input", "x.npy", "--op", "sum", "--algorithm", "ring")
        self.assertEqual(document["input"], [["nan", "inf", "-inf", 0.0]])
        self.assertTrue(np.signbit(document["input"][0][3]))
        self.check(document)

    def test_no_elements(self):
        document = self.steps("--algorithm", "ring", "--shape", "4,0")
        self.assertEqual((len(document["steps"]), document["bytes"]), (6, 0))
        self.check(document)

    def test_the_file_is_whole_or_not_there(self):
        self.refuse(["run", "--steps", "s.json"], "s.json", preexec_fn=program.at_most(0))


if __name__ == "__main__":
    program.main()
