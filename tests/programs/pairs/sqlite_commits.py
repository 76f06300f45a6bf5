"""Insert each row in its own transaction; mended: all rows in one."""

import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
began = time.perf_counter()
with closing(sqlite3.connect(folder / "results.db", isolation_level=None)) as base:
    base.execute("CREATE TABLE IF NOT EXISTS results (step INTEGER, energy REAL)")
    if mended:
        base.execute("BEGIN")
    for step in range(400):
        base.execute("INSERT INTO results VALUES (?, ?)", (step, step * 0.37))
    if mended:
        base.execute("COMMIT")
print(time.perf_counter() - began)
