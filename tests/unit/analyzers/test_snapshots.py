"""A state as a document: it is read as written, shared objects stay shared, and no named code is executed."""

from __future__ import annotations

import importlib
import json
from collections import Counter, OrderedDict, deque
from pathlib import Path
from typing import Any

import msgspec.msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from iotide.analyzers.dfg.state.reorder_buffer import ReorderBuffer
from iotide.analyzers.pipeline import stored_names
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.pipeline.snapshots import STATE_VERSION, SnapshotError, restore, schema, snapshot
from iotide.analyzers.settings import DetectSettings
from iotide.collectors.source import Changed, Chunk, Closed, Opened, Origin, SourceItem
from iotide.collectors.sources.registry import open_file
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.losses.early_losses import EarlyLosses
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import FileInfo, FileType, Kind
from support.places import DATA

NOW_S = 2e9

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.sampled_from([Kind.READ, FileType.PIPE])
)
keys = st.integers(-5, 5) | st.text(max_size=3) | st.tuples(st.integers(0, 3), st.text(max_size=2))
states = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(lambda some: deque(some, maxlen=3))
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4).map(OrderedDict)
        | st.dictionaries(keys, st.integers(), max_size=4).map(Counter)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
    ),
    max_leaves=12,
)
arrays = hnp.arrays(
    st.sampled_from(["u1", "i8", "f4", "f8", "?", "u4"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(states)
def test_written_state_is_restored(state: object) -> None:
    read = restore(snapshot(state))
    assert read == state
    assert type(read) is type(state)


@given(arrays)
def test_arrays_keep_their_values_types_and_shapes(array: np.ndarray[Any, Any]) -> None:
    read = restore(snapshot([array]))[0]
    assert read.dtype == array.dtype
    assert read.shape == array.shape
    assert read.tobytes() == array.tobytes()


def test_reserved_memory_is_not_written() -> None:
    buffer, count = ReorderBuffer(), 10_000
    numbers = np.arange(count)
    buffer.put(1, numbers.astype(np.int32), numbers, numbers, numbers)
    buffer.accept(None)
    buffer.take(count - 11, 10)
    document = snapshot(buffer)
    assert len(document) < 2000
    assert restore(document).events.start.tolist() == buffer.events.start.tolist() == list(range(count - 10, count))


def test_a_column_of_one_value_stays_one_value() -> None:
    column = np.broadcast_to(np.int64(7), (1_000_000,))
    document = snapshot(column)
    assert len(document) < 200
    read = restore(document)
    assert read.strides == (0,)
    assert read[999_999] == 7


def test_shared_and_recursive_objects_are_restored() -> None:
    inner = [1]
    outer: list[Any] = [inner, inner, {"again": inner}]
    outer.append(outer)
    read = restore(snapshot(outer))
    assert read[0] is read[1] is read[2]["again"]
    assert read[3] is read


def test_objects_have_their_attributes_without_their_constructor() -> None:
    names = JobNames(3, 3)
    names.call("write")
    names.file(FileInfo("/x", FileType.REGULAR))
    read = restore(snapshot(names))
    assert read.calls == ["", "write"]
    assert read.file(FileInfo("/x")) == 1
    assert read.call("read") == 2
    assert names.calls == ["", "write"]


def test_settings_are_written_as_they_are_checked() -> None:
    chosen = DetectSettings(mode="write")
    assert restore(snapshot(chosen)) == chosen


def test_objects_given_by_name_are_not_written() -> None:
    def clock() -> float:
        return 0.0

    document = snapshot([clock, "here"], {"clock": clock})
    assert restore(document, {"clock": len}) == [len, "here"]
    with pytest.raises(SnapshotError, match="clock"):
        restore(document)


@pytest.mark.parametrize(
    ("state", "named"),
    [
        ([len], "list is a builtins.builtin_function_or_method"),
        ({"a": object()}, "dict is a builtins.object"),
        (Path("/"), "Path"),
        (np.array([{}]), "objects"),
        (JobNames, "builtins.type"),
    ],
)
def test_functions_and_foreign_objects_are_no_state(state: object, named: str) -> None:
    with pytest.raises(SnapshotError, match=named):
        snapshot(state)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "analyzers.pipeline.snapshots:restore",
        "analyzers/../os:system",
        "cli.main:main",
        "x",
    ],
)
def test_document_cannot_name_what_is_no_class_of_analyzers_sessions_and_events(name: str) -> None:
    document = msgspec.msgpack.decode(snapshot(JobNames(1, 1)))
    document["classes"][0][0] = name
    with pytest.raises(SnapshotError):
        restore(msgspec.msgpack.encode(document))


def test_renamed_class_keeps_its_name_in_documents() -> None:
    losses = EarlyLosses()
    losses.update_losses("collector", "job", {"events_dropped:shipper_full": 3})
    document = snapshot(losses)
    assert list(schema(document)) == ["daemon.jobs.losses.unheld:Unheld"]
    assert restore(document).pop_losses("job") == losses.pop_losses("job")


def test_state_of_another_version_is_refused() -> None:
    document = msgspec.msgpack.decode(snapshot([1]))
    document["version"] = STATE_VERSION + 1
    with pytest.raises(SnapshotError, match=f"version {STATE_VERSION + 1}; this iotide has {STATE_VERSION}"):
        restore(msgspec.msgpack.encode(document))


@pytest.mark.slow
@settings(max_examples=300)
@given(data=st.data())
def test_damage_is_told_and_never_ends_anything_else(data: st.DataObject) -> None:
    whole = snapshot(JobNames(5, 5))
    bad = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(bad) - 1))
        bad[at] = data.draw(st.integers(0, 255))
    document = bytes(bad[: data.draw(st.integers(0, len(bad)))])
    try:
        restore(document)
    except SnapshotError:
        return


def items_of(name: str) -> list[SourceItem]:
    source = open_file(DATA / name, Origin(job="j"))
    items: list[SourceItem] = []
    while not source.finished:
        items += source.poll()
    source.close()
    return items


def give(session: JobSession, items: list[SourceItem]) -> None:
    for item in items:
        match item:
            case Opened():
                session.open_stream(item.stream, item.info, 0.0)
            case Changed():
                session.change_stream(item.stream, item.info)
            case Chunk():
                session.update(item.stream, item.batch, item.definitions, NOW_S)
            case Closed():
                session.close_stream(item.stream, 0.0)


def shared(session: JobSession) -> dict[str, object]:
    return {
        "settings": session.settings,
        "clock": session.failures._clock,
        "counters": session.failures._counters,
    }


def told(session: JobSession) -> list[object]:
    assert session.graph is not None
    assert session.layers is not None
    assert session.interactions is not None
    return [
        detail_of(session, NOW_S),
        session.signal(),
        session.graph.graph(),
        session.layers.deferred_result()(),
        session.interactions.deferred_result()(),
        list(session.history),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tmio-8ranks.jsonl", "dftracer-calls.pfw.gz", "strace_pipe.txt", "tmio-custom-ranks.json"]
)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_job_that_is_restored_goes_on_as_if_it_had_never_stopped(name: str, share: float) -> None:
    items = items_of(name)
    first = round(share * len(items))
    never = JobSession("j", AggregatorSettings(), 0.0)
    give(never, items[:first])
    never.predict(NOW_S)
    restored: JobSession = restore(snapshot(never, shared(never)), shared(never))
    for session in (never, restored):
        for at in range(first, len(items), max(len(items) // 10, 1)):
            give(session, items[at : at + max(len(items) // 10, 1)])
            session.predict(NOW_S)
    assert restored.predict(NOW_S, whole=True) == never.predict(NOW_S, whole=True)
    assert told(restored) == told(never)


@pytest.mark.parametrize("name", stored_names.CLASSES)
def test_renamed_classes_keep_their_names_in_documents(name: str) -> None:
    module, _, path = name.partition(":")
    renamed = getattr(importlib.import_module(f"iotide.{module}"), path)
    assert renamed.__qualname__ == path
    assert stored_names.class_of(stored_names.stored_class(name)) == name


def test_attributes_of_a_session_are_those_of_this_version() -> None:
    """If the attributes change, the meaning of a snapshot changes: increase ``STATE_VERSION`` and write the file
    anew. A new attribute with a default in its class keeps the version, as states without it are read.
    """
    session = JobSession("j", AggregatorSettings(), 0.0)
    give(session, items_of("tmio-8ranks.jsonl"))
    session.predict(NOW_S)
    told(session)
    session.compact()
    made = {"version": STATE_VERSION, "classes": schema(snapshot(session, shared(session)))}
    known = json.loads((DATA / "session-state.json").read_text())
    assert made == known, f"required content of the file: {json.dumps(made)}"
