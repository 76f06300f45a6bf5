"""Cases of [DFG]: which events form one sequence."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, StreamInfo
from .expression_errors import raise_declaration_error
from .mapping import Names

CaseName = Literal["stream", "pid", "tid", "rank", "host", "command", "file"]
CASES: Final[tuple[CaseName, ...]] = get_args(CaseName)
DEFAULT_CASE: Final = "stream"
_LOW: Final = 2**32  # factor of the host number in the case of a process
_KNOWN: Final = ", ".join(CASES)


def parse_case(text: str) -> CaseName:
    """Parse the declaration of a case.

    Raises:
        ConfigError: it is not one of ``CASES``.
    """
    found = [known for known in CASES if known == text.strip()]
    if not found:
        raise_declaration_error("case", text, 0, "this is no case", _KNOWN)
    return found[0]


class Cases:
    """Numbers the cases of one job's events.

    ``pid`` and ``tid`` are per host. ``rank`` and ``pid`` are taken from the stream if the event has none. ``command``
    is the name of the traced program (cid in [DFG]).

    Args:
        case: definition of a case.
    """

    def __init__(self, case: CaseName) -> None:
        self.case: CaseName = case
        self._streams = _Texts()
        self._texts = _Texts()

    def of(self, batch: EventBatch, stream: str, info: StreamInfo) -> npt.NDArray[np.int64]:
        """Return the case of each event, int64[n], from 0.

        Args:
            batch: events of one stream, in the job's numbering.
            stream: stream id.
            info: introduction of the stream.
        """
        if self.case == "file":
            return batch.file.astype(np.int64)
        if self.case == "rank":
            return np.where(batch.rank < 0, info.rank, batch.rank).astype(np.int64) + 1
        if self.case in ("pid", "tid"):
            pid = np.where(batch.pid == 0, info.pid, batch.pid)
            local = pid if self.case == "pid" else np.where(batch.tid == 0, pid, batch.tid)
            return self._texts.number(info.host) * _LOW + (local.astype(np.int64) & (_LOW - 1))
        if self.case == "stream":
            number = self._streams.number(stream)
        else:
            number = self._texts.number(info.host if self.case == "host" else info.command)
        return np.full(len(batch), number, np.int64)

    def label(self, case: int, names: Names) -> str:
        """Return the display name of a case."""
        if self.case == "file":
            path = names.files[case].path if 0 <= case < len(names.files) else ""
            return path or "(file not known)"
        if self.case == "rank":
            return f"rank {case - 1}" if case else "(rank not known)"
        if self.case in ("pid", "tid"):
            host, number = divmod(case, _LOW)
            where = self._texts.text(host)
            return f"{self.case} {number}" + (f" on {where}" if where else "")
        if self.case == "stream":
            return self._streams.text(case)
        return self._texts.text(case) or f"({self.case} not known)"


class _Texts:
    """Numbers texts in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            self._numbers[text] = number = len(self._texts)
            self._texts.append(text)
        return number

    def text(self, number: int) -> str:
        return self._texts[number] if 0 <= number < len(self._texts) else ""
