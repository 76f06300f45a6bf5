"""Pass the input of each task through a file of its own; mended: through one file."""

import os
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
tasks = [f"task {number}: {number * 7919 % 1009}\n" * 20 for number in range(6000)]
began = time.perf_counter()
total = 0
if mended:
    (folder / "tasks.txt").write_text("".join(tasks))
    total = sum(int(line.rpartition(" ")[2]) for line in (folder / "tasks.txt").read_text().splitlines())
else:
    for number, task in enumerate(tasks):
        path = folder / f"task-{number}.txt"
        path.write_text(task)
        total += sum(int(line.rpartition(" ")[2]) for line in path.read_text().splitlines())
        os.unlink(path)
print(time.perf_counter() - began)
