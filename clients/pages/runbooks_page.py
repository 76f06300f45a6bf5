"""The runbooks of alerts as a page of the aggregator. Their source is the Markdown of the documentation."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .page_frame import framed_page

if TYPE_CHECKING:
    from markdown_it.token import Token

SOURCE: Final = Path(__file__).parents[2] / "docs" / "runbooks.md"


@cache
def runbooks_page() -> str | None:
    """Render the page; ``@BASE@`` is a placeholder for the relative path to the root.

    Sections have the anchors of ``runbook_url``: the alert's name in lower case. Links to other pages of the
    documentation become text, as the aggregator does not serve these pages.

    Returns:
        The page, or None if the installation has no documentation.
    """
    from markdown_it import MarkdownIt

    try:
        text = SOURCE.read_text()
    except OSError:
        return None
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", tokens[at + 1].content.lower().replace(" ", "-"))
        elif token.children:
            token.children = _unlink_other_pages(token.children)
    shown: str = parser.renderer.render(tokens, parser.options, {})
    return framed_page("Runbooks", shown, is_report=True)


def _unlink_other_pages(tokens: list[Token]) -> list[Token]:
    """Replace links to other pages by their text and the path in the documentation."""
    from markdown_it.token import Token

    kept: list[Token] = []
    path = ""
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            path = "" if target.startswith(("#", "https://")) else target
            if not path:
                kept.append(token)
        elif token.type == "link_close" and path:
            kept.append(Token("text", "", 0, content=f" (docs/{path})"))
            path = ""
        else:
            kept.append(token)
    return kept
