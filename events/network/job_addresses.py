"""Addresses of jobs: the name of a job as a part of a path."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

RESULTS: Final = frozenset(
    {
        "advice", "culprits", "dfg", "filesystems", "heatmap", "layers", "ledger", "limit", "prediction", "predictions",
        "rank", "signal",
    }
)  # fmt: skip
"""Last parts of paths below a job, in the API and of the pages."""
_DOTS: Final = (".", "..")
_ESCAPED: Final = "="
"""Begins a part of a path in which ``=`` stands for the percent sign, because some proxies decode ``%2F``."""
_DELIMITERS: Final = re.compile(r"[?#%\\]")
"""Characters that some proxies decode and do not encode again, or replace."""
_ENCODED: Final = re.compile(r"=([0-9A-F]{2})")


def job_path(job: str) -> str:
    """Return the name of a job as a part of a path that is the same behind a proxy that decodes it.

    Slashes of a plain name remain. Other names are one part, with ``=`` for the percent sign: clients and proxies
    resolve ``..`` and join empty parts, and ``a/dfg`` would be the graph of ``a``.

    >>> job_path("project/run 7"), job_path("a/../b"), job_path("a/dfg"), job_path("?x=1")
    ('project/run%207', '=a=2F..=2Fb', '=a=2Fdfg', '=%3Fx=3D1')
    """
    parts = job.split("/")
    is_plain = all(part and part not in _DOTS for part in parts) and not (len(parts) > 1 and parts[-1] in RESULTS)
    if is_plain and not job.startswith(_ESCAPED) and not _DELIMITERS.search(job):
        return quote(job, safe="/", errors="replace")
    return _ESCAPED + quote(job, safe="", errors="replace").replace("%", "=")


def name_in_path(part: str) -> str | None:
    """Return the name that ``job_path`` wrote as one decoded part; None for names that stand there as they are.

    >>> name_in_path("=a=2Fdfg"), name_in_path("a=2Fdfg")
    ('a/dfg', None)
    """
    if not part.startswith(_ESCAPED):
        return None
    return unquote(_ENCODED.sub(r"%\1", quote(part[1:], safe="=")))
