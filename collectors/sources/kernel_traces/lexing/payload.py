"""What stands behind the name of a kernel event, by tracer."""

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
    """Fields of those of the lines that ``rows`` names."""

    fields: Fields
    rows: Rows


class Payload:
    """How one event is written, in one or several ways.

    Args:
        code: what the event is.
        templates: how (``template.py``), none where no field is wanted. Fields are columns of ``Rows``, ``name``,
            ``path`` or ``state``.
        interrupt: the kind of an interrupt.
    """

    def __init__(self, code: KernelEvent | Step, *templates: str, interrupt: int = 0) -> None:
        self.code = code
        self.interrupt = interrupt
        self._templates = [Template(text) for text in templates]

    @property
    def wants_fields(self) -> bool:
        """Whether the text behind the name is looked at."""
        return bool(self._templates)

    def find(self, data: bytes, payloads: Extents) -> tuple[list[Found], Rows]:
        """Returns the fields of those lines that have them, and the rows of those that are malformed."""
        rows = np.arange(len(payloads))
        parts: list[Found] = []
        for template in self._templates:
            if not len(rows):
                break
            fields = template.read(data, payloads[rows])
            parts.append(Found(fields, rows))
            rows = rows[~fields.fits]
        return parts, rows
