"""Source that reads finished input by its path. Such input is a folder, or a format opened by its own library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from ...events import InputError
from ...events.files import readable
from ..source import Closed, Input, Opened, Origin, Problems, SourceItem, UnsupportedData
from .file import InputLosses

Reader: TypeAlias = Callable[[Path, Input], Iterator[list[SourceItem]]]
"""Yields the events in pieces, so that memory use stays bounded. Unreadable parts are reported to the input. An
``InputError`` or ``OSError`` ends the reading, and the source then closes the open streams."""


class FinishedSource:
    """Replays finished input, one piece of its reader per poll.

    Args:
        path: file or folder.
        read: reader of the input.
        origin: job and host of the streams if the input contains neither.
    """

    def __init__(self, path: str | Path, read: Reader, origin: Origin) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self.unsupported = UnsupportedData()
        self._losses = InputLosses(self.counters, origin.job)
        self._about = Input(
            name=readable(path),
            origin=origin,
            modified_ns=Path(path).stat().st_mtime_ns,
            problems=self.problems,
            counters=self.counters,
            unsupported=self.unsupported,
        )
        self._pieces: Iterator[list[SourceItem]] | None = read(Path(path), self._about)
        self._open: dict[str, None] = {}

    @property
    def finished(self) -> bool:
        """True once no later poll can return anything."""
        return self._pieces is None

    def poll(self) -> list[SourceItem]:
        """Return the next piece."""
        return [] if self._pieces is None else self._losses.after(self._next(self._pieces))

    def close(self) -> None:
        """End the reading; the rest is not read."""
        pieces, self._pieces = self._pieces, None
        if pieces is not None and hasattr(pieces, "close"):
            pieces.close()

    def _next(self, pieces: Iterator[list[SourceItem]]) -> list[SourceItem]:
        try:
            items = next(pieces, None)
        except InputError as error:
            return self._fail(error)
        except OSError as error:
            problem = f"cannot be read ({error.strerror or error})"
            return self._fail(InputError(self._about.name, None, problem, "input that may be read"))
        if items is None:
            return self._end()
        for item in items:
            if isinstance(item, Opened):
                self._open[item.stream] = None
            elif isinstance(item, Closed):
                self._open.pop(item.stream, None)
        return items

    def _fail(self, problem: InputError) -> list[SourceItem]:
        self.counters["lines_malformed"] += 1
        self.problems.add(problem)
        return self._end()

    def _end(self) -> list[SourceItem]:
        self._pieces = None
        self._about.report_left_out()
        items: list[SourceItem] = [Closed(stream) for stream in self._open]
        self._open.clear()
        return items
