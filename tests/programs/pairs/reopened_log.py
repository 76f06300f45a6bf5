"""Open a log for each line; mended: once."""

import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
lines = [f"step {step}\n".encode() for step in range(60_000)]
path = str(folder / "run.log")
began = time.perf_counter()
if mended:
    with open(path, "ab") as file:
        file.writelines(lines)
else:
    for line in lines:
        with open(path, "ab", buffering=0) as file:
            file.write(line)
print(time.perf_counter() - began)
