"""Append each step to a dataset as a row of its own; mended: five hundred rows at once."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "steps.h5"
rows, block = 6000, 500 if mended else 1
values = np.arange(block * 32, dtype=np.float64).reshape(block, 32)
began = time.perf_counter()
with h5py.File(path, "w") as file:
    steps = file.create_dataset("steps", (0, 32), np.float64, maxshape=(None, 32), chunks=(1024, 32))
    for row in range(0, rows, block):
        steps.resize(row + block, axis=0)
        steps[row : row + block] = values
print(time.perf_counter() - began)
