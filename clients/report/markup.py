"""Pieces of HTML that the report is made of. Made without a template: its library takes longer than short commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

Lines = Iterator[str]


def fact(what: str, value: str, note: str = "") -> str:
    """Returns a figure with its name, and a note below."""
    soft = f' <span class="soft">{escape(note)}</span>' if note else ""
    return f'  <div class="fact">{escape(what)} <b>{escape(value)}</b>{soft}</div>'


def heading(text: str) -> str:
    """Returns the heading of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, soft: bool = False) -> str:
    """Returns a paragraph; the text is escaped."""
    return f'<p class="soft">{escape(text)}</p>' if soft else f"<p>{escape(text)}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], first: Callable[[str], str] = escape) -> Lines:
    """Yields a table; ``first`` escapes what stands in its first column."""
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
    """Yields a list of lines that are escaped already."""
    yield "<ul>"
    for line in lines:
        yield f"  <li>{line}</li>"
    yield "</ul>"


def code(text: str) -> str:
    """Returns a text as it is typed."""
    return f"<code>{escape(text)}</code>"


def picture(svg: str | None, nothing: str) -> str:
    """Returns a picture that we drew, or says why there is none."""
    if svg is None:
        return f"<p>No picture: {escape(nothing)}.</p>"
    return f'<div class="picture">{svg}</div>'


def sentence(text: str) -> str:
    """Returns a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
