"""Imports with minimal CPU time, for commands that wait for them."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

_WITHOUT: Final[Mapping[str, str]] = {
    # OpenBLAS would start a spinning thread per core; iotide multiplies no matrices.
    "OPENBLAS_NUM_THREADS": "1",
    # Pydantic would search all installed packages for plugins.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
_METADATA: Final = "importlib.metadata"


@contextlib.contextmanager
def lean_imports(pause: Callable[[], None] | None = None) -> Iterator[None]:
    """Skip unused parts of imports in the block; variables set by the user take precedence.

    The environment is restored afterwards, as started commands inherit it. Objects that exist at the end are excluded
    from garbage collection. Modules imported first in the block, such as asyncio, have no TLS.

    Args:
        pause: called before each module; it may block.
    """
    ours = {name: value for name, value in _WITHOUT.items() if name not in os.environ}
    collects = gc.isenabled()
    os.environ.update(ours)
    gc.disable()  # modules stay alive: nothing would be collected
    finder = None if pause is None else _PausingFinder(pause)
    if finder is not None:
        sys.meta_path.insert(0, finder)
    try:
        with _replace_module("ssl", None), _replace_module(_METADATA, _metadata(ours)):
            yield
            # pydantic searches for plugins when it builds its first model: do it here, not later
            if "pydantic.main" in sys.modules:
                sys.modules["pydantic.main"].create_model("First")
        gc.freeze()  # otherwise the exit of the program would traverse all of them
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
        if collects:
            gc.enable()
        for name in ours:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _replace_module(name: str, module: ModuleType | None) -> Iterator[None]:
    """Make imports in the block return ``module``, or fail for None. A module that is really loaded is not replaced."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module  # type: ignore[assignment]  # None in sys.modules means that the module does not exist
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]


def _metadata(ours: Mapping[str, str]) -> ModuleType:
    """Return a lazy stand-in for ``importlib.metadata``, which imports the email parser.

    Pydantic keeps ``entry_points`` and calls it when it first builds a model, which may be later.
    """
    stand_in = ModuleType(_METADATA)
    has_plugins = "PYDANTIC_DISABLE_PLUGINS" not in ours

    def true_one() -> ModuleType:
        if sys.modules.get(_METADATA) is stand_in:
            del sys.modules[_METADATA]
        return importlib.import_module(_METADATA)

    def entry_points(**wanted: Any) -> Any:
        return true_one().entry_points(**wanted) if has_plugins or wanted != {"group": "pydantic"} else ()

    def attribute(name: str) -> Any:
        if name.startswith("__"):  # Python checks whether this is a package
            raise AttributeError(name)
        return getattr(true_one(), name)

    vars(stand_in).update(entry_points=entry_points, __getattr__=attribute)
    return stand_in


class _PausingFinder:
    """An import finder that finds nothing and calls ``pause`` before the following finders."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._pause = pause

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Return None."""
        self._pause()
