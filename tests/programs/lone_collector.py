"""A collector in a separate process, to be stopped and killed. usage: lone_collector.py SOCKET COUNT_FILE

Stores in COUNT_FILE the number of recorded calls on files with "out" in their names, and then the number of all calls
reported as dropped. After SIGUSR1 it kills itself as soon as both are stored.
"""

from __future__ import annotations

import os
import signal
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
    asked: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _: asked.append(number))
    while True:
        ends = bool(asked)
        for item in source.poll():
            if isinstance(item, Opened):
                tables[item.stream] = DefinitionTable()
            elif isinstance(item, Chunk):
                table = tables[item.stream]
                table.apply(item.definitions)
                seen += sum("out" in Path(table.file(number).path).name for number in item.batch.file.tolist())
        dropped = sum(n for name, n in source.counters.items() if name.startswith("events_dropped"))
        os.pwrite(count, struct.pack("<qq", seen, dropped), 0)
        if ends:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.005)


main()
