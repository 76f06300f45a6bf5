"""Store each parameter as an attribute of a file; mended: all as one attribute."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "parameters.h5"
values = np.arange(4000, dtype=np.float64)
began = time.perf_counter()
with h5py.File(path, "w") as file:
    if mended:
        file.attrs["parameters"] = values
    else:
        for group in range(40):
            made = file.create_group(f"group-{group}")
            for number, value in enumerate(values[group::40]):
                made.attrs[f"p{number}"] = value
print(time.perf_counter() - began)
