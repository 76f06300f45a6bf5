"""Bounds of analyses that have one job in memory. The job is a finished trace, or the command of ``iotide run``.

An aggregator has lower ones, because it has many jobs.
"""

from __future__ import annotations

from typing import Final

MAX_CALLS: Final = 65_536
"""Maximum number of distinct functions."""
MAX_FILES: Final = 1_000_000
"""Maximum number of distinct files."""
MAX_FILE_ROWS: Final = 2**22
"""Maximum number of distinct pairs of a file and a path of layers to it."""
MAX_ADVICE_ROWS: Final = 2**20
"""Maximum number of the advice's sums by thread, file and kind of call."""
