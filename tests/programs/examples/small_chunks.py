"""Write complete fields to HDF5, and read columns, with chunks of 8 by 8 values."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

SIZE, STEPS = 1024, 8
with h5py.File(Path(sys.argv[1]) / "field.h5", "w") as file:
    field = file.create_dataset("temperature", shape=(STEPS, SIZE, SIZE), chunks=(1, 8, 8), dtype="f8")
    for step in range(STEPS):
        field[step] = np.full((SIZE, SIZE), step / 7)
        time.sleep(0.3)  # simulates compute
    print(sum(field[:, :, column].sum() for column in range(0, SIZE, 64)))
