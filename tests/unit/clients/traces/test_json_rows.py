"""Rows as JSON: encoding by column equals ``json`` per row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.traces.json_rows import TextColumn, join_rows, text

numbers = st.integers(-(2**63), 2**63 - 1)
texts = st.lists(st.text(max_size=4), min_size=1, max_size=3)


@given(st.lists(numbers, min_size=1, max_size=5), texts, st.text(max_size=4), st.data())
def test_rows_equal_the_json_of_each(column: list[int], meanings: list[str], same: str, data: st.DataObject) -> None:
    count = len(column)
    which = data.draw(st.lists(st.integers(0, len(meanings) - 1), min_size=count, max_size=count))
    fractions = data.draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=count, max_size=count))
    named = TextColumn.of(np.array(which, np.uint32), lambda number: text(meanings[number]))
    parts: list[Any] = ['{"same": ', text(same), ', "number": ', np.array(column, np.int64), ', "name": ', named]
    made = join_rows([*parts, ', "part": ', fractions, "}"], count)
    assert [json.loads(row) for row in made] == [
        {"same": same, "number": number, "name": meanings[each], "part": part}
        for number, each, part in zip(column, which, fractions, strict=True)
    ]


def test_one_number_for_all_rows_is_spelled_once_however_it_is_stored() -> None:
    same = np.broadcast_to(np.int64(7), (3,))
    assert join_rows(["100 %, ", same], 3) == join_rows(["100 %, ", same.copy()], 3) == ["100 %, 7"] * 3


def test_no_rows_are_nothing() -> None:
    assert join_rows(["a", np.zeros(0, np.int64)], 0) == []
