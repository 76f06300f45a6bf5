"""Darshan's Python package, with its library for reading logs and sample logs.

No wheel has the library for Python 3.13.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

HAS_DARSHAN = sys.version_info < (3, 13)
needs_darshan = pytest.mark.skipif(not HAS_DARSHAN, reason="the darshan package has no library for Python 3.13")
darshan: Any = importlib.import_module("darshan") if HAS_DARSHAN else None
FOLDER = Path(darshan.__file__).parent if HAS_DARSHAN else Path("/nonexistent")
LOGS = FOLDER / "examples" / "example_logs"
