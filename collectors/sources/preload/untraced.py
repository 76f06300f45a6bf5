"""What traced processes say of programs, children and ways of I/O that are not traced."""

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
    6: "is started without the tracer's LD_PRELOAD and IOTIDE_SOCKET in its environment",
    7: "has restricted itself to reading and writing, and is not traced from there on",
    8: "has restricted itself, so a child that it forked is not traced before it starts a program",
    9: "is started by a user, or in a root folder, that cannot read the tracer's libraries",
}
"""By ``enum iotide_unseen`` of ring.h; each follows the program's name."""
_NOT_STARTED: Final = 10
"""Takes back what its process said last: the program was not started."""
_OF_IMAGES: Final = frozenset(_REASONS[number] for number in (1, 2, 3, 4, 5))
"""Reasons why the tracer is not in a program's image, as its file was looked at before it was started."""
_BY_RINGS: Final = "hands I/O to the kernel by io_uring, past all that the tracer sees"
_RINGS: Final = b"anon_inode:[io_uring]"
_MOST: Final = 1000
Said: TypeAlias = tuple[str, str] | None
"""A program and why it is not seen."""


class Unseen:
    """Counts programs by name and reason; at most a thousand of them have a name, further ones share an empty one."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._hosts: Counter[str] = Counter()

    def learn(self, entry: Entry, before: Said = None) -> Said:
        """Takes in what a process says.

        Args:
            entry: of its log.
            before: what it said last.

        Returns:
            What it has said now; None: it has taken back what it said before.

        Raises:
            ProtocolError: for a reason that there is not.
        """
        if entry.aux == _NOT_STARTED:
            if before is not None:
                self._counts[before] -= 1
            return None
        if entry.aux not in _REASONS:
            raise ProtocolError(f"no program is unseen for reason {entry.aux}")
        return self._add(entry.text.decode(errors="backslashreplace"), _REASONS[entry.aux])

    def learn_file(self, file: bytes, command: str) -> bool:
        """Takes in that a process has a file; returns whether that says of something that it is not seen."""
        if file != _RINGS:
            return False
        self._add(command, _BY_RINGS)
        return True

    def learn_unheard(self, command: str, failure: str) -> None:
        """Takes in that a process could not reach the collector, and why."""
        self._add(command, f"could not reach the collector ({failure}), and is not traced")

    def seen_in(self, image: str) -> None:
        """Takes in that a traced program runs inside of another one's image: an emulator, such as valgrind's tools."""
        if image in self._hosts or len(self._hosts) < _MOST:
            self._hosts[image] += 1

    def _add(self, program: str, reason: str) -> tuple[str, str]:
        known = (program, reason) in self._counts or len(self._counts) < _MOST
        key = (program if known else "", reason)
        self._counts[key] += 1
        return key

    def __iter__(self) -> Iterator[UnseenProgram]:
        from ....results.jobs.run import UnseenProgram  # a collector without a report starts without it

        for (program, reason), times in self._counts.most_common():
            hosted = self._hosts[os.path.realpath(program)] if self._hosts and program and reason in _OF_IMAGES else 0
            if times > hosted:
                yield UnseenProgram(program=program, reason=reason, times=times - hosted)
