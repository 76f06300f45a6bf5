"""Connections that another process has accepted arrive once each, also when no further one follows."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.records.ring_layout import LAYOUT, MAGIC, WORD
from iotide.collectors.sources.preload.rings.passed_peers import NumberedPeer, PassedPeers, PeerPasser
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import ProtocolError
from iotide.events.network.curve import ClientKeys, KeyPair
from support.tracing.regions import MadeRegion


class Passing:
    """The end of the process that accepts connections."""

    def __init__(self) -> None:
        self.channel, peers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self.read: list[int] = []
        self.passer = PeerPasser(self.channel, 3, self.read.append)
        self.reports, reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.passed = PassedPeers(peers, reports)

    def close(self) -> None:
        for each in (self.passer, self.reports, self.passed, self.passed.reports):
            each.close()


@pytest.fixture
def passing() -> Iterator[Passing]:
    ends = Passing()
    yield ends
    ends.close()


def test_connections_arrive_in_order_and_then_the_end(passing: Passing) -> None:
    with pytest.raises(BlockingIOError):
        passing.passed.accept()
    pairs = [socket.socketpair() for _ in range(3)]
    assert all(passing.passer.add(NumberedPeer(number, theirs)) for number, (_, theirs) in enumerate(pairs))
    passing.passer.end()
    for number, (ours, _) in enumerate(pairs):
        peer, _ = passing.passed.accept()
        with peer, ours:
            ours.send(bytes([number]))
            assert peer.recv(8) == bytes([number])
            assert not os.get_inheritable(peer.fileno())
    assert not passing.passed.ended
    with pytest.raises(EOFError):
        passing.passed.accept()
    assert passing.passed.ended


def test_unread_connections_are_kept_within_the_bound_for_a_successor(passing: Passing) -> None:
    pairs = [socket.socketpair() for _ in range(5)]
    peers = [NumberedPeer(number, theirs) for number, (_, theirs) in enumerate(pairs)]
    assert [passing.passer.add(peer) for peer in peers[:4]] == [True, True, True, False]
    with passing.passed.accept()[0], passing.passed.accept()[0]:  # accepting the second one acknowledges the first
        assert passing.passer.receive()
    assert passing.passer.add(peers[4])
    passing.passed.close()
    assert not passing.passer.receive()
    assert list(passing.passer.take_unread()) == [peers[1], peers[2], peers[4]]
    assert passing.read == [0]
    for pair in pairs:
        for end in pair:
            end.close()


def test_connections_after_the_request_of_the_end_wait(passing: Passing) -> None:
    passing.passed.request_end()
    assert passing.passer.receive()
    ours, theirs = socket.socketpair()
    with ours:
        peer = NumberedPeer(1, theirs)
        assert passing.passer.add(peer)
        assert list(passing.passer.waiting) == [peer]
        with pytest.raises(EOFError):
            passing.passed.accept()


def test_end_is_not_granted_while_a_connection_is_on_its_way(passing: Passing) -> None:
    """Otherwise the connections after it would wait until its program has ended."""
    ours, theirs = socket.socketpair()
    passing.passed.request_end()
    assert passing.passer.add(NumberedPeer(1, theirs))  # before the request is read
    assert passing.passer.receive()
    assert not passing.passer.end_requested
    with ours, passing.passed.accept()[0]:
        passing.passed.request_end()  # it has read all
    assert passing.passer.receive()
    assert (passing.passer.end_requested, passing.passer.acknowledged) == (True, 1)


def test_connection_for_which_no_descriptor_is_free_is_an_error(passing: Passing) -> None:
    passing.channel.send(bytes(8))  # the kernel removes descriptors that do not fit
    with pytest.raises(ProtocolError, match="no descriptor"):
        passing.passed.accept()


def test_connections_that_a_successor_passes_again_are_acknowledged_once(passing: Passing) -> None:
    pairs = [socket.socketpair() for _ in range(2)]
    peers = [NumberedPeer(number, theirs) for number, (_, theirs) in enumerate(pairs)]
    passing.passer.add(peers[0])
    successor = PeerPasser(passing.channel, 3, passing.read.append)
    assert successor.add(NumberedPeer(0, peers[0].socket.dup()))
    assert successor.add(peers[1])
    for expected in ([], [0], [0]):
        with passing.passed.accept()[0]:
            assert successor.receive()
            assert passing.read == expected
    passing.passed.request_end()
    assert successor.receive()
    assert (passing.read, successor.end_requested) == ([0, 1], True)
    peers[0].socket.close()
    for ours, _ in pairs:
        ours.close()


def test_keys_arrive_between_connections(passing: Passing) -> None:
    keys = ClientKeys(KeyPair(b"p" * 40, b"s" * 40), b"a" * 40)
    passing.passed.request_keys()
    assert passing.passer.receive()
    assert passing.passer.keys_requested
    passing.passer.pass_keys(keys.packed())
    with pytest.raises(BlockingIOError):
        passing.passed.accept()
    assert ClientKeys.unpacked(passing.passed.packed_keys) == keys


def test_request_to_a_process_that_has_ended_is_no_error(passing: Passing) -> None:
    passing.channel.close()
    passing.passed.request_end()


def test_source_collects_passed_processes_and_reports_and_creates_no_socket(passing: Passing, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    source = PreloadSource(gate, Origin(job="j", host="h"), passed=passing.passed)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening, MadeRegion() as region:
        listening.bind(str(gate))
        listening.listen()
        region.put(10)
        region.hand_over(gate)
        assert passing.passer.add(NumberedPeer(1, listening.accept()[0]))
        passing.reports.send(WORD.pack(MAGIC, LAYOUT, 13, b"j", b"/bin/app"))
        passing.reports.send(b"no report")
        passing.channel.shutdown(socket.SHUT_WR)
        while source.counters["processes"] == 0 or not passing.passed.ended:
            source.poll()
        assert ["app" in program.program for program in source.untraced] == [True]
        source.close()
        assert gate.exists()  # it belongs to the process that listens
