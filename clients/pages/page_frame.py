"""Common head and navigation of the live pages."""

from __future__ import annotations

from html import escape
from typing import Final

from ..web import web_file

_FRAME: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="@BASE@">
<title>iotide: {title}</title>
<link rel="icon" href="data:,">
{includes}
</head>
<body>
<nav aria-label="Pages"><b>iotide</b> <a href="./">Jobs</a> <a href="filesystems">File systems</a>{links}</nav>
<main>
{content}
</main>
</body>
</html>
"""
_STATUS: Final = ' <span id="status" class="status" role="status"></span>'
_SHELLS: Final = {
    "fleet.html": ("Jobs", "fleet.js"),
    "filesystems.html": ("File systems", "filesystems.js"),
    "api.html": ("API", "api.js"),
}
"""Title and script of the pages whose script fetches the data."""


def framed_page(title: str, content: str, *, links: str = "", is_report: bool = False, script: str = "") -> str:
    """Render a page. ``@BASE@`` in its head is a placeholder for the relative path to the root.

    Args:
        title: title of the window.
        content: HTML of the page.
        links: HTML of further links of the navigation.
        is_report: whether the page has the style of a report.
        script: file of the page's script, with a place for its status; "" for none.
    """
    styles = (["report.css"] if is_report else []) + ["live.css"]
    scripts = ["common.js", script] if script else []
    includes = [f'<link rel="stylesheet" href="assets/{name}">' for name in styles]
    includes += [f'<script src="assets/{name}" defer></script>' for name in scripts]
    return _FRAME.format(
        title=escape(title),
        includes="\n".join(includes),
        links=links + (_STATUS if script else ""),
        content=content.strip(),
    )


def shell_page(name: str) -> str | None:
    """Return a page whose script fetches the data; None if there is none of this name."""
    if name not in _SHELLS or (content := web_file(name)) is None:
        return None
    title, script = _SHELLS[name]
    current = ' aria-current="page"' if name == "api.html" else ""
    links = f'\n<a href="runbooks">Runbooks</a> <a href="api/v1/docs"{current}>API</a>'
    return framed_page(title, content[0], links=links, script=script)
