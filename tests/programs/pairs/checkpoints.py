"""Write a checkpoint after each step; mended: after every sixth."""

import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
state = bytes(64 << 20)
began = time.perf_counter()
for step in range(18):
    time.sleep(0.2)  # simulates compute
    if step % (6 if mended else 1) == 0:
        with open(folder / "checkpoint.dat", "wb", buffering=0) as file:
            file.write(state)
print(time.perf_counter() - began)
