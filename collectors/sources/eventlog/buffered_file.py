"""Buffer formats that can only be parsed as a whole, until the file has ended."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final, Protocol

from ...source import Input, SourceItem
from .cases import CaseStreams

LARGEST_DOCUMENT: Final = 1 << 31


class Reader(Protocol):
    """Reads a whole document."""

    def __call__(self, document: BytesIO, about: Input, streams: CaseStreams) -> Iterator[list[SourceItem]]:
        """Yield the events in pieces; reports unreadable parts to ``about``."""
        ...


class DocumentParser:
    """Parses a file when it has ended.

    Args:
        about: the input.
        source: source name of its streams.
        reader: reader of the document.
        expected: description of valid input, for messages.
    """

    def __init__(self, about: Input, source: str, reader: Reader, expected: str) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._streams = CaseStreams(about, source)
        self._reader = reader
        self._expected = expected
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[SourceItem]:
        """Buffers the bytes; a document larger than LARGEST_DOCUMENT is discarded and its bytes are counted."""
        self._held += len(data)
        if self._held > LARGEST_DOCUMENT:
            if self._pieces:
                self._about.malformed(None, "the document is too large", f"at most {LARGEST_DOCUMENT} bytes")
            self.counters["bytes_dropped:too_large"] += len(data) + sum(map(len, self._pieces))
            self._pieces = []
        else:
            self._pieces.append(data)
        return []

    def finish(self) -> list[SourceItem]:
        """Read the document and close its streams."""
        return [item for items in self.pieces() for item in items]

    def pieces(self) -> Iterator[list[SourceItem]]:
        """Read the document in pieces, like ``finish``."""
        document = BytesIO(b"".join(self._pieces))
        self._pieces = []
        if document.getbuffer().nbytes:
            try:
                yield from self._reader(document, self._about, self._streams)
            except (OSError, ValueError, RuntimeError, LookupError, TypeError, MemoryError, OverflowError) as error:
                text = " ".join(str(error).split())[:200]
                self._about.malformed(None, f"the document cannot be read ({text})", self._expected)
        yield self._streams.close()
