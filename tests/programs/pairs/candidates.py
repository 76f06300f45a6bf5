"""Look for the newest of ten snapshots before each step; mended: its name is stored."""

import math
import os
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
for number in range(10):
    (folder / f"snapshot.{number}").write_bytes(b"1")
began = time.perf_counter()
found, total = None, 0.0
for step in range(12_000):
    if found is None or not mended:
        found = max((f"{folder}/snapshot.{number}" for number in range(10)), key=os.path.getmtime)
    total += math.fsum(math.sin(step + at) for at in range(20))
print(time.perf_counter() - began)
