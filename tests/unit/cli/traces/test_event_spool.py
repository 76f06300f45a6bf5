"""Events in temporary files: the output equals the input, sorted as in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.cli.traces.event_spool import ColumnSpool, EventSpool
from iotide.cli.traces.ordered_columns import OrderedColumns, SortedSpool
from iotide.events import EventBatch, Flag
from iotide.events.schema import COLUMNS
from support.jobs.batches import batches, rows


@given(
    st.sampled_from([np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64]),
    st.data(),
)
def test_integers_of_any_range_come_back(dtype: type[np.integer], data: st.DataObject) -> None:
    limits = np.iinfo(dtype)
    values = data.draw(st.lists(st.integers(int(limits.min), int(limits.max)), min_size=1, max_size=9))
    column = np.array(values, dtype)
    spool = ColumnSpool()
    spool.put(len(column), {"alike": np.broadcast_to(column[0], column.shape), "column": column})
    found = spool.get(0)
    assert found["column"].tolist() == values
    assert found["column"].dtype == dtype
    assert found["alike"].tolist() == [values[0]] * len(values)
    assert found["alike"].strides == (0,)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abc"), batches(min_size=1)), max_size=6))
def test_events_of_each_stream_come_back_in_their_order(pieces: list[tuple[str, EventBatch]]) -> None:
    spool = EventSpool()
    for name, batch in pieces:
        spool.put(name, batch)
    for _ in range(2):
        for wanted in "abc":
            given_rows = [row for name, batch in pieces if name == wanted for row in rows(batch)]
            assert [row for batch in spool.of(wanted) for row in rows(batch)] == given_rows
            assert [row for name, batch in spool if name == wanted for row in rows(batch)] == given_rows


@given(batches(min_size=1))
def test_events_for_a_signal_keep_what_they_moved_and_when(batch: EventBatch) -> None:
    spool = EventSpool(signal_only=True)
    spool.put("a", batch)
    ((_, found),) = spool
    whole = bool((batch.flags & int(Flag.AGGREGATE | Flag.MAPS)).any())
    lost = {"call", "handle", "parent", "errno", "signature"} | (set() if whole else {"offset", "requested"})
    for name, column in found.columns().items():
        assert column.tolist() == ([COLUMNS[name][1]] * len(batch) if name in lost else batch.columns()[name].tolist())


@given(
    st.lists(
        st.tuples(st.lists(st.integers(-40, 40), min_size=1, max_size=8), st.integers(-60_000, 60_000)), max_size=6
    ),
    st.booleans(),
)
def test_rows_come_in_the_order_in_which_sorting_puts_them(pieces: list[tuple[list[int], int]], seconds: bool) -> None:
    """Batches are spread over many pieces of the spool, some of which overlap and some of which do not."""
    spool = SortedSpool()
    keys, others, place = [], [], 0
    for few, shift in pieces:
        key = np.tile(np.array(few, np.int64), 3000) + shift
        second = np.arange(len(key))[::-1] % 5 if seconds else np.zeros(len(key), np.int64)
        spool.put(len(key), {"place": place + np.arange(len(key))}, key, second if seconds else None)
        keys.append(key)
        others.append(second)
        place += len(key)
    assert len(spool) == place
    if not pieces:
        assert not list(spool.in_order())
        return
    wanted = np.lexsort((np.concatenate(others), np.concatenate(keys)))
    found = np.concatenate([columns["place"] for columns in spool.in_order()])
    assert np.array_equal(found, wanted)
    assert np.array_equal(np.concatenate([columns["place"] for columns in spool.in_input_order()]), np.arange(place))


def test_merging_holds_the_rows_around_one_key_and_not_all() -> None:
    spool = SortedSpool()
    columns = 400_000
    for shift in (0, 1):  # two streams, one after the other, with the same times
        key = np.arange(columns, dtype=np.int64) * 2 + shift
        spool.put(columns, {"key": key}, key)
    sizes = [len(piece["key"]) for piece in spool.in_order()]
    assert sum(sizes) == 2 * columns
    assert max(sizes) < columns // 4


def test_an_event_that_lasts_from_the_beginning_to_the_end_costs_one_piece() -> None:
    spool = SortedSpool()
    key = np.arange(300_000, dtype=np.int64)
    key[-1] = -1
    spool.put(len(key), {"key": key}, key)
    sizes = [len(piece["key"]) for piece in spool.in_order()]
    assert sum(sizes) == len(key)
    assert max(sizes) < 100_000


@pytest.mark.parametrize("second", [0, 254])
def test_rows_with_one_key_are_merged_a_few_pieces_at_a_time(second: int) -> None:
    """Times in whole seconds, or a damaged log: all calls are at the same time."""
    spool = SortedSpool()
    rows = 400_000
    spool.put(rows, {"row": np.arange(rows)}, np.zeros(rows, np.int64), np.full(rows, second))
    pieces = [piece["row"] for piece in spool.in_order()]
    assert np.array_equal(np.concatenate(pieces), np.arange(rows))
    assert max(map(len, pieces)) < rows // 4


def test_no_events_are_none() -> None:
    assert not list(EventSpool())
    assert not list(EventSpool().of("a"))


@pytest.mark.parametrize("most_held", [0, 100, 10_000])
def test_columns_are_in_order_wherever_they_wait(most_held: int) -> None:
    key = np.random.default_rng(3).integers(0, 50, 700)
    whole = {"at": key, "row": np.arange(700)}
    pieces = [{name: column[low : low + 90] for name, column in whole.items()} for low in range(0, 700, 90)]
    ordered = OrderedColumns(iter(pieces), "at", most_held)
    expected = np.argsort(key, kind="stable").tolist()
    for _ in range(2):
        assert np.concatenate([piece["row"] for piece in ordered]).tolist() == expected
    assert list(OrderedColumns([], "at")) == list(OrderedColumns([{"at": key[:0]}], "at", most_held)) == []
