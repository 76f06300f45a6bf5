"""Load compiled helpers by ctypes. Check that one was built from the sources beside it."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

SYMBOL: Final = "iotide_sources"
"""Symbol that a helper exports: the digest of the sources from which it was built, as text."""
REBUILD: Final = "install a C compiler, then iotide again: `pip install .`, in a clone `pip install --editable .`"

HELPERS: Final = {
    "grouping": "analyzers/common/native/libiotide_grouping.so",
    "archive": "archive/native/libiotide_archive.so",
    "records": "collectors/sources/preload/records/native/libiotide_records.so",
    "strace": "collectors/sources/strace/native/libiotide_strace.so",
    "kernel traces": "collectors/sources/kernel_traces/lexing/native/libiotide_traces.so",
}
"""Path of each helper in the package."""

_INCLUDED: Final = re.compile(rb'^#include "([^"\n]+)"', re.MULTILINE)
_log = logging.getLogger(__name__)


def path_of(name: str) -> Path:
    """Return the path of one of ``HELPERS``, built or not."""
    return Path(__file__).parents[1] / HELPERS[name]


def load(
    path: str, functions: Mapping[str, tuple[Any, list[Any]]], loader: type[ctypes.CDLL] = ctypes.CDLL
) -> ctypes.CDLL | None:
    """Load a helper and declares its functions, each by its result and its arguments.

    Args:
        path: path of the library.
        functions: result and arguments of each function.
        loader: ``ctypes.PyDLL`` for short functions, which should not release the interpreter lock: another thread may
            then take it for several milliseconds.

    Returns:
        None if it was not built; or if it cannot be read or was built from other sources, which is logged. Python code
        then replaces it, slower.
    """
    if not _exists(path):
        return None
    if problem := problem_of(path):
        remedy = "raise the limit" if problem == _no_descriptor() else REBUILD
        _log.warning("%s: %s; Python does its work, many times slower. To fix it, %s", path, problem, remedy)
        return None
    library = loader(path)
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def problem_of(path: str) -> str:
    """Return why a helper cannot be used, or ""."""
    if not _exists(path):
        return "it was not built"
    try:
        built = ctypes.c_char_p.in_dll(ctypes.CDLL(path), SYMBOL).value or b""
        # If only built files are installed, helper and package were installed together.
        expected = digest_of(Path(path).parent)
    except (OSError, ValueError) as error:
        if os.strerror(errno.EMFILE) in str(error):  # ctypes passes on the linker's text alone
            return _no_descriptor()
        return f"it cannot be loaded, or is an old one: {error}"
    return "it was built from other sources" if expected and built.decode(errors="replace") != expected else ""


def _no_descriptor() -> str:
    from .network.descriptors import limit_problem

    return limit_problem()


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except PermissionError:  # a folder of another user: loading reports it
        return True


def digest_of(folder: Path) -> str:
    """Return a digest of the C sources in a folder and of their includes. Returns "" if there are none."""
    waiting = sorted(folder.glob("*.c"))
    seen: set[Path] = set()
    digest = hashlib.sha256()
    while waiting:
        path = waiting.pop(0).resolve()
        if path not in seen:
            seen.add(path)
            content = path.read_bytes()
            digest.update(b"%d %s %s" % (len(content), path.name.encode(), content))
            waiting += [path.parent / name.decode() for name in _INCLUDED.findall(content)]
    return digest.hexdigest()[:32] if seen else ""
