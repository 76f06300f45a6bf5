"""Imports that take as little of a processor as they can, for commands that wait for them."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Final

_WITHOUT: Final[Mapping[str, str]] = {
    # NumPy's library for matrices would start a thread for each core, which first spins; we multiply none.
    "OPENBLAS_NUM_THREADS": "1",
    # Pydantic would look through all that is installed for plugins.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}


@contextlib.contextmanager
def lean_imports(pause: Callable[[], None] | None = None) -> Iterator[None]:
    """Has what the block imports leave out what we do not use; what the user has set in the environment holds.

    The environment is afterwards as it was: commands that we start inherit it. What lives by then is never looked
    through for garbage again.

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
        yield
        gc.freeze()  # nor would it later, and the end of the program would look through all of them
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
        if collects:
            gc.enable()
        for name in ours:
            os.environ.pop(name, None)


class _Pausing:
    """A finder that finds nothing, and lets others have their turn before those after it look."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._pause = pause

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Returns None."""
        self._pause()
