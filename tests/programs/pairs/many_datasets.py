"""Write each sample as a separate dataset; mended: as rows of one dataset."""

import sys
import time
from pathlib import Path

import h5py
import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "samples.h5"
samples = np.arange(32_000, dtype=np.float32).reshape(2000, 16)
began = time.perf_counter()
with h5py.File(path, "w") as file:
    if mended:
        file["samples"] = samples
    else:
        for number, sample in enumerate(samples):
            file[f"sample-{number}"] = sample
print(time.perf_counter() - began)
