"""Batches of few events, processed one by one: the results equal those by columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.file_groups import READS, WRITES
from iotide.analyzers.online import job_signal
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.selection import counted, counted_of_few
from iotide.daemon.jobs import file_systems
from iotide.daemon.jobs.file_systems import FileSystems
from iotide.events import EventBatch, FileInfo, FileType, Kind, make_batch
from iotide.results.prediction import FileSystem

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
    few, many = (job_signal.ReadWriteSignals(DetectSettings()) for _ in range(2))
    for batch, now_ns in made:
        span = few.add(batch, left_out, now_ns)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(job_signal, "FEW", 0)
            assert many.add(batch, left_out, now_ns) == span
        assert pickle.dumps(few) == pickle.dumps(many)


@settings(deadline=None)
@given(st.lists(batches()))
def test_the_file_systems_are_the_same(made: list[EventBatch]) -> None:
    names = JobNames(10, 10)
    for info in FILES:
        names.file(info)
    few, many = FileSystems(names), FileSystems(names)
    used: list[FileSystem] = []
    for batch in made:
        known = batch.replace(file=np.minimum(batch.file, len(FILES)))
        few.add(known)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(file_systems, "FEW", 0)
            many.add(known)
        used += [place for place in places(known, names) if place not in used]
        assert few.used == many.used == used


def places(batch: EventBatch, names: JobNames) -> list[FileSystem]:
    """Return the paths of the files with bytes in a batch, in the order of their numbers."""
    rows = zip(*(getattr(batch, name).tolist() for name in ("file", "kind", "bytes", "depth")), strict=True)
    ways = {int(Kind.READ): READS, int(Kind.WRITE): WRITES}
    files = {
        file for file, kind, moved, depth in rows if moved and not depth and ways.get(kind, 0) & ~left_out(names, file)
    }
    found = [names.files[file] for file in sorted(files)]
    return [
        FileSystem(mount_point=each.mount_point, type=each.filesystem, shared=each.shared)
        for each in found
        if each.mount_point or each.filesystem
    ]


def left_out(names: JobNames, file: int) -> int:
    return int(names.left_out[file]) if file else READS | WRITES


@pytest.mark.parametrize("few", [0, 64])
def test_sixteen_file_systems_are_told_and_each_once(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(file_systems, "FEW", few)
    names = JobNames(10, 100)
    seen = FileSystems(names)
    for number in range(20):
        for twice in "ab":
            file = FileInfo(f"/m{number}/{twice}", FileType.REGULAR, f"/m{number}", "", None)
            seen.add(make_batch(1, {"kind": int(Kind.WRITE), "bytes": 1, "file": names.file(file)}))
    assert [place.mount_point for place in seen.used] == [f"/m{number}" for number in range(16)]
