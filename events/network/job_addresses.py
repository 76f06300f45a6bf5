"""Addresses of jobs: the name of a job as a part of a path."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

RESULTS: Final = frozenset(
    {
        "advice", "culprits", "dfg", "filesystems", "heatmap", "layers", "ledger", "limit", "prediction", "predictions",
        "rank", "signal",
    }
)  # fmt: skip
"""Last parts of paths below a job, in the API and of the pages."""
_DOTS: Final = (".", "..")


def job_path(job: str) -> str:
    """Return the name of a job as a part of a path, percent-encoded.

    Slashes of a plain name remain. Those of other names become ``%2F``: clients and proxies resolve ``..`` and join
    empty parts, and ``a/dfg`` would be the graph of ``a``.

    >>> job_path("project/run 7"), job_path("a/../b"), job_path("a/dfg"), job_path("?x=1")
    ('project/run%207', 'a%2F..%2Fb', 'a%2Fdfg', '%3Fx%3D1')
    """
    if job in _DOTS:
        return "%2E" * len(job)
    parts = job.split("/")
    is_plain = all(part and part not in _DOTS for part in parts) and parts[-1] not in RESULTS
    return quote(job, safe="/" if is_plain or len(parts) == 1 else "", errors="replace")
