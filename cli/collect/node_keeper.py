"""State of a node's collector that outlives a crash of root's process: its socket, users' processes and connections."""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ...collectors.sources.preload.rings.descriptor_keeper import DescriptorKeeper, Kept, keeper_address
from ...collectors.sources.preload.rings.passed_peers import NumberedPeer

_VERSION: Final = 1
"""Version of this module's messages, and of those between root's process and a user's."""
_LISTENING, _USER, _PEER = range(3)
_KIND_SHIFT: Final = 56
_SOCKET: Final = struct.Struct("<QQ")
"""Device and inode of the socket's file."""
_USER_IDS: Final = struct.Struct("<II")
_END_S: Final = 20.0
"""Maximum time for the processes of another version to end, s. Each waits 10 s for acknowledgements."""


class KeptUser(NamedTuple):
    """A user's process that continues. The receiver owns the descriptors."""

    uid: int
    gid: int
    channel: socket.socket
    reports: socket.socket
    watch: int
    """pidfd of the process."""


class KeptPeer(NamedTuple):
    """A connection that the process of its user has not read."""

    uid: int
    gid: int
    peer: NumberedPeer


class NodeKeeper:
    """Keeps the descriptors of a node's collector in another process, for the next collector at the same path.

    Args:
        path: path of the socket.

    Attributes:
        listening: the previous collector's socket and the one for reports, if the file at the path is that socket's.
        users: processes of the previous collector.
        peers: connections of the previous collector, in the order of their numbers.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keeper = DescriptorKeeper(keeper_address(path, "node"), "programs that wait for their user's process")
        self.listening: tuple[socket.socket, socket.socket | None] | None = None
        self.users: list[KeptUser] = []
        self.peers: list[KeptPeer] = []
        for kept in sorted(self._keeper.inherited):
            self._take(kept)

    def start(self, listening: socket.socket, reports: int) -> None:
        """Start to keep; the socket and the descriptor of reports (-1: none) are the first.

        The previous keeper ends once ``users`` and ``peers`` are kept, with ``has_inherited``.
        """
        self._keeper.start()
        self._keep_listening(listening, reports)

    def fileno(self) -> int:
        """Return a descriptor that hangs up when the keeper has ended; -1 if nothing is kept."""
        return self._keeper.fileno()

    def restart(self, listening: socket.socket, reports: int) -> bool:
        """Replace a keeper that has ended. Return whether another one runs; it has the socket, and nothing else yet."""
        if not self._keeper.restart():
            return False
        self._keep_listening(listening, reports)
        return True

    def _keep_listening(self, listening: socket.socket, reports: int) -> None:
        file = self._path.lstat()
        descriptors = [listening.fileno(), *([reports] if reports >= 0 else [])]
        self._keep(_LISTENING, 0, _SOCKET.pack(file.st_dev, file.st_ino), descriptors)

    def keep_user(self, uid: int, gid: int, descriptors: tuple[int, int, int]) -> None:
        """Keep the descriptors of a user's process, in the order of ``KeptUser``."""
        self._keep(_USER, uid, _USER_IDS.pack(uid, gid), descriptors)

    def keep_peer(self, uid: int, gid: int, peer: NumberedPeer) -> None:
        """Keep a connection until the process of its user has read it."""
        self._keep(_PEER, peer.number, _USER_IDS.pack(uid, gid), (peer.socket.fileno(),))

    def forget_listening(self) -> None:
        """Release the socket."""
        self._keeper.forget(_LISTENING << _KIND_SHIFT)

    def forget_user(self, uid: int) -> None:
        """Release the descriptors of a user's process."""
        self._keeper.forget(_USER << _KIND_SHIFT | uid)

    def forget_peer(self, number: int) -> None:
        """Release a connection."""
        self._keeper.forget(_PEER << _KIND_SHIFT | number)

    def has_inherited(self) -> None:
        """End the previous keeper."""
        self._keeper.has_inherited()

    def close_in_child(self) -> None:
        """Close the descriptors in a user's process."""
        self._keeper.close_in_child()

    def close(self) -> None:
        """End the keeper, because everything has ended."""
        self._keeper.close()

    def _keep(self, kind: int, number: int, about: bytes, descriptors: tuple[int, ...] | list[int]) -> None:
        self._keeper.keep(kind << _KIND_SHIFT | number, _VERSION, about, descriptors)

    def _take(self, kept: Kept) -> None:
        kind, number = kept.key >> _KIND_SHIFT, kept.key & ((1 << _KIND_SHIFT) - 1)
        if kept.part != _VERSION:
            _end_other_version(kept.descriptors)
        elif kind == _LISTENING and kept.descriptors and self._is_at_path(kept.about):
            first, *others = _sockets(kept.descriptors)
            self.listening = first, next(iter(others), None)
        elif kind == _USER and len(kept.descriptors) == len(KeptUser._fields) - 2:
            *pair, watch = kept.descriptors
            channel, reports = _sockets(pair)
            uid, gid = _USER_IDS.unpack(kept.about)
            self.users.append(KeptUser(uid, gid, channel, reports, watch))
        elif kind == _PEER and kept.descriptors:
            peer = NumberedPeer(number, next(_sockets(kept.descriptors)))
            uid, gid = _USER_IDS.unpack(kept.about)
            self.peers.append(KeptPeer(uid, gid, peer))
        else:
            for descriptor in kept.descriptors:
                os.close(descriptor)

    def _is_at_path(self, about: bytes) -> bool:
        try:
            file = self._path.lstat()
        except OSError:
            return False
        return _SOCKET.unpack(about) == (file.st_dev, file.st_ino)


def _sockets(descriptors: list[int]) -> Iterator[socket.socket]:
    for descriptor in descriptors:
        found = socket.socket(fileno=descriptor)
        found.setblocking(False)
        yield found


def _end_other_version(descriptors: list[int]) -> None:
    """Let a user's process of another version end: it does so when its channel is closed. The last one is its pidfd."""
    for descriptor in descriptors[:-1]:
        os.close(descriptor)
    if len(descriptors) > 2:
        ending = select.poll()
        ending.register(descriptors[-1], select.POLLIN)
        ending.poll(_END_S * 1000)
    for descriptor in descriptors[-1:]:
        os.close(descriptor)
