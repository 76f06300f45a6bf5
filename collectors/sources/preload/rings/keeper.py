"""A process that holds the memory of traced processes, for another collector should this one be killed.

The collector hands it a descriptor of each region, and of a file with what was taken out of it and is needed further
on: definitions, and what the process has counted so far. It does nothing until the collector is gone. Then it waits
for another one, hands all over, and ends once that one says that its own keeper has it.
"""

from __future__ import annotations

import array
import contextlib
import errno
import hashlib
import json
import logging
import os
import resource
import select
import signal
import socket
import struct
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

_KEEP, _FORGET = range(2)
_HAS_IT: Final = b"\1"
_MESSAGE: Final = struct.Struct("<BIQQIIQ")
"""What it says, and a ``Kept`` without its descriptors."""
_WAITS_S: Final = 120.0
"""That a keeper waits for another collector; the aggregator gives streams up after as long."""
_MOST_FDS: Final = 2
_CREDENTIALS: Final = struct.Struct("3i")
_ANSWER_S: Final = 10.0
_AGAIN_S: Final = 0.01
_SLOWEST_S: Final = 1.0
"""That a collector waits for its keeper to take something."""
_log = logging.getLogger(__name__)
_COUNTS_BYTES: Final = 8192
"""Of notes, before the definitions."""
_LEFT_FREE: Final = 64
"""Descriptors that notes leave for processes."""


class Kept(NamedTuple):
    """A region that another collector had; who gets it owns the descriptors."""

    token: int
    pid: int
    started: int
    """When the process began, as /proc says; 0: not known."""
    extent: int
    had: int
    """How many collectors have had it."""
    taken: int
    """Records that were taken out of it when the last of them began, of a process's first region."""
    region: int
    notes: int
    """What was taken out of it, see ``Notes``; -1 for further regions of a process."""


class Notes:
    """What a collector has learnt of a process, in memory that outlives it.

    Args:
        descriptor: of what another collector noted; by default of a new file.

    Raises:
        OSError: there is no descriptor left for one.
    """

    def __init__(self, descriptor: int = -1) -> None:
        if descriptor < 0:
            descriptor = os.memfd_create("iotide-notes", os.MFD_CLOEXEC)
            if descriptor >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _LEFT_FREE:
                os.close(descriptor)
                raise OSError(errno.EMFILE, "descriptors are for processes")
        self.descriptor = descriptor

    def learn(self, entries: bytes) -> None:
        """Takes in definitions, before they are removed from where they were."""
        with contextlib.suppress(OSError):  # no memory is left: another collector will not know them
            at = max(os.lseek(self.descriptor, 0, os.SEEK_END), _COUNTS_BYTES)
            os.pwrite(self.descriptor, entries, at)

    def tell(self, counts: dict[str, int]) -> None:
        """Takes in what the process had counted when it was last told."""
        with contextlib.suppress(OSError):
            os.pwrite(self.descriptor, json.dumps(counts).encode().ljust(_COUNTS_BYTES), 0)

    def learnt(self) -> bytes:
        """Returns all definitions."""
        return os.pread(self.descriptor, max(os.fstat(self.descriptor).st_size - _COUNTS_BYTES, 0), _COUNTS_BYTES)

    def told(self) -> dict[str, int]:
        """Returns the counts."""
        with contextlib.suppress(ValueError):
            found = json.loads(os.pread(self.descriptor, _COUNTS_BYTES, 0).rstrip(b"\0 "))
            if isinstance(found, dict):
                return {str(name): int(count) for name, count in found.items()}
        return {}

    def close(self) -> None:
        """Lets it go; a keeper may hold it."""
        os.close(self.descriptor)


class Keeper:
    """The collector's end: takes over what another one left, and has what comes be held.

    Args:
        gate: the socket of traced processes; nobody listens there.

    Attributes:
        inherited: what another collector left.
    """

    def __init__(self, gate: Path) -> None:
        self._pid = 0
        self.inherited: list[Kept] = []
        self._before: socket.socket | None = None
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if _is_listened_to(gate):  # by a collector that lives
                self._channel.close()
                return
            self._channel.settimeout(_SLOWEST_S)
            try:
                address = _address_of(gate)
                self._before = _connected(address)
                if self._before is not None:
                    self.inherited.extend(_inherit(self._before))
                with _listening(address) as listening, warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore", DeprecationWarning
                    )  # of threads: the child uses none of their locks
                    self._pid = os.fork()
                    if self._pid == 0:
                        _hold(theirs, listening, address)
            except OSError as error:
                _log.warning("should this collector be killed, what it has not read is lost: %s", error)
                self._channel.close()

    @property
    def holds(self) -> bool:
        """Tells whether what comes is held."""
        return self._channel.fileno() >= 0

    def keep(self, kept: Kept) -> None:
        """Has a region be held, in the place of what was said of it before; its descriptors stay the caller's."""
        descriptors = [each for each in (kept.region, kept.notes) if each >= 0]
        self._send(
            _MESSAGE.pack(_KEEP, kept.extent, kept.token, kept.started, kept.pid, kept.had, kept.taken), descriptors
        )

    def has_inherited(self) -> None:
        """Has the keeper before end, as all that it held is held."""
        if self._before is not None:
            with self._before, contextlib.suppress(OSError):
                self._before.send(_HAS_IT)
            self._before = None

    def forget(self, token: int) -> None:
        """Has the regions of a process be let go."""
        self._send(_MESSAGE.pack(_FORGET, 0, token, 0, 0, 0, 0))

    def close(self) -> None:
        """Has all be let go, as nothing is left to be read."""
        if self._pid:
            self.has_inherited()
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        self._channel.close()
        self._pid = 0

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        if not self.holds:
            return
        try:
            _send(self._channel, message, descriptors)
        except OSError as error:  # it was killed, or stands still
            _log.warning("should this collector be killed, what it has not read from now on is lost: %s", error)
            self._channel.close()


def started(pid: int) -> int:
    """Returns when a process began, in ticks since the machine did; 0 where there is none."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    return 0


def _send(channel: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([message], rights)


def _receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    size = socket.CMSG_SPACE(4 * _MOST_FDS)
    message, ancillary, _, _ = channel.recvmsg(_MESSAGE.size, size, socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, numbers.tolist()


def _address_of(gate: Path) -> bytes:
    """Returns an abstract address, which leaves no file behind and is short; it differs where the folder is another."""
    gate.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = gate.parent.stat()
    named = f"{folder.st_dev}:{folder.st_ino}:{gate.name}".encode(errors="surrogateescape")
    return b"\0iotide-kept-" + hashlib.blake2b(named, digest_size=16).hexdigest().encode()


def _is_ours(peer: socket.socket) -> bool:
    """Tells whether a process of our user is at the other end: anybody may use an abstract address."""
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(credentials)[1] == os.getuid())


def _connected(address: bytes) -> socket.socket | None:
    """Returns a channel to a keeper whose collector is gone; None where there is none."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        channel.settimeout(_ANSWER_S)
        channel.connect(address)
        if _is_ours(channel):
            return channel
    except OSError:
        pass
    channel.close()
    return None


def _inherit(channel: socket.socket) -> Iterator[Kept]:
    """Takes over what a keeper holds."""
    with contextlib.suppress(OSError):
        while True:
            message, descriptors = _receive(channel)
            if len(message) != _MESSAGE.size:
                return
            _, extent, token, begun, pid, had, taken = _MESSAGE.unpack(message)
            region, notes = (*descriptors, -1, -1)[:2]
            if region >= 0:
                yield Kept(token, pid, begun, extent, had, taken, region, notes)


@contextlib.contextmanager
def _listening(address: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen(1)
        yield listening


def _hold(channel: socket.socket, listening: socket.socket, address: bytes) -> NoReturn:
    """Holds what comes; in a process of its own, which ends here."""
    try:
        os.setsid()  # what a terminal sends is for the collector
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        _close_others((channel.fileno(), listening.fileno()))
        held = _held(channel)
        if held:
            _hand_over(held, listening, address)
    finally:
        os._exit(0)


def _close_others(kept: Sequence[int]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    for each in list(Path("/proc/self/fd").iterdir()):
        if int(each.name) > 2 and int(each.name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(each.name))


def _held(channel: socket.socket) -> dict[int, list[tuple[bytes, list[int]]]]:
    """Returns what is held, by token, once the collector is gone."""
    held: dict[int, list[tuple[bytes, list[int]]]] = {}
    while True:
        message, descriptors = _receive(channel)
        if len(message) != _MESSAGE.size:
            return held
        kind, extent, token, *_ = _MESSAGE.unpack(message)
        regions = held.setdefault(token, [])
        over = [each for each in regions if kind == _FORGET or _MESSAGE.unpack(each[0])[1] == extent]
        for each in over:
            regions.remove(each)
            for descriptor in each[1]:
                os.close(descriptor)
        if kind == _KEEP:
            regions.append((message, descriptors))
        elif not regions:
            del held[token]


def _hand_over(held: dict[int, list[tuple[bytes, list[int]]]], listening: socket.socket, address: bytes) -> None:
    """Waits for another collector, and sends it what is held; for a further one, where that one is killed too."""
    until_s = time.monotonic() + _WAITS_S
    while (left_s := until_s - time.monotonic()) > 0:
        if listening.fileno() < 0:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                listening.bind(address)
                listening.listen(1)
            except OSError:  # the keeper of the one that was killed, which holds nothing, has not ended yet
                listening.close()
                time.sleep(_AGAIN_S)
                continue
        waiting = select.poll()  # select() has no place for descriptors from 1,024 on
        waiting.register(listening, select.POLLIN)
        if not waiting.poll(1000 * left_s):
            return
        peer = listening.accept()[0]
        with peer, contextlib.suppress(OSError):
            if not _is_ours(peer):
                continue
            listening.close()  # before the end of what is sent: then the other one has its own keeper
            for message, descriptors in (each for regions in held.values() for each in regions):
                _send(peer, message, descriptors)
            peer.shutdown(socket.SHUT_WR)
            if peer.recv(len(_HAS_IT)) == _HAS_IT:
                return
            until_s = time.monotonic() + _WAITS_S


def _is_listened_to(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe, contextlib.suppress(OSError):
        return probe.connect_ex(str(path)) == 0
    return False
