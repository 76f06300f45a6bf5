"""Paths of the repository, its tests, their data and their programs."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
PROGRAMS = TESTS / "programs"
