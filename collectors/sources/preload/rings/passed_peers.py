"""Connections of traced processes that another process has accepted, and passes on.

A collector of all users of a node accepts them as root. A process of each user receives that user's connections.
"""

from __future__ import annotations

import array
import contextlib
import socket
import struct
from collections import deque
from typing import Final

from .....events import ProtocolError

_END: Final = b"\0"
_DESCRIPTOR: Final = b"\1"
_TAKEN: Final = struct.Struct("<I")
_MAX_BYTES: Final = 16


class PassedPeers:
    """The receiving end. It replaces the listening socket of a collector.

    Args:
        peers: end of a pair of SOCK_SEQPACKET sockets, for connections.
        reports: end of a pair of SOCK_DGRAM sockets, for reports of processes that cannot connect.

    Attributes:
        ended: True once the other process passes no further connections.
    """

    def __init__(self, peers: socket.socket, reports: socket.socket) -> None:
        self.reports = reports
        self.ended = False
        self._peers = peers
        self._accepted = 0
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
        space = socket.CMSG_SPACE(array.array("i").itemsize)
        message, ancillary, _, _ = self._peers.recvmsg(len(_DESCRIPTOR), space, socket.MSG_CMSG_CLOEXEC)
        if not message:
            self.ended = True
            raise EOFError
        self._accepted += 1
        descriptors = array.array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        if not descriptors:
            raise ProtocolError("no descriptor is left for a process")
        return socket.socket(fileno=descriptors[0]), None

    def request_end(self) -> None:
        """Request that no further connections are passed. ``ended`` is True if the other process grants it.

        It does not while connections are on their way, because further ones would then wait as long as these are used.
        """
        self._acknowledge()
        with contextlib.suppress(OSError):  # the other process has ended
            self._peers.send(_END, socket.MSG_NOSIGNAL)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a connection has arrived."""
        return self._peers.fileno()

    def close(self) -> None:
        """Close the receiving end of connections; the receiver of ``reports`` closes those."""
        self._peers.close()

    def _acknowledge(self) -> None:
        if self._accepted:
            with contextlib.suppress(OSError):  # the other process is slow, or has ended
                self._peers.send(_TAKEN.pack(self._accepted), socket.MSG_NOSIGNAL)
                self._accepted = 0


class PeerPasser:
    """The passing end of connections. It keeps each one until the other process has read it.

    A process that replaces a killed one then receives what that one has not read.

    Args:
        channel: end of a pair of SOCK_SEQPACKET sockets, not blocking; closed with this object.
        most: maximum number of connections that are kept.

    Attributes:
        waiting: connections that are not passed yet.
        acknowledged: number of connections that the other process has read.
        end_requested: whether no further connections are passed.
        is_cut_off: whether the other process has closed its end, because it ends or was killed.
    """

    def __init__(self, channel: socket.socket, most: int) -> None:
        self.waiting: deque[socket.socket] = deque()
        self.acknowledged = 0
        self.end_requested = self.is_cut_off = False
        self._channel, self._most = channel, most
        self._passed: deque[socket.socket] = deque()

    def fileno(self) -> int:
        """Return the descriptor of the channel."""
        return self._channel.fileno()

    def add(self, peer: socket.socket) -> bool:
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
                socket.send_fds(self._channel, [_DESCRIPTOR], [self.waiting[0].fileno()], socket.MSG_NOSIGNAL)
                self._passed.append(self.waiting.popleft())

    def receive(self) -> bool:
        """Receive messages of the other process. Return False once it has closed its end."""
        while not self.is_cut_off:
            try:
                message = self._channel.recv(_MAX_BYTES)
            except BlockingIOError:
                return True
            except OSError:
                message = b""
            self.is_cut_off = not message
            if len(message) == _TAKEN.size:
                for _ in range(min(_TAKEN.unpack(message)[0], len(self._passed))):
                    self._passed.popleft().close()
                    self.acknowledged += 1
            elif message == _END and not (self.waiting or self._passed):
                self.end()
        return False

    def end(self) -> None:
        """Pass no further connections. The other process reads those on their way, and then ends."""
        self.end_requested = True
        with contextlib.suppress(OSError):  # it has ended
            self._channel.shutdown(socket.SHUT_WR)

    def take_unread(self) -> deque[socket.socket]:
        """Remove and return the connections that the other process has not read, once it has ended."""
        unread = self._passed + self.waiting
        self._passed, self.waiting = deque(), deque()
        return unread

    def close(self) -> None:
        """Close the channel and all connections."""
        for peer in self.take_unread():
            peer.close()
        self._channel.close()
