"""Files of the live pages: scripts, style sheets, and the content of pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_FOLDERS: Final = (Path(__file__).parent, Path(__file__).parent.parent / "report")


def web_file(name: str) -> tuple[str, str] | None:
    """Return text and media type of a file. Return None if there is no file of this name."""
    return _files().get(name)


@cache
def _files() -> dict[str, tuple[str, str]]:
    """Read all files once, so that requests for other names need no memory and no file system."""
    paths = [path for folder in reversed(_FOLDERS) for path in folder.iterdir() if not path.name.startswith(".")]
    return {
        path.name: (path.read_text(encoding="utf-8"), _TYPES[path.suffix]) for path in paths if path.suffix in _TYPES
    }
