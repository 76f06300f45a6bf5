"""What ``iotide archive convert`` says when it is done."""

from __future__ import annotations

from ..base import MODELS_VERSION, Model
from .analysis import InputProblem, NotCarried


class ConversionReport(Model):
    """The answer of ``iotide archive convert --json``."""

    version: int = MODELS_VERSION
    files: list[str]
    """What was read."""
    output: str
    format: str
    """``chrome``, ``parquet``, ``jsonl``, ``otf2`` or ``hdf5``."""
    calls: int
    bytes: int
    not_carried: list[NotCarried]
    """What of the files is not in the output, most frequent first."""
    problems: list[InputProblem]
    """Of the first hundred damaged or malformed pieces, which were skipped."""
    problems_total: int
