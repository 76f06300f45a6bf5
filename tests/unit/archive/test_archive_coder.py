"""Calls as terminals and back: the helper against its fallback, and the causes of new terminals."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec.coder import Coder, Terminals
from iotide.archive.codec.coder_fallback import CoderFallback

Calls: TypeAlias = tuple[list[int], list[list[int]]]
FIELDS = 4

values = st.one_of(st.integers(-3, 3), st.sampled_from([64, 128, 4096, 2**62, -(2**62), 2**63 - 1, -(2**63)]))
calls = st.lists(st.tuples(st.integers(0, 2), st.lists(values, min_size=FIELDS, max_size=FIELDS)), max_size=60)


def arrays(made: list[tuple[int, list[int]]]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    rows = np.array([row for _, row in made], np.int64).reshape(len(made), FIELDS)
    return np.array([group for group, _ in made], np.uint32), rows


def encoded(
    groups: npt.NDArray[np.uint32], fields: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], Terminals, list[npt.NDArray[np.int64]]]:
    coder = Coder(fields.shape[1], 3)
    terminals = coder.feed(groups, fields)
    return terminals, coder.new_terminals(), coder.take_literals()


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(calls)
def test_kernel_and_fallback_code_alike(made: list[tuple[int, list[int]]]) -> None:
    groups, fields = arrays(made)
    terminals, table, literals = encoded(groups, fields)
    fallback = CoderFallback(FIELDS, 3)
    assert fallback.feed(groups.tolist(), fields.tolist()) == terminals.tolist()
    assert fallback.literals == [each.tolist() for each in literals]
    rows = zip(table.groups.tolist(), table.literals.tolist(), table.growths.tolist(), strict=True)
    assert fallback.terminals == [(group, bits, tuple(growth)) for group, bits, growth in rows]


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(calls, st.booleans())
def test_decoding_gives_the_calls_back(made: list[tuple[int, list[int]]], fallback: bool) -> None:
    groups, fields = arrays(made)
    terminals, table, literals = encoded(groups, fields)
    with pytest.MonkeyPatch.context() as patch:
        if fallback:
            patch.setattr("iotide.archive.codec.coder.native", lambda: None)
        reader = Coder(FIELDS, 3)
        reader.define(table)
        for field, each in enumerate(literals):
            reader.add_literals(field, each)
        back_groups, back_fields = reader.decode(terminals)
    assert back_groups.tolist() == groups.tolist()
    assert back_fields.tolist() == fields.tolist()


def test_pieces_make_no_difference() -> None:
    made = [(i % 3, [i // 10, 0, i * 7 % 5, i * 64]) for i in range(500)]
    groups, fields = arrays(made)
    whole = encoded(groups, fields)[0]
    coder = Coder(FIELDS, 3)
    parts = [coder.feed(groups[at : at + 7], fields[at : at + 7]) for at in range(0, 500, 7)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_equal_steps_take_few_terminals_however_many_calls() -> None:
    counts = set()
    for length in (100, 100_000):
        fields = np.zeros((length, FIELDS), np.int64)
        fields[:, 0], fields[:, 3] = 7, 4096 * np.arange(length)
        counts.add(len(encoded(np.zeros(length, np.uint32), fields)[1]))
    assert counts == {3}  # the first call, the first step, and the repeated step


def test_files_with_a_counter_take_no_terminals_each() -> None:
    made = [(call, [file, 0, file, 64 * call]) for file in range(1, 1001) for call in (0, 1, 1, 1, 2)]
    assert len(encoded(*arrays(made))[1]) < 12


def test_random_offsets_are_literals_and_no_terminals() -> None:
    length = 20_000
    fields = np.zeros((length, FIELDS), np.int64)
    fields[:, 3] = np.random.default_rng(1).integers(0, 2**40, length)
    _, table, literals = encoded(np.zeros(length, np.uint32), fields)
    assert len(table) <= 3
    assert len(literals[3]) == length


def test_growths_that_get_terminals_are_bounded() -> None:
    steps = np.tile(np.arange(1, 1001), 4)
    fields = np.zeros((len(steps), FIELDS), np.int64)
    fields[:, 3] = np.cumsum(steps)
    assert len(encoded(np.zeros(len(steps), np.uint32), fields)[1]) <= 258


def test_more_handles_than_are_remembered_are_coded_and_decoded() -> None:
    length = 70_000
    made_fields = np.zeros((length, FIELDS), np.int64)
    made_fields[:, 0], made_fields[:, 3] = np.arange(length) % 66_000, np.arange(length)
    groups = np.zeros(length, np.uint32)
    terminals, table, literals = encoded(groups, made_fields)
    reader = Coder(FIELDS, 3)
    reader.define(table)
    for field, each in enumerate(literals):
        reader.add_literals(field, each)
    assert (reader.decode(terminals)[1] == made_fields).all()


def test_undefined_terminals_and_missing_literals_end_the_decoding() -> None:
    reader = Coder(1, 1)
    reader.define(Terminals(np.array([0], np.uint32), np.array([1], np.uint32), np.array([[0]], np.int64)))
    reader.add_literals(0, np.array([5], np.int64))
    groups, fields = reader.decode(np.array([0, 0], np.int32))
    assert (groups.tolist(), fields.tolist()) == ([0], [[5]])
    assert len(reader.decode(np.array([9], np.int32))[0]) == 0
    assert len(reader.decode(np.array([-1], np.int32))[0]) == 0


@pytest.mark.parametrize(("fields", "first"), [(0, 0), (17, 1), (3, 4), (3, 0)])
def test_impossible_fields_are_refused(fields: int, first: int) -> None:
    with pytest.raises(ValueError, match="fields"):
        Coder(fields, first)
