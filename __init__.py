"""iotide: the I/O periodicity of running HPC jobs, live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import connect as connect
    from .api import open as open  # noqa: A004
    from .api import show as show

__version__ = "0.5.0"

_API = ("connect", "open", "show")


def __getattr__(name: str) -> Any:
    """Import the Python interface when it is asked for: commands start without it."""
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_API])
