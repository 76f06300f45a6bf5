"""Short processes that repeat others: their events and definitions equal those of separate decoding."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.node.file_metadata import NodeFileMetadata
from iotide.collectors.source import Problems
from iotide.collectors.sources.preload.records import repeated_processes
from iotide.collectors.sources.preload.records.repeated_processes import ProcessTemplate, ProcessTemplates
from iotide.collectors.sources.preload.records.ring_layout import (
    ENTRY,
    ENTRY_CALL,
    ENTRY_FILE,
    ENTRY_HANDLE,
    ENTRY_STRING,
    ENTRY_UNSEEN,
    MARK_WORDS,
    RECORD,
)
from iotide.collectors.sources.preload.records.signatures import Allowance
from iotide.collectors.sources.preload.traced_process import TracedProcess
from iotide.collectors.sources.preload.untraced import UntracedPrograms
from iotide.events import EventBatch, FileType, StreamInfo
from iotide.events.schema import COLUMNS

Lines = npt.NDArray[np.uint64]
Entry = tuple[int, int, int, bytes]
Start = tuple[tuple[Entry, ...], Lines]
"""Definitions and lines of a process."""

ENTRIES: tuple[Entry, ...] = (
    (ENTRY_CALL, 1, 1, b"pwrite64(fd:d,count:n,offset:o)"),
    (ENTRY_CALL, 2, 1, b"fsync(fd:d)=i"),
    (ENTRY_CALL, 3, 99, b"no specification ("),
    (ENTRY_FILE, 1, 0, b"/tmp/./x//y/"),
    (ENTRY_FILE, 2, 0, b"/dev/null"),
    (ENTRY_FILE, 3, 0, b"/tmp"),
    (ENTRY_STRING, 1, 0, b"text"),
    (ENTRY_HANDLE, 3, 1, b"0 1 0 2 stdin"),
    (ENTRY_HANDLE, 4, 1, b"no handle"),
    (ENTRY_UNSEEN, 0, 1, b"/bin/static"),
    (ENTRY_FILE, 4, 0, b"anon_inode:[io_uring]"),
    (ENTRY_FILE, 5, 0, b"/tmp/x/y"),
    (ENTRY_CALL, 4, 1, b"rename(from:f,to:p)=i"),
)
PATHS = (
    b"/tmp/x/y",
    b"/tmp/x//y/",
    b"/tmp/other",
    b"/dev/null",
    b"pipe:[7]",
    b"anon_inode:[io_uring]",
    b"/tmp/" + 4100 * b"l",
    b"",
)


def log_of(entries: tuple[Entry, ...]) -> bytes:
    log = b""
    for kind, number, aux, text in entries:
        size = (ENTRY.size + len(text) + 15) // 16 * 16
        log += ENTRY.pack(size, kind, len(text), number, aux) + text.ljust(size - ENTRY.size, b"\0")
    return log


@st.composite
def lives(draw: st.DrawFn) -> Start:
    """Draw definitions and lines, some of which are parameter words, or should be."""
    entries = tuple(draw(st.lists(st.sampled_from(ENTRIES), max_size=8, unique=True)))
    rows = np.zeros(draw(st.integers(0, 6)), RECORD)
    choices = {"call": 4, "file": 4, "handle": 5, "requested": 2, "bytes": 2, "depth": 2, "kind": 12}
    for name, most in choices.items():
        rows[name] = [draw(st.integers(0, most)) for _ in range(len(rows))]
    lines = rows.view(np.uint64).reshape(-1, 8)
    for at in sorted(draw(st.sets(st.integers(0, max(len(lines) - 1, 0)), max_size=2)), reverse=True):
        words = np.full((1, 8), draw(st.sampled_from([1, 2, 7])), np.uint64)
        words.view(np.uint8)[0, -1] = MARK_WORDS
        if len(lines):
            lines[at : at + 1].view(RECORD)["words"] = draw(st.integers(0, 8))
        lines = np.concatenate([lines[: at + 1], words, lines[at + 1 :]])
    return entries, lines


def renamed(life: Start, data: st.DataObject) -> Start:
    """Return the same process with other files."""
    entries = tuple(
        (kind, number, aux, data.draw(st.sampled_from([text, *PATHS])) if kind == ENTRY_FILE else text)
        for kind, number, aux, text in life[0]
    )
    return entries, life[1]


def outcome(
    life: Start, own: tuple[int, int, int, int], known: ProcessTemplates | None, *, early: bool
) -> dict[str, Any]:
    """Return all results for such a process."""
    entries, lines = life
    start, duration, tid, rank = own
    lines = lines.copy()
    records = np.flatnonzero(lines.view(np.uint8).reshape(-1, 64)[:, -1] != MARK_WORDS)
    times = lines.view(np.int64)
    times[records, 0], times[records, 1] = start + records, duration
    counters: Counter[str] = Counter()
    problems, unseen = Problems(), UntracedPrograms()
    info = StreamInfo(job="j", source="preload", pid=7, rank=rank, clock_offset_ns=1000)
    node = NodeFileMetadata()
    facts = node.of_process(os.getpid(), 0)  # another process may have another root folder
    made = TracedProcess("s", info, frozenset(), facts, counters, problems, Allowance(), unseen, known)
    made.learn(log_of(entries))
    made.add_lines(tid, lines)
    batches: list[EventBatch] = []
    definitions = []
    for ended in (False, True) if early else (True,):
        made.settle(0.0)
        while (batch := made.take(0.0, ended=ended)) is not None:
            batches.append(batch)
        definitions.append(made.definitions())
    losses = made.take_losses()
    made.close()
    node.close()
    assert all(getattr(batch, name).dtype == dtype for batch in batches for name, (dtype, _) in COLUMNS.items())
    return {
        "events": [{name: column.tolist() for name, column in batch.columns().items()} for batch in batches],
        "definitions": definitions,
        "counters": +counters,
        "losses": (losses, made.losses),
        "problems": problems.total,
        "unseen": list(unseen),
    }


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_process_that_does_what_others_did_gives_what_it_would_for_itself(data: st.DataObject) -> None:
    pool = data.draw(st.lists(lives(), min_size=1, max_size=2))
    pool += [(entries, lines) for entries, _ in pool for _, lines in pool]
    known = ProcessTemplates()
    for _ in range(data.draw(st.integers(3, 12))):
        life = data.draw(st.sampled_from(pool))
        if data.draw(st.booleans()):
            life = renamed(life, data)
        own = (
            data.draw(st.sampled_from([0, 5000, 2**62])),
            data.draw(st.sampled_from([1, 77, -1])),
            data.draw(st.sampled_from([7, 8])),
            data.draw(st.sampled_from([-1, 3])),
        )
        early = data.draw(st.integers(0, 4)) == 0
        assert outcome(life, own, known, early=early) == outcome(life, own, None, early=early)


SIMPLE: Start = (ENTRIES[:2] + ENTRIES[3:6], np.zeros(5, RECORD).view(np.uint64).reshape(-1, 8))


def test_repeated_definitions_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ProcessTemplates()
    first = outcome(SIMPLE, (1, 1, 7, -1), known, early=False)
    assert outcome(SIMPLE, (1, 1, 7, -1), known, early=False) == first

    def learn(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(TracedProcess, "_learn", learn)
    assert outcome(SIMPLE, (1, 1, 7, -1), known, early=False) == first


def test_repeated_definitions_with_other_files_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    def life(number: int) -> Start:
        named = (ENTRY_FILE, 2, 0, b"/tmp/absent%d" % number)
        return (*ENTRIES[:2], ENTRIES[3], named, *ENTRIES[5:6]), SIMPLE[1]

    expected = outcome(life(3), (1, 1, 7, -1), None, early=False)
    known = ProcessTemplates()
    for number in (1, 2):
        outcome(life(number), (1, 1, 7, -1), known, early=False)

    def learn(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(TracedProcess, "_learn", learn)
    assert outcome(life(3), (1, 1, 7, -1), known, early=False) == expected
    assert [info.path for _, info in expected["definitions"][0].files] == ["/tmp/x/y", "/tmp/absent3", "/tmp"]


def test_file_that_has_become_another_is_looked_at_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("files") / "it"
    life = ((ENTRIES[0], (ENTRY_FILE, 1, 0, bytes(path))), SIMPLE[1])
    known = ProcessTemplates()
    for _ in range(3):
        found = outcome(life, (1, 1, 7, -1), known, early=False)
    assert found["definitions"][0].files[0][1].type == FileType.REGULAR
    path.mkdir()
    found = outcome(life, (1, 1, 7, -1), known, early=False)
    assert found["definitions"][0].files[0][1].type == FileType.DIRECTORY


def test_lives_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_processes, "_MAX_BYTES", 10_000)
    monkeypatch.setattr(repeated_processes, "_MAX_MET", 3)
    known, kept = ProcessTemplates(), []
    remember = ProcessTemplates.remember

    def counted(self: ProcessTemplates, key: bytes, life: ProcessTemplate) -> None:
        remember(self, key, life)
        kept.append(len(self._known))

    monkeypatch.setattr(ProcessTemplates, "remember", counted)
    for number in range(20):
        rows = np.zeros(2, RECORD)
        rows["offset"] = number
        life = (SIMPLE[0], rows.view(np.uint64).reshape(-1, 8))
        for _ in range(3):
            outcome(life, (1, 1, 7, -1), known, early=False)
    assert len(kept) >= 20
    assert max(kept) == 2
