"""Kinds of vertices and edges of interaction graphs. Separate from the results, whose import is slow."""

from __future__ import annotations

from typing import Literal

Grouping = Literal["thread", "process", "rank", "host", "job"]
"""Kind of vertex."""
Start = Literal["equal", "cpu", "io"]
"""Initial weight of vertices."""
EdgeKind = Literal["wakeup", "lock", "guest", "fork", "file", "pipe", "socket", "collective"]
