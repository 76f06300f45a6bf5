"""The answer to a refused request, the same on all routes."""

from __future__ import annotations

from ..base import Model


class RequestError(Model):
    """What was wrong, and what is expected instead."""

    error: str
    expected: str
