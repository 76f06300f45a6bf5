"""Calls as groups and fields: the helper against its fallback, and arbitrary rows of the network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec.coder import Coder
from iotide.archive.codec.columns import FIELDS, FIRST_OF_HANDLE
from iotide.archive.codec.splitter import COLUMNS, Splitter
from iotide.events import Definitions, DefinitionTable, EventBatch, concatenate, make_batch
from iotide.events.schema import COLUMNS as SCHEMA

Split = tuple[list[int], list[list[int]], list[list[int]], list[tuple[int, int, int]], list[str], list[str]]

TEXTS = ["write(fd=3, 64)", "write(fd=4, 4096)", "close(fd=3)"]


def table() -> DefinitionTable:
    made = DefinitionTable()
    made.apply(Definitions([(1, "write"), (2, "close"), (3, "write.2")], [], [], list(enumerate(TEXTS, 1))))
    return made


def split(splitter: Splitter, batch: EventBatch, pieces: int = 1) -> Split:
    parts = np.linspace(0, len(batch), pieces + 1).astype(int).tolist()
    made = [splitter.split(batch, low, high, table()) for low, high in pairwise(parts)]
    rows, threads = splitter.groups()
    numbers = [number for groups, _ in made for number in groups.tolist()]
    fields = [row for _, fields in made for row in fields.tolist()]
    return numbers, fields, rows.tolist(), threads, splitter.calls, splitter.templates.texts


def fallback(patch: pytest.MonkeyPatch) -> Splitter:
    patch.setattr("iotide.archive.codec.splitter.native", lambda: None)
    return Splitter()


@st.composite
def batches(draw: st.DrawFn) -> EventBatch:
    picked = np.frombuffer(draw(st.binary(max_size=40)), np.uint8).astype(int)
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        limits = np.iinfo(SCHEMA[name][0])
        values = st.one_of(st.integers(0, 4), st.integers(limits.min, limits.max))
        few = draw(st.lists(values, min_size=1, max_size=3))
        columns[name] = np.array(few[0] if len(few) == 1 else few, SCHEMA[name][0])
        if len(few) > 1:
            columns[name] = columns[name][(picked + len(columns)) * (len(columns) + 1) // 3 % len(few)]
    return make_batch(len(picked), columns)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(batches(), st.integers(1, 3))
def test_kernel_and_fallback_split_alike(batch: EventBatch, pieces: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        expected = split(fallback(patch), batch)
    assert split(Splitter(), batch, pieces) == expected


def coded(*batches: EventBatch, pieces: int = 1) -> tuple[list[int], list[list[int]], list[list[int]]]:
    splitter, coder = Splitter(), Coder(len(FIELDS), FIRST_OF_HANDLE)
    made = [
        splitter.code(batch, low, high, table(), coder).tolist()
        for batch in batches
        for low, high in pairwise(np.linspace(0, len(batch), pieces + 1).astype(int).tolist())
    ]
    terminals = coder.new_terminals()
    known = np.column_stack([terminals.groups, terminals.literals, terminals.growths])
    return (
        [each for part in made for each in part],
        known.tolist(),
        [values.tolist() for values in coder.take_literals()],
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 900), st.sets(st.sampled_from(COLUMNS)), st.integers(1, 40))
def test_split_and_coded_at_once_is_what_fallbacks_make_one_after_the_other(
    seed: int, length: int, varying: set[str], kinds: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, kinds, length).astype(SCHEMA[name][0]) for name in sorted(varying)}
    batch = make_batch(length, columns | {"start": np.arange(length)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iotide.archive.codec.splitter.native", lambda: None)
        patch.setattr("iotide.archive.codec.coder.native", lambda: None)
        expected = coded(batch)
    assert coded(batch) == expected
    assert coded(batch, pieces=3) == expected


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 900), st.sets(st.sampled_from(COLUMNS[-3:])), st.integers(1, 40))
def test_calls_alike_but_for_their_place_and_size_are_coded_as_any_others(
    seed: int, length: int, varying: set[str], kinds: int
) -> None:
    rng = np.random.default_rng(seed)
    steps = {name: rng.integers(0, kinds, length) * rng.integers(0, 2, length) for name in sorted(varying)}
    batch = make_batch(
        length, {name: np.cumsum(step) % 5000 for name, step in steps.items()} | {"call": 2, "handle": 7}
    )
    others = make_batch(length, {"call": rng.integers(1, 3, length), "handle": 7, "offset": np.arange(length)})
    whole = concatenate([others, batch, others, batch])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iotide.archive.codec.splitter.native", lambda: None)
        patch.setattr("iotide.archive.codec.coder.native", lambda: None)
        expected = coded(whole)
    assert coded(others, batch, others, batch) == expected
    assert coded(others, batch, others, batch, pieces=3) == expected


@pytest.mark.slow
def test_rows_that_a_full_coder_does_not_take_are_left_for_the_next_section() -> None:
    length = (1 << 20) + 700  # each row is a new thread, and so a new terminal
    batch = make_batch(length, {"start": np.arange(length), "tid": np.arange(length, dtype=np.int32)})
    coder = Coder(len(FIELDS), FIRST_OF_HANDLE)
    assert Splitter().code(batch, 0, length, table(), coder).tolist() == list(range(1 << 20))


def test_group_has_what_does_not_change_and_numbers_of_its_own() -> None:
    batch = make_batch(4, {"call": [3, 1, 3, 9], "signature": [2, 1, 1, 0], "pid": [7, 7, 7, 8], "errno": [0, 0, 0, 5]})
    numbers, fields, rows, threads, calls, templates = split(Splitter(), batch)
    assert numbers == [0, 1, 0, 2]
    assert threads == [(7, 0, -1), (8, 0, -1)]
    assert calls == ["", "write.2", "write"]
    assert templates == ["", "write(fd=\0, \0)"]
    assert [(row[0], row[4], row[6], row[7]) for row in rows] == [(1, 0, 1, 0), (2, 0, 1, 0), (0, 5, 0, 1)]
    assert [row[3:5] for row in fields] == [[4, 4096], [3, 64], [3, 64], [0, 0]]


def test_rows_need_not_be_aligned_nor_next_to_each_other() -> None:
    length = 50
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, (dtype, _) in SCHEMA.items():
        raw = bytes(range(256)) * (1 + 2 * length * dtype.itemsize // 256)
        columns[name] = np.frombuffer(raw, dtype, 2 * length, offset=1)[::2]
    batch = EventBatch(**columns)
    whole = make_batch(length, {name: column.copy() for name, column in columns.items()})
    assert split(Splitter(), batch) == split(Splitter(), whole)


def test_more_groups_than_there_was_room_for_are_kept() -> None:
    errno = np.arange(3000) % 1500
    numbers, _, rows, *_ = split(Splitter(), make_batch(3000, {"errno": errno}))
    assert numbers == errno.tolist()
    assert [row[4] for row in rows] == list(range(1500))


def test_signature_defined_later_is_learnt_then() -> None:
    splitter, defined = Splitter(), DefinitionTable()
    batch = make_batch(1, {"signature": 1})
    before = splitter.split(batch, 0, 1, defined)[0].tolist()
    defined.apply(Definitions([], [], [], [(1, TEXTS[2])]))
    assert (before, splitter.split(batch, 0, 1, defined)[0].tolist()) == ([0], [1])
    assert splitter.templates.texts == ["", "close(fd=\0)"]
