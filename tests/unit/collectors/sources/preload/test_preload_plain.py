"""Many records at once: columns equal those of the general decoder, and constant columns use no memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.node.file_metadata import NodeFileMetadata
from iotide.collectors.source import Problems
from iotide.collectors.sources.preload.records import plain
from iotide.collectors.sources.preload.records.names import Names
from iotide.collectors.sources.preload.records.ring_layout import ENTRY, ENTRY_CALL, ENTRY_FILE, MARK_WORDS, RECORD
from iotide.collectors.sources.preload.records.signatures import Allowance
from iotide.collectors.sources.preload.traced_process import TracedProcess
from iotide.collectors.sources.preload.untraced import UntracedPrograms
from iotide.events import EventBatch, StreamInfo, concatenate, is_constant
from iotide.events.schema import COLUMNS

CALLS = {1: b"pwrite64(fd:d,count:n,offset:o)", 2: b"fsync(fd:d)=i", 3: b"read(fd:d,count:n)"}
FILES = {1: b"/data/one", 2: b"/data/two"}
OFFSET_NS = 1_700_000_000 * 10**9
VALUES: dict[str, Sequence[int]] = {
    "start": (5, 700, 2**40),
    "duration": (1, 9_000, 2**63 - 1, -1),
    "offset": (-1, 0, 64),
    "requested": (64, 0, -3, 1 << 40),
    "bytes": (64, 0, 2**61),
    "handle": (3, 4),
    "parent": (0, 3),
    "file": (1, 2, 9, 2**32 - 1),
    "descriptor": (3, -1),
    "call": (1, 2, 3, 7, 65_535),
    "flags": (1, 5),
    "kind": (8, 7, 200),
    "errno": (0, 28),
    "depth": (0, 1, 254),
}
VALID = {name: values[:2] for name, values in VALUES.items()} | {"call": VALUES["call"], "file": (1, 9)}


@st.composite
def lines_of(draw: st.DrawFn, values: dict[str, Sequence[int]], most: int = 1500) -> npt.NDArray[np.uint64]:
    """Lines with few varying columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.zeros(draw(st.integers(plain.MIN_LINES, most)), RECORD)
    varying = draw(st.sets(st.sampled_from(sorted(values))))
    for name, possible in values.items():
        rows[name] = rng.choice(np.array(possible, rows[name].dtype), len(rows)) if name in varying else possible[0]
    return rows.view(np.uint64).reshape(-1, 8)


def process(allowed: int = 65_536, counters: Counter[str] | None = None) -> TracedProcess:
    counters = Counter() if counters is None else counters
    info = StreamInfo(job="job", source="preload", pid=7, clock_offset_ns=OFFSET_NS)
    with closing(NodeFileMetadata()) as node:
        facts = node.of_process(7, 0)  # of a process that does not exist, so nothing is looked up later
    made = TracedProcess("s", info, frozenset(), facts, counters, Problems(), Allowance(allowed), UntracedPrograms())
    for kind, entries in ((ENTRY_CALL, CALLS), (ENTRY_FILE, FILES)):
        for number, text in entries.items():
            size = (ENTRY.size + len(text) + 15) // 16 * 16
            made.learn(ENTRY.pack(size, kind, len(text), number, 1) + text.ljust(size - ENTRY.size, b"\0"))
    return made


def taken(made: TracedProcess, pieces: Iterable[tuple[int, npt.NDArray[np.uint64]]]) -> EventBatch:
    for tid, lines in pieces:
        made.add_lines(tid, lines)
    made.settle(0.0)
    batches = []
    while (batch := made.take(0.0, ended=True)) is not None:
        batches.append(batch)
    return concatenate(batches)


def rows(batch: EventBatch, made: TracedProcess) -> dict[str, list[Any]]:
    """The columns with signatures as texts, because numbers depend on the order."""
    texts = {0: "", **dict(made.definitions().signatures)}
    columns = {name: column.tolist() for name, column in batch.columns().items()}
    return columns | {"signature": [texts[number] for number in batch.signature.tolist()]}


def in_small_pieces(lines: npt.NDArray[np.uint64]) -> list[npt.NDArray[np.uint64]]:
    return [lines[at : at + plain.MIN_LINES - 1] for at in range(0, len(lines), plain.MIN_LINES - 1)]


def check(lines: npt.NDArray[np.uint64], cuts: Sequence[int], allowed: int) -> TracedProcess:
    several, one = process(allowed), process(allowed)
    pieces = np.split(lines, sorted(min(cut, len(lines)) for cut in cuts))
    fast = taken(several, [(10 + number % 2, piece) for number, piece in enumerate(pieces)])
    slow = concatenate(
        [
            taken(one, [(10 + number % 2, small)])
            for number, piece in enumerate(pieces)
            for small in in_small_pieces(piece)
        ]
    )
    assert {name: column.dtype for name, column in fast.columns().items()} == {
        name: dtype for name, (dtype, _) in COLUMNS.items()
    }
    assert rows(fast, several) == rows(slow, one)
    assert several.losses == one.losses
    return several


def test_kernel_is_there() -> None:
    assert plain.native() is not None


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(lines_of(VALUES), st.lists(st.integers(0, 1500), max_size=3), st.sampled_from([0, 65_536]))
def test_many_records_at_once_are_what_few_at_a_time_are(
    lines: npt.NDArray[np.uint64], cuts: list[int], allowed: int
) -> None:
    check(lines, cuts, allowed)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(lines_of(VALID), st.lists(st.integers(0, 1500), max_size=3), st.sampled_from([0, 65_536]))
def test_valid_records_are_too_and_what_none_changes_takes_no_room(
    lines: npt.NDArray[np.uint64], cuts: list[int], allowed: int
) -> None:
    check(lines, cuts, allowed)
    batch = taken(process(), [(10, lines)])
    records = lines.view(RECORD).reshape(-1)
    for name in set(RECORD.names or ()) & set(COLUMNS):
        if len(np.unique(records[name])) == 1:
            assert is_constant(getattr(batch, name)), name


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 5000))
def test_more_signatures_than_are_remembered_keep_their_numbers(seed: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    records = np.zeros(6000, RECORD)
    records["call"], records["kind"], records["file"] = 1, 8, 1
    records["requested"] = rng.integers(0, kinds, len(records))
    made = process()
    texts: dict[int, str] = {}
    for part in np.split(records, [2000, 4000]):  # the numbers of the first are looked up for the others
        batch = taken(made, [(10, part.view(np.uint64).reshape(-1, 8))])
        texts |= dict(made.definitions().signatures)
        expected = [f"pwrite64(fd=0, count={size})" for size in part["requested"].tolist()]
        assert [texts[number] for number in batch.signature.tolist()] == expected


@pytest.mark.parametrize(("field", "value"), [("words", 1), ("depth", MARK_WORDS), ("kind", 200), ("bytes", 2**62)])
def test_one_complex_record_sends_all_to_the_general_decoder(field: str, value: int) -> None:
    records = np.zeros(1000, RECORD)
    with closing(NodeFileMetadata()) as node:
        names = Names(node.of_process(7, 0), Counter(), Allowance())
    assert plain.plain_columns([records.view(np.uint64).reshape(-1, 8)], 0, names) is not None
    records[field][700] = value
    assert plain.plain_columns([records.view(np.uint64).reshape(-1, 8)], 0, names) is None


def test_calls_without_room_for_their_signature_are_all_counted() -> None:
    counters: Counter[str] = Counter()
    records = np.zeros(1000, RECORD)
    records["call"], records["kind"] = 1, 8
    batch = taken(process(0, counters), [(10, records.view(np.uint64).reshape(-1, 8))])
    assert not batch.signature.any()
    assert counters["signatures_dropped"] == 1000
