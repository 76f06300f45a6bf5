"""Connections of traced processes that another process has accepted, and passes on.

A collector of all users of a node accepts them as root. A process of each user receives that user's connections.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from .....events import ProtocolError
from .received_descriptors import receive_with_descriptors

_END: Final = b"\0"
"""Of the receiving end: request that no further connections are passed."""
_REFRESH: Final = b"\1"
"""Of the receiving end: request for the present keys."""
_NUMBER: Final = struct.Struct("<Q")
"""Of the passing end: number of a connection. Of the receiving end: number of the last connection that was read."""
_MAX_BYTES: Final = 256


class PassedPeers:
    """The receiving end. It replaces the listening socket of a collector.

    Args:
        peers: end of a pair of SOCK_SEQPACKET sockets, for connections.
        reports: end of a pair of SOCK_DGRAM sockets, for reports of processes that cannot connect.

    Attributes:
        ended: True once the other process passes no further connections.
        packed_keys: the last keys of the connection to the aggregator that the other process has passed.
    """

    def __init__(self, peers: socket.socket, reports: socket.socket) -> None:
        self.reports = reports
        self.packed_keys = b""
        self.ended = False
        self._peers = peers
        self._unacknowledged: int | None = None
        self._peers.setblocking(False)
        self.reports.setblocking(False)

    def accept(self) -> tuple[socket.socket, object]:
        """Return the next connection, like ``socket.accept``. The earlier ones are acknowledged, as they were read.

        Raises:
            BlockingIOError: there is none now.
            EOFError: no further one follows.
            ProtocolError: no descriptor was free for it. It is lost, because the kernel has removed it.
        """
        self._acknowledge()
        while True:
            message, descriptors = receive_with_descriptors(self._peers, _MAX_BYTES, 1)
            if not message:
                self.ended = True
                raise EOFError
            if len(message) == _NUMBER.size:
                break
            self.packed_keys = message
        (self._unacknowledged,) = _NUMBER.unpack(message)
        if not descriptors:
            raise ProtocolError("no descriptor is left for a process")
        return socket.socket(fileno=descriptors[0]), None

    def request_keys(self) -> None:
        """Request the present keys, which a later ``accept`` receives."""
        self._send(_REFRESH)

    def request_end(self) -> None:
        """Request that no further connections are passed. ``ended`` is True if the other process grants it.

        It does not while connections are on their way, because further ones would then wait as long as these are used.
        """
        self._acknowledge()
        self._send(_END)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a connection has arrived."""
        return self._peers.fileno()

    def close(self) -> None:
        """Close the receiving end of connections; the receiver of ``reports`` closes those."""
        self._peers.close()

    def _acknowledge(self) -> None:
        if self._unacknowledged is not None and self._send(_NUMBER.pack(self._unacknowledged)):
            self._unacknowledged = None

    def _send(self, message: bytes) -> bool:
        with contextlib.suppress(OSError):  # the other process is slow, or has ended
            self._peers.send(message, socket.MSG_NOSIGNAL)
            return True
        return False


class NumberedPeer(NamedTuple):
    """A connection with its number. Later connections have higher numbers."""

    number: int
    socket: socket.socket


class PeerPasser:
    """The passing end of connections. It keeps each one until the other process has read it.

    A process that replaces a killed one then receives what that one has not read.

    Args:
        channel: end of a pair of SOCK_SEQPACKET sockets, not blocking; closed with this object.
        most: maximum number of connections that are kept.
        on_read: called with the number of each connection that the other process has read.

    Attributes:
        waiting: connections that are not passed yet.
        acknowledged: number of connections that the other process has read.
        end_requested: whether no further connections are passed.
        is_cut_off: whether the other process has closed its end, because it ends or was killed.
        keys_requested: whether the other process requests the present keys.
    """

    def __init__(self, channel: socket.socket, most: int, on_read: Callable[[int], object]) -> None:
        self.waiting: deque[NumberedPeer] = deque()
        self.acknowledged = 0
        self.end_requested = self.is_cut_off = self.keys_requested = False
        self.channel = channel
        self._most, self._on_read = most, on_read
        self._passed: deque[NumberedPeer] = deque()

    def fileno(self) -> int:
        """Return the descriptor of the channel."""
        return self.channel.fileno()

    def add(self, peer: NumberedPeer) -> bool:
        """Pass a connection now or later. Return False if too many are kept."""
        if len(self.waiting) + len(self._passed) >= self._most:
            return False
        self.waiting.append(peer)
        self.pass_waiting()
        return True

    def pass_waiting(self) -> None:
        """Pass waiting connections, as far as there is room."""
        with contextlib.suppress(OSError):  # no room, or the process has ended
            while self.waiting and not self.end_requested:
                peer = self.waiting[0]
                socket.send_fds(self.channel, [_NUMBER.pack(peer.number)], [peer.socket.fileno()], socket.MSG_NOSIGNAL)
                self._passed.append(self.waiting.popleft())

    def pass_keys(self, packed: bytes) -> None:
        """Pass the keys of the connection to the aggregator. The other process requests them again if they are lost."""
        with contextlib.suppress(OSError):  # no room, or the process has ended
            self.channel.send(packed, socket.MSG_NOSIGNAL)

    def receive(self) -> bool:
        """Receive messages of the other process. Return False once it has closed its end."""
        while not self.is_cut_off:
            try:
                message = self.channel.recv(_MAX_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                message = b""
            self.is_cut_off = not message
            if len(message) == _NUMBER.size:
                self._release(_NUMBER.unpack(message)[0])
            elif message == _REFRESH:
                self.keys_requested = True
            elif message == _END and not (self.waiting or self._passed):
                self.end()
        return False

    def end(self) -> None:
        """Pass no further connections. The other process reads those on their way, and then ends."""
        self.end_requested = True
        with contextlib.suppress(OSError):  # it has ended
            self.channel.shutdown(socket.SHUT_WR)

    def unread(self) -> Iterator[NumberedPeer]:
        """Return the connections that the other process has not read, as far as known."""
        return itertools.chain(self._passed, self.waiting)

    def take_unread(self) -> deque[NumberedPeer]:
        """Remove and return the connections that the other process has not read, once it has ended."""
        unread = self._passed + self.waiting
        self._passed, self.waiting = deque(), deque()
        return unread

    def close(self) -> None:
        """Close the channel and all connections."""
        for peer in self.take_unread():
            peer.socket.close()
        self.channel.close()

    def _release(self, last: int) -> None:
        """Close the connections up to a number. An inherited one may be read twice, as its passing is repeated."""
        while self._passed and self._passed[0].number <= last:
            peer = self._passed.popleft()
            peer.socket.close()
            self.acknowledged += 1
            self._on_read(peer.number)
