"""Documents that are nested too deeply for a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import msgpack

_DEPTH = 5000


def nested(fields: Mapping[str, Any]) -> bytes:
    """Return a MessagePack document with the fields, after one that no decoder needs and that is nested too deeply."""
    whole = msgpack.encode({"unused": None, **fields})
    return whole.replace(b"\xa6unused\xc0", b"\xa6unused" + b"\x91" * _DEPTH + b"\xc0", 1)
