"""Read a tiled field by rows, with a cache smaller than a row of tiles; mended: by rows of tiles."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "tiles.h5"
SIDE, TILE = 4096, 256
if not path.exists():
    with h5py.File(path, "w") as file:
        file.create_dataset("field", data=np.ones((SIDE, SIDE), np.float32), chunks=(TILE, TILE))
began = time.perf_counter()
total = 0.0
with h5py.File(path, "r", rdcc_nbytes=1 << 18) as file:
    field = file["field"]
    rows = TILE if mended else 4
    for row in range(0, SIDE, rows):
        total += float(field[row : row + rows].sum())
print(time.perf_counter() - began)
