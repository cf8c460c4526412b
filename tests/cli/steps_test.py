# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""`vranks run --steps`: replaying the listed transfers with numpy gives every state and the result."""

import json

import numpy as np

import program

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32}
OPS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
       "lor": np.logical_or}
AT_ROOT = ("reduce", "gather", "gather_v")


def number(element):
    """JSON has no complex numbers; NaN and infinities come as strings."""
    return complex(*element) if isinstance(element, list) else element


class Replay:
    """Does what a document of steps says, on its input."""

    def __init__(self, document):
        self.document = document
        self.form = document["collective"].removesuffix("_v")
        self.dtype = {**DTYPES, "c64": np.complex64, "bool": np.bool_}[document["dtype"]]
        self.ranks = document["ranks"]
        self.input = [self.array(row) for row in document["input"]]
        self.chunks = document["chunks"]
        self.part = len(self.chunks) // self.ranks
        self.state = {}

    def array(self, elements):
        return np.array([self.dtype(number(element)) for element in elements], self.dtype)

    def is_part(self, slot):
        """Whether it holds one rank's part of the whole vector."""
        return self.form in {"input": ("all_gather", "gather", "all_to_all", "permute"),
                             "output": ("reduce_scatter", "scatter")}[slot]

    def read(self, chunk):
        rank, slot, index = chunk
        if slot != "input":
            return self.state[rank, slot, index]
        first = 0
        if self.is_part("input"):
            index += rank * self.part
            mine = self.chunks[rank * self.part:(rank + 1) * self.part]
            first = min((begin for chunk in mine for begin, _ in chunk), default=0)
        return np.concatenate([self.input[rank][begin - first:end - first]
                               for begin, end in self.chunks[index]] or [self.array([])])

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
        """The elements of that rank's output slot; nothing if no message brings any."""
        mine = range(rank * self.part, (rank + 1) * self.part) if self.is_part("output") else \
            range(len(self.chunks))
        if self.form == "all_to_all":  # from each rank its block for this one
            block = self.part // self.ranks
            mine = [(source * self.ranks + rank) * block + k for source in range(self.ranks)
                    for k in range(block)]
        if self.form == "permute":
            source = [source for source, to in self.document["pairs"] if to == rank]
            mine = range(source[0] * self.part, (source[0] + 1) * self.part) if source else []
        if not any((rank, "output", i) in self.state for i in range(len(mine))):
            return self.array([])
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
        rows = [replay.array(row) for row in document["result"]]
        self.assertEqual(saved.tobytes(), b"".join(row.tobytes() for row in rows))
        ends_at_root = document["collective"] in AT_ROOT
        ranks = [document["root"]] if ends_at_root else range(document["ranks"])
        self.assertEqual(len(rows), len(ranks))
        for rank, row in zip(ranks, rows):
            result = replay.output(rank)
            if document["mean"] == "divide":
                result = (result / replay.dtype(document["ranks"])).astype(replay.dtype)
            if result.size == 0:  # what no message brings
                result = np.zeros_like(row)
            self.assertEqual(row.tobytes(), result.tobytes())

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

    def test_every_collective(self):
        for algorithm, collective, *arguments in (
                ("binomial_tree", "broadcast", "--root", 2), ("scatter_all_gather", "broadcast"),
                ("linear", "gather", "--root", 1), ("binomial_tree", "scatter"),
                ("bruck", "all_to_all"), ("pairwise", "all_to_all"), ("linear", "scan"),
                ("recursive_doubling", "exscan"), ("ring", "reduce_scatter_v", "--counts", "[3,0,1,4]"),
                ("bruck", "all_gather_v", "--counts", "[8,0,3,2]"),
                ("linear", "gather_v", "--counts", "[8,0,3,2]"),
                ("linear", "scatter_v", "--counts", "[3,0,1,4]"),
                ("ring", "all_to_all_v", "--counts", "[[0,1,2,5],[8,0,0,0],[2,2,2,2],[1,0,0,7]]")):
            op = ("--op", "sum") if collective == "reduce_scatter_v" else ()
            with self.subTest(collective=collective, algorithm=algorithm):
                self.check(self.steps("--collective", collective, "--algorithm", algorithm, *op,
                                      *arguments, "--shape", "4,8"))

    def test_permutations(self):
        pairs = [[0, 2], [2, 1], [3, 3]]
        for algorithm in ("direct", "linear", "pairwise", "ring"):
            document = self.steps("--collective", "permute", "--permutation", json.dumps(pairs),
                                  "--algorithm", algorithm, "--shape", "4,5")
            self.assertEqual([state["output"] is None for state in document["steps"][-1]["state"]],
                             [True, False, False, False])
            self.check({**document, "pairs": pairs})

    def test_numbers_that_are_no_plain_floats(self):
        document = self.steps("--op", "sum", "--dtype", "c64", "--shape", "3,4", "--algorithm", "ring")
        self.assertEqual({len(element) for element in document["input"][0]}, {2})
        self.check(document)
        document = self.steps("--op", "lor", "--dtype", "bool", "--shape", "3,4", "--algorithm", "ring")
        self.assertLessEqual(set(document["input"][0]), {True, False})
        self.check(document)
        self.save("x.npy", np.array([[0x38, 0x7E, 0x7F], [0x40, 0x00, 0x80]], "u1"))
        document = self.steps("--op", "sum", "--dtype", "f8e4m3", "--input", "x.npy", "--algorithm",
                              "ring")
        self.assertEqual(document["input"], [[1, 448, "nan"], [2, 0, 0]])
        self.assertEqual((document["result"], document["fp8"]), ([[3, 448, "nan"]] * 2, "saturate"))

    def test_ops_and_dtypes(self):
        for dtype in DTYPES:
            for op in ("sum", "mean", "prod", "min", "max"):
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
