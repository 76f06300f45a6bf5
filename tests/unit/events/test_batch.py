"""The columnar batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.events import COLUMNS, EventBatch, concatenate, empty_batch, is_constant, make_batch
from support.jobs.batches import batches, rows


def test_columns_not_named_have_their_unknown_value() -> None:
    batch = make_batch(3, {"start": [1, 2, 3], "bytes": 7})
    assert batch.rank.tolist() == [-1, -1, -1]
    assert batch.offset.tolist() == [-1, -1, -1]
    assert batch.bytes.tolist() == [7, 7, 7]
    assert is_constant(batch.bytes)
    assert not is_constant(batch.start)


def test_every_column_has_the_dtype_of_the_schema() -> None:
    batch = make_batch(2, {"rank": [1.0, 2.0]})
    assert {name: column.dtype for name, column in batch.columns().items()} == {
        name: dtype for name, (dtype, _) in COLUMNS.items()
    }


@pytest.mark.parametrize(
    ("length", "columns", "error"),
    [
        (2, {"start": [1]}, ValueError),
        (2, {"speed": 1}, ValueError),
        (1, {"start": [[1]]}, ValueError),
        (1, {"depth": 300}, OverflowError),
    ],
)
def test_wrong_columns_are_refused(length: int, columns: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        make_batch(length, columns)  # type: ignore[arg-type]


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(batches(), max_size=4))
def test_concatenation_joins_rows_in_order(parts: list[EventBatch]) -> None:
    assert rows(concatenate(parts)) == [row for part in parts for row in rows(part)]


@pytest.mark.slow
@settings(deadline=None)
@given(batches(min_size=1), st.data())
def test_selection_picks_the_rows_that_are_named(batch: EventBatch, data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch))))
    assert rows(batch.select(mask)) == [row for row, keep in zip(rows(batch), mask, strict=True) if keep]


def test_constant_columns_stay_constant_through_select_and_concatenate() -> None:
    batch = make_batch(4, {"start": [1, 2, 3, 4], "pid": 9})
    joined = concatenate([batch.select(slice(0, 2)), batch.select(slice(2, 4))])
    assert is_constant(joined.pid)
    assert joined.pid.tolist() == [9] * 4


def test_constant_columns_with_different_values_are_spelled_out() -> None:
    joined = concatenate([make_batch(1, {"pid": 1}), make_batch(2, {"pid": 2})])
    assert joined.pid.tolist() == [1, 2, 2]


def test_replace_exchanges_one_column() -> None:
    assert make_batch(2, {"start": [1, 2]}).replace(rank=5).rank.tolist() == [5, 5]


def test_end_is_start_plus_duration() -> None:
    assert make_batch(2, {"start": [1, 2], "duration": [10, 0]}).end.tolist() == [11, 2]


def test_empty_batch_has_no_rows() -> None:
    assert len(empty_batch()) == 0
    assert len(concatenate([])) == 0
    assert len(empty_batch().select(slice(0, 0))) == 0
