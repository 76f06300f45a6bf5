"""Paths of libraries that LD_PRELOAD can contain, which separates paths at spaces and colons."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...events import UnavailableError

_PARTS: Final = re.compile(r"[\s:]")
_OUTSIDE_NAMES: Final = re.compile(r"[^A-Za-z0-9._+-]")
_DIGEST_CHARACTERS: Final = 16
_WRITABLE_BY_OTHERS: Final = 0o022


def preloadable_path(library: Path) -> str:
    """Return a path that LD_PRELOAD can contain. It is the library's own, or a link to it in a folder of the user.

    The link remains, because programs may start others long after the caller has ended.

    Raises:
        UnavailableError: LD_PRELOAD can contain neither the library's path nor any suitable folder.
    """
    path = library.absolute()
    if not _PARTS.search(str(path)):
        return str(path)
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:_DIGEST_CHARACTERS]
    for folder in _folders():
        with contextlib.suppress(OSError):
            link = folder / digest / _OUTSIDE_NAMES.sub("_", path.name)
            _link(link, path)
            return str(link)
    raise UnavailableError(
        f"LD_PRELOAD cannot name a path with a space or a colon, and no link to it can be made: {path}"
    )


def _folders() -> Iterator[Path]:
    """Yield persistent folders that only the user can change and that LD_PRELOAD can contain."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (no home is no error)
    temporary = f"iotide-libraries-{os.geteuid()}"
    for folder in (Path(cache, "iotide", "libraries"), Path(tempfile.gettempdir(), temporary), Path("/tmp", temporary)):  # noqa: S108  (owner and mode are looked at)
        if not folder.is_absolute() or _PARTS.search(str(folder)):
            continue
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            about = folder.lstat()
            if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & _WRITABLE_BY_OTHERS:
                yield folder


def _link(link: Path, path: Path) -> None:
    """Create a link, unless it exists; other processes may do so at the same time."""
    link.parent.mkdir(mode=0o755, exist_ok=True)
    with contextlib.suppress(OSError):
        if os.readlink(link) == str(path):  # noqa: PTH115  (the text, not what it leads to)
            return
    made = link.with_name(f".{link.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        made.unlink()
    made.symlink_to(path)
    made.replace(link)
