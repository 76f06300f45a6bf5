"""Process that preserves the memory of traced processes. Another collector uses it if this one is killed.

The collector sends it a descriptor of each region, and of a file with data that was taken out of the region and is
still needed: definitions, and the process's counters. The keeper does nothing until the collector is gone. Then it
waits for another collector, hands everything over, and ends once that collector confirms that its own keeper has it.
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

from .....events.network.credentials import credentials_of

_KEEP, _FORGET = range(2)
_ACKNOWLEDGED: Final = b"\1"
_MESSAGE: Final = struct.Struct("<BIQQIIQ")
"""Kind of message, and a ``PreservedRegion`` without its descriptors."""
_WAITS_S: Final = 120.0
"""Seconds for which a keeper waits for another collector. The aggregator closes streams after the same time."""
_MAX_FDS: Final = 2
_ANSWER_S: Final = 10.0
_AGAIN_S: Final = 0.01
_SLOWEST_S: Final = 1.0
"""Maximum seconds for which a collector waits for its keeper to accept a message."""
_log = logging.getLogger(__name__)
_COUNTS_BYTES: Final = 8192
"""Size of the counters in the notes, before the definitions."""
_LEFT_FREE: Final = 64
"""Descriptors that notes leave free for processes."""


class PreservedRegion(NamedTuple):
    """A region of a previous collector; the receiver owns the descriptors."""

    token: int
    pid: int
    started: int
    """Start time of the process from /proc; 0: unknown."""
    extent: int
    predecessors: int
    """Number of collectors that have had the region."""
    taken: int
    """For a process's first region: records taken out of it before the last of these collectors began."""
    region: int
    notes: int
    """Descriptor of ``Notes``; -1 for further regions of a process."""


class Notes:
    """Data that a collector took from a process, in memory that outlives the collector.

    Args:
        descriptor: descriptor of a previous collector's notes; by default a new file.

    Raises:
        OSError: no descriptor is available.
    """

    def __init__(self, descriptor: int = -1) -> None:
        if descriptor < 0:
            descriptor = os.memfd_create("iotide-notes", os.MFD_CLOEXEC)
            if descriptor >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _LEFT_FREE:
                os.close(descriptor)
                raise OSError(errno.EMFILE, "descriptors are for processes")
        self.descriptor = descriptor

    def store_definitions(self, entries: bytes) -> None:
        """Store definitions before they are removed from the log."""
        with contextlib.suppress(OSError):  # no memory is left: another collector will not have them
            at = max(os.lseek(self.descriptor, 0, os.SEEK_END), _COUNTS_BYTES)
            os.pwrite(self.descriptor, entries, at)

    def store_counters(self, counts: dict[str, int]) -> None:
        """Store the process's counters at their last report."""
        with contextlib.suppress(OSError):
            os.pwrite(self.descriptor, json.dumps(counts).encode().ljust(_COUNTS_BYTES), 0)

    def definitions(self) -> bytes:
        """Return all definitions."""
        return os.pread(self.descriptor, max(os.fstat(self.descriptor).st_size - _COUNTS_BYTES, 0), _COUNTS_BYTES)

    def counters(self) -> dict[str, int]:
        """Return the counters."""
        with contextlib.suppress(ValueError):
            found = json.loads(os.pread(self.descriptor, _COUNTS_BYTES, 0).rstrip(b"\0 "))
            if isinstance(found, dict):
                return {str(name): int(count) for name, count in found.items()}
        return {}

    def close(self) -> None:
        """Close the descriptor; a keeper may still have the memory."""
        os.close(self.descriptor)


class Keeper:
    """The collector's end: takes over a previous collector's regions, and sends regions to the keeper.

    Args:
        gate: path of the traced processes' socket; no collector may listen there.

    Attributes:
        inherited: regions of the previous collector.
    """

    def __init__(self, gate: Path) -> None:
        self._pid = 0
        self.inherited: list[PreservedRegion] = []
        self._before: socket.socket | None = None
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if _is_listened_to(gate):  # a running collector listens there
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
                    )  # warning about threads: the child uses none of their locks
                    self._pid = os.fork()
                    if self._pid == 0:
                        _run_keeper(theirs, listening, address)
            except OSError as error:
                _log.warning("unread calls will be lost if this collector is killed: %s", error)
                self._channel.close()

    @property
    def has_regions(self) -> bool:
        """Whether regions are preserved."""
        return self._channel.fileno() >= 0

    def preserve(self, kept: PreservedRegion) -> None:
        """Preserves a region, replacing earlier data about it; the caller keeps its descriptors."""
        descriptors = [each for each in (kept.region, kept.notes) if each >= 0]
        self._send(
            _MESSAGE.pack(_KEEP, kept.extent, kept.token, kept.started, kept.pid, kept.predecessors, kept.taken),
            descriptors,
        )

    def has_inherited(self) -> None:
        """End the previous keeper, because the new one has everything."""
        if self._before is not None:
            with self._before, contextlib.suppress(OSError):
                self._before.send(_ACKNOWLEDGED)
            self._before = None

    def forget(self, token: int) -> None:
        """Releases the regions of a process."""
        self._send(_MESSAGE.pack(_FORGET, 0, token, 0, 0, 0, 0))

    def close(self) -> None:
        """Releases everything, because nothing remains to be read."""
        if self._pid:
            self.has_inherited()
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        self._channel.close()
        self._pid = 0

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        if not self.has_regions:
            return
        try:
            _send(self._channel, message, descriptors)
        except OSError as error:  # it was killed or is stopped
            _log.warning("further unread calls will be lost if this collector is killed: %s", error)
            self._channel.close()


def started(pid: int) -> int:
    """Return the start of a process in ticks since boot. Returns 0 if there is no such process."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    return 0


def _send(channel: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([message], rights)


def _receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    size = socket.CMSG_SPACE(4 * _MAX_FDS)
    message, ancillary, _, _ = channel.recvmsg(_MESSAGE.size, size, socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, numbers.tolist()


def _address_of(gate: Path) -> bytes:
    """Return an abstract address, which leaves no file and is short. It depends on the folder's identity."""
    gate.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = gate.parent.stat()
    named = f"{folder.st_dev}:{folder.st_ino}:{gate.name}".encode(errors="surrogateescape")
    return b"\0iotide-kept-" + hashlib.blake2b(named, digest_size=16).hexdigest().encode()


def _is_same_user(peer: socket.socket) -> bool:
    """Return whether the peer belongs to the same user. Anyone may use an abstract address."""
    return credentials_of(peer).uid == os.getuid()


def _connected(address: bytes) -> socket.socket | None:
    """Return a channel to a keeper whose collector is gone; None if there is none."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        channel.settimeout(_ANSWER_S)
        channel.connect(address)
        if _is_same_user(channel):
            return channel
    except OSError:
        pass
    channel.close()
    return None


def _inherit(channel: socket.socket) -> Iterator[PreservedRegion]:
    """Take over a keeper's regions."""
    with contextlib.suppress(OSError):
        while True:
            message, descriptors = _receive(channel)
            if len(message) != _MESSAGE.size:
                return
            _, extent, token, begun, pid, had, taken = _MESSAGE.unpack(message)
            region, notes = (*descriptors, -1, -1)[:2]
            if region >= 0:
                yield PreservedRegion(token, pid, begun, extent, had, taken, region, notes)


@contextlib.contextmanager
def _listening(address: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen(1)
        yield listening


def _run_keeper(channel: socket.socket, listening: socket.socket, address: bytes) -> NoReturn:
    """Preserves the received regions in a process of its own, which ends here."""
    try:
        os.setsid()  # the terminal's signals are meant for the collector
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        _close_others((channel.fileno(), listening.fileno()))
        held = _receive_regions(channel)
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


def _receive_regions(channel: socket.socket) -> dict[int, list[tuple[bytes, list[int]]]]:
    """Return the preserved regions, by token, once the collector is gone."""
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
    """Wait for another collector, and send it the regions. Waits again if that one is killed, too."""
    until_s = time.monotonic() + _WAITS_S
    while (left_s := until_s - time.monotonic()) > 0:
        if listening.fileno() < 0:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                listening.bind(address)
                listening.listen(1)
            except OSError:  # the killed collector's own keeper, which has nothing, has not ended yet
                listening.close()
                time.sleep(_AGAIN_S)
                continue
        waiting = select.poll()  # select() does not support descriptors from 1,024 on
        waiting.register(listening, select.POLLIN)
        if not waiting.poll(1000 * left_s):
            return
        peer = listening.accept()[0]
        with peer, contextlib.suppress(OSError):
            if not _is_same_user(peer):
                continue
            listening.close()  # before the last region is sent: after that the other collector has its own keeper
            for message, descriptors in (each for regions in held.values() for each in regions):
                _send(peer, message, descriptors)
            peer.shutdown(socket.SHUT_WR)
            if peer.recv(len(_ACKNOWLEDGED)) == _ACKNOWLEDGED:
                return
            until_s = time.monotonic() + _WAITS_S


def _is_listened_to(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe, contextlib.suppress(OSError):
        return probe.connect_ex(str(path)) == 0
    return False
