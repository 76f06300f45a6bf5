"""Paths of requests that a member forwards to partitions."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from starlette.requests import Request

from ..jobs.job_ids import clean_job
from ..publish.http.job_paths import without_marks
from .partitions import partitions_with

_PARTITION: Final = re.compile(r"/partitions/[0-9]+(?=/)")
_DOTS: Final = re.compile(r"(?<=/)\.{1,2}(?=/|$)")


def partitions_of_path(path: str, count: int) -> list[int]:
    """Return the partitions of all jobs that a path may begin with. Ids may contain slashes, and more may follow."""
    parts = path.split("/")
    jobs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return list(dict.fromkeys(number for job in jobs if job for number in partitions_with(clean_job(job), count)))


def path_of(request: Request) -> str:
    """Return the decoded path that ``RequestBounds`` has checked; ``request.url.path`` lacks its tabs and line ends."""
    return without_marks(str(request.scope["path"]))


def original_path(request: Request, path: str) -> str:
    """Return the original path, as slashes of an id may be percent-encoded."""
    raw: bytes = request.scope.get("raw_path") or b""
    text = raw.partition(b"?")[0].decode("latin-1")
    if path != path_of(request):  # without the partition
        text = _PARTITION.sub("", text, count=1) if _PARTITION.match(text) else ""
    text = text if text.startswith("/") else quote(path)  # otherwise it would extend the host's name
    return _DOTS.sub(lambda found: "%2E" * len(found[0]), text)  # HTTPX would resolve them
