"""Reports of traced processes about programs, children and kinds of I/O that are not traced."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from ....events import ProtocolError
from ...tracer.preload_compatibility import FOREIGN, GO, MUSL, PRIVILEGED, STATIC
from .records.definition_log import Entry

if TYPE_CHECKING:
    from ....results.jobs.run import UnseenProgram

_REASONS: Final = {
    1: STATIC,
    2: GO,
    3: MUSL,
    4: FOREIGN,
    5: PRIVILEGED,
    6: "is started without the tracer's libraries in LD_PRELOAD, or without IOTIDE_SOCKET",
    7: "has restricted itself to reading and writing, and is not traced from there on",
    8: "has restricted itself, so a child that it forked is not traced before it starts a program",
    9: "is started by a user, or in a root folder, that cannot read the tracer's libraries",
    11: "is started with another IOTIDE_SOCKET, as by a nested `iotide run`, so only that collector records it",
}
"""Indexed by ``enum iotide_unseen`` of ring.h; each text follows the program's name."""
_NOT_STARTED: Final = 10
"""Cancels the last report of the process: the program was not started."""
_NOT_EMULATOR: Final = 12
"""Cancels a report of any process: the program is an emulator, e.g. valgrind's tools, and runs the process."""
_PROGRAM_FILE_REASONS: Final = frozenset(_REASONS[number] for number in (1, 2, 3, 4, 5))
"""Reasons why the tracer is not in a program, determined from its file before the start."""
_STILL_RUNNING: Final = "still ran half a second after the command's end: its later calls are not recorded"
_AFTER_FAILURE: Final = "may have been started after the process that empties the rings had failed"
_BY_IO_URING: Final = "hands I/O to the kernel by io_uring, past all that the tracer sees"
_IO_URING_FILE: Final = b"anon_inode:[io_uring]"
_MAX_PROGRAMS: Final = 1000
Report: TypeAlias = tuple[str, str] | None
"""A program and the reason why it is not traced."""


class UntracedPrograms:
    """Counts programs by name and reason. At most a thousand have a name, further ones share an empty name."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._emulators: Counter[str] = Counter()

    def learn(self, entry: Entry, before: Report = None) -> Report:
        """Process a report.

        Args:
            entry: entry of the process's log.
            before: last report of the process.

        Returns:
            The new report; None: the last report was cancelled.

        Raises:
            ProtocolError: the reason is unknown.
        """
        if entry.aux == _NOT_STARTED:
            if before is not None:
                self._counts[before] -= 1
            return None
        if entry.aux == _NOT_EMULATOR:
            self._add_emulator(entry.text.decode(errors="backslashreplace"))
            return before
        if entry.aux not in _REASONS:
            raise ProtocolError(f"no program is unseen for reason {entry.aux}")
        return self._add(entry.text.decode(errors="backslashreplace"), _REASONS[entry.aux])

    def learn_file(self, file: bytes, command: str) -> bool:
        """Process a file of a process; returns whether it means that I/O is not traced."""
        if file != _IO_URING_FILE:
            return False
        self._add(command, _BY_IO_URING)
        return True

    def learn_still_running(self, command: str) -> None:
        """Record that a process still runs when the collection ends."""
        self._add(command, _STILL_RUNNING)

    def learn_unreachable(self, command: str, failure: str) -> None:
        """Record that a process could not reach the collector, and why."""
        self._add(command, f"could not reach the collector ({failure}), and is not traced")

    def learn_failed_collector(self) -> None:
        """Record that nothing is known of programs that are started from now on."""
        self._add("", _AFTER_FAILURE)

    def _add_emulator(self, image: str) -> None:
        if image in self._emulators or len(self._emulators) < _MAX_PROGRAMS:
            self._emulators[image] += 1

    def _add(self, program: str, reason: str) -> tuple[str, str]:
        known = (program, reason) in self._counts or len(self._counts) < _MAX_PROGRAMS
        key = (program if known else "", reason)
        self._counts[key] += 1
        return key

    def __iter__(self) -> Iterator[UnseenProgram]:
        # imported late, so that a collector without a report starts faster
        from ....results.jobs.run import UnseenProgram

        for (program, reason), times in self._counts.most_common():
            emulated = (
                self._emulators[os.path.realpath(program)]
                if self._emulators and program and reason in _PROGRAM_FILE_REASONS
                else 0
            )
            if times > emulated:
                yield UnseenProgram(program=program, reason=reason, times=times - emulated)
