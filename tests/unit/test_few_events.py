"""Batches of few events, looked at one by one: what comes of them is what comes of columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.file_groups import READS, WRITES
from iotide.analyzers.online import observed
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.selection import counted, counted_of_few
from iotide.daemon import file_systems
from iotide.daemon.file_systems import FileSystems
from iotide.daemon.numbering import JobNames
from iotide.events import EventBatch, FileInfo, FileType, Kind, make_batch

FILES = (
    FileInfo("/data/a", FileType.REGULAR, "/data", "lustre", True),
    FileInfo("/usr/lib/b.so", FileType.REGULAR, "/", "ext4", False),
    FileInfo("pipe:[1]", FileType.PIPE),
    FileInfo("/home/c", FileType.REGULAR, "/home", "nfs4", True),
)


@st.composite
def batches(draw: st.DrawFn) -> EventBatch:
    length = draw(st.integers(1, 8))
    values = {
        "start": st.sampled_from([0, 5, 10**7, 10**9, 10**15]),
        "duration": st.sampled_from([0, 100, 10**8]),
        "kind": st.sampled_from([Kind.READ, Kind.WRITE, Kind.OTHER]),
        "bytes": st.sampled_from([0, 1, 4096, 2**62]),
        "depth": st.sampled_from([0, 0, 1]),
        "file": st.integers(0, 6),
    }
    columns: dict[str, Any] = {}
    for name, value in values.items():
        columns[name] = draw(value) if draw(st.booleans()) else [draw(value) for _ in range(length)]
    return make_batch(length, columns)


TABLES = st.lists(st.sampled_from([0, READS, WRITES, READS | WRITES]), max_size=6).map(
    lambda bits: np.array(bits, "u1")
)


@settings(deadline=None)
@given(batches(), TABLES)
def test_the_same_events_count(batch: EventBatch, left_out: Any) -> None:
    assert counted_of_few(batch, left_out) == np.flatnonzero(counted(batch, left_out, "both")).tolist()


@settings(deadline=None)
@given(st.lists(st.tuples(batches(), st.sampled_from([None, 10**9, 10**15]))), TABLES)
def test_the_signal_is_the_same(made: list[tuple[EventBatch, int | None]], left_out: Any) -> None:
    few, many = (observed.Seen(DetectSettings()) for _ in range(2))
    for batch, now_ns in made:
        span = few.add(batch, left_out, now_ns)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(observed, "FEW", 0)
            assert many.add(batch, left_out, now_ns) == span
        assert pickle.dumps(few) == pickle.dumps(many)


@settings(deadline=None)
@given(st.lists(batches()))
def test_the_file_systems_are_the_same(made: list[EventBatch]) -> None:
    names = JobNames(10, 10)
    for info in FILES:
        names.file(info)
    few, many = FileSystems(names), FileSystems(names)
    for batch in made:
        known = batch.replace(file=np.minimum(batch.file, len(FILES)))
        few.add(known)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(file_systems, "FEW", 0)
            many.add(known)
        assert few.used == many.used
