"""What a parser is: bytes of one file in, streams and events out. It knows neither files nor time."""

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
    """Reads one format. Chunks may be split anywhere; any split gives the same events."""

    problems: Problems
    counters: Counter[str]

    def feed(self, data: bytes) -> list[SourceItem]:
        """Takes the next bytes and returns what they complete."""
        ...

    def finish(self) -> list[SourceItem]:
        """Says that the input has ended: returns what was pending, and ``Closed`` for each open stream."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """What a parser is told of the bytes that it will be fed."""

    name: str
    """The file's path, for messages and for formats that keep facts in it."""
    origin: Origin
    modified_ns: int | None = None
    """When the file was last changed, ns since the Unix epoch; dates stamps that have no date."""
    generation: int = 1
    """1, and one more each time the file was rotated or truncated."""
    problems: Problems = field(default_factory=Problems)
    counters: Counter[str] = field(default_factory=Counter)
    unsupported: UnsupportedData = field(default_factory=UnsupportedData)
    """Where a parser says what it could not carry over, at the latest when it finishes."""

    def stream(self, source: str, part: str = "") -> str:
        """Returns the id of a stream of this input; ids too long for the wire are cut and told apart by a digest."""
        tail = f"#{self.generation}" if self.generation > 1 else ""
        whole = f"{source}:{self.name}{tail}" + (f":{part}" if part else "")
        if len(whole) <= MAX_STREAM_ID:
            return whole
        digest = hashlib.blake2b(whole.encode(errors="backslashreplace"), digest_size=12).hexdigest()
        return whole[: MAX_STREAM_ID - len(digest) - 1] + "~" + digest

    def malformed(self, line: int | None, problem: str, expected: str) -> None:
        """Counts and reports a line (or record) that was skipped."""
        self.counters["lines_malformed"] += 1
        self.problems.add(InputError(self.name, line, problem, expected))


ParserFactory: TypeAlias = Callable[[Input], Parser]
