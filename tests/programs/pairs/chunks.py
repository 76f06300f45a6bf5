"""Read columns of a dataset whose chunks are rows; mended: whose chunks are columns."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / f"{sys.argv[1]}.h5"
SIDE = 2048
if not path.exists():
    with h5py.File(path, "w") as file:
        chunks = (SIDE, 64) if mended else (1, SIDE)
        file.create_dataset("field", data=np.ones((SIDE, SIDE), np.float32), chunks=chunks)
began = time.perf_counter()
with h5py.File(path, "r", rdcc_nbytes=1 << 18) as file:
    field = file["field"]
    for column in range(0, SIDE, 64):
        field[:, column : column + 64]
print(time.perf_counter() - began)
