"""Insert rows with a transaction each, without flushes; mended: in one transaction."""

import sqlite3
import sys
import time
from pathlib import Path

mended, path = sys.argv[1] == "mended", Path(sys.argv[2]) / "rows.db"
path.unlink(missing_ok=True)
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA synchronous=OFF")
database.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, value REAL)")
began = time.perf_counter()
if mended:
    database.execute("BEGIN")
for at in range(5000):
    database.execute("INSERT INTO entries VALUES (?, ?)", (at, at / 7))
if mended:
    database.execute("COMMIT")
print(time.perf_counter() - began)
