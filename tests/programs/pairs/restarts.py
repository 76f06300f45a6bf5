"""Write a restart file after each step, flushed to the storage; mended: after every tenth."""

import os
import sys
import time
from pathlib import Path

import numpy as np

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "restart.npy"
state = np.ones(6_000_000)
began = time.perf_counter()
for step in range(30):
    time.sleep(0.15)  # simulates compute
    if not mended or step % 10 == 9:
        with path.open("wb") as file:
            np.save(file, state)
            file.flush()
            os.fsync(file.fileno())
print(time.perf_counter() - began)
