"""Final calls of a thread: those of its destructors after the tracer has released its ring."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.events import Kind
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing

WRITES = 350


def test_ring_that_was_not_read_yet_is_not_written_over(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = built(tmp_path_factory, "late_thread.c")
    with Tracing(tmp_path, ring_records=256) as tracing:
        # The collector does not poll meanwhile, so the ring has all writes of the thread when its destructors run.
        subprocess.run([program, tmp_path / "out"], env=tracing.environment(), check=True, timeout=DEADLINE_S)
        tracing.poll()
        tracing.settle()
        written = sum(int((batch.kind == Kind.WRITE).sum()) for batch in tracing.events().values())
        dropped = sum(count for name, count in tracing.source.counters.items() if name.startswith("events_dropped"))
        assert written + dropped == WRITES
        assert written == 256
        assert not tracing.source.counters["rings_malformed"]
