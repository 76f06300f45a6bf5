"""Text after the name of a kernel event, by tracer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .....events.kernel import KernelEvent
from .rows import Step
from .template import Extents, Fields, Template

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Found:
    """Fields of the lines that ``rows`` selects."""

    fields: Fields
    rows: Rows


class Payload:
    """Text format of one event, in one or several variants.

    Args:
        code: code of the event.
        templates: variants (``template.py``), none if no field is needed. Fields are columns of ``Rows``, ``name``,
            ``path`` or ``state``.
        interrupt: kind of the interrupt.
    """

    def __init__(self, code: KernelEvent | Step, *templates: str, interrupt: int = 0) -> None:
        self.code = code
        self.interrupt = interrupt
        self._templates = [Template(text) for text in templates]

    @property
    def wants_fields(self) -> bool:
        """Whether the text after the name is parsed."""
        return bool(self._templates)

    def find(self, data: bytes, payloads: Extents) -> tuple[list[Found], Rows]:
        """Return the fields of matching lines, and the rows of malformed lines."""
        rows = np.arange(len(payloads))
        parts: list[Found] = []
        for template in self._templates:
            if not len(rows):
                break
            fields = template.read(data, payloads[rows])
            parts.append(Found(fields, rows))
            rows = rows[~fields.fits]
        return parts, rows
