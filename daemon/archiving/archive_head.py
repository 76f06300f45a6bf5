"""The head of an archive file: its job and start."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from ...archive.blocks import read_blocks
from ...events import InputError
from ...events.network.malformed import MALFORMED

_HEAD_BYTES: Final = 32
"""Least size of a file with a head and a block, bytes."""


def is_beginning_of(path: Path, job: str, begun_s: float) -> bool:
    """Return whether a file is the archive of a job with that start, or too short to be readable."""
    try:
        return path.stat().st_size < _HEAD_BYTES or _read_head(path) in (None, (job, begun_s))
    except (OSError, InputError):
        return False


def _read_head(path: Path) -> tuple[object, object] | None:
    """Return job and start of an archive file; None if no block is readable.

    Raises:
        OSError, InputError: it cannot be read, or is not an archive of ours.
    """
    with path.open("rb") as file:
        first = next(read_blocks(file, path.name, []), None)
    if first is None:
        return None
    try:
        about = msgspec.msgpack.decode(first.payload, type=dict[str, Any])
    except MALFORMED:
        return None, None
    return about.get("job"), about.get("begun_s")
