"""The tracer reports which calls of the C library made system calls, from the stream's buffer instead of the clock."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from iotide.events import Flag, Kind
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing

RECORDS = 1024
BUFFERS = RECORDS * 8 // 4096


@pytest.mark.parametrize(("how", "expected"), [("buffered", BUFFERS), ("unbuffered", RECORDS)])
def test_calls_that_made_system_calls_are_flagged(
    how: str, expected: int, tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = built(tmp_path_factory, "stdio_buffers.c")
    assert tracing.run([program, tmp_path, how]).returncode == 0
    rows = [
        row for row in tracing.rows() if row.kind in (Kind.READ, Kind.WRITE) and row.path.startswith(f"{tmp_path}/")
    ]
    calls = Counter(row.call for row in rows)
    through = Counter(row.call for row in rows if row.flags & Flag.THROUGH)
    names = ("fwrite", "fprintf", "fread", "fgets")
    assert {name: calls[name] for name in names} == dict.fromkeys(names, RECORDS)
    assert {name: through[name] for name in names} == dict.fromkeys(names, expected)
