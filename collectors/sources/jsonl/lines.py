"""Decode JSON lines fast, by decoding only the keys that the file really uses."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from ....events.network.malformed import MALFORMED

LATEST_S: Final = 4_600_000_000
LATEST_NS: Final = LATEST_S * 10**9  # start + duration then fits int64


def _whole(lowest: int, highest: int) -> Any:
    return Annotated[int, msgspec.Meta(ge=lowest, le=highest)]


_SECONDS = Annotated[float, msgspec.Meta(ge=0, le=LATEST_S)]

FIELDS: Final[dict[str, tuple[type, Any, Any]]] = {
    "call": (str, str, ""),  # the only key that every line must have
    "path": (str, str, ""),
    "job": (str, str, ""),
    "host": (str, str, ""),
    "layer": (str, str, ""),
    "stream": (str, str, ""),
    "user": (str, str, ""),
    "command": (str, str, ""),
    "step": (str, str, ""),
    "kind": (str, str, ""),
    "file_type": (str, str, ""),
    "clock": (str, str, ""),
    "signature": (str, str, ""),
    "start": (float, _SECONDS, math.nan),
    "dur": (float, _SECONDS, math.nan),
    "start_ns": (int, _whole(-1, LATEST_NS), -1),
    "dur_ns": (int, _whole(-1, LATEST_NS), -1),
    "size": (int, _whole(-1, LATEST_NS), 0),
    "offset": (int, _whole(-1, LATEST_NS), -1),
    "rank": (int, _whole(-1, 2**31 - 1), -1),
    "pid": (int, _whole(-1, 2**31 - 1), 0),
    "tid": (int, _whole(-1, 2**31 - 1), 0),
    "handle": (int, _whole(0, 2**32 - 1), 0),
    "parent": (int, _whole(0, 2**32 - 1), 0),
    "depth": (int, _whole(0, 2**8 - 1), 0),
    "errno": (int, _whole(0, 2**16 - 1), 0),
    "requested": (int, _whole(-1, LATEST_NS), 0),
    "flags": (int, _whole(-1, 2**16 - 1), -1),
}
"""Key -> (type, type with its bounds, value for lines without it)."""

_MAX_IGNORED = 32

# One comprehension per key, written out, because the interpreter specialises each to its attribute.
COLUMN_OF: Final[dict[str, Callable[[list[Any]], list[Any]]]] = {
    "call": lambda lines: [line.call for line in lines],
    "path": lambda lines: [line.path for line in lines],
    "job": lambda lines: [line.job for line in lines],
    "host": lambda lines: [line.host for line in lines],
    "layer": lambda lines: [line.layer for line in lines],
    "stream": lambda lines: [line.stream for line in lines],
    "user": lambda lines: [line.user for line in lines],
    "command": lambda lines: [line.command for line in lines],
    "step": lambda lines: [line.step for line in lines],
    "kind": lambda lines: [line.kind for line in lines],
    "file_type": lambda lines: [line.file_type for line in lines],
    "clock": lambda lines: [line.clock for line in lines],
    "signature": lambda lines: [line.signature for line in lines],
    "start": lambda lines: [line.start for line in lines],
    "dur": lambda lines: [line.dur for line in lines],
    "start_ns": lambda lines: [line.start_ns for line in lines],
    "dur_ns": lambda lines: [line.dur_ns for line in lines],
    "size": lambda lines: [line.size for line in lines],
    "offset": lambda lines: [line.offset for line in lines],
    "rank": lambda lines: [line.rank for line in lines],
    "pid": lambda lines: [line.pid for line in lines],
    "tid": lambda lines: [line.tid for line in lines],
    "handle": lambda lines: [line.handle for line in lines],
    "parent": lambda lines: [line.parent for line in lines],
    "depth": lambda lines: [line.depth for line in lines],
    "errno": lambda lines: [line.errno for line in lines],
    "requested": lambda lines: [line.requested for line in lines],
    "flags": lambda lines: [line.flags for line in lines],
}

_any_object = msgspec.json.Decoder(dict[str, Any])


class LineDecoder:
    """Decodes lines to objects that have exactly the attributes in ``keys``.

    It decodes to a struct with the keys seen so far and forbids others. A line with a new key adds that key, and
    decoding is repeated. A column that no line has then costs nothing. The caller checks the bounds of numbers, on
    whole columns.
    """

    def __init__(self) -> None:
        self.keys: frozenset[str] = frozenset({"call"})
        self._ignored: frozenset[str] | None = frozenset()
        """Unknown keys seen so far. None once there were too many and unknown keys are ignored."""

    def decode(self, text: bytes, line_count: int) -> list[Any] | None:
        """Decode whole lines. Returns None if one of them is malformed or is not one object.

        Args:
            text: the lines.
            line_count: their number.
        """
        while True:
            try:
                found = _decoder(self.keys, self._ignored).decode_lines(text)
                return found if _has_one_line_per_object(text, len(found), line_count) else None
            except MALFORMED:
                if not self._learn(text):
                    return None

    def decode_singly(self, text: bytes) -> Iterator[tuple[int, Any]]:
        """Yield each line's index with its object (null means "not given") or its error.

        This is slow, but it checks bounds, and the objects have all keys.
        """
        for index, line in enumerate(text.split(b"\n")):
            if not line or line.isspace():
                continue
            try:
                fields = {key: value for key, value in _any_object.decode(line).items() if value is not None}
                self._register_keys(fields)
                yield index, msgspec.convert(fields, _bounded_struct())
            except MALFORMED as error:
                yield index, error

    def _learn(self, text: bytes) -> bool:
        """Add the keys of the first line that has a new one. Returns whether there was such a line."""
        before = self.keys, self._ignored
        for line in text.split(b"\n"):
            with contextlib.suppress(*MALFORMED):
                self._register_keys(_any_object.decode(line))
            if (self.keys, self._ignored) != before:
                return True
        return False

    def _register_keys(self, fields: dict[str, Any]) -> None:
        self.keys |= fields.keys() & FIELDS.keys()
        if self._ignored is None:
            return
        self._ignored |= fields.keys() - FIELDS.keys()
        if len(self._ignored) > _MAX_IGNORED or not all(map(_may_be_renamed, self._ignored)):
            self._ignored = None
            self.keys = frozenset(FIELDS)  # from now on, new keys are not detected


def _has_one_line_per_object(text: bytes, count: int, line_count: int) -> bool:
    """Return whether each object has a line of its own. The decoder also accepts objects over several lines."""
    if text.count(b"}\n{") + 1 == count == line_count:  # within an object, another brace or a comma follows this brace
        return True
    lines = [line for each in text.split(b"\n") if (line := each.strip())]
    return count == len(lines) and all(line.startswith(b"{") and line.endswith(b"}") for line in lines)


def _may_be_renamed(key: str) -> bool:
    return key.isprintable() and '"' not in key and "\\" not in key


@lru_cache(maxsize=64)
def _decoder(keys: frozenset[str], ignored: frozenset[str] | None) -> msgspec.json.Decoder[Any]:
    fields: list[Any] = [("call", str)]
    fields += [(key, kind, unset) for key, (kind, _, unset) in FIELDS.items() if key in keys and key != "call"]
    renamed = {f"_{number}": key for number, key in enumerate(sorted(ignored or ()))}
    fields += [(name, msgspec.Raw, msgspec.Raw()) for name in renamed]
    closed = ignored is not None
    return msgspec.json.Decoder(
        msgspec.defstruct("Call", fields, rename=renamed, forbid_unknown_fields=closed, gc=False)
    )


@lru_cache(maxsize=1)
def _bounded_struct() -> type[msgspec.Struct]:
    fields: list[Any] = [("call", str)]
    fields += [(key, kind, unset) for key, (_, kind, unset) in FIELDS.items() if key != "call"]
    return msgspec.defstruct("Call", fields, gc=False)
