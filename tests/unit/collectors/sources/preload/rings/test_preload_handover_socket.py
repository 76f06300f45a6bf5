"""Traced processes at the collector: connection, identification and end."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import time
from pathlib import Path

import pytest
from iotide.collectors.sources.preload.rings.received_descriptors import mapped
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import ConfigError
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion, connected
from support.tracing.tracing import Tracing


def descriptors() -> list[int]:
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


def test_slow_peer_is_accepted_and_others_do_not_wait(tracing: Tracing, made: MadeRegion) -> None:
    with connected(tracing.socket) as slow, connected(tracing.socket):
        tracing.poll()
        assert not tracing.info
        socket.send_fds(slow, [made.hello()], [made.descriptor])
        tracing.poll()
        assert len(tracing.info) == 1


@pytest.mark.slow
def test_process_that_comes_while_descriptors_are_out_is_taken_later(tracing: Tracing, made: MadeRegion) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    made.hand_over(tracing.socket)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        tracing.poll()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert tracing.source.counters["accepts_failed"] == 1
    assert not tracing.source._drain.events.poll(0)  # a process that waits for data is not woken repeatedly

    def taken() -> bool:
        tracing.poll()
        return len(tracing.info) == 1

    wait_for(taken)
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


def test_processes_of_two_containers_may_believe_to_have_the_same_pid(tracing: Tracing, made: MadeRegion) -> None:
    with MadeRegion() as other:
        other.set(token=78)
        for region in (made, other):
            region.hand_over_from_another_process(tracing.socket)
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
        made.put(2)  # by a thread that was still writing
        now_s[0] += 0.5
        tracing.poll()
        assert not tracing.closed
        now_s[0] += 1
        tracing.poll()
        assert tracing.source.counters["events"] == 8
        assert tracing.source.counters["events_dropped:collector_gone"] == 0
        assert len(tracing.closed) == 1
        assert sorted(len(batch) for batch in tracing.events().values()) == [1, 7]


def test_process_is_told_that_it_is_read(tracing: Tracing, made: MadeRegion) -> None:
    made.hand_over(tracing.socket)
    seen = []
    for _ in range(2):
        before = time.monotonic_ns()
        tracing.poll()
        seen.append(int(made.header["collector_seen_ns"][0]))
        assert before <= seen[-1] <= time.monotonic_ns()
    assert seen[0] < seen[1]


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


@pytest.mark.slow
def test_processes_beyond_the_descriptors_are_followed_to_their_ends(tmp_path: Path) -> None:
    now = [0.0]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Tracing(tmp_path, clock=lambda: now[0]) as tracing:
        with contextlib.ExitStack() as running:
            regions = [running.enter_context(MadeRegion()) for _ in range(12)]
            for number, region in enumerate(regions):
                region.set(token=100 + number)
                region.hand_over_from_another_process(tracing.socket)
                region.put(1)
            highest = max(descriptors())
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 3, limits[1]))
            try:
                for _ in range(5):
                    tracing.poll()
                now[0] += 1.0
                tracing.poll()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            assert len(tracing.info) == 12
            assert (tracing.source.counters["processes_refused"], tracing.source.counters["accepts_failed"]) == (0, 0)
            assert not tracing.closed
            for region in regions:
                region.put(1)
        now[0] += 1.0
        for _ in range(3):
            tracing.poll()
        assert len(tracing.closed) == 12
        assert [len(batch) for batch in tracing.events().values()] == [2] * 12


def test_regions_keep_no_descriptor(tracing: Tracing) -> None:
    with contextlib.ExitStack() as running:
        made = [running.enter_context(MadeRegion()) for _ in range(8)]
        for number, region in enumerate(made):
            region.set(token=100 + number)
            region.hand_over(tracing.socket)
            tracing.poll()
            if not number:
                before = len(descriptors())
        # They belong to one process; its last image is watched.
        assert len(descriptors()) == before
        assert len(tracing.info) == 8


def test_memory_is_unmapped_with_its_last_view(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.write_bytes(bytes(4096))
    descriptor = os.open(path, os.O_RDWR)
    memory = mapped(descriptor, 4096)
    os.close(descriptor)
    view = memory[100:200]
    del memory
    view[:3] = b"abc"
    assert path.read_bytes()[100:103] == b"abc"
    del view
    assert str(path) not in Path("/proc/self/maps").read_text()
