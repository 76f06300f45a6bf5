"""Write a checkpoint after each step; mended: after every tenth."""

import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
state = bytes(96 << 20)
began = time.perf_counter()
for step in range(20):
    time.sleep(0.25)  # simulates compute
    if step % (10 if mended else 1) == 0:
        with open(folder / "checkpoint.dat", "wb", buffering=0) as file:
            file.write(state)
print(time.perf_counter() - began)
