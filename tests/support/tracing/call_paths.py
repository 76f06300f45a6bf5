"""The functions through which one call passes, recorded while it passes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

import iotide
import numpy as np
from iotide.events import EventBatch

_ROOT = f"{Path(iotide.__file__).parent}/"
_MAX_DEPTH = 3
_MAX_ITEMS = 60


@dataclass(frozen=True, slots=True)
class Function:
    """A function of iotide: its file, relative to the root of the repository, and its qualified name."""

    file: str
    name: str


@dataclass(frozen=True)
class HandOver:
    """A function that gets the call in one form and returns it, or stores it, in the next.

    Attributes:
        function: the function.
        shows: whether an argument or the result shows the call; a sum does not.
    """

    function: Function
    shows: bool


@dataclass
class CallPath:
    """Records the functions of iotide that are being executed when a call is handed over, from the outermost.

    Each hand-over counts when the ones before it have come, and the first time that it has the call in its hands.

    Args:
        hand_overs: the hand-overs, in the order of the call.
        mark: a number that only this call has: its size, start or offset.
        text: the same in a line of text, or "".

    Attributes:
        functions: functions in order of first appearance, with their code.
    """

    hand_overs: Sequence[HandOver]
    mark: int
    text: bytes = b""
    functions: dict[Function, CodeType] = field(default_factory=dict)
    _next: int = 0
    _known: dict[CodeType, Function | None] = field(default_factory=dict)

    def __enter__(self) -> CallPath:
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    @property
    def awaited(self) -> Function | None:
        """The next hand-over; None when all have come."""
        return self.hand_overs[self._next].function if self._next < len(self.hand_overs) else None

    def _on_event(self, frame: FrameType, event: str, result: Any) -> None:
        if event not in ("call", "return") or self._next >= len(self.hand_overs):
            return
        awaited = self.hand_overs[self._next]
        if self._function(frame.f_code) != awaited.function:
            return
        values = [result] if event == "return" else _arguments(frame)
        if not awaited.shows or any(shows(value, self.mark, self.text) for value in values):
            self._next += 1
            self._note(frame)

    def _note(self, frame: FrameType | None) -> None:
        codes = []
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        for code in reversed(codes):
            if (function := self._function(code)) is not None:
                self.functions.setdefault(function, code)

    def _function(self, code: CodeType) -> Function | None:
        """Return the function of some code; None for code of others, and for lambdas and comprehensions."""
        if code not in self._known:
            self._known[code] = _function_of(code)
        return self._known[code]


def _function_of(code: CodeType) -> Function | None:
    file = code.co_filename.removeprefix(_ROOT)
    if file == code.co_filename or file.startswith(("tests/", ".venv/")) or code.co_name.startswith("<"):
        return None
    return Function(file, code.co_qualname.replace(".<locals>", ""))


def _arguments(frame: FrameType) -> Iterable[object]:
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [values.get(name) for name in names if name != "self"]


def shows(value: Any, mark: int, text: bytes, depth: int = 0) -> bool:
    """Return whether a value contains a call with the given mark: as a number, in an array, or in bytes."""
    if isinstance(value, int):
        return value == mark
    if isinstance(value, bytes | bytearray):
        return mark.to_bytes(8, "little") in value or (bool(text) and text in value)
    if isinstance(value, np.ndarray | memoryview):
        return shows(value.tobytes(), mark, text)
    if hasattr(value, "buffer"):  # a frame of ZeroMQ
        return shows(value.buffer, mark, text)
    if depth == _MAX_DEPTH:
        return False
    if isinstance(value, EventBatch):
        value = value.columns()
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, list | tuple):
        names = getattr(value, "__struct_fields__", ()) or getattr(value, "__dataclass_fields__", ())
        value = [getattr(value, name, None) for name in names]
    return any(shows(each, mark, text, depth + 1) for each in value[:_MAX_ITEMS])
