"""Report of ``iotide archive convert``."""

from __future__ import annotations

from ..base import MODELS_VERSION, Model
from .analysis import InputProblem, NotCarried


class ConversionReport(Model):
    """The output of ``iotide archive convert --json``."""

    version: int = MODELS_VERSION
    files: list[str]
    """The files that were read."""
    output: str
    format: str
    """``chrome``, ``parquet``, ``jsonl``, ``otf2`` or ``hdf5``."""
    calls: int
    bytes: int
    not_carried: list[NotCarried]
    """Contents of the files that are not in the output, most frequent first."""
    problems: list[InputProblem]
    """The first hundred damaged or malformed pieces, which were skipped."""
    problems_total: int
