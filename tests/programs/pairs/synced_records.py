"""Sync each record to the disk; mended: all of them once."""

import os
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
began = time.perf_counter()
with (folder / "records.dat").open("wb") as file:
    for number in range(600):
        file.write(bytes(2048))
        if not mended or number == 599:
            file.flush()
            os.fsync(file.fileno())
print(time.perf_counter() - began)
