"""Processes that should be traced and are not: those that cannot reach the collector's socket, and refused ones."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from .....events import ProtocolError
from .....events.network.credentials import CREDENTIALS_SPACE, credentials_of, sender_of
from ..records.ring_layout import HEADER, LAYOUT, MAGIC, WORD

_WORDS_A_POLL: Final = 256
_JOB_VARIABLES: Final = (b"IOTIDE_JOB", b"SLURM_JOB_ID", b"PBS_JOBID", b"FLUX_JOB_ID", b"LSB_JOBID")
"""As in ``copy_job`` of the tracer (``state/region.c``)."""
_MAX_JOB: Final = HEADER["job"].itemsize - 1


class UntracedReport(Struct, frozen=True):
    """Report of a process."""

    job: str
    command: str
    failure: str
    """Reason why it cannot be traced."""


class ReportSocket:
    """Datagram socket with an abstract address, which no mount namespace hides and no permission blocks.

    Anyone may send to it; only messages of the same user's processes are accepted, or of all users if we are root. If
    the address is in use, nothing is received.

    Args:
        path: path of the collector's socket; the abstract address is the same.
        events: set in which the socket is registered.
        passed: socket with reports that another process has received for this user; by default one is created.
    """

    def __init__(self, path: Path, events: select.epoll, passed: socket.socket | None = None) -> None:
        self._events = events
        self._is_passed = passed is not None
        if passed is not None:
            self._socket: socket.socket | None = passed
            events.register(passed, select.EPOLLIN)
            return
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._socket.bind(b"\0" + os.fsencode(path))
            events.register(self._socket, select.EPOLLIN)
        except OSError:
            self.close()

    def fileno(self) -> int:
        """Return the descriptor, -1 if there is none."""
        return -1 if self._socket is None else self._socket.fileno()

    def reports(self) -> Iterator[UntracedReport]:
        """Yield the reports that have arrived, a bounded number."""
        for data, user in self.messages():
            if len(data) == WORD.size and (self._is_passed or os.getuid() in (user, 0)):
                magic, layout, failure, job, command = WORD.unpack(data)
                if magic == MAGIC and layout == LAYOUT:
                    yield UntracedReport(
                        _text(job), _text(command).strip(), os.strerror(failure) if failure else "no memory"
                    )

    def messages(self) -> Iterator[tuple[bytes, int]]:
        """Yield the messages that have arrived and their users (-1: unknown), a bounded number."""
        for _ in range(_WORDS_A_POLL):
            if self._socket is None:
                return
            try:
                data, ancillary, _, _ = self._socket.recvmsg(WORD.size + 1, CREDENTIALS_SPACE)
            except OSError:
                return
            sender = sender_of(ancillary)
            yield data, -1 if sender is None else sender.uid

    def close_in_parent(self) -> None:
        """Close the socket, which another process also has, with the epoll set."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def close(self) -> None:
        """Stop receiving."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._events.unregister(self._socket)
            self._socket.close()
            self._socket = None


class RefusedProcessError(ProtocolError):
    """The collector refuses a process.

    Attributes:
        job: job of the process, "" if it names none; None if that is unknown.
    """

    def __init__(self, problem: str, job: str | None = None) -> None:
        super().__init__(problem)
        self.job = job


def refusal_of(peer: socket.socket, problem: str) -> RefusedProcessError:
    """Return the refusal of a connected process whose memory is not read. Its job needs a free descriptor."""
    with contextlib.suppress(OSError):
        pid, uid, _ = credentials_of(peer)
        if pid and uid in (os.getuid(), 0):  # others could name any job
            return RefusedProcessError(problem, _job_of_process(pid))
    return RefusedProcessError(problem)


def _job_of_process(pid: int) -> str | None:
    """Return the job in the environment of a process, "" if there is none; None if the process has ended.

    Raises:
        OSError: the environment cannot be read.
    """
    if not (environment := Path(f"/proc/{pid}/environ").read_bytes()):
        return None
    values = {name: value for name, _, value in (each.partition(b"=") for each in environment.split(b"\0"))}
    variable = next((name for name in _JOB_VARIABLES if values.get(name)), b"")
    job, element = values.get(variable, b""), values.get(b"LSB_JOBINDEX", b"")
    if variable == b"LSB_JOBID" and element not in (b"", b"0"):
        job += b"[" + element + b"]"
    return job[:_MAX_JOB].decode(errors="replace")


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode(errors="replace")
