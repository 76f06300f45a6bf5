"""Job ids."""

from __future__ import annotations

from typing import Final

LONGEST_JOB: Final = 256
"""Letters of a job id."""


def clean_job(job: str) -> str:
    """Return a job id for paths, labels and terminals: printable, not empty, of bounded length.

    ``.`` and ``..`` are replaced, as no address can contain them: browsers resolve them even if they are encoded.

    >>> clean_job("a/../b"), clean_job(".."), clean_job("a" + chr(7)), clean_job("")
    ('a/../b', '??', 'a?', 'unknown')
    """
    if job.isprintable() and 2 < len(job) <= LONGEST_JOB:  # usually; each stream of a job asks several times
        return job
    if job in (".", ".."):
        return "?" * len(job)
    return "".join(letter if letter.isprintable() else "?" for letter in job[:LONGEST_JOB]) or "unknown"
