"""Bounds of a message, enforced at both ends. Separate from the wire code because settings also use them."""

from __future__ import annotations

from typing import Final

MAX_BATCH_EVENTS: Final = 65_536
MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
MAX_STREAM_ID: Final = 200
