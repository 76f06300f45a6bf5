"""Files of the live pages: scripts, style sheets, and the content of pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_FOLDERS: Final = (Path(__file__).parent, Path(__file__).parent.parent / "report")


@cache
def web_file(name: str) -> tuple[str, str] | None:
    """Return text and media type of a file. Return None if there is no file of this name."""
    kind = _TYPES.get(Path(name).suffix)
    if kind is None or "/" in name or name.startswith("."):
        return None
    for folder in _FOLDERS:
        if (path := folder / name).is_file():
            return path.read_text(), kind
    return None
