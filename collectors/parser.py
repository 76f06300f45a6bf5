"""Parser interface: bytes of one file in, streams and events out. Parsers use neither files nor clocks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ..events import InputError
from ..events.network.wire import MAX_STREAM_ID
from .source import Origin, Problems, SourceItem, UnsupportedData


class Parser(Protocol):
    """Reads one format. The events do not depend on where the input is split into chunks."""

    problems: Problems
    counters: Counter[str]

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes and return the items that they complete."""
        ...

    def finish(self) -> list[SourceItem]:
        """End the input; returns pending items, and ``Closed`` for each open stream."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """Description of a parser's input."""

    name: str
    """Path of the file, for messages and for formats that encode facts in it."""
    origin: Origin
    modified_ns: int | None = None
    """Time of the file's last change, ns since the Unix epoch. The date of stamps that have none."""
    generation: int = 1
    """1, plus one each time the file was rotated or truncated."""
    problems: Problems = field(default_factory=Problems)
    counters: Counter[str] = field(default_factory=Counter)
    unsupported: UnsupportedData = field(default_factory=UnsupportedData)
    """Receives the data that a parser could not represent, at the latest in ``finish``."""

    def stream(self, source: str, part: str = "") -> str:
        """Return the id of a stream of this input. Ids too long for the wire are cut and get a digest."""
        tail = f"#{self.generation}" if self.generation > 1 else ""
        whole = f"{source}:{self.name}{tail}" + (f":{part}" if part else "")
        if len(whole) <= MAX_STREAM_ID:
            return whole
        digest = hashlib.blake2b(whole.encode(errors="backslashreplace"), digest_size=12).hexdigest()
        return whole[: MAX_STREAM_ID - len(digest) - 1] + "~" + digest

    def malformed(self, line: int | None, problem: str, expected: str) -> None:
        """Count and report a skipped line (or record)."""
        self.counters["lines_malformed"] += 1
        self.problems.add(InputError(self.name, line, problem, expected))


ParserFactory: TypeAlias = Callable[[Input], Parser]
