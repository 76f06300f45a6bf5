"""Definitions as messages carry them: in parts of bounded size, with texts that UTF-8 can encode."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ..events import Definitions, StreamInfo
from ..events.definitions import MAX_TEXT
from ..events.network.wire import MAX_HEADER_BYTES

MAX_DEFINITION_BYTES = MAX_HEADER_BYTES // 2
"""Maximum size of the definitions that one message carries. The rest of its header is far smaller."""


def extend(into: Definitions, more: Definitions) -> None:
    """Append definitions to others."""
    into.strings.extend(more.strings)
    into.files.extend(more.files)
    into.handles.extend(more.handles)
    into.signatures.extend(more.signatures)


def extended(first: Definitions, more: Definitions) -> Definitions:
    """Join definitions into new ones."""
    joined = Definitions()
    extend(joined, first)
    extend(joined, more)
    return joined


def packed(definitions: Definitions, most_bytes: int = MAX_DEFINITION_BYTES) -> list[Definitions]:
    """Split definitions, in order, into as few parts of bounded size as possible. At least one."""
    parts = [Definitions()]
    room = most_bytes

    def part(*texts: str) -> Definitions:
        """Return the part that has room for one more definition."""
        nonlocal room
        need = sum(_bytes_of(text) for text in texts)
        if need > room:
            parts.append(Definitions())
            room = most_bytes
        room -= need
        return parts[-1]

    for number, text in definitions.strings:
        part(text).strings.append((number, text))
    for number, info in definitions.files:
        part(info.path, info.mount_point, info.filesystem, info.pool).files.append((number, info))
    for number, handle in definitions.handles:
        part(handle.origin, "").handles.append((number, handle))
    for number, text in definitions.signatures:
        part(text).signatures.append((number, text))
    return parts


def readable(definitions: Definitions) -> Definitions:
    """Escapes characters that UTF-8 cannot encode (bytes of file names that are not text)."""
    return Definitions(
        [(number, spelled(text)) for number, text in definitions.strings],
        [(number, _readable(info)) for number, info in definitions.files],
        [(number, _readable(handle)) for number, handle in definitions.handles],
        [(number, spelled(text)) for number, text in definitions.signatures],
    )


def readable_info(info: StreamInfo) -> StreamInfo:
    """Escapes characters that UTF-8 cannot encode, and cuts texts longer than a definition may be."""
    texts = {name: text[:MAX_TEXT] for name, text in _spelled_fields(info).items()}
    return msgspec.structs.replace(info, **texts)


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def _readable(info: _Struct) -> _Struct:
    return msgspec.structs.replace(info, **_spelled_fields(info))


def _spelled_fields(info: msgspec.Struct) -> dict[str, str]:
    values = msgspec.structs.asdict(info).items()
    return {name: spelled(text) for name, text in values if type(text) is str}


def spelled(text: str) -> str:
    """Return a text that UTF-8 can encode."""
    return text.encode(errors="backslashreplace").decode()


def _bytes_of(text: str) -> int:
    """Upper bound of the encoded size of a text with its number and header."""
    return 16 + (len(text) if text.isascii() else 6 * len(text))  # a lone surrogate is escaped as \udcff
