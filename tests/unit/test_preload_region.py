"""What the collector reads from a traced process's memory, when that is in order and when it is not."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iotide.collectors.file_facts import NodeFiles, ProcessFiles
from iotide.collectors.launch import traced_environment
from iotide.collectors.source import Chunk, Closed, Origin
from iotide.collectors.sources.preload.definition_log import Entry
from iotide.collectors.sources.preload.lines import split
from iotide.collectors.sources.preload.names import MOST_FILES
from iotide.collectors.sources.preload.region import Region
from iotide.collectors.sources.preload.ring_layout import (
    ENTRY_CALL,
    ENTRY_FILE,
    ENTRY_HANDLE,
    ENTRY_STRING,
    HEADER_BYTES,
    RECORD,
)
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import ConfigError, FileInfo, FileType, HandleInfo, Layer, ProtocolError
from support.regions import LISTED, OPEN, PAGE, WRITE, MadeRegion, connected, words_lines
from support.tracing import Tracing


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    with Tracing(tmp_path) as made:
        yield made


@pytest.fixture
def made() -> Iterator[MadeRegion]:
    with MadeRegion() as region:
        yield region


def paths(tracing: Tracing) -> list[str]:
    (stream,) = tracing.batches
    table = tracing.tables[stream]
    return [table.file(number).path for number in tracing.events()[stream].file.tolist()]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 14)), max_size=40),
    st.sampled_from([1, 3, 7, 1 << 20]),
)
def test_records_come_out_once_in_order_and_with_their_words(bursts: list[tuple[int, int, int]], most: int) -> None:
    with MadeRegion(lines=16) as made:
        region = Region(made.descriptor)
        seen: dict[int, list[tuple[int, list[int]]]] = {0: [], 1: []}
        put: dict[int, list[tuple[int, list[int]]]] = {0: [], 1: []}
        made.slots["tid"] = [0, 1]
        for slot, count, length in bursts:
            words = [len(put[slot]) * 100 + place for place in range(length)]
            put[slot] += [(len(put[slot]) + place, words) for place in range(count)]
            made.put(count, slot, words=words)
            while not region.drained:
                for tid, lines in region.drain(most):
                    records, malformed = split(lines)
                    assert malformed == 0
                    for row, at in zip(records.rows, records.at.tolist(), strict=True):
                        seen[tid].append((int(row["start"]), records.words[at : at + int(row["words"])].tolist()))
        assert seen == put
        assert (made.slots["tail"] == made.slots["head"]).all()
        assert (made.slots["taken"] == made.slots["made"]).all()
        assert not region.counters
        region.close()


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.booleans()), max_size=12))
def test_record_without_the_words_that_it_announces_costs_itself(parts: list[tuple[int, int, bool]]) -> None:
    lines = [np.zeros((0, 8), np.uint64)]
    good, broken = [], 0
    for number, (announced, following, right) in enumerate(parts):
        row = np.zeros(1, RECORD)
        needed = -(-announced // 7)
        following = needed if right else following
        row["start"], row["words"] = number, announced
        lines += [row.view(np.uint64).reshape(1, 8), words_lines([number] * 7 * following)]
        good += [number] if following == needed else []
        broken += following != needed
    records, malformed = split(np.concatenate(lines))
    assert records.rows["start"].tolist() == good
    assert malformed == broken
    for row, at in zip(records.rows, records.at.tolist(), strict=True):
        assert set(records.words[at : at + int(row["words"])].tolist()) <= {int(row["start"])}


def test_record_that_announces_more_words_than_any_call_has_is_malformed() -> None:
    row = np.zeros(1, RECORD)
    row["words"] = 70
    records, malformed = split(np.concatenate([row.view(np.uint64).reshape(1, 8), words_lines([1] * 70)]))
    assert (len(records), malformed) == (0, 1)


def test_words_ahead_of_the_first_record_are_not_taken_for_its_own() -> None:
    row = np.zeros(1, RECORD)
    row["words"] = 2
    lines = [words_lines([1] * 9), row.view(np.uint64).reshape(1, 8), words_lines([5, 6])]
    records, malformed = split(np.concatenate(lines))
    assert malformed == 0
    assert records.words[records.at[0] : records.at[0] + 2].tolist() == [5, 6]


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


@settings(deadline=None, max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=300), max_size=60))
def test_definitions_come_out_once_and_in_order_around_the_end_of_the_log(names: list[bytes]) -> None:
    with MadeRegion(calls=False) as made:
        region = Region(made.descriptor)
        for number, name in enumerate(names, 1):
            made.define(number, name)
            assert list(region.log.read()) == [Entry(ENTRY_FILE, number, 0, name)]
        region.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"magic": 1},
        {"layout": 1},
        {"region_bytes": PAGE},
        {"slot_count": 0},
        {"slot_count": 5000},
        {"ring_lines": 3},
        {"ring_lines": 1 << 21},
        {"log_bytes": PAGE + 8},
        {"log_bytes": 1 << 25},
        {"log_tail": 8},
        {"slots_offset": 2**63},
        {"rings_offset": 2**64 - 8},
        {"log_offset": 4097},
    ],
)
def test_header_that_breaks_the_layout_is_refused(made: MadeRegion, wrong: dict[str, int]) -> None:
    made.set(**wrong)
    with pytest.raises(ProtocolError):
        Region(made.descriptor)


def test_memory_that_can_shrink_under_us_is_refused() -> None:
    with MadeRegion(sealed=False) as made, pytest.raises(ProtocolError, match="sealed"):
        Region(made.descriptor)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_random_memory_never_breaks_the_collector(data: st.DataObject) -> None:
    with MadeRegion(slots=2, lines=16) as made:
        region = Region(made.descriptor)
        made.define(1, b"/before")
        made.put(3)
        for _ in range(data.draw(st.integers(1, 6))):
            at = data.draw(st.integers(0, made.size - 8))
            made.memory[at : at + 8] = data.draw(st.sampled_from([b"\xff" * 8, bytes(8), b"\x10" + bytes(7)]))
        made.set(log_head=data.draw(st.integers(0, 2**64 - 1)))
        made.slots["head"][1] = data.draw(st.integers(0, 2**64 - 1))
        for _ in range(3):
            for _, lines in region.drain(1 << 20):
                assert len(lines) <= 16
                split(lines)
            with contextlib.suppress(ProtocolError):
                assert len(list(region.log.read())) <= PAGE // 16
            region.counts()
        region.close()


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
        neighbour.hand_over(tracing.socket)  # as one more image of this process, so that both ways of ending are met
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


class BreakingFiles(NodeFiles):
    """Breaks over files of one name."""

    def of_process(self, pid: int, claimed_namespace: int = 0) -> ProcessFiles:
        class Breaking(ProcessFiles):
            def __call__(self, path: str, spelled: FileType) -> FileInfo:
                if path == "/broken":
                    raise RuntimeError("this name breaks us")
                return super().__call__(path, spelled)

        return Breaking(self, pid, claimed_namespace)


def test_process_that_breaks_the_collector_itself_costs_itself(tmp_path: Path, made: MadeRegion) -> None:
    with MadeRegion() as neighbour:
        source = PreloadSource(tmp_path / "gate", Origin("job"), files=BreakingFiles())
        neighbour.set(token=78)
        made.hand_over(tmp_path / "gate")
        send_from_another_process(neighbour, tmp_path / "gate")
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
        send_from_another_process(neighbour, tracing.socket)
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


def test_event_waits_for_a_definition_that_another_thread_is_still_writing(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    begun = int(made.header["log_head"][0])
    size = made.define(1, b"/slow", committed=False)
    made.define(2, b"/fast")
    made.put(1, file=2)
    tracing.poll()
    made.commit(begun, size)
    tracing.poll()
    assert paths(tracing) == ["/fast"]


def test_definition_that_is_never_finished_does_not_hold_events_for_ever(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"/never", committed=False)
    made.put(3)
    tracing.settle_events(3)
    assert paths(tracing) == ["", "", ""]


def test_file_numbers_beyond_the_table_cost_their_names_alone(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    for number in (MOST_FILES + 1, 2**32 - 1, 1):
        made.define(number, b"/file%d" % number)
    made.put(1, file=1)
    made.put(1, file=2**32 - 1)
    tracing.poll()
    assert paths(tracing) == ["/file1", ""]
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


def test_one_poll_gives_a_bounded_number_of_events_and_the_next_ones_the_rest(tracing: Tracing) -> None:
    with MadeRegion(slots=3, lines=1 << 16) as made:
        made.hand_over(tracing.socket)
        for slot in range(3):
            made.put(1 << 16, slot)
        tracing.poll()
        assert 0 < len(next(iter(tracing.events().values()))) <= 65_536
        for _ in range(2):
            tracing.poll()
        assert tracing.source.counters["events"] == 3 << 16


def test_a_few_events_wait_for_more_but_not_in_a_hurry_nor_in_a_ring_that_fills(
    tmp_path: Path, made: MadeRegion
) -> None:
    source = PreloadSource(tmp_path / "gate", Origin("job"), patience_s=3600)
    made.hand_over(tmp_path / "gate")
    counts = []
    for count in (1, 1, 15, 16, 1):
        made.put(count)
        source.poll()
        counts.append(source.counters["events"])
    assert counts == [1, 1, 17, 33, 33]
    source.hurry()
    source.poll()
    assert source.counters["events"] == 34
    source.close()


def test_busy_ring_does_not_starve_the_others(tracing: Tracing) -> None:
    with MadeRegion(slots=2, lines=1 << 16) as made:
        made.hand_over(tracing.socket)
        made.slots["tid"] = [10, 11]
        made.put(1, 1)
        for _ in range(3):
            made.put(1 << 16, 0)
            tracing.poll()
        (batch,) = tracing.events().values()
        assert 11 in batch.tid.tolist()


def test_drop_counters_of_a_hostile_process_stay_numbers_that_can_be_sent(tracing: Tracing, made: MadeRegion) -> None:
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


def test_peer_that_is_slow_to_speak_is_taken_and_nobody_waits_for_it(tracing: Tracing, made: MadeRegion) -> None:
    with connected(tracing.socket) as slow, connected(tracing.socket):
        tracing.poll()
        assert not tracing.info
        socket.send_fds(slow, [made.hello()], [made.descriptor])
        tracing.poll()
        assert len(tracing.info) == 1


def test_process_that_comes_while_descriptors_are_out_is_taken_later(tracing: Tracing, made: MadeRegion) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    made.hand_over(tracing.socket)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        tracing.poll()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert tracing.source.counters["accepts_failed"] == 1
    tracing.poll()
    assert len(tracing.info) == 1
    assert tracing.source.counters["processes_refused"] == 0


def test_silent_peers_are_bounded(tracing: Tracing, made: MadeRegion) -> None:
    silent = [connected(tracing.socket) for _ in range(300)]
    try:
        for _ in range(3):
            tracing.poll()
        assert tracing.source.counters["processes_refused"] >= 300 - 256
        made.hand_over(tracing.socket)
        tracing.poll()
        assert len(tracing.info) == 1
    finally:
        for peer in silent:
            peer.close()


SENDER = """
import socket, sys
gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
gate.connect(sys.argv[1])
socket.send_fds(gate, [bytes.fromhex(sys.argv[2])], [int(sys.argv[3])])
print("sent", flush=True)
sys.stdin.read()
"""
_running: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _end_senders() -> Iterator[None]:
    yield
    while _running:
        with _running.pop() as sender:
            sender.communicate()


def send_from_another_process(made: MadeRegion, gate: Path) -> None:
    """Hands a region over from a process that then lives until the test ends."""
    words = [sys.executable, "-c", SENDER, str(gate), made.hello().hex(), str(made.descriptor)]
    sender = subprocess.Popen(
        words, pass_fds=[made.descriptor], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    _running.append(sender)
    assert sender.stdout is not None
    assert sender.stdout.readline() == "sent\n"


def test_processes_of_two_containers_may_believe_to_have_the_same_pid(tracing: Tracing, made: MadeRegion) -> None:
    with MadeRegion() as other:
        other.set(token=78)
        for region in (made, other):
            send_from_another_process(region, tracing.socket)
        tracing.poll()
        assert len(tracing.info) == 2
        assert not tracing.closed
        made.put(1)
        other.put(1)
        tracing.poll()
        for stream, batch in tracing.events().items():
            assert batch.pid.tolist() == [tracing.info[stream].pid]


def test_second_image_of_a_process_ends_the_first(tracing: Tracing, made: MadeRegion) -> None:
    with MadeRegion() as after_exec:
        made.hand_over(tracing.socket)
        made.put(2)
        tracing.poll()
        made.put(1)
        after_exec.set(token=78)
        after_exec.hand_over(tracing.socket)
        tracing.poll()
        assert len(tracing.closed) == 1
        assert len(tracing.events()[tracing.closed[0]]) == 3


def test_extent_of_an_unknown_process_is_refused(tracing: Tracing, made: MadeRegion) -> None:
    made.set(extent=1)
    made.hand_over(tracing.socket)
    tracing.poll()
    assert tracing.source.counters["processes_refused"] == 1


def test_environment_names_the_socket_wherever_the_program_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    library = tmp_path / "tracer.so"
    library.touch()
    base = {"LD_PRELOAD": "first.so", "IOTIDE_TRACER": str(library)}
    environment = traced_environment(base, Path("t.sock"), "job")
    assert environment["IOTIDE_SOCKET"] == str(tmp_path / "t.sock")
    preloaded = environment["LD_PRELOAD"].split(":")
    assert (preloaded[0], preloaded[-1]) == (str(library), "first.so")
    with pytest.raises(ConfigError):
        traced_environment(base, tmp_path / ("long" * 40), "job")


# ---- what definitions make of records ----


def test_parameters_become_the_text_of_the_call(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"/a//b/./c/../d")
    made.define(1, b"level", kind=ENTRY_STRING)
    made.put(1, call=OPEN, file=1, descriptor=3, words=[0o101, 0o600])
    made.put(2, call=WRITE, file=1, descriptor=3, requested=10, offset=5)
    made.put(1, call=LISTED, words=[2, 7, 8, 1, 2**64 - 1])
    made.put(1, call=LISTED, words=[9])
    tracing.poll()
    assert tracing.signatures() == [
        "open(flags=O_WRONLY|O_CREAT, mode=0600) = 3",
        "pwrite64(fd=3, count=10)",
        "pwrite64(fd=3, count=10)",
        "list(of=[7, 8], name=level) = -1",
        "",
    ]
    assert [row.path for row in tracing.rows("pwrite64")] == ["/a/b/d"] * 2
    assert {row.layer for row in tracing.rows()} == {Layer.POSIX}
    assert tracing.source.counters["signatures_malformed"] == 1


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


def test_handles_that_no_call_made_reach_the_stream(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"pipe:[7]")
    made.define(1, b"0 1 0 32768 stdin", kind=ENTRY_HANDLE, aux=1)
    made.define(900_000, b"4 0 7 2 stream", kind=ENTRY_HANDLE, aux=1)
    for broken in (b"", b"1 2 3", b"a b c d e", b"0 0 0 99999999999 x", b"5 0 0 0 stdin"):
        made.define(2, broken, kind=ENTRY_HANDLE, aux=99 if broken.startswith(b"5") else 1)
    made.define(1, b"0 1 0 32768 again", kind=ENTRY_HANDLE, aux=1)
    tracing.poll()
    assert tracing.handles() == {
        1: HandleInfo(1, 0, Layer.POSIX, "stdin", 0, 32768),
        900_000: HandleInfo(0, 7, Layer.POSIX, "stream", 4, 2),
    }
    assert tracing.source.counters["definitions_malformed"] == 5
    assert tracing.source.counters["definitions_dropped"] == 1


def test_definition_of_an_unknown_type_is_counted_and_the_log_is_read_on(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"what", kind=77)
    made.define(1, b"/good")
    made.put(1, file=1)
    tracing.poll()
    assert paths(tracing) == ["/good"]
    assert tracing.source.counters["definitions_malformed"] == 1


# ---- what the header says ----


def test_rank_that_is_known_later_is_told_and_stands_in_later_events(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.put(1)
    tracing.poll()
    made.set(rank=3, ranks=8)
    made.put(1)
    tracing.poll()
    (info,) = tracing.info.values()
    assert (info.rank, info.ranks) == (3, 8)
    assert [row.rank for row in tracing.rows()] == [-1, 3]


def test_calls_that_were_not_recorded_on_purpose_are_counted_and_no_drops(tracing: Tracing, made: MadeRegion) -> None:
    made.set(left_out=4)
    made.slots["sampled_out"], made.slots["sampled_out_bytes"] = [1, 2], [10, 20]
    made.hand_over(tracing.socket)
    made.put(1)
    tracing.poll()
    counters = tracing.source.counters
    assert (counters["events_left_out"], counters["events_sampled_out"], counters["bytes_sampled_out"]) == (4, 3, 30)
    assert not [name for name, count in counters.items() if "dropped" in name and count]


def test_process_is_told_that_it_is_read(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    seen = []
    for _ in range(2):
        before = time.monotonic_ns()
        tracing.poll()
        seen.append(int(made.header["collector_seen_ns"][0]))
        assert before <= seen[-1] <= time.monotonic_ns()
    assert seen[0] < seen[1]


def test_calls_lost_with_an_earlier_collector_are_counted(tracing: Tracing, made: MadeRegion) -> None:
    made.set(lost_before=17)
    made.hand_over(tracing.socket)
    made.put(1)
    tracing.poll()
    assert tracing.source.counters["events_dropped:collector_gone"] == 17


def test_region_given_up_while_we_were_stopped_is_read_to_its_end_and_nothing_counts_as_lost(
    tmp_path: Path, made: MadeRegion
) -> None:
    now_s = [100.0]
    with Tracing(tmp_path, clock=lambda: now_s[0]) as tracing, MadeRegion() as fresh:
        made.hand_over(tracing.socket)
        tracing.poll()
        made.put(5)
        fresh.set(token=78, lost_before=5)
        fresh.put(1)
        fresh.hand_over(tracing.socket)
        now_s[0] += 5
        tracing.poll()
        made.put(2)  # by a thread that was still at it
        now_s[0] += 0.5
        tracing.poll()
        assert not tracing.closed
        now_s[0] += 1
        tracing.poll()
        assert tracing.source.counters["events"] == 8
        assert tracing.source.counters["events_dropped:collector_gone"] == 0
        assert len(tracing.closed) == 1
        assert sorted(len(batch) for batch in tracing.events().values()) == [1, 7]
