# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
"""Writes .npy files with numpy itself, as the independent truth for npy_test.cpp.

usage: python3 make_npy.py FOLDER
"""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def save(name, array, version=(1, 0), **options):
    with open(folder / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), version=version, **options)


# Element i of the (4, 3, 2) elements is i - 12 where the dtype has a sign, i elsewhere; the
# imaginary part is twice that and 1 more. Of bool, only element 12 is false.
dtypes = "f8 f4 f2 i1 u1 i2 u2 i4 u4 i8 u8 b1 c8 c16".split()
for code in dtypes:
    values = np.arange(24).reshape(4, 3, 2) - (0 if code[0] == "u" else 12)
    if code[0] == "c":
        values = values + 1j * (2 * values + 1)
    for major in (1, 2, 3):
        save(f"{code}_version{major}", values.astype("<" + code), version=(major, 0))

save("one_dimension", np.arange(5, dtype="<i4"))
save("empty", np.zeros((4, 0), "<f4"))
save("no_ranks", np.zeros((0, 3), "<f4"))
save("fortran_vector", np.asfortranarray(np.arange(5, dtype="<i4")))

matrix = np.arange(12).reshape(4, 3)
save("fortran", np.asfortranarray(matrix.astype("<f4")))
save("big_endian", matrix.astype(">f4"))
save("object", np.array([[1], ["two"]], dtype=object), allow_pickle=True)
save("structured", np.zeros(4, [("a", "<f4"), ("b", "<i4", (2,))]))
save("structured_unicode", np.zeros(4, [("größe", "<f4")]), version=(3, 0))
save("scalar", np.float32(1))
save("void", np.arange(192, dtype="u1").view("V16").reshape(4, 3))
save("text", np.array(["a", "bcd"]))
save("date", np.array(["2026-01-01"], "M8[D]"))
