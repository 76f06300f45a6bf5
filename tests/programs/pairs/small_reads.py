"""Read records one by one, without a buffer; mended: with a buffer of a megabyte."""

import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
path = folder / "records.dat"
path.write_bytes(bytes(64 * 150_000)) if not path.exists() else None
began = time.perf_counter()
total = 0
with open(path, "rb", buffering=1 << 20 if mended else 0) as file:
    while record := file.read(64):
        total += len(record)
print(time.perf_counter() - began)
