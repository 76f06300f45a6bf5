"""Read records of an uncached file in random order; mended: in the order of the file."""

import os
import random
import sys
import time
from pathlib import Path

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "records.dat"
SIZE, RECORD = 48 << 20, 4096
if not path.exists():
    with path.open("wb") as file:
        for _ in range(SIZE >> 20):
            file.write(os.urandom(1 << 20))
descriptor = os.open(path, os.O_RDONLY)
os.fsync(descriptor)
os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
wanted = list(range(SIZE // RECORD))
if not mended:
    random.Random(1).shuffle(wanted)
began = time.perf_counter()
total = 0
for record in wanted:
    total += len(os.pread(descriptor, RECORD, record * RECORD))
print(time.perf_counter() - began)
os.close(descriptor)
