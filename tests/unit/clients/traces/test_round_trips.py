"""Every format that iotide writes and reads: calls return with every column listed in docs/convert.md."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.cli.archive.targets import TARGETS, count_losses
from iotide.collectors.source import Chunk, Closed, Opened, SourceItem
from iotide.events import COLUMNS, Definitions, FileInfo, FileType, Flag, Kind, Layer, StreamInfo, make_batch
from support.formats.parsing import collect
from support.formats.round_trips import (
    FORMATS,
    OF_CALLS,
    OF_STREAMS,
    archive_bytes,
    archive_of,
    converted_trace,
    documented_table,
    facts_of,
    read_again,
)

BEGIN = 1_700_000_000_123_456_789
CALLS = [
    "read",
    "pwrite64",
    "aio_error",
    "aio_return",
    "MPI_Wait",
    "H5Dwrite",
    "fread",
    "my own call",
    "openat",
    "msync",
]
FILES = [
    FileInfo("/scratch/out", FileType.REGULAR), FileInfo('/s/ü "x"\\', FileType.REGULAR),
    FileInfo("socket of the job", FileType.SOCKET), FileInfo("/mnt/dir", FileType.DIRECTORY),
    FileInfo("pipe:[81]", FileType.PIPE),
]  # fmt: skip
SIGNATURES = ["aio_return(id=3) = 4000", "aio_error(id=4) = 0", 'open("%s", 0x1)', "read(fd=3) = -1 EBADF"]
RANGES: dict[str, tuple[int, int]] = {
    "start": (BEGIN, BEGIN + 10**15), "duration": (0, 10**12), "call": (1, len(CALLS)), "file": (0, len(FILES)),
    "layer": (0, int(max(Layer))), "kind": (0, int(max(Kind))), "rank": (-1, 5), "pid": (0, 2**31 - 1),
    "tid": (0, 2**31 - 1), "handle": (0, 2**32 - 1), "parent": (0, 2**32 - 1), "depth": (0, 255),
    "offset": (-1, 2**61), "requested": (0, 2**61), "bytes": (0, 2**61), "errno": (0, 2**16 - 1),
    "flags": (0, 2**16 - 1), "signature": (0, len(SIGNATURES)),
}  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> list[SourceItem]:
    items: list[SourceItem] = []
    for number in range(draw(st.integers(1, 3))):
        length = draw(st.integers(0, 8))
        columns: dict[str, Any] = {}
        for name in COLUMNS:
            values = st.integers(*RANGES[name])
            columns[name] = np.array(draw(st.lists(values, min_size=length, max_size=length)), COLUMNS[name][0])
        own = draw(st.booleans())
        info = StreamInfo(
            job=draw(st.sampled_from(["one", 'job "2" %s'])), source="preload", host=draw(st.sampled_from(["", "n1"])),
            command=draw(st.sampled_from(["", "./a b"])), user=draw(st.sampled_from(["", "ann"])),
            clock_offset_ns=None if own else 0,
        )  # fmt: skip
        if own:
            columns["start"] = columns["start"] - BEGIN
        names = Definitions(list(enumerate(CALLS, 1)), list(enumerate(FILES, 1)), [], list(enumerate(SIGNATURES, 1)))
        stream = f"stream {number}"
        items += [Opened(stream, info), Chunk(stream, make_batch(length, columns), names), Closed(stream)]
    return items


@pytest.mark.slow
@pytest.mark.parametrize("form", [form for form in FORMATS if form != "otf2"])  # which has handles, not numbers of them
@settings(max_examples=60, deadline=None)
@given(items=streams())
def test_any_calls_come_back_with_all_that_is_promised(form: str, items: list[SourceItem]) -> None:
    kept = {what for what, told in documented_table()[form].items() if told == "yes"}
    reader = archive_of(items)
    with tempfile.TemporaryDirectory() as folder:
        path, _ = converted_trace(reader, form, Path(folder))
        again = read_again(path) if sum(len(item.batch) for item in items if isinstance(item, Chunk)) else []
    before = [stream for stream in collect(items).values() if len(stream.events)]
    assert facts_of(again, kept) == facts_of(before, kept)


@pytest.mark.parametrize("form", FORMATS)
def test_the_table_has_a_row_for_each_fact_and_convert_reports_losses(form: str) -> None:
    assert set(documented_table()[form]) == {*OF_CALLS, *OF_STREAMS}
    info = StreamInfo(
        job="j", source="preload", host="h", user="u", command="c", step="s", rank=1, ranks=2, pid=3, parent_pid=4,
        clock_offset_ns=None,
    )  # fmt: skip
    batch = make_batch(1, {"call": 1, "file": 1})
    names = Definitions([(1, "read")], [(1, FileInfo("/f", mount_point="/", filesystem="ext4", shared=False))])
    reader = archive_of([Opened("s", info), Chunk("s", batch, names), Closed("s")])
    lost = "\n".join(count_losses(reader, TARGETS[form]))
    for what, words in {
        "parent_pid": "parents of", "ranks": "numbers of ranks", "mount": "mount point",
    }.items():  # fmt: skip
        assert (words in lost) == (documented_table()[form][what] != "yes"), what


@pytest.mark.slow
def test_bytes_of_asynchronous_completions_failed_calls_and_depth_come_back_in_all_formats(tmp_path: Path) -> None:
    count = 7  # the last but one is within the last
    columns = {
        "start": BEGIN + np.array([0, 1000, 2000, 3000, 6000, 4010, 4000]), "duration": np.array([10] * 6 + [100]),
        "call": np.array([5, 3, 4, 1, 9, 2, 6]), "file": 1, "pid": 7, "tid": 7,
        "layer": np.array([3, 1, 1, 1, 1, 1, 4]),
        "kind": np.array([8, 7, 8, 7, 1, 8, 8]), "bytes": np.array([4000, 3000, 500, 0, 0, 9, 9]),
        "requested": np.array([0, 0, 0, 64, 0, 9, 9]), "depth": np.array([0, 0, 0, 0, 0, 1, 0]),
        "errno": np.array([0, 0, 0, 9, 2, 0, 0]), "flags": np.array([0, 0, 0, 4, 4, 0, 0]),
        "signature": np.array([0, 2, 1, 4, 3, 0, 0]),
    }  # fmt: skip
    batch = make_batch(count, columns)
    names = Definitions(list(enumerate(CALLS, 1)), list(enumerate(FILES, 1)), [], list(enumerate(SIGNATURES, 1)))
    items: list[SourceItem] = [
        Opened("s", StreamInfo(job="j", source="preload", pid=7)),
        Chunk("s", batch, names),
        Closed("s"),
    ]
    told: dict[str, list[str]] = {}
    for form in FORMATS:
        folder = tmp_path / form
        folder.mkdir()
        path, _ = converted_trace(archive_of(items), form, folder)
        promise = documented_table()[form]["flags"] == "yes"
        for row in facts_of(
            read_again(path), {"call", "kind", "bytes", "depth", "errno", "flags", "signature", "start"}
        ):
            row["flags"] &= -1 if promise else ~int(Flag.BLOCKING)
            told.setdefault(form, []).append(repr(row))
    assert len(told["jsonl"]) == count
    assert told == dict.fromkeys(FORMATS, told["jsonl"])


def test_archives_come_back_whole(tmp_path: Path) -> None:
    info = StreamInfo(job="j", source="preload", host="h", rank=2, ranks=4, pid=7, parent_pid=5, step="0", user="u")
    columns = {name: np.arange(5) % (RANGES[name][1] + 1) for name in COLUMNS}
    files = [FileInfo("/f", FileType.REGULAR, "/", "ext4", False), *FILES]
    names = Definitions(list(enumerate(CALLS, 1)), list(enumerate(files, 1)), [], list(enumerate(SIGNATURES, 1)))
    items: list[SourceItem] = [Opened("s", info), Chunk("s", make_batch(5, columns), names), Closed("s")]
    path = tmp_path / "a.iotide"
    path.write_bytes(archive_bytes(items))
    everything = {*OF_CALLS, *OF_STREAMS}
    assert facts_of(read_again(path), everything) == facts_of(list(collect(items).values()), everything)
