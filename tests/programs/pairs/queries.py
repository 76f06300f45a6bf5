"""Query a database 30,000 times outside of a transaction; mended: inside one."""

import sqlite3
import sys
import time
from pathlib import Path

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "points.db"
database = sqlite3.connect(path, isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS points (id INTEGER PRIMARY KEY, value REAL)")
database.execute("BEGIN")
database.executemany("INSERT OR REPLACE INTO points VALUES (?, ?)", ((at, at / 7) for at in range(5000)))
database.execute("COMMIT")
began = time.perf_counter()
if mended:
    database.execute("BEGIN")
total = 0.0
for query in range(30_000):
    (value,) = database.execute("SELECT value FROM points WHERE id = ?", (query * 37 % 5000,)).fetchone()
    total += value
if mended:
    database.execute("COMMIT")
print(time.perf_counter() - began)
