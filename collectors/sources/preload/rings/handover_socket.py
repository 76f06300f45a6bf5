"""Unix socket at which traced processes hand over their memory."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import select
import socket
import stat
import time
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from .....events import InputError, ProtocolError
from .....events.network.credentials import credentials_of
from ..records.ring_layout import HELLO, LAYOUT, MAGIC
from .ended_process import Accepted, EndedAcceptor, EndedProcesses, read_ended, relatives_in
from .received_descriptors import receive_with_descriptors
from .region import Region, check_is_sealed
from .unreached_processes import RefusedProcessError, refusal_of
from .watching import UNWATCHED, SpareDescriptors, has_ended, watch_of

BACKLOG: Final = 4096
"""Connections that wait until they are accepted."""
_EXPECTED: Final = "a path for a Unix socket, of at most 107 bytes"
ACCEPTS_A_POLL: Final = 256
_MAX_SILENT: Final = 256
_MAX_UNREAD: Final = 64
_MAX_BYTES: Final = 256
_MAX_DESCRIPTORS: Final = 4
_RETRY_S: Final = 0.25
_UNREAD_S: Final = 0.002
"""Minimum time for which a new process may end, s: the next poll reads it. Most processes of a build or a script end in
it, and are then read at once, without mapping their memory. A burst fills a ring in about 25 ms."""

Message = tuple[bytes, list[int]]
"""A message and the descriptors in it."""


class Arrival(Struct):
    """A process that has handed over a region. The receiver owns the region and the pidfd."""

    pid: int
    token: int
    region: Region
    watch: int
    """pidfd, ``GONE`` or ``UNWATCHED``."""
    descriptor: int = -1
    """Descriptor of the region, if requested; the receiver owns it."""


class _UnreadPeer(NamedTuple):
    """A peer that has sent its region and may soon end."""

    pid: int
    until_s: float
    socket: socket.socket


class PeerListener(Protocol):
    """Origin of connected peers: a listening socket, or one that receives what another process has accepted."""

    def accept(self) -> tuple[socket.socket, object]:
        """Return the next peer; raise BlockingIOError if there is none, EOFError if no further one follows."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that is readable when there is a peer."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class HandoverSocket:
    """Listens on a socket that is private to the user, and receives what peers send. Registered in an epoll set.

    A peer that has connected and not yet sent anything is kept, so that nothing blocks on it. If there are too many
    such peers, the one silent longest is refused.

    Args:
        path: path of the socket.
        events: set in which all descriptors are registered.
        keeps: return the descriptors of regions, too.
        passed: receiver of peers that another process has accepted at the path; by default the socket is created.

    Raises:
        InputError: another collector listens there, or the path is not a socket.
    """

    def __init__(
        self, path: Path, events: select.epoll, *, keeps: bool = False, passed: PeerListener | None = None
    ) -> None:
        self._path = path if passed is None else None
        self._keeps = keeps
        self._events = events
        self._socket: PeerListener = listen(path) if passed is None else passed
        self._silent: dict[int, socket.socket] = {}
        self._unread: deque[_UnreadPeer] = deque()
        self.awaits_ends = False
        """New processes are read a little later: most of a build or a script have ended by then."""
        self._has_more = False
        """The last poll did not accept all peers that had connected."""
        self._again_at_s = math.inf
        self._spares = SpareDescriptors()
        self._ended = EndedAcceptor.make() if passed is None and not keeps else None
        events.register(self._socket, select.EPOLLIN)

    def arrivals(
        self, ready: Collection[int], *, reads_ended: bool = False
    ) -> Iterator[Arrival | EndedProcesses | Exception]:
        """Yield what arrived at the descriptors that epoll reports as ready.

        These are regions, a ProtocolError for each refused one, and an OSError if accepting must be retried later.

        Args:
            ready: descriptors that are ready.
            reads_ended: yield the data of short processes that have ended, instead of their regions.
        """
        reads_ended = reads_ended and not self._keeps
        now_s = time.monotonic()
        while self._unread and not (self.awaits_ends and reads_ended and now_s < self._unread[0].until_s):
            yield from self._take(self._unread.popleft().socket, None, reads_ended=reads_ended)
        for descriptor in ready:
            if descriptor in self._silent:
                yield from self._admit(self._forget(descriptor), None, reads_ended=reads_ended)
        if self._socket.fileno() in ready:
            yield from self._accept(reads_ended=reads_ended)
        elif time.monotonic() >= self._again_at_s:
            self._again_at_s = math.inf
            self._events.register(self._socket, select.EPOLLIN)

    @property
    def has_waiting_peers(self) -> bool:
        """Whether a peer has connected and not yet sent anything, or was not yet accepted."""
        return bool(self._silent) or self._has_more or self.has_unread_peers

    @property
    def has_unread_peers(self) -> bool:
        """Whether a peer has sent its region, which is not read yet."""
        return bool(self._unread)

    def descriptors(self) -> list[int]:
        """Return the descriptors that are needed before the first peer arrives."""
        return [self._socket.fileno(), *self._spares.descriptors()]

    @contextlib.contextmanager
    def spare_descriptor(self) -> Iterator[None]:
        """Frees a descriptor for use inside the context."""
        self._spares.release(1)
        try:
            yield
        finally:
            self._spares.restore()

    def close_in_parent(self) -> None:
        """Close the socket, which another process also has."""
        self._socket.close()
        self._spares.release()

    def close(self) -> None:
        """Stop listening and remove the socket."""
        for peer in (*self._silent.values(), *(each.socket for each in self._unread)):
            peer.close()
        self._silent.clear()
        self._unread.clear()
        self._socket.close()
        self._spares.release()
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _accept(self, *, reads_ended: bool) -> Iterator[Arrival | EndedProcesses | Exception]:
        left = ACCEPTS_A_POLL
        self._has_more = False
        while left > 0:
            if reads_ended and self._ended is not None:
                accepted = self._accept_ended(self._ended, left)
                left -= accepted.count
                if accepted.data:
                    yield from self._take_before(accepted.data)
                    yield EndedProcesses(accepted.data)
                if accepted.peer is not None:
                    yield from self._admit(accepted.peer, accepted.received, reads_ended=True)
                if accepted.none_waits:
                    return
                if not accepted.failed:
                    continue
            left -= 1
            found = self._next_peer_or_problem()
            if isinstance(found, socket.socket):
                yield from self._admit(found, None, reads_ended=reads_ended)
                continue
            if found is not None:
                yield found
            if not isinstance(found, ProtocolError):
                return
        self._has_more = True

    def _next_peer_or_problem(self) -> socket.socket | Exception | None:
        """Return the next peer, why it is lost, or why accepting must be retried later; None if there is none."""
        try:
            peer = self._next_peer()
        except BlockingIOError:
            return None
        except EOFError:
            self._events.unregister(self._socket)
            return None
        except ProtocolError as error:
            return error
        except OSError as error:  # out of descriptors, or the peer has disconnected
            # Unregister, because epoll would report the socket again immediately.
            self._events.unregister(self._socket)
            self._again_at_s = time.monotonic() + _RETRY_S
            return error
        peer.setblocking(False)
        return peer

    def _accept_ended(self, acceptor: EndedAcceptor, most: int) -> Accepted:
        self._spares.release(1)  # for the descriptor that arrives
        try:
            return acceptor.accept(self._socket.fileno(), most)
        finally:
            self._spares.restore()

    def _admit(
        self, peer: socket.socket, received: Message | None, *, reads_ended: bool
    ) -> Iterator[Arrival | EndedProcesses | Exception]:
        """Take what a peer has sent, or wait for it."""
        if received is not None or _has_sent(peer):
            if self.awaits_ends and received is None and reads_ended:
                self._unread.append(_UnreadPeer(credentials_of(peer).pid, time.monotonic() + _UNREAD_S, peer))
                yield from self._take_unread(len(self._unread) - _MAX_UNREAD)
            else:  # after earlier ones: one may be an earlier program of the same process
                yield from self._take_unread(len(self._unread))
                yield from self._take(peer, received, reads_ended=reads_ended)
            return
        if len(self._silent) >= _MAX_SILENT:
            yield self._refuse(self._forget(next(iter(self._silent))), "a peer connected and said nothing")
        if not self._spares.restore():
            yield self._refuse(peer, "no descriptor is left for a peer that connected and said nothing yet")
            return
        self._silent[peer.fileno()] = peer
        self._events.register(peer, select.EPOLLIN)

    def _refuse(self, peer: socket.socket, problem: str) -> RefusedProcessError:
        with self.spare_descriptor(), peer:
            return refusal_of(peer, problem)

    def _take_before(self, data: bytes) -> Iterator[Arrival | EndedProcesses | Exception]:
        """Take the peers that precede entries: earlier programs of their processes, and their parents."""
        if not self._unread:
            return
        pids = {pid for each in relatives_in(data) for pid in each}
        count = max((number for number, each in enumerate(self._unread, 1) if each.pid in pids), default=0)
        yield from self._take_unread(count)

    def _take_unread(self, count: int) -> Iterator[Arrival | EndedProcesses | Exception]:
        for _ in range(count):
            yield from self._take(self._unread.popleft().socket, None, reads_ended=True)

    def _next_peer(self) -> socket.socket:
        try:
            return self._socket.accept()[0]
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
        self._spares.release()
        try:
            return self._socket.accept()[0]
        except OSError:
            self._spares.restore()
            raise

    def _forget(self, descriptor: int) -> socket.socket:
        self._events.unregister(descriptor)
        return self._silent.pop(descriptor)

    def _take(
        self, peer: socket.socket, received: Message | None, *, reads_ended: bool
    ) -> Iterator[Arrival | EndedProcesses | Exception]:
        self._spares.release(1)  # for the descriptor that arrives
        with peer:
            try:
                arrival = _arrival_of(peer, received, keeps=self._keeps, reads_ended=reads_ended)
            except (ProtocolError, OSError, ValueError) as error:
                arrival = refusal_of(peer, str(error))
        if not self._spares.restore() and isinstance(arrival, Arrival) and arrival.watch >= 0:
            os.close(arrival.watch)
            arrival.watch = UNWATCHED
            self._spares.restore()
        if arrival is not None:
            yield arrival


def _has_sent(peer: socket.socket) -> bool:
    asking = select.poll()  # select() does not support descriptors from 1,024 on
    asking.register(peer, select.POLLIN)
    return bool(asking.poll(0))


def _arrival_of(
    peer: socket.socket, received: Message | None, *, keeps: bool, reads_ended: bool
) -> Arrival | EndedProcesses | ProtocolError | None:
    """Return what a peer has sent, which may have been received; None: it only checked for a listener."""
    pid, uid, _ = credentials_of(peer)
    try:
        message, descriptors = received or receive_with_descriptors(peer, _MAX_BYTES, _MAX_DESCRIPTORS)
    except BlockingIOError:  # a duplicate of a connection that has been read
        return None
    if not message and not descriptors:
        return None
    try:
        if uid not in (os.getuid(), 0):
            raise ProtocolError(f"process {pid} belongs to user {uid}, not to the collector's user")
        if len(message) != HELLO.size or len(descriptors) != 1:
            raise ProtocolError(f"process {pid} sent no HELLO of {HELLO.size} bytes with one descriptor")
        magic, layout, _, _, token = HELLO.unpack(message)
        if magic != MAGIC or layout != LAYOUT:
            raise ProtocolError(f"process {pid} is traced by another version of iotide: layout {layout}, not {LAYOUT}")
        check_is_sealed(descriptors[0])
        watch = watch_of(peer, pid)
        try:
            # The data is complete only if it is read after the process's end.
            if reads_ended and has_ended(watch) and (ended := read_ended(descriptors[0], pid, token)) is not None:
                _close(watch)
                return EndedProcesses(ended)
            region = Region(descriptors[0])
            if region.token != token:
                region.close()
                raise ProtocolError(f"process {pid} sent a region whose token differs from its HELLO")
        except BaseException:
            _close(watch)
            raise
        return Arrival(pid, token, region, watch, descriptors.pop() if keeps else -1)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _close(watch: int) -> None:
    if watch >= 0:
        os.close(watch)


def listen(path: Path, mode: int = 0o600) -> socket.socket:
    """Return a listening socket of traced processes, and remove the socket of a killed collector.

    Args:
        path: path of the socket.
        mode: permissions of the socket.

    Raises:
        InputError: another collector listens there, or the path is not a socket.
    """
    try:
        return _gate_at(path, mode)
    except OSError as error:
        raise InputError(str(path), None, error.strerror or str(error), _EXPECTED) from None


def _gate_at(path: Path, mode: int) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISSOCK(found.st_mode):
            raise InputError(str(path), None, "it exists and is no socket", "a path for a Unix socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            if probe.connect_ex(str(path)) == 0:
                raise InputError(str(path), None, "another collector listens there", "a path of its own")
        path.unlink()
    gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    before = os.umask(0o777 & ~mode)
    try:
        gate.bind(str(path))
    except OSError as error:
        gate.close()
        raise InputError(str(path), None, str(error), _EXPECTED) from None
    finally:
        os.umask(before)
    gate.listen(BACKLOG)
    return gate
