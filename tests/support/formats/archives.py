"""Archives for tests of readers and writers."""

from __future__ import annotations

import io

import numpy as np
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.definitions import FileInfo

BEGIN = 1_700_000_000_123_456_789


def archived(seed: int, calls: int = 300) -> ArchiveReader:
    """Two processes with calls of every kind and values in every column."""
    random = np.random.default_rng(seed)
    writer = ArchiveWriter()
    written = writer.begin({"job": "simulation"})
    for rank in (0, 1):
        batch = make_batch(
            calls,
            {
                "start": BEGIN + np.cumsum(random.integers(0, 10**10, calls)),
                "duration": random.integers(0, 10**9, calls),
                "call": random.integers(1, 4, calls),
                "layer": random.integers(0, 8, calls),
                "kind": random.integers(0, 10, calls),
                "file": random.integers(0, 3, calls),
                "pid": 70 + random.integers(0, 2, calls),
                "tid": random.integers(1, 2**31, calls),
                "rank": rank,
                "handle": random.integers(0, 2**32, calls),
                "parent": random.integers(0, 5, calls),
                "depth": random.integers(0, 3, calls),
                "offset": random.integers(-1, 2**40, calls),
                "requested": random.integers(0, 2**40, calls),
                "bytes": random.integers(0, 2**40, calls),
                "errno": random.integers(0, 3, calls),
                "flags": random.integers(0, 32, calls),
                "signature": random.integers(0, 2, calls),
            },
        )
        names = Definitions(
            [(1, "read"), (2, "my own call"), (3, "H5Dwrite")],
            [(1, FileInfo('/s/ü "x"')), (2, FileInfo("/s/back\\slash"))],
            [],
            [(1, "read(fd=3)")],
        )
        info = StreamInfo(job="sim", source="preload", rank=rank, pid=70, host=f"n{rank}", user="u", command="./a b")
        written += writer.opened(str(rank), info) + writer.batch(str(rank), batch, names)
    return ArchiveReader(io.BytesIO(written + writer.end()), "test")
