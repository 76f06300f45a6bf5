"""Insert results into SQLite, one transaction each."""

import sqlite3
import sys
from pathlib import Path

with sqlite3.connect(Path(sys.argv[1]) / "results.db") as base:
    base.execute("create table results (number integer, value real)")
    for number in range(400):
        base.execute("insert into results values (?, ?)", (number, number / 3))
        base.commit()
