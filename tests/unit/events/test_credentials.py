"""Credentials of processes at Unix sockets, from the kernel."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any, cast

from iotide.events.network.credentials import CREDENTIALS_SPACE, credentials_of, sender_of
from iotide.events.network.peers import peer_user

OWN = (os.getpid(), os.getuid(), os.getgid())


def test_both_ends_of_a_connection_are_this_process() -> None:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        assert credentials_of(one) == credentials_of(other) == OWN


def test_sender_of_a_datagram_is_known_only_if_the_socket_requests_it() -> None:
    receiver, sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with receiver, sender:
        sender.send(b"before")
        assert sender_of(receiver.recvmsg(16, CREDENTIALS_SPACE)[1]) is None
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        sender.send(b"after")
        assert sender_of(receiver.recvmsg(16, CREDENTIALS_SPACE)[1]) == OWN


def test_other_ancillary_data_and_cut_credentials_are_passed_over() -> None:
    whole = struct.pack("iII", 7, 8, 9)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, whole)
    cut = (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, whole[:-1])
    assert sender_of([rights, cut]) is None
    assert sender_of([rights, cut, (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, whole)]) == (7, 8, 9)


def test_large_user_ids_are_not_negative() -> None:
    """FreeIPA gives users such ids for their containers, and system calls accept no negative ones."""

    class Peer:
        family = socket.AF_UNIX

        def getsockopt(self, *_: int) -> bytes:
            return struct.pack("iII", 7, 3_000_000_000, 4_000_000_000)

    peer = cast(Any, Peer())
    assert credentials_of(peer) == (7, 3_000_000_000, 4_000_000_000)
    assert peer_user(peer) == 3_000_000_000
