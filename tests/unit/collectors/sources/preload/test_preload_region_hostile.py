"""Memory written by a broken or hostile process affects that process only."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iotide.collectors.node.file_metadata import NodeFileMetadata, ProcessFileMetadata
from iotide.collectors.source import Chunk, Closed, Origin
from iotide.collectors.sources.preload.records.names import MAX_FILES
from iotide.collectors.sources.preload.records.ring_layout import ENTRY_CALL, HEADER_BYTES
from iotide.collectors.sources.preload.rings import process_image
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import FileInfo, FileType
from support.tracing.regions import MadeRegion, words_lines
from support.tracing.tracing import Tracing


def test_words_of_no_record_are_counted_and_the_ring_is_read_on(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.put_lines(words_lines([1] * 20))
    made.put(2)
    made.put(1, slot=1, words=[1, 2])
    made.put_lines(words_lines([5]), slot=1)
    tracing.poll()
    assert tracing.source.counters["events"] == 2
    assert tracing.source.counters["events_dropped:malformed"] == 2
    made.put_lines(words_lines([1] * 20))
    tracing.poll()
    made.put(1)
    tracing.poll()
    assert tracing.source.counters["events"] == 3


def test_ring_whose_head_jumps_is_counted_and_its_neighbours_are_read(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.slots["head"][0] = 2**63
    made.put(2, slot=1)
    tracing.poll()
    made.put(1, slot=0)
    tracing.poll()
    assert tracing.source.counters["rings_malformed"] == 1
    assert tracing.source.counters["events"] == 3


ENTRY = st.tuples(
    st.integers(0, 5) | st.integers(0, 2**32 - 1),
    st.binary(max_size=40)
    | st.sampled_from([b"f(a:s,b:a)=d", b"g(c:n,d:p,e:O)", b"/x/../y", b"1 1 1 1 inherited", b"0 9999999999 0 0 z"]),
    st.integers(0, 5) | st.integers(0, 2**16 - 1),
    st.integers(0, 7) | st.integers(0, 2**32 - 1),
)
RECORDS = st.tuples(
    st.integers(1, 3),
    st.lists(st.integers(0, 20) | st.integers(0, 2**64 - 1), max_size=20),
    st.fixed_dictionaries(
        {
            "call": st.integers(0, 6) | st.integers(0, 2**16 - 1),
            "file": st.integers(0, 6) | st.integers(0, 2**32 - 1),
            "start": st.integers(-(2**63), 2**63 - 1) | st.just(0),
            "requested": st.integers(-(2**63), 2**63 - 1),
            "descriptor": st.integers(-(2**31), 2**31 - 1),
            "flags": st.integers(0, 2**16 - 1),
            "depth": st.integers(0, 255),
        }
    ),
)
SCRATCH = st.tuples(st.integers(0, 2**14), st.sampled_from([b"\xff" * 8, bytes(8), b"\x10" + bytes(7), b"\x01" * 8]))


@pytest.mark.slow
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ENTRY, max_size=8), st.lists(RECORDS, max_size=6), st.lists(SCRATCH, max_size=3), st.booleans())
def test_whatever_a_process_writes_its_neighbour_loses_nothing(
    tmp_path: Path,
    entries: list[tuple[int, bytes, int, int]],
    records: list[tuple[int, list[int], dict[str, int]]],
    scratches: list[tuple[int, bytes]],
    late: bool,
) -> None:
    now_s = [100.0]
    with Tracing(tmp_path, clock=lambda: now_s[0]) as tracing, MadeRegion(lines=64) as made, MadeRegion() as neighbour:
        made.hand_over(tracing.socket)
        tracing.poll()
        neighbour.set(token=78)
        neighbour.hand_over(tracing.socket)  # as another image of this process, so that both kinds of ends occur
        now_s[0] += 5 * late
        for number, text, kind, aux in entries:
            made.define(number, text, kind=kind, aux=aux)
        for count, words, fields in records:
            made.put(count, slot=count % 2, words=words, **fields)
        tracing.poll()
        for at, bytes_ in scratches:
            at = HEADER_BYTES + at % (made.size - HEADER_BYTES - 8)
            made.memory[at : at + 8] = bytes_
        neighbour.define(1, b"/good")
        neighbour.put(3, file=1)
        for _ in range(3):
            now_s[0] += 1
            tracing.poll()
        rows = tracing.rows(path="/good")
        assert [row.signature for row in rows if row.stream.endswith("4e")] == ["pwrite64(fd=-1, count=0)"] * 3
        msgspec.msgpack.encode(tracing.source.counters)
        assert tracing.source.counters["processes_failed"] == 0


class BreakingFiles(NodeFileMetadata):
    """Fails on files of one name."""

    def of_process(self, pid: int, claimed_mounts: int = 0) -> ProcessFileMetadata:
        class Breaking(ProcessFileMetadata):
            def __call__(self, path: str, spelled: FileType) -> FileInfo:
                if path == "/broken":
                    raise RuntimeError("this name causes a failure")
                return super().__call__(path, spelled)

        return Breaking(self, pid, claimed_mounts)


def test_process_that_breaks_the_collector_itself_costs_itself(tmp_path: Path, made: MadeRegion) -> None:
    with MadeRegion() as neighbour:
        source = PreloadSource(tmp_path / "gate", Origin("job"), files=BreakingFiles())
        neighbour.set(token=78)
        made.hand_over(tmp_path / "gate")
        neighbour.hand_over_from_another_process(tmp_path / "gate")
        source.poll()
        made.define(1, b"/broken")
        neighbour.put(3)
        items = source.poll()
        assert [item.stream[-2:] for item in items if isinstance(item, Closed)] == ["4d"]
        assert [(item.stream[-2:], len(item.batch)) for item in items if isinstance(item, Chunk)] == [("4e", 3)]
        assert source.counters["processes_failed"] == 1
        made.put(1)
        neighbour.put(1)
        source.poll()
        assert source.counters["events"] == 4
        source.close()


def test_process_that_breaks_the_log_loses_its_own_names_only(tracing: Tracing, made: MadeRegion) -> None:
    with MadeRegion() as neighbour:
        made.hand_over(tracing.socket)
        tracing.poll()
        made.set(log_head=2**64 - 1)
        made.put(5)
        neighbour.set(token=78)
        neighbour.hand_over_from_another_process(tracing.socket)
        neighbour.define(1, b"/good")
        neighbour.put(1, file=1)
        tracing.poll()
        assert tracing.source.counters["definitions_malformed"] == 1
        assert tracing.source.counters["events"] == 6


def test_log_position_that_is_no_entry_of_the_log_is_refused_without_harm(tracing: Tracing, made: MadeRegion) -> None:
    made.set(log_tail=made.log_bytes - 8, log_head=made.log_bytes + 8)
    made.hand_over(tracing.socket)
    tracing.poll()
    assert tracing.source.counters["processes_refused"] == 1


def test_file_numbers_beyond_the_table_cost_their_names_alone(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    for number in (MAX_FILES + 1, 2**32 - 1, 1):
        made.define(number, b"/file%d" % number)
    made.put(1, file=1)
    made.put(1, file=2**32 - 1)
    tracing.poll()
    assert [row.path for row in tracing.rows()] == ["/file1", ""]
    assert tracing.source.counters["definitions_dropped"] == 2


def test_values_that_no_call_can_have_are_counted_and_their_neighbours_kept(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.put(1, bytes=1)
    for field, value in [("kind", 200), ("bytes", -1), ("bytes", 2**62), ("duration", -5), ("start", -(2**60))]:
        made.put(1, **{field: value})
    made.put(1, bytes=2)
    tracing.poll()
    (batch,) = tracing.events().values()
    assert batch.bytes.tolist() == [1, 2]
    assert tracing.source.counters["events_dropped:malformed"] == 5


def test_drop_counters_of_a_hostile_process_stay_numbers_that_can_be_sent(
    tracing: Tracing, made: MadeRegion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_image, "_COUNT_BUSY_S", 0.0)
    made.hand_over(tracing.socket)
    tracing.poll()
    made.slots["dropped_full"] = 2**64 - 1
    made.set(dropped_no_slot=2**64 - 1, dropped_reentrant=5)
    made.put(1)
    tracing.poll()
    made.set(dropped_no_slot=0, dropped_reentrant=3)
    made.put(1)
    tracing.poll()
    assert tracing.source.counters["events_dropped:reentrant"] == 5
    assert all(0 <= count < 2**63 for count in tracing.source.counters.values())
    msgspec.msgpack.encode(tracing.source.counters)


def test_call_whose_specification_is_malformed_is_known_by_its_name(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(9, b"fsync(fd:what)", kind=ENTRY_CALL, aux=1)
    made.define(10, b"\xff\xfe", kind=ENTRY_CALL, aux=99)
    made.define(0, b"none()", kind=ENTRY_CALL, aux=1)
    made.define(70_000, b"none()", kind=ENTRY_CALL, aux=1)
    for call in (9, 10, 0, 5000):
        made.put(1, call=call)
    tracing.poll()
    assert [(row.call, row.signature) for row in tracing.rows()] == [("fsync", ""), ("", ""), ("", ""), ("", "")]
    assert tracing.source.counters["definitions_malformed"] == 3
    assert tracing.source.counters["definitions_dropped"] == 2


def test_definition_of_an_unknown_type_is_counted_and_the_log_is_read_on(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"what", kind=77)
    made.define(1, b"/good")
    made.put(1, file=1)
    tracing.poll()
    assert [row.path for row in tracing.rows()] == ["/good"]
    assert tracing.source.counters["definitions_malformed"] == 1
