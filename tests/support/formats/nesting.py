"""Documents that are nested too deeply for a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import msgpack

DEPTH = 200_000
"""Beyond the limits of all versions of Python: 1,000 up to 3.11, and 10,000 for compiled code of 3.13."""


def nested(fields: Mapping[str, Any]) -> bytes:
    """Return a MessagePack document with the fields, after one that no decoder needs and that is nested too deeply."""
    whole = msgpack.encode({"unused": None, **fields})
    return whole.replace(b"\xa6unused\xc0", b"\xa6unused" + b"\x91" * DEPTH + b"\xc0", 1)
