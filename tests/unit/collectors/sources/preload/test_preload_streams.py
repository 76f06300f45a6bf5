"""Streams of many short processes: batching until their end, and reuse of equal ones, change no result."""

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
from iotide.collectors.source import Chunk, Closed, Lost, Opened, Origin, Problems, SourceItem
from iotide.collectors.sources.preload.records.ring_layout import (
    ENTRY,
    ENTRY_CALL,
    ENTRY_FILE,
    HEADER,
    MARK_WORDS,
    RECORD,
)
from iotide.collectors.sources.preload.rings.ended_process import read_ended
from iotide.collectors.sources.preload.streams import Streams
from iotide.events import Definitions, DefinitionTable, concatenate
from support.tracing.regions import MadeRegion

CALLS = (b"open(path:f,flags:O,mode:m)=d", b"write(fd:d,from:-,count:n)", b"rename(from:f,to:p)=i")
Entry = tuple[int, int, int, bytes]
Life = tuple[bytes, npt.NDArray[np.uint64]]


def log_of(*entries: Entry) -> bytes:
    log = b""
    for kind, number, aux, text in entries:
        size = (ENTRY.size + len(text) + 15) // 16 * 16
        log += ENTRY.pack(size, kind, len(text), number, aux) + text.ljust(size - ENTRY.size, b"\0")
    return log


def short_life(paths: tuple[bytes, ...], writes: int, *, renames: bool = False) -> Life:
    """Return definitions and lines of a process: it writes files, and may rename the first to the second."""
    files = [(ENTRY_FILE, number, 0, path) for number, path in enumerate(paths, 1)]
    calls = [(ENTRY_CALL, number, 1, text) for number, text in enumerate(CALLS[: 3 if renames else 2], 1)]
    rows = np.zeros(2 * writes + renames, RECORD)
    rows["start"], rows["duration"] = 1000 + np.arange(len(rows)), 5
    rows["call"], rows["file"], rows["descriptor"], rows["requested"] = 2, 1 + np.arange(len(rows)) % len(paths), 3, 6
    rows["bytes"] = 6
    lines = rows.view(np.uint64).reshape(-1, 8)
    if renames:
        rows[-1:]["call"], rows[-1:]["words"] = 3, 2
        words = np.zeros((1, 8), np.uint64)
        words[0, 0] = min(2, len(paths))
        words.view(np.uint8)[0, -1] = MARK_WORDS
        lines = np.concatenate([lines, words])
    return log_of(*files, *calls), lines


class Node:
    """Streams with a clock that tests set."""

    def __init__(self, patience_s: float) -> None:
        self.now_s = 0.0
        self.counters: Counter[str] = Counter()
        self.files = NodeFileMetadata()
        origin = Origin(job="job", host="node", user="user")
        problems = Problems()
        self.streams = Streams(
            "gate", origin, self.files, self.counters, problems, lambda: self.now_s, patience_s=patience_s
        )

    def begin(self, token: int, step: bytes = b"") -> None:
        header = np.zeros(1, HEADER)
        header["step"] = step
        self.streams.image_started(token, os.getpid(), header.tobytes(), follows=False)

    def does(self, token: int, life: Life) -> None:
        self.streams.lines(token, 7, life[1])
        self.streams.definitions(token, life[0])
        self.streams.settled(token)


def told(items: list[SourceItem]) -> dict[str, Any]:
    """Return the content of items by stream, independent of the cuts."""
    batches: dict[str, Any] = {}
    tables: dict[str, DefinitionTable] = {}
    defined: dict[str, list[Definitions]] = {}
    closed: dict[str, Any] = {}
    lost: Counter[tuple[str, str]] = Counter()
    for item in items:
        if isinstance(item, Opened):
            tables[item.stream] = DefinitionTable()
        elif isinstance(item, Chunk):
            tables[item.stream].apply(item.definitions)
            defined.setdefault(item.stream, []).append(item.definitions)
            batches.setdefault(item.stream, []).append(item.batch)
        elif isinstance(item, Lost):
            lost.update({(item.stream, reason): count for reason, count in item.losses.items()})
        elif isinstance(item, Closed):
            closed[item.stream] = item.losses
    events = {name: concatenate(some).columns() for name, some in batches.items()}
    return {
        "events": {name: {key: each.tolist() for key, each in columns.items()} for name, columns in events.items()},
        "strings": {name: [each for one in some for each in one.strings] for name, some in defined.items()},
        "files": {name: [each for one in some for each in one.files] for name, some in defined.items()},
        "signatures": {name: [each for one in some for each in one.signatures] for name, some in defined.items()},
        "closed": closed,
        "lost": lost,
    }


PATHS = st.lists(
    st.sampled_from([b"/tmp/a", b"/tmp/b", b"/tmp//b/", b"/tmp/c", b"/tmp", b"/dev/null"]), min_size=1, max_size=3
)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(PATHS, st.integers(0, 2), st.booleans(), st.lists(st.sampled_from([0.0, 0.03, 0.06]), max_size=3)),
        max_size=12,
    )
)
def test_short_processes_give_the_same_however_long_their_first_events_wait(
    processes: list[tuple[list[bytes], int, bool, list[float]]],
) -> None:
    outcomes = []
    for patience_s in (0.0, 0.05):
        node = Node(patience_s)
        items: list[SourceItem] = []
        for token, (paths, writes, renames, waits) in enumerate(processes):
            node.begin(token)
            node.streams.counters(token, -1, 0, {"events_dropped:ring_full": token % 2})
            for wait_s in (*waits, 0.0):
                node.does(token, short_life(tuple(paths), writes, renames=renames))
                items += node.streams.items()
                node.now_s += wait_s
                items += node.streams.items()
            node.streams.ended(token)
            items += node.streams.items()
            assert not node.streams.is_waiting
        outcomes.append((told(items), +node.counters))
        node.streams.close()
        node.files.close()
    assert outcomes[0] == outcomes[1]


def test_first_events_wait_for_the_end_of_a_short_process_and_no_longer_than_that() -> None:
    node = Node(0.05)
    for token in (1, 2):
        node.begin(token)
        node.does(token, short_life((b"/tmp/a", b"/tmp/b"), 1))
    assert [type(item) for item in node.streams.items()] == [Opened]  # of the command, by whose name the job goes
    assert node.streams.held_lines == 4
    assert node.streams.is_waiting
    node.streams.ended(2)
    assert [type(item) for item in node.streams.items()] == [Opened, Chunk, Closed]
    node.now_s = 0.06
    (chunk,) = node.streams.items()
    assert isinstance(chunk, Chunk)
    assert len(chunk.batch) == 2
    assert not node.streams.is_waiting
    node.does(1, short_life((b"/tmp/a", b"/tmp/b"), 1))  # it is none of the short ones
    assert [type(item) for item in node.streams.items()] == [Chunk]
    node.streams.close()
    node.files.close()


def test_process_without_calls_is_reported_after_the_wait_for_its_first_events() -> None:
    node = Node(0.05)
    for token in (1, 2):
        node.begin(token)
    assert [type(item) for item in node.streams.items()] == [Opened]
    assert node.streams.is_waiting
    node.now_s = 0.06
    assert [type(item) for item in node.streams.items()] == [Opened]
    assert not node.streams.is_waiting
    node.streams.ended(2)
    assert [type(item) for item in node.streams.items()] == [Closed]
    node.streams.close()
    node.files.close()


def test_first_process_of_a_step_begins_before_its_short_ones_end() -> None:
    node = Node(0.05)
    for token, step in enumerate((b"", b"0", b"0")):
        node.begin(token, step)
    node.streams.ended(2)
    items = node.streams.items()
    assert [type(item) for item in items] == [Opened, Opened, Opened, Closed]
    assert [item.info.step for item in items if isinstance(item, Opened)] == ["", "0", "0"]
    assert [item.stream[-1] for item in items if isinstance(item, Opened)] == ["0", "1", "2"]
    node.streams.close()
    node.files.close()


def test_lines_of_ended_processes_wait_until_their_events_are_returned() -> None:
    """A reader of a file returns events after a number of waiting lines, however many processes repeat others."""
    node = Node(0.05)
    with MadeRegion(64) as made:
        made.put(3)
        entry = read_ended(made.descriptor, 12, 77) or b""
    node.streams.ended_processes(5 * entry)
    assert node.streams.waiting_lines == 15
    assert sum(len(each.batch) for each in node.streams.items() if isinstance(each, Chunk)) == 15
    assert node.streams.waiting_lines == 0


@pytest.mark.parametrize("earlier", [0, 99], ids=["of this collector", "of an earlier collector"])
def test_losses_between_regions_count_unless_the_earlier_region_was_read(earlier: int) -> None:
    """A process counts what the collector, which was late, may not read of the region that the process left."""
    node = Node(0.05)
    with MadeRegion(64) as first:
        first.put(3)
        node.streams.ended_processes(read_ended(first.descriptor, 12, 77) or b"")
    header = np.zeros(1, HEADER)
    header["before_token"] = earlier or 77
    lost = {"events_dropped:collector_gone": 5, "bytes_dropped:collector_gone": 320}
    node.streams.image_started(78, 12, header.tobytes(), follows=False)
    node.streams.counters(78, -1, 0, lost)
    node.streams.ended(78)
    assert [item.losses for item in node.streams.items() if isinstance(item, Closed)] == [{}, lost if earlier else {}]
    node.files.close()


def test_each_process_that_is_not_collected_is_introduced_and_counted() -> None:
    node = Node(0.05)
    for token in (1, 2):
        node.streams.not_collected(token, 7, np.zeros(1, HEADER).tobytes(), "processes_refused")
    items = node.streams.items()
    assert [type(item) for item in items] == [Opened, Closed, Opened, Closed]
    assert [item.losses for item in items if isinstance(item, Closed)] == [{"processes_refused": 1}] * 2
    assert not node.streams.is_waiting
    node.files.close()


def test_call_that_shows_a_path_shows_that_of_its_process() -> None:
    node = Node(0.05)
    shown = []
    for token in range(4):
        node.begin(token)
        node.does(token, short_life((b"/tmp/a", b"/tmp/to%d" % token), 0, renames=True))
        node.streams.ended(token)
        (definitions,) = (item.definitions for item in node.streams.items() if isinstance(item, Chunk))
        shown.append([text for _, text in definitions.signatures])
        assert [info.path for _, info in definitions.files] == ["/tmp/a", f"/tmp/to{token}"]
    assert shown == [[f"rename(to=/tmp/to{token}) = 0"] for token in range(4)]
    node.streams.close()
    node.files.close()


def test_way_of_io_that_is_not_seen_is_told_of_each_process() -> None:
    node = Node(0.05)
    for token, path in enumerate((b"/tmp/a", b"/tmp/b", b"anon_inode:[io_uring]", b"anon_inode:[io_uring]")):
        node.begin(token)
        node.does(token, short_life((path,), 1))
        node.streams.ended(token)
    assert [program.times for program in node.streams.untraced] == [2]
    assert node.counters["programs_unseen"] == 2
    node.streams.close()
    node.files.close()


def test_files_that_are_one_by_two_names_are_one_in_the_events() -> None:
    node = Node(0.05)
    files = []
    for token, names in enumerate((b"aba", b"cdc", b"efe", b"ghh", b"ijj", b"kll", b"mno")):
        node.begin(token)
        node.does(token, short_life(tuple(b"/tmp/%c" % name for name in names), 2))
        node.streams.ended(token)
        (batch,) = (item.batch for item in node.streams.items() if isinstance(item, Chunk))
        files.append(batch.file.tolist())
    assert files == 3 * [[1, 2, 1, 1]] + 3 * [[1, 2, 2, 1]] + [[1, 2, 3, 1]]
    node.streams.close()
    node.files.close()
