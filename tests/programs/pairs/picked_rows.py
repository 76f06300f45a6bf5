"""Read rows of a dataset one by one; mended: all at once."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "table.h5"
if not path.exists():
    with h5py.File(path, "w") as file:
        file["table"] = np.arange(10_000 * 16, dtype=np.float32).reshape(10_000, 16)
began = time.perf_counter()
total = 0.0
with h5py.File(path, "r") as file:
    table = file["table"]
    if mended:
        table = table[:]
    for row in range(10_000):
        total += float(table[row, 3])
print(time.perf_counter() - began)
