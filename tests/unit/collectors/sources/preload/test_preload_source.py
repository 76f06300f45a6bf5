"""Events and streams from the records and definitions of traced processes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from subprocess import PIPE

import pytest
from iotide.collectors.source import Lost, Origin
from iotide.collectors.sources.preload.records.ring_layout import ENTRY_HANDLE, ENTRY_STRING
from iotide.collectors.sources.preload.rings import drain
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import HandleInfo, Layer
from iotide.events.losses import LEFT_RUNNING
from support.system.waiting import wait_for
from support.tracing.regions import LISTED, OPEN, WRITE, MadeRegion, connected
from support.tracing.tracing import Tracing


def test_event_waits_for_a_definition_that_another_thread_is_still_writing(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    begun = int(made.header["log_head"][0])
    size = made.define(1, b"/slow", committed=False)
    made.define(2, b"/fast")
    made.put(1, file=2)
    tracing.poll()
    made.commit(begun, size)
    tracing.poll()
    assert [row.path for row in tracing.rows()] == ["/fast"]


def test_definition_that_is_never_finished_does_not_hold_events_for_ever(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    made.define(1, b"/never", committed=False)
    made.put(3)
    tracing.settle_events(3)
    assert [row.path for row in tracing.rows()] == ["", "", ""]


@pytest.mark.slow
def test_one_poll_gives_a_bounded_number_of_events_and_the_next_ones_the_rest(tracing: Tracing) -> None:
    with MadeRegion(slots=3, lines=1 << 16) as made:
        made.hand_over(tracing.socket)
        for slot in range(3):
            made.put(1 << 16, slot)
        tracing.poll()
        assert 0 < len(next(iter(tracing.events().values()))) <= 65_536
        assert max(len(batch) for batch in next(iter(tracing.batches.values()))) <= 32_768
        for _ in range(2):
            tracing.poll()
        assert tracing.source.counters["events"] == 3 << 16


@pytest.mark.parametrize("now_s", [0.0, 0.25, 1e9])
def test_first_events_are_given_at_once_whenever_the_clock_began(
    tmp_path: Path, made: MadeRegion, now_s: float
) -> None:
    with closing(PreloadSource(tmp_path / "gate", Origin("job"), patience_s=3600, clock=lambda: now_s)) as source:
        made.hand_over(tmp_path / "gate")
        made.put(1)
        source.poll()
        assert source.counters["events"] == 1


def test_a_few_events_wait_for_more_but_not_in_a_hurry_nor_in_a_ring_that_fills(
    tmp_path: Path, made: MadeRegion
) -> None:
    with closing(PreloadSource(tmp_path / "gate", Origin("job"), patience_s=3600)) as source:
        made.hand_over(tmp_path / "gate")
        counts = []
        for count in (1, 1, 15, 16, 1):
            made.put(count)
            source.poll()
            counts.append(source.counters["events"])
        assert counts == [1, 1, 17, 33, 33]
        source.stop_buffering()
        source.poll()
        assert source.counters["events"] == 34


@pytest.mark.parametrize("ends", [True, False])
def test_process_may_end_for_a_moment_after_the_collector_and_is_a_loss_if_it_does_not(
    tmp_path: Path, made: MadeRegion, *, ends: bool
) -> None:
    now_s, gate, items = 0.0, tmp_path / "gate", []
    with closing(PreloadSource(gate, Origin("job"), clock=lambda: now_s, counts_untraced=True)) as source:
        made.hand_over_from_another_process(gate)
        wait_for(lambda: source.poll() or source.in_use, what="the process")
        assert not source.is_waiting
        source.stop_buffering()
        source.poll()
        assert source.is_waiting
        made.put(3)
        if ends:
            made.end_senders()
            wait_for(lambda: items.extend(source.poll()) or not source.is_waiting, what="the end of the process")
        now_s = 0.6
        items.extend(source.poll())
        assert not source.is_waiting
        assert source.counters["events"] == 3
        assert [each.losses for each in items if isinstance(each, Lost)] == ([] if ends else [{LEFT_RUNNING: 1}])


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


def test_rank_known_later_is_reported_and_set_in_later_events(tracing: Tracing, made: MadeRegion) -> None:
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


def test_calls_lost_with_an_earlier_collector_are_counted(tracing: Tracing, made: MadeRegion) -> None:
    made.set(lost_before=17)
    made.hand_over(tracing.socket)
    made.put(1)
    tracing.poll()
    assert tracing.source.counters["events_dropped:collector_gone"] == 17


def refused_in(tracing: Tracing) -> list[str]:
    """Return the jobs of refused processes."""
    items = tracing.source.poll() + tracing.source.poll()
    lost = [item for item in items if isinstance(item, Lost) and not item.stream]
    assert all(item.losses == {"processes_refused": 1} for item in lost)
    return [item.job for item in lost]


def test_process_that_is_refused_is_told_in_all_jobs_that_it_may_be_of(tracing: Tracing, made: MadeRegion) -> None:
    made.set(job=b"one")
    made.hand_over(tracing.socket)
    with MadeRegion() as broken:
        broken.set(token=78, layout=99)
        broken.hand_over_from_ended_process(tracing.socket)  # whose environment is gone
        assert refused_in(tracing) == ["one"]


_HAND_OVER = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
    peer.connect(sys.argv[1])
    print(flush=True)
    sys.stdin.read(1)
    peer.send(b"no HELLO")
    print(flush=True)
    sys.stdin.read(1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({"IOTIDE_JOB": "mine", "SLURM_JOB_ID": "7"}, "mine"),
        ({"IOTIDE_JOB": "", "PBS_JOBID": "7.server"}, "7.server"),
        ({"LSB_JOBID": "7", "LSB_JOBINDEX": "3"}, "7[3]"),
        ({"LSB_JOBID": "7", "LSB_JOBINDEX": "0"}, "7"),
        ({"FLUX_JOB_ID": "x" * 500}, "x" * 127),
        ({}, "origin"),
    ],
)
@pytest.mark.parametrize("is_silent", [False, True])
def test_process_that_is_refused_is_told_in_its_own_job(
    tracing: Tracing, made: MadeRegion, environment: dict[str, str], job: str, is_silent: bool
) -> None:
    made.set(job=b"another")
    made.hand_over(tracing.socket)
    known = {name: value for name, value in os.environ.items() if "JOB" not in name}
    command = [sys.executable, "-I", "-c", _HAND_OVER, str(tracing.socket)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, env=known | environment) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        peer.stdout.readline()
        tracing.source.poll()
        if is_silent:
            with ExitStack() as stack:
                for _ in range(256):
                    stack.enter_context(connected(tracing.socket))
                assert refused_in(tracing) == [job]
        else:
            peer.stdin.write(b"x")
            peer.stdin.flush()
            peer.stdout.readline()
            assert refused_in(tracing) == [job]
        peer.kill()


def test_process_beyond_the_bound_is_told_in_its_own_job(
    tracing: Tracing, made: MadeRegion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain, "_MAX_PROCESSES", 0)
    made.set(job=b"one")
    made.hand_over(tracing.socket)
    assert refused_in(tracing) == ["one"]
