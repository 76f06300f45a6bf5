"""Template of the text after an event's name. It has fixed texts with fields between them, as ``pid={other:thread}``.

``{tid:thread}`` is a number of digits, ``{value:number}`` a decimal or 0x number, ``{state:word}`` a text up to a
space. ``{name}`` is a text up to the first position where the following fixed text matches, together with all steps up
to the next such text. There is no backtracking beyond that, so the cost of a line is linear in its length. A field
without a name is skipped, and text after the last step is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Formatter
from typing import Final

import numpy as np
import numpy.typing as npt

from .line import thread_number
from .native_library import native

Extents = npt.NDArray[np.uint32]

_NUMBER: Final = re.compile(rb"(-?)(?:0x([\da-fA-F]+)|(\d+))")
_LARGEST: Final = 2**62
_NO_SLOT: Final = 2**32 - 1
_PART: Final = np.dtype(
    [
        ("literal", np.uint32, 2),
        ("lazy", np.uint32),
        ("value", np.uint32),
        ("before", np.uint32),
        ("slot", np.uint32),
    ]
)
"""One step, as in native/traces.h."""
_VALUES: Final = {"": 0, "thread": 1, "word": 2, "number": 3}
_PATTERNS: Final = {
    "": b"",
    "thread": rb"(\d+)(?!\w)",
    "word": rb"([^ ]+)(?![^ ])",
    "number": rb"(-?(?:0x[\da-fA-F]+|\d+))(?!\w)",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of some payloads.

    Attributes:
        numbers: int64[n] of each thread or number field; threads at most 2^31 - 1, and 0 for a number that does not fit
            62 bits.
        texts: extents of each text field, shape (n, 2).
        fits: mask of the payloads that match the template; fields of the others are undefined.
    """

    numbers: dict[str, npt.NDArray[np.int64]]
    texts: dict[str, Extents]
    fits: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Step:
    literal: bytes
    lazy: bool
    before: str
    value: str
    field: str


class Template:
    """Parses payloads of one format. It uses the compiled helper, or a regular expression as its fallback.

    Args:
        text: the template, see the module.
    """

    def __init__(self, text: str) -> None:
        self._steps = list(_steps(text.encode()))
        self._numbers = [step.field for step in self._steps if step.value in ("thread", "number")]
        self._texts = [step.before for step in self._steps if step.before]
        self._texts += [step.field for step in self._steps if step.value == "word"]
        self._literals = b"".join(step.literal for step in self._steps)
        self._slots = max(len(self._numbers), len(self._texts), 1)
        self._parts = self._compiled()
        self._patterns = [re.compile(pattern) for pattern in _patterns(self._steps)]

    def read(self, data: bytes, payloads: Extents) -> Fields:
        """Parse payloads, given as extents in the data of shape (n, 2)."""
        library = native()
        count = len(payloads)
        numbers = np.zeros((count, self._slots), np.int64)
        texts = np.zeros((count, self._slots, 2), np.uint32)
        fits = np.zeros(count, np.bool_)
        if library is None:
            self._read_fallback(data, payloads, numbers, texts, fits)
        else:
            payloads = np.ascontiguousarray(payloads)
            library.trace_payloads(
                data,
                payloads.ctypes.data,
                count,
                self._literals,
                self._parts.ctypes.data,
                len(self._parts),
                numbers.ctypes.data,
                texts.ctypes.data,
                self._slots,
                fits.ctypes.data,
            )
        return Fields(
            {name: numbers[:, at] for at, name in enumerate(self._numbers)},
            {name: texts[:, at] for at, name in enumerate(self._texts)},
            fits,
        )

    def _read_fallback(
        self,
        data: bytes,
        payloads: Extents,
        numbers: npt.NDArray[np.int64],
        texts: Extents,
        fits: npt.NDArray[np.bool_],
    ) -> None:
        for row, (begin, end) in enumerate(payloads.tolist()):
            spans = self._spans(text := data[begin:end])
            if spans is None:
                continue
            fits[row] = True
            for step in self._steps:
                if step.before:
                    texts[row, self._texts.index(step.before)] = np.add(spans.pop(0), begin)
                if step.value == "word":
                    texts[row, self._texts.index(step.field)] = np.add(spans.pop(0), begin)
                elif step.value:
                    digits = text[slice(*spans.pop(0))]
                    value = thread_number(digits) if step.value == "thread" else whole_number(digits) or 0
                    numbers[row, self._numbers.index(step.field)] = value

    def _spans(self, text: bytes) -> list[tuple[int, int]] | None:
        """Return the spans of the groups of consecutive patterns; None if one does not match."""
        spans: list[tuple[int, int]] = []
        at = 0
        for pattern in self._patterns:
            found = pattern.match(text, at)
            if found is None:
                return None
            spans += map(found.span, range(1, pattern.groups + 1))
            at = found.end()
        return spans

    def _compiled(self) -> npt.NDArray[np.void]:
        parts = np.zeros(len(self._steps), _PART)
        at = 0
        for part, step in zip(parts, self._steps, strict=True):
            part["literal"] = at, at + len(step.literal)
            at += len(step.literal)
            part["lazy"], part["value"] = step.lazy, _VALUES[step.value]
            part["before"] = self._texts.index(step.before) if step.before else _NO_SLOT
            if step.value:
                part["slot"] = (self._texts if step.value == "word" else self._numbers).index(step.field)
        return parts


def whole_number(text: bytes) -> int | None:
    """Parse a number as tracers write it, as signed 64 bits; None if malformed or beyond 62 bits."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    value = int(found[2], 16) if found[2] else int(found[3].lstrip(b"0")[:25] or b"0")
    if value >= 2**64:
        return None
    value -= 2**64 if value >= 2**63 else 0
    if found[1]:
        value = -value if value >= 0 else _LARGEST
    return value if -_LARGEST < value < _LARGEST else None


def _steps(text: bytes) -> list[_Step]:
    steps: list[_Step] = []
    lazy, before = False, ""
    for literal, name, kind, _ in Formatter().parse(text.decode()):
        field = name or ""
        if lazy and not literal:
            raise ValueError(f"a fixed text has to follow a field of any text: {text!r}")
        if name is None or not kind:
            if literal:
                steps.append(_Step(literal.encode(), lazy, before, "", ""))
            lazy, before = name is not None, field
        else:
            steps.append(_Step(literal.encode(), lazy, before, kind, field))
            lazy, before = False, ""
    if before:
        raise ValueError(f"a fixed text has to follow a field of any text: {text!r}")
    return steps


def _patterns(steps: list[_Step]) -> list[bytes]:
    """Return regular expressions, one for each searched text. Each has the steps that must follow it."""
    patterns: list[bytes] = []
    for step in steps:
        if step.lazy or not patterns:
            patterns.append(b"")
        patterns[-1] += (b"(.*?)" if step.before else b".*?") if step.lazy else b""
        patterns[-1] += re.escape(step.literal) + _PATTERNS[step.value]
    return patterns
