"""What traced processes say of programs, children and ways of I/O that are not traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ....events import ProtocolError
from ....events.models import UnseenProgram
from ...traceable import FOREIGN, GO, MUSL, PRIVILEGED, STATIC
from .definition_log import Entry

_REASONS: Final = {
    1: STATIC,
    2: GO,
    3: MUSL,
    4: FOREIGN,
    5: PRIVILEGED,
    6: "is started without the tracer's LD_PRELOAD and IOTIDE_SOCKET in its environment",
    7: "has restricted itself to reading and writing, and is not traced from there on",
    8: "has restricted itself, so a child that it forked is not traced before it starts a program",
}
"""By ``enum iotide_unseen`` of ring.h; each follows the program's name."""
_BY_RINGS: Final = "hands I/O to the kernel by io_uring, past all that the tracer sees"
_RINGS: Final = b"anon_inode:[io_uring]"
_MOST: Final = 1000


class Unseen:
    """Counts programs by name and reason; at most a thousand of them have a name, further ones share an empty one."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def learn(self, entry: Entry) -> None:
        """Takes in what a process says.

        Raises:
            ProtocolError: for a reason that there is not.
        """
        if entry.aux not in _REASONS:
            raise ProtocolError(f"no program is unseen for reason {entry.aux}")
        self._add(entry.text.decode(errors="backslashreplace"), _REASONS[entry.aux])

    def learn_file(self, entry: Entry, command: str) -> bool:
        """Takes in that a process has a file; returns whether that says of something that it is not seen."""
        if entry.text == _RINGS:
            self._add(command, _BY_RINGS)
        return entry.text == _RINGS

    def learn_unheard(self, command: str, failure: str) -> None:
        """Takes in that a process could not reach the collector, and why."""
        self._add(command, f"could not reach the collector ({failure}), and is not traced")

    def _add(self, program: str, reason: str) -> None:
        key = program, reason
        known = key in self._counts or len(self._counts) < _MOST
        self._counts[key if known else ("", reason)] += 1

    def __iter__(self) -> Iterator[UnseenProgram]:
        for (program, reason), times in self._counts.most_common():
            yield UnseenProgram(program=program, reason=reason, times=times)
