"""Rebuild the tracer's libraries if they do not match the sources beside them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from typing import Final

from ..wrappers.sources import ALL_LAYERS, CORE_NAME, PRELOAD, digest_of, library_of, problem_of

_INSTALL: Final = "install a C compiler, then iotide again"
_BUILD: Final = "build it with a C compiler: python -m iotide.collectors.wrappers"


def remedy() -> str:
    """Return how to repair a missing or stale library."""
    return _BUILD if digest_of(CORE_NAME) else _INSTALL


def rebuild_stale(names: Iterable[str], say: Callable[[str], None]) -> None:
    """Rebuilds libraries that do not match the sources beside them. Reports which, and why one cannot be built.

    Args:
        names: names of layers, "layers" for all, and "preload" for the core.
        say: function that shows a sentence to the user.
    """
    for name in names:
        if not (problem := problem_of(name)):
            continue
        library = library_of(name)
        if not digest_of(name):  # no sources are installed
            say(f"{library}: {problem}; {_INSTALL}" if name == CORE_NAME else f"{library}: {problem}")
            continue
        say(f"{library}: {problem}; rebuilding it takes up to a minute")
        if failure := _rebuilt(name):
            say(f"{library} cannot be built: {failure}")


def _rebuilt(name: str) -> str:
    """Return why it could not be built, or ""."""
    from ..wrappers.build import BuildError, rebuild
    from ..wrappers.model import SignatureError

    try:
        folder = os.open(PRELOAD, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.strerror or str(error)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # other processes may be building
        if problem_of(name):
            rebuild(name)
    except (BuildError, SignatureError, OSError) as error:
        return str(error)
    finally:
        os.close(folder)
    return ""


__all__ = ["ALL_LAYERS", "CORE_NAME", "library_of", "problem_of", "rebuild_stale", "remedy"]
