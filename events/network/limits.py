"""Bounds of a message, which both ends hold to; settings name them, too, and need nothing else of the wire."""

from __future__ import annotations

from typing import Final

MAX_BATCH_EVENTS: Final = 65_536
MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
MAX_STREAM_ID: Final = 200
