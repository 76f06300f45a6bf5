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
_LOST: Final = frozenset([*(_REASONS[number] for number in (1, 2, 3, 4, 5, 7, 8)), _BY_IO_URING])
"""Reasons for which calls of a job are surely missing. A program without its starter's libraries may have others."""
_MAX_PROGRAMS: Final = 1000
_MAX_JOBS: Final = 1000
Report: TypeAlias = tuple[str, str] | None
"""A program and the reason why it is not traced."""


class UntracedPrograms:
    """Counts programs by name and reason. At most a thousand have a name, further ones share an empty name."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._emulators: Counter[str] = Counter()
        self._of_jobs: dict[str, Counter[tuple[str, str]]] = {}
        self._told: Counter[str] = Counter()
        self._named: set[tuple[str, str, str]] = set()
        self.changed: dict[str, None] = {}
        """Jobs with reports since ``fresh_losses`` was called."""

    def learn(self, entry: Entry, before: Report = None, job: str = "") -> Report:
        """Process a report.

        Args:
            entry: entry of the process's log.
            before: last report of the process.
            job: its job.

        Returns:
            The new report; None: the last report was cancelled.

        Raises:
            ProtocolError: the reason is unknown.
        """
        if entry.aux == _NOT_STARTED:
            if before is not None:
                self._counts[before] -= 1
                self._of_jobs.get(job, Counter())[before] -= 1
            return None
        if entry.aux == _NOT_EMULATOR:
            self._add_emulator(entry.text.decode(errors="backslashreplace"))
            return before
        if entry.aux not in _REASONS:
            raise ProtocolError(f"no program is unseen for reason {entry.aux}")
        return self._add(entry.text.decode(errors="backslashreplace"), _REASONS[entry.aux], job)

    def learn_file(self, file: bytes, command: str, job: str = "") -> bool:
        """Process a file of a process; returns whether it means that I/O is not traced."""
        if file != _IO_URING_FILE:
            return False
        self._add(command, _BY_IO_URING, job)
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

    def fresh_losses(self) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
        """Yield the jobs with further untraced programs, their number, and those not named before with the reasons.

        Call it some time after a report: the process may cancel it, or a later one that runs in an emulator.
        """
        for job in self.changed:
            counts = {key: self._traceless(key, times) for key, times in self._of_jobs.get(job, Counter()).items()}
            lost = {key: times for key, times in counts.items() if times > 0 and key[1] in _LOST}
            if (fresh := sum(lost.values()) - self._told[job]) > 0:
                self._told[job] += fresh
                named = [key for key in lost if (job, *key) not in self._named][: _MAX_PROGRAMS - len(self._named)]
                self._named.update((job, *key) for key in named)
                yield job, fresh, named
        self.changed = {}

    def _traceless(self, key: tuple[str, str], times: int) -> int:
        """Return how often a program was not traced, without its runs as an emulator."""
        program, reason = key
        if self._emulators and program and reason in _PROGRAM_FILE_REASONS:
            return times - self._emulators[os.path.realpath(program)]
        return times

    def _add_emulator(self, image: str) -> None:
        if image in self._emulators or len(self._emulators) < _MAX_PROGRAMS:
            self._emulators[image] += 1

    def _add(self, program: str, reason: str, job: str = "") -> tuple[str, str]:
        known = (program, reason) in self._counts or len(self._counts) < _MAX_PROGRAMS
        key = (program if known else "", reason)
        self._counts[key] += 1
        if job not in self._of_jobs and len(self._of_jobs) >= _MAX_JOBS:
            oldest = next(iter(self._of_jobs))
            del self._of_jobs[oldest], self._told[oldest]
        self._of_jobs.setdefault(job, Counter())[key] += 1
        self.changed[job] = None
        return key

    def __iter__(self) -> Iterator[UnseenProgram]:
        # imported late, so that a collector without a report starts faster
        from ....results.jobs.run import UnseenProgram

        for (program, reason), counted in self._counts.most_common():
            if (times := self._traceless((program, reason), counted)) > 0:
                yield UnseenProgram(program=program, reason=reason, times=times)
