"""Imports that take as little of a processor as they can, for commands that wait for them."""

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
    # NumPy's library for matrices would start a thread for each core, which first spins; we multiply none.
    "OPENBLAS_NUM_THREADS": "1",
    # Pydantic would look through all that is installed for plugins.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
_METADATA: Final = "importlib.metadata"


@contextlib.contextmanager
def lean_imports(pause: Callable[[], None] | None = None) -> Iterator[None]:
    """Has what the block imports leave out what we do not use; what the user has set in the environment holds.

    The environment is afterwards as it was: commands that we start inherit it. What lives by then is never looked
    through for garbage again. What is imported first in the block has no TLS, asyncio above all.

    Args:
        pause: is called before each module, and may take its time.
    """
    ours = {name: value for name, value in _WITHOUT.items() if name not in os.environ}
    collects = gc.isenabled()
    os.environ.update(ours)
    gc.disable()  # modules live on: nothing would be found
    finder = None if pause is None else _Pausing(pause)
    if finder is not None:
        sys.meta_path.insert(0, finder)
    try:
        with _standing_in("ssl", None), _standing_in(_METADATA, _metadata(ours)):
            yield
            if "pydantic.main" in sys.modules:  # it looks for plugins when it first builds a model: here, and not later
                sys.modules["pydantic.main"].create_model("First")
        gc.freeze()  # nor would it later, and the end of the program would look through all of them
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
        if collects:
            gc.enable()
        for name in ours:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _standing_in(name: str, module: ModuleType | None) -> Iterator[None]:
    """Has imports in the block get ``module``, or none at all, unless the true one is there already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module  # type: ignore[assignment]  # None is how Python writes that there is none
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]


def _metadata(ours: Mapping[str, str]) -> ModuleType:
    """Returns what stands in for ``importlib.metadata``, which brings the parser of mails, and gets it where asked.

    Pydantic keeps ``entry_points`` and asks it for plugins when it first builds a model, which may be later.
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
        if name.startswith("__"):  # Python asks whether this is a package
            raise AttributeError(name)
        return getattr(true_one(), name)

    vars(stand_in).update(entry_points=entry_points, __getattr__=attribute)
    return stand_in


class _Pausing:
    """A finder that finds nothing, and lets others have their turn before those after it look."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._pause = pause

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Returns None."""
        self._pause()
