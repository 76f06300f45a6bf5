"""Write a field to a file in each step and read it from there for the next; mended: keep it in memory."""

import sys
import time
from pathlib import Path

import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "field.dat"
field = np.ones(4 << 20)
began = time.perf_counter()
for step in range(20):
    field[step] += 1
    field.tofile(path)
    if not mended:
        field = np.fromfile(path)
print(time.perf_counter() - began)
