"""Exceptions of msgspec's decoders for malformed input."""

from __future__ import annotations

from typing import Final

import msgspec

MALFORMED: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The structure is wrong, text is not UTF-8, or values are nested too deeply, also in skipped fields."""
