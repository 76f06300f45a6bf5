"""Sums and byte ranges of advice: narrow columns in memory give what plain integers give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.advice.call_sums import Table
from iotide.analyzers.advice.extents import Extents, ExtentTable
from iotide.analyzers.advice.threads import Threads
from iotide.analyzers.pipeline.snapshots import restore, schema, snapshot
from iotide.events import Flag, Kind, Layer, StreamInfo, make_batch

BUDGET = 6
CEILING = 2**62
WIDTH = 2

amounts = st.one_of(st.integers(0, 3), st.integers(0, 2**20), st.sampled_from([2**31 - 1, 2**31, 2**40, 2**50]))
row = st.tuples(st.integers(10, 20), amounts, amounts, st.integers(-(2**40), 2**60), amounts)
"""Key, two sums, minimum, and the maximum less the minimum."""


class PlainTable:
    """One row after another, in a mapping."""

    def __init__(self) -> None:
        self.rows: dict[int, list[int]] = {}
        self.dropped = 0

    def add(self, key: int, first: int, second: int, least: int, most: int) -> None:
        if key not in self.rows and len(self.rows) >= BUDGET:
            self.dropped += first
            key %= 2
        row = self.rows.setdefault(key, [0, 0, CEILING, -CEILING])
        row[0], row[1] = min(row[0] + first, CEILING), min(row[1] + second, CEILING)
        row[2], row[3] = min(row[2], least), max(row[3], most)


@given(st.lists(st.tuples(st.lists(row, min_size=1, max_size=9), st.sampled_from(["", "merge", "dropped", "restore"]))))
@settings(deadline=None)
def test_table_has_the_sums_of_all_rows(steps: list[tuple[list[tuple[int, ...]], str]]) -> None:
    table, plain = Table(BUDGET, WIDTH), PlainTable()
    for rows, then in steps:
        key, first, second, least, span = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        table.add(key, [first, second], least, least + span, key % 2)
        for each in rows:
            plain.add(*each[:4], each[3] + each[4])
        if then == "merge":
            table.merge()
        elif then == "dropped":
            assert table.dropped == plain.dropped
        elif then == "restore":
            table = restore(snapshot(table))
    assert table.dropped == plain.dropped
    made = table.rows()
    assert made.key.tolist() == sorted(plain.rows)
    expected = [plain.rows[each] for each in sorted(plain.rows)]
    assert made.sums.tolist() == [each[:2] for each in expected]
    assert [made.least.tolist(), made.most.tolist()] == [[each[2] for each in expected], [each[3] for each in expected]]


def test_sums_saturate() -> None:
    table, one = Table(BUDGET, 1), np.ones(1, np.int64)
    for _ in range(3):
        table.add(one, [one * 2**61], one, one, one)
        table.merge()
    assert table.rows().sums.tolist() == [[CEILING]]


def test_small_sums_take_a_byte() -> None:
    table = Table(65_536, WIDTH)
    key = np.arange(5000)
    one = np.ones(5000, np.int64)
    table.add(key, [one, one], key, key, key)
    table.merge()
    assert sum(column.nbytes for column in table._columns) == 5000 * (1 + 1 + 2 + 1)


def test_saved_state_of_a_table_has_wide_columns() -> None:
    """Releases before the narrow ones read it, and the other way round: there, rows are in the order of ``_at``."""
    table = Table(BUDGET, 1)
    table.add(np.array([7, 5]), [np.array([1, 2])], np.array([3, 4]), np.array([30, 40]), np.zeros(2, np.int64))
    table.merge()
    names = ["_at", "_budget", "_dropped", "_keys", "_least", "_length", "_most", "_sums", "_waiting"]
    assert schema(snapshot(table)) == {"analyzers.advice.cells:Table": names}
    earlier = {
        "_at": np.array([1, 0]), "_budget": BUDGET, "_dropped": 0, "_keys": np.array([5, 7]), "_length": 0,
        "_least": np.array([3, 4, CEILING]), "_most": np.array([30, 40, -CEILING]),
        "_sums": np.array([[1], [2], [0]]), "_waiting": [],
    }  # fmt: skip
    read = Table.__new__(Table)
    read.__setstate__(earlier)
    assert [column.tolist() for column in read.rows()] == [column.tolist() for column in table.rows()]


def given_calls(table: ExtentTable, random: np.random.Generator, calls: int, stream: int) -> list[tuple[int, ...]]:
    """Add writes of a stream, of different sizes, and return them as extents."""
    start = 1_700_000_000 * 10**9 + np.cumsum(random.integers(1, 2**33, calls))
    offset = random.integers(0, 2**44, calls)
    size, duration = random.integers(1, 2**34, calls), random.integers(0, 2**33, calls)
    columns = {
        "start": start, "duration": duration, "kind": int(Kind.WRITE), "layer": int(Layer.POSIX), "file": 300,
        "handle": 3, "offset": offset, "bytes": size, "tid": 4, "pid": 4, "flags": int(Flag.BLOCKING),
    }  # fmt: skip
    threads = Threads(100)
    numbers = [threads.stream(str(number), StreamInfo(job="j", source="test")) for number in range(stream + 1)]
    table.update(make_batch(calls, columns), np.full(calls, numbers[-1]), threads, np.ones(calls, np.bool_))
    ends = [offset + size, start, start + duration]
    return list(zip(offset.tolist(), *(each.tolist() for each in ends), strict=True))


def ranges(found: Extents) -> list[tuple[int, ...]]:
    columns = (found.low, found.high, found.first, found.last)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(
    st.lists(st.tuples(st.integers(1, 200), st.sampled_from(["", "pack", "restore"])), max_size=6), st.integers(0, 9)
)
@settings(deadline=None, max_examples=40)
def test_byte_ranges_are_as_they_were_added(steps: list[tuple[int, str]], seed: int) -> None:
    table, random = ExtentTable(16_384), np.random.default_rng(seed)
    expected: list[tuple[int, ...]] = []
    for stream, (calls, then) in enumerate(steps):
        expected += given_calls(table, random, calls, stream)
        if then == "pack":
            table.pack()
        elif then == "restore":
            table = restore(snapshot(table))
    found = table.extents()
    assert ranges(found) == expected
    assert (found.file == 300).all()
    assert found.write.all()


def test_packed_byte_ranges_take_half_of_the_memory() -> None:
    table = ExtentTable(16_384)
    for stream in range(4):
        given_calls(table, np.random.default_rng(1), 1000, stream)
    assert not table._extents
    assert sum(column.nbytes for part in table._packed for column in part) <= 4000 * 8 * 8 * 0.6
    stored = snapshot(table)
    assert "_packed" not in schema(stored)["analyzers.advice.extents:ExtentTable"]
    assert [each.shape[0] for each in table.__getstate__()["_extents"]] == [8] * 4  # type: ignore[attr-defined]
