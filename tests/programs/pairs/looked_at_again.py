"""Call stat on the files of a folder in each step; mended: in the first step only."""

import os
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2]) / "inputs"
if not folder.exists():
    folder.mkdir()
    for number in range(1000):
        (folder / f"input{number}").write_bytes(b"")
began = time.perf_counter()
total = 0
for _step in range(1 if mended else 200):
    for name in os.listdir(folder):
        total += os.stat(f"{folder}/{name}").st_size
print(time.perf_counter() - began)
