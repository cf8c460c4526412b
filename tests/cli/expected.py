# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""What collectives give, written in numpy from what they mean.

x has shape (R, d0, ...). On whole numbers every order of arithmetic is exact, so results are equal
to the bit for any algorithm.
"""

import numpy as np

FOLDS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
         "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
         "land": np.logical_and, "lor": np.logical_or, "lxor": np.logical_xor}
AT_ROOT = ("reduce", "gather", "gather_v")


def fold(op, x):
    """The reduction over dimension 0, in x's dtype; integers wrap."""
    if op == "mean":
        return (x.sum(axis=0, dtype=np.float64) / len(x)).astype(x.dtype)
    with np.errstate(over="ignore"):
        result = FOLDS[op].reduce(x, axis=0, **({} if op.startswith("l") else {"dtype": x.dtype}))
    return result.astype(x.dtype)


def blocks(row, ranks):
    return row.reshape(ranks, row.shape[0] // ranks, *row.shape[1:])


def of_group(collective, x, op="sum", root=0, pairs=()):
    """What each rank of one group gets, or what the root gets."""
    ranks = len(x)
    if collective == "all_reduce":
        return np.stack([fold(op, x)] * ranks)
    if collective == "reduce":
        return fold(op, x)
    if collective == "reduce_scatter":
        return blocks(fold(op, x), ranks)
    if collective == "all_gather":
        return np.stack([x] * ranks)
    if collective == "broadcast":
        return np.stack([x[root]] * ranks)
    if collective == "gather":
        return x
    if collective == "scatter":
        return blocks(x[root], ranks)
    if collective == "all_to_all":
        cut = np.stack([blocks(row, ranks) for row in x])  # [s, d] is what s sends to d
        return cut.swapaxes(0, 1).reshape(x.shape)
    if collective == "permute":
        y = np.zeros_like(x)
        for source, destination in pairs:
            y[destination] = x[source]
        return y
    if collective == "scan":
        return np.stack([fold(op, x[:r + 1]) for r in range(ranks)])
    if collective == "exscan":  # of a sum, whose identity is 0
        return np.stack([np.zeros_like(x[0])] + [fold(op, x[:r]) for r in range(1, ranks)])
    raise ValueError(collective)


def result(collective, x, groups=None, **how):
    """What `vranks run --output` saves."""
    if groups is None:
        return of_group(collective, x, **how)
    parts = [of_group(collective, x[group], **how) for group in groups]
    if collective in AT_ROOT:
        return np.stack(parts)
    y = np.empty((len(x), *parts[0].shape[1:]), parts[0].dtype)
    for group, part in zip(groups, parts):
        y[group] = part
    return y


def uneven(collective, x, counts, root=0, displacements=None):
    """A _v form over all ranks: what each rank gets, a list, or what the root gets.

    x: a row for each rank, at least as long as what it sends; displacements: where blocks start in
    the row of what is sent (scatter_v, all_to_all_v) or received (gather_v, all_gather_v).
    """
    ranks = len(x)
    counts = np.array(counts)

    def starts(row):
        return [0, *np.cumsum(row)[:-1]]

    if collective == "all_to_all_v":
        sent = [displacements[s] if displacements is not None else starts(counts[s])
                for s in range(ranks)]
        return [np.concatenate([x[s][sent[s][d]:][:counts[s][d]] for s in range(ranks)])
                for d in range(ranks)]
    at = displacements if displacements is not None else starts(counts)
    if collective == "reduce_scatter_v":
        return [fold("sum", x)[at[r]:][:counts[r]] for r in range(ranks)]
    if collective == "scatter_v":
        return [x[root][at[r]:][:counts[r]] for r in range(ranks)]
    row = np.zeros((max(a + c for a, c in zip(at, counts)), *x.shape[2:]), x.dtype)
    for r in range(ranks):
        row[at[r]:][:counts[r]] = x[r][:counts[r]]
    return row if collective == "gather_v" else np.stack([row] * ranks)
