"""Text after conversion by a terminal or a Windows editor: the same events as before."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.files.lines import MAX_LINE_BYTES, LineBuffer
from iotide.collectors.source import Chunk, Input, Origin
from iotide.collectors.sources.registry import FORMATS, open_file
from support.places import DATA

TEXTS = {
    "strace": (DATA / "strace_pipe.txt").read_bytes(),
    "tmio": (DATA / "tmio-8ranks.jsonl").read_bytes(),
    "tmio-json": (DATA / "tmio-custom-app.json").read_bytes(),
    "dftracer": gzip.decompress((DATA / "dftracer-calls.pfw.gz").read_bytes()),
    "perf": gzip.decompress((DATA / "perf_sched.txt.gz").read_bytes()),
    "lttng": gzip.decompress((DATA / "lttng.txt.gz").read_bytes()),
    "jsonl": b'{"call": "write", "path": "/a", "start": 1.5, "dur": 0.25, "size": 4096}\n' * 3,
    "chrome": b'[{"name": "write", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"size": 3}}]\n',
}


def events_of(path: Path, chunk: int = 1 << 16) -> tuple[int, int, int]:
    """Return the number of events of a file, their bytes, and the problems."""
    source = open_file(path, Origin(job="job"))
    events = moved = 0
    while not source.finished:
        for item in source.poll():
            if isinstance(item, Chunk):
                events += len(item.batch)
                moved += int(item.batch.bytes.sum())
    return events, moved, source.problems.total


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("change", ["mark", "ends", "both"])
def test_marks_and_ends_of_windows_change_nothing(tmp_path: Path, name: str, change: str) -> None:
    plain, changed = tmp_path / "plain", tmp_path / "changed"
    plain.write_bytes(TEXTS[name])
    text = TEXTS[name] if change == "mark" else TEXTS[name].replace(b"\n", b"\r\n")
    changed.write_bytes((b"" if change == "ends" else b"\xef\xbb\xbf") + text)
    assert events_of(changed) == events_of(plain)
    assert events_of(plain)[0]


def parsed(name: str, text: bytes, piece: int) -> list[object]:
    """Return what a parser makes of a text that arrives in pieces."""
    parser = FORMATS[name].parser
    assert parser is not None
    about = Input(name="x", origin=Origin(job="job"))
    made = parser(about)
    items = [item for at in range(0, len(text), piece) for item in made.feed(text[at : at + piece])]
    chunks = [item for item in [*items, *made.finish()] if isinstance(item, Chunk)]
    events = sum(len(chunk.batch) for chunk in chunks), sum(int(chunk.batch.bytes.sum()) for chunk in chunks)
    return [events, about.counters, [str(problem) for problem in about.problems.first]]


@pytest.mark.parametrize("name", ["strace", "jsonl", "dftracer", "perf", "lttng"])
@given(st.data())
@settings(deadline=None, max_examples=15)
def test_either_end_of_any_line_gives_the_same_events(name: str, data: st.DataObject) -> None:
    lines = TEXTS[name].splitlines(keepends=True)[:60]
    ends = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    mixed = b"".join(line[:-1] + b"\r\n" if end else line for line, end in zip(lines, ends, strict=True))
    piece = data.draw(st.sampled_from([1, 7, 100, 1 << 20]))
    assert parsed(name, mixed, piece) == parsed(name, b"".join(lines), 1 << 20)


@pytest.mark.parametrize("name", ["strace", "jsonl", "dftracer", "perf", "lttng"])
def test_lines_of_all_formats_have_one_bound(name: str) -> None:
    lines = TEXTS[name].splitlines(keepends=True)[:60]
    events, *_ = parsed(name, b"".join(lines), 1 << 20)
    for length in (MAX_LINE_BYTES, MAX_LINE_BYTES + 1):
        text = b"".join([*lines[:-1], b"\x01" * length + b"\n", lines[-1]])
        made = parsed(name, text, 1000)
        assert made[0] == events
        assert ("the line is too long" in str(made[2])) == (length > MAX_LINE_BYTES)


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"b\r\n", b"\r"])), st.integers(0, 9), st.booleans())
def test_any_split_gives_the_same_lines(pieces: list[bytes], at: int, as_is: bool) -> None:
    text = b"".join(pieces)
    whole, split = LineBuffer(100, as_is=as_is), LineBuffer(100, as_is=as_is)
    once = whole.feed(text).data + whole.finish().data
    twice = split.feed(text[:at]).data + split.feed(text[at:]).data + split.finish().data
    ended = text + (b"" if not text or text.endswith(b"\n") else b"\n")
    assert once == twice == (ended if as_is else ended.replace(b"\r\n", b"\n"))
