"""Load the table of coefficients in each step; mended: once before the first."""

import sys
import time
from pathlib import Path

import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "coefficients.npy"
if not path.exists():
    np.save(path, np.arange(2_000_000, dtype=np.float64))
began = time.perf_counter()
table = np.load(path)
for step in range(60):
    if not mended and step:
        table = np.load(path)
    table[step] += 1.0
print(time.perf_counter() - began)
