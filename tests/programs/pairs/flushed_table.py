"""Write a table with a flush after each row; mended: without."""

import csv
import sys
import time
from pathlib import Path

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "table.csv"
began = time.perf_counter()
with open(path, "w", newline="") as file:
    table = csv.writer(file)
    for row in range(100_000):
        table.writerow((row, row * 0.5, f"name {row}"))
        if not mended:
            file.flush()
print(time.perf_counter() - began)
