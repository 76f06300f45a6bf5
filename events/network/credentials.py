"""Process, user and group of a process at the other end of a Unix socket, as the kernel reports them."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

_UCRED: Final = struct.Struct("iII")
"""``struct ucred`` of Linux. User ids from 2,147,483,648 on are valid, so they are unsigned."""

CREDENTIALS_SPACE: Final = socket.CMSG_SPACE(_UCRED.size)
"""Bytes of ancillary data for the credentials of one message."""


class PeerCredentials(NamedTuple):
    """Identity of a process."""

    pid: int
    """0: the process is in a container whose processes are not visible here."""
    uid: int
    gid: int


def credentials_of(peer: socket.socket) -> PeerCredentials:
    """Return the credentials of a connected process, or of the process that listens (SO_PEERCRED).

    Raises:
        OSError: the socket is not connected.
    """
    return PeerCredentials(*_UCRED.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)))


def sender_of(ancillary: Iterable[tuple[int, int, bytes]]) -> PeerCredentials | None:
    """Return the credentials of the sender of a message (SCM_CREDENTIALS), None if the message has none.

    Args:
        ancillary: ancillary data from ``recvmsg`` of a socket with SO_PASSCRED.
    """
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and len(data) >= _UCRED.size:
            return PeerCredentials(*_UCRED.unpack_from(data))
    return None
