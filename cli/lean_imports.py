"""Imports that take as little of a processor as they can, for commands that wait for them."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator, Mapping
from typing import Final

_WITHOUT: Final[Mapping[str, str]] = {
    # NumPy's library for matrices would start a thread for each core, which first spins; we multiply none.
    "OPENBLAS_NUM_THREADS": "1",
    # Pydantic would look through all that is installed for plugins.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}


@contextlib.contextmanager
def lean_imports() -> Iterator[None]:
    """Has what the block imports leave out what we do not use; what the user has set in the environment holds.

    The environment is afterwards as it was: commands that we start inherit it.
    """
    ours = {name: value for name, value in _WITHOUT.items() if name not in os.environ}
    collects = gc.isenabled()
    os.environ.update(ours)
    gc.disable()  # modules live on: nothing would be found
    try:
        yield
    finally:
        if collects:
            gc.enable()
        for name in ours:
            os.environ.pop(name, None)
