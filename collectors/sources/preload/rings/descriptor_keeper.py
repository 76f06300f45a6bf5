"""Process that keeps descriptors for the successor of a process that may be killed.

The owner sends it descriptors with a few bytes about each. The keeper does nothing until the owner is gone. Then it
waits for a successor, hands everything over, and ends once the successor confirms that its own keeper has it.
"""

from __future__ import annotations

import array
import contextlib
import hashlib
import logging
import os
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
from .....events.network.open_descriptors import detach_from_all_but
from .received_descriptors import receive_with_descriptors

_KEEP, _FORGET = range(2)
_ACKNOWLEDGED: Final = b"\1"
_HEAD: Final = struct.Struct("<BIQ")
"""Kind of message, part and key. The rest of the message is the owner's."""
_MAX_BYTES: Final = 256
_MAX_FDS: Final = 4
_WAITS_S: Final = 120.0
"""Time for which a keeper waits for a successor, s. The aggregator closes streams after the same time."""
_ANSWER_S: Final = 10.0
_AGAIN_S: Final = 0.01
_SLOWEST_S: Final = 1.0
"""Maximum time for which an owner waits for its keeper to accept a message, s."""
_log = logging.getLogger(__name__)

_Held = dict[int, list[tuple[bytes, list[int]]]]
"""Messages and descriptors by key."""


class Kept(NamedTuple):
    """Descriptors of the previous owner; the receiver owns them."""

    key: int
    part: int
    about: bytes
    descriptors: list[int]


class DescriptorKeeper:
    """The owner's end: takes over the descriptors of a previous owner, and sends descriptors to the keeper.

    Args:
        address: abstract address at which the keeper waits for a successor.
        loss: what is lost without a keeper, for the log.

    Attributes:
        inherited: descriptors of the previous owner. There are none while it runs.
    """

    def __init__(self, address: bytes, loss: str) -> None:
        self._address, self._loss = address, loss
        self._pid = 0
        self._channel: socket.socket | None = None
        self.inherited: list[Kept] = []
        self._before = _connected(address)
        if self._before is not None:
            self.inherited.extend(_inherit(self._before))

    @property
    def keeps(self) -> bool:
        """Whether descriptors are kept."""
        return self._channel is not None

    def start(self) -> None:
        """Start the keeper; a failure is logged. It forks the process."""
        channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            channel.settimeout(_SLOWEST_S)
            try:
                with _listening(self._address) as listening, warnings.catch_warnings():
                    # The warning is about threads: the child uses none of their locks.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    self._pid = os.fork()
                    if self._pid == 0:
                        _run_keeper(theirs, listening, self._address)
            except OSError as error:
                _log.warning("%s will be lost if this collector is killed: %s", self._loss, error)
                channel.close()
                return
        self._channel = channel

    def fileno(self) -> int:
        """Return a descriptor that hangs up when the keeper has ended; -1 if nothing is kept."""
        return -1 if self._channel is None else self._channel.fileno()

    def restart(self) -> bool:
        """Replace a keeper that has ended or does not respond. Return whether another one runs; it has nothing yet."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._pid:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)  # it may be stopped
                os.waitpid(self._pid, 0)
            self._pid = 0
        self.start()
        return self.keeps

    def keep(self, key: int, part: int, about: bytes, descriptors: Sequence[int]) -> None:
        """Keep descriptors, replacing earlier ones of that key and part; the caller keeps its own."""
        self._send(_HEAD.pack(_KEEP, part, key) + about, descriptors)

    def forget(self, key: int) -> None:
        """Release all parts of a key."""
        self._send(_HEAD.pack(_FORGET, 0, key))

    def has_inherited(self) -> None:
        """End the previous keeper, because the new one has everything."""
        if self._before is not None:
            with self._before, contextlib.suppress(OSError):
                self._before.send(_ACKNOWLEDGED)
            self._before = None

    def close_in_child(self) -> None:
        """Close the descriptors in a forked process, which does not own the keeper."""
        for each in (self._channel, self._before):
            if each is not None:
                each.close()
        self._channel = self._before = None
        self._pid = 0

    def close(self) -> None:
        """Release everything, because no successor needs it."""
        if self._pid:
            self.has_inherited()
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        self.close_in_child()

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        if self._channel is None:
            return
        try:
            _send(self._channel, message, descriptors)
        except OSError as error:  # it was killed or is stopped
            _log.warning("further %s will be lost if this collector is killed: %s", self._loss, error)
            self._channel.close()
            self._channel = None


def keeper_address(gate: Path, owner: str = "") -> bytes:
    """Return an abstract address, which leaves no file and is short. It depends on the folder's identity.

    Args:
        gate: path of the traced processes' socket; its folder is created.
        owner: distinguishes several owners at one path.
    """
    gate.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = gate.parent.stat()
    named = f"{folder.st_dev}:{folder.st_ino}:{gate.name}".encode(errors="surrogateescape")
    return f"\0iotide-{owner or 'kept'}-".encode() + hashlib.blake2b(named, digest_size=16).hexdigest().encode()


def _send(channel: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    channel.sendmsg([message], rights)


def _is_same_user(peer: socket.socket) -> bool:
    """Return whether the peer belongs to the same user. Anyone may use an abstract address."""
    return credentials_of(peer).uid == os.getuid()


def _connected(address: bytes) -> socket.socket | None:
    """Return a channel to a keeper; None if there is none."""
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


def _inherit(channel: socket.socket) -> Iterator[Kept]:
    """Take over a keeper's descriptors; none if its owner still runs."""
    with contextlib.suppress(OSError):
        while True:
            message, descriptors = receive_with_descriptors(channel, _MAX_BYTES, _MAX_FDS)
            if len(message) < _HEAD.size:
                return
            _, part, key = _HEAD.unpack_from(message)
            yield Kept(key, part, message[_HEAD.size :], descriptors)


@contextlib.contextmanager
def _listening(address: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen(1)
        yield listening


def _run_keeper(channel: socket.socket, listening: socket.socket, address: bytes) -> NoReturn:
    """Keep the received descriptors in a process of its own, which ends here."""
    try:
        os.setsid()  # the terminal's signals are meant for the collector
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        detach_from_all_but((channel.fileno(), listening.fileno()))
        held = _receive_all(channel, listening)
        channel.close()
        if held:
            _hand_over(held, listening, address)
    finally:
        os._exit(0)


def _receive_all(channel: socket.socket, listening: socket.socket) -> _Held:
    """Return the kept descriptors once the owner is gone. A connection before that gets nothing."""
    held: _Held = {}
    news = select.poll()  # select() does not support descriptors from 1,024 on
    news.register(channel, select.POLLIN)
    news.register(listening, select.POLLIN)
    while True:
        news.poll()
        if not _is_readable(channel):
            # The channel is closed before a successor can connect, so this peer came while the owner ran.
            with contextlib.suppress(OSError):
                listening.accept()[0].close()
            continue
        message, descriptors = receive_with_descriptors(channel, _MAX_BYTES, _MAX_FDS)
        if len(message) < _HEAD.size:
            return held
        _update(held, message, descriptors)


def _is_readable(channel: socket.socket) -> bool:
    asking = select.poll()
    asking.register(channel, select.POLLIN)
    return bool(asking.poll(0))


def _update(held: _Held, message: bytes, descriptors: list[int]) -> None:
    kind, part, key = _HEAD.unpack_from(message)
    parts = held.setdefault(key, [])
    over = [each for each in parts if kind == _FORGET or _HEAD.unpack_from(each[0])[1] == part]
    for each in over:
        parts.remove(each)
        for descriptor in each[1]:
            os.close(descriptor)
    if kind == _KEEP:
        parts.append((message, descriptors))
    elif not parts:
        del held[key]


def _hand_over(held: _Held, listening: socket.socket, address: bytes) -> None:
    """Wait for a successor, and send it the descriptors. Waits again if that one is killed, too."""
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
        waiting = select.poll()
        waiting.register(listening, select.POLLIN)
        if not waiting.poll(1000 * left_s):
            return
        peer = listening.accept()[0]
        with peer, contextlib.suppress(OSError):
            if not _is_same_user(peer):
                continue
            listening.close()  # before the last one is sent: after that the successor has its own keeper
            for message, descriptors in (each for parts in held.values() for each in parts):
                _send(peer, message, descriptors)
            peer.shutdown(socket.SHUT_WR)
            if peer.recv(len(_ACKNOWLEDGED)) == _ACKNOWLEDGED:
                return
            until_s = time.monotonic() + _WAITS_S
