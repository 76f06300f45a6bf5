"""Connections of this process by their descriptors, and their peers as the kernel names them."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import stat
from collections.abc import Iterator

from ..files import readable
from .credentials import credentials_of
from .open_descriptors import open_descriptors


def peer_user(connection: socket.socket | None) -> int | None:
    """Return the user id of the peer of a Unix socket. Return None for another kind of socket."""
    if connection is None or connection.family != socket.AF_UNIX:
        return None
    return credentials_of(connection).uid


def user_name(uid: int) -> str:
    """Return the name of a user, or ``#UID`` for one without a name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"#{uid}"


def own_user() -> str:
    """Return the user of this process: ``$USER``, or by its user id where a batch system or a service sets none."""
    return readable(os.environ.get("USER") or user_name(os.geteuid()))


def peer_of(connection: socket.socket) -> str:
    """Return the owner of a connection for bounds.

    It is ``user NAME`` on a Unix socket, else the address without port.
    """
    try:
        uid = peer_user(connection)
        return str(connection.getpeername()[0]) if uid is None else f"user {user_name(uid)}"
    except OSError:
        return "a peer that has left"


def name_of_peer(connection: socket.socket) -> str:
    """Return the peer of a connection for the log. It is ``user NAME, process PID``, else address and port."""
    try:
        if connection.family == socket.AF_UNIX:
            pid, uid, _ = credentials_of(connection)
            return f"user {user_name(uid)}, process {pid}"
        host, port = connection.getpeername()[:2]
    except OSError:
        return "a peer that has left"
    return f"{host}:{port}"


def connection_at(descriptor: int, endpoint: str) -> socket.socket | None:
    """Return a connection that a peer made to a ZeroMQ endpoint. It has a descriptor of its own.

    Args:
        descriptor: a descriptor of this process. It may belong to something else by now.
        endpoint: bound endpoint.
    """
    scheme, _, place = endpoint.partition("://")
    with contextlib.suppress(OSError):
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        found = socket.socket(fileno=os.dup(descriptor))
        try:
            found.getpeername()
            own = found.getsockname()
            if scheme == "tcp" and found.family in (socket.AF_INET, socket.AF_INET6):
                matches = own[1] == int(place.rpartition(":")[2])
            else:
                matches = scheme == "ipc" and found.family == socket.AF_UNIX and own == _unix_name(place)
        except OSError:
            matches = False
        if matches:
            return found
        found.close()
    return None


def connections_at(endpoint: str) -> Iterator[socket.socket]:
    """Return the connections to a ZeroMQ endpoint of this process; each has to be closed."""
    seen: set[int] = set()
    for each in open_descriptors():
        if (found := connection_at(each, endpoint)) is None:
            continue
        number = os.fstat(found.fileno()).st_ino
        if number in seen:  # a copy that took the number of the descriptor of the listing
            found.close()
        else:
            seen.add(number)
            yield found


def _unix_name(place: str) -> str | bytes:
    return b"\0" + place[1:].encode() if place.startswith("@") else place
