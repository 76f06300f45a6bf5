"""A collector in a process of its own, to be stopped and killed. usage: lone_collector.py SOCKET COUNT_FILE

Keeps the number of calls seen on files with "out" in their names, and then of all that it says were dropped, in
COUNT_FILE.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from pathlib import Path

from iotide.collectors.source import Chunk, Opened, Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import DefinitionTable


def main() -> None:
    source = PreloadSource(Path(sys.argv[1]), Origin(job="lone"))
    tables: dict[str, DefinitionTable] = {}
    count = os.open(sys.argv[2], os.O_CREAT | os.O_RDWR, 0o600)
    seen = 0
    while True:
        for item in source.poll():
            if isinstance(item, Opened):
                tables[item.stream] = DefinitionTable()
            elif isinstance(item, Chunk):
                table = tables[item.stream]
                table.apply(item.definitions)
                seen += sum("out" in Path(table.file(number).path).name for number in item.batch.file.tolist())
        dropped = sum(n for name, n in source.counters.items() if name.startswith("events_dropped"))
        os.pwrite(count, struct.pack("<qq", seen, dropped), 0)
        time.sleep(0.005)


main()
