"""Graphviz: calls of its program ``dot`` for SVG and PNG, and quoting of DOT text."""

from __future__ import annotations

import shutil
import subprocess
from typing import Final, Literal

from ...events.errors import UnavailableError

INSTALL_HINT: Final = (
    "pictures as SVG and PNG need Graphviz (apt install graphviz, dnf install graphviz); "
    "html, json, dot and graphml need nothing"
)
BACKSLASH: Final = "\N{SET MINUS}"
"""Replacement of a backslash that looks the same."""
_TIMEOUT_S: Final = 120.0
_DPI: Final = 110


def render_dot(dot: str, file_format: Literal["svg", "png"]) -> bytes:
    """Render DOT text with ``dot``.

    Raises:
        UnavailableError: Graphviz is missing, failed, or took longer than two minutes.
    """
    program = shutil.which("dot")
    if program is None:
        raise UnavailableError(INSTALL_HINT)
    options = [f"-T{file_format}", *([f"-Gdpi={_DPI}"] if file_format == "png" else [])]
    try:
        done = subprocess.run([program, *options], input=dot.encode(), capture_output=True, timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"dot did not draw the graph within {_TIMEOUT_S:.0f} s: show fewer edges") from error
    if done.returncode or not done.stdout:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise UnavailableError(f"dot could not draw the graph: {reason[-1] if reason else done.returncode}")
    return done.stdout


def quote(text: str) -> str:
    """Return a DOT string that displays a text unchanged.

    Graphviz replaces entities and, in some places twice, escapes such as a backslash before N. A backslash is therefore
    replaced by the set minus sign, which looks the same.

    >>> print(quote('a "b" &lt; ' + chr(92) + 'N'))
    "a \\"b\\" &amp;lt; ∖N"
    """
    text = text.replace("&", "&amp;").replace("\\", BACKSLASH).replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
