"""HTML fragments of the report, without templates: importing jinja2 takes longer than short commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

Lines = Iterator[str]


def figure_text(what: str, value: str, note: str = "") -> str:
    """Return a figure with its name, and a note below."""
    soft = f' <span class="soft">{escape(note)}</span>' if note else ""
    return f'  <div class="fact">{escape(what)} <b>{escape(value)}</b>{soft}</div>'


def heading(text: str) -> str:
    """Return the heading of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, soft: bool = False) -> str:
    """Return a paragraph; the text is escaped."""
    return f'<p class="soft">{escape(text)}</p>' if soft else f"<p>{escape(text)}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], first: Callable[[str], str] = escape) -> Lines:
    """Yield a table; ``first`` escapes the cells of its first column."""
    named = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    yield '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    yield f"  <thead><tr>{named}</tr></thead><tbody>"
    empty = True
    for lead, *others in rows:
        empty = False
        yield f"  <tr><td>{first(lead)}</td>{''.join(f'<td>{escape(text)}</td>' for text in others)}</tr>"
    if empty:
        yield f'  <tr><td colspan="{len(heads)}" class="soft">none</td></tr>'
    yield "</tbody></table></div>"


def bullets(lines: Iterable[str]) -> Lines:
    """Yield a list of escaped lines."""
    yield "<ul>"
    for line in lines:
        yield f"  <li>{line}</li>"
    yield "</ul>"


def code(text: str) -> str:
    """Return a text in code style."""
    return f"<code>{escape(text)}</code>"


def picture(svg: str | None, nothing: str) -> str:
    """Return a chart, or the reason why there is none."""
    if svg is None:
        return f"<p>No picture: {escape(nothing)}.</p>"
    return f'<div class="picture" tabindex="0" role="group" aria-label="Chart">{svg}</div>'


def sentence(text: str) -> str:
    """Return a text with an initial capital letter."""
    return text[:1].upper() + text[1:]
