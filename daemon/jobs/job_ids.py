"""Job ids."""

from __future__ import annotations

from typing import Final

LONGEST_JOB: Final = 256
"""Letters of a job id."""


def clean_job(job: str) -> str:
    """Return a job id for paths, labels and terminals: printable, not empty, of bounded length."""
    return "".join(letter if letter.isprintable() else "?" for letter in job[:LONGEST_JOB]) or "unknown"
