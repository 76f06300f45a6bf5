"""Connections that ZeroMQ would not make again after a refused handshake."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq
import zmq.auth
from iotide.events.network.connection_events import CONNECTED, KEY_REFUSED, PROTOCOL_FAILED, ConnectionEvents
from support.system.waiting import wait_for

SERVER, CLIENT = zmq.curve_keypair(), zmq.curve_keypair()


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    with zmq.Context() as found:
        yield found


def listen(context: zmq.Context[zmq.Socket[bytes]], endpoint: str, *, secure: bool) -> zmq.Socket[bytes]:
    socket = context.socket(zmq.ROUTER)
    socket.setsockopt(zmq.LINGER, 0)
    if secure:
        socket.curve_publickey, socket.curve_secretkey = SERVER
        socket.curve_server = True
        socket.zap_domain = b"ingest"

    def binds() -> bool:  # ZeroMQ leaves the address of a closed socket a moment later
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            return error.errno != errno.EADDRINUSE
        return True

    wait_for(binds, what="the address")
    return socket


def seen(events: ConnectionEvents, *wanted: int) -> bool:
    return bool({event for event, _ in events.poll(time.monotonic())} & set(wanted))


def answer(zap: zmq.Socket[bytes], status: bytes) -> None:
    """Answer the requests for authentication that wait."""
    while zap.poll(0):
        peer, _, version, request, *_ = zap.recv_multipart()
        zap.send_multipart([peer, b"", version, request, status, b"", b"", b""])


@pytest.mark.slow
def test_refused_key_is_tried_again_until_it_is_permitted(
    context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path
) -> None:
    endpoint = f"ipc://{tmp_path}/in"
    with context.socket(zmq.ROUTER) as zap, context.socket(zmq.DEALER) as client:
        zap.bind("inproc://zeromq.zap.01")
        with listen(context, endpoint, secure=True):
            client.setsockopt(zmq.LINGER, 0)
            client.curve_publickey, client.curve_secretkey = CLIENT
            client.curve_serverkey = SERVER[0]
            events = ConnectionEvents(client)
            events.connect(endpoint)

            def becomes(event: int, status: bytes) -> bool:
                answer(zap, status)
                return seen(events, event)

            wait_for(lambda: becomes(KEY_REFUSED, b"400"), what="the refusal")
            wait_for(lambda: becomes(KEY_REFUSED, b"400"), what="a second refusal")
            wait_for(lambda: becomes(CONNECTED, b"200"), what="the connection")
            events.close()


@pytest.mark.slow
def test_peer_that_changes_its_security_is_reached_again(
    context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path
) -> None:
    endpoint = f"ipc://{tmp_path}/in"
    with context.socket(zmq.DEALER) as client:
        client.setsockopt(zmq.LINGER, 0)
        events = ConnectionEvents(client)
        with listen(context, endpoint, secure=True):
            events.connect(endpoint)
            wait_for(lambda: seen(events, PROTOCOL_FAILED), what="the refusal")
        with listen(context, endpoint, secure=False):
            wait_for(lambda: seen(events, CONNECTED), what="the connection")
        events.close()


def test_endpoint_that_was_left_is_not_connected_again(context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path) -> None:
    left, other = f"ipc://{tmp_path}/left", f"ipc://{tmp_path}/other"
    with context.socket(zmq.DEALER) as client, listen(context, other, secure=False):
        client.setsockopt(zmq.LINGER, 0)
        events = ConnectionEvents(client)
        with listen(context, left, secure=True):
            events.connect(left)
            wait_for(lambda: seen(events, PROTOCOL_FAILED), what="the refusal")
        events.disconnect(left)
        events.connect(other)
        wait_for(lambda: seen(events, CONNECTED), what="the connection to the other one")
        with listen(context, left, secure=False) as unused:
            events.poll(time.monotonic() + 60)  # when the next attempt would be due
            client.send(b"x")
            assert not unused.poll(100)
        events.close()


def test_watches_of_one_context_follow_each_other_at_once(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    for _ in range(200):  # the next one has the memory of the one before
        with context.socket(zmq.DEALER) as client:
            ConnectionEvents(client).close()


@pytest.mark.slow
def test_endpoint_keeps_its_name_after_a_later_connection(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with context.socket(zmq.DEALER) as client, context.socket(zmq.DEALER) as finder:
        finder.setsockopt(zmq.LINGER, 0)
        client.setsockopt(zmq.LINGER, 0)
        port = finder.bind_to_random_port("tcp://127.0.0.1")
        finder.unbind(f"tcp://127.0.0.1:{port}")
        named, listening, other = f"tcp://localhost:{port}", f"tcp://127.0.0.1:{port}", f"tcp://127.0.0.2:{port}"
        events = ConnectionEvents(client)

        def reported(event: int, endpoint: str) -> bool:
            return (event, endpoint) in events.poll(time.monotonic())

        with listen(context, listening, secure=False):
            events.connect(named)
            events.connect(other)  # of the same port
            wait_for(lambda: reported(CONNECTED, named), what="the first connection")
        with listen(context, listening, secure=True):
            wait_for(lambda: reported(PROTOCOL_FAILED, named), what="the refusal")
            wait_for(lambda: reported(PROTOCOL_FAILED, named), what="a second refusal")
        with listen(context, listening, secure=False) as peer:
            wait_for(lambda: reported(CONNECTED, named), what="the second connection")
            events.disconnect(named)
            client.send(b"x", zmq.NOBLOCK)  # waits for the other one
            assert not peer.poll(200)
        events.close()
