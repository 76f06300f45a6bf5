"""Texts on the nodes and edges of directly-follows graphs."""

from __future__ import annotations

import hashlib
from typing import Final

from ...results.dfg import ActivityStats
from ..text.units import byte_text, duration_text, rate_text

_MAX_LINE: Final = 34


def activity_label(stats: ActivityStats) -> tuple[str, ...]:
    """Return load and rate as in [DFG]. The second line only for events with a size.

    A plus sign marks a maximum of concurrency that may be too low.
    """
    load = f"Load: {stats.load:.2f}"
    if stats.rate is None:
        return (load,)
    more = "" if stats.exact else "+"
    return f"{load} ({byte_text(stats.bytes)})", f"DR: {stats.max_concurrency}{more} x {rate_text(stats.rate)}"


def activity_facts(stats: ActivityStats) -> tuple[tuple[str, str], ...]:
    """Return all statistics of an activity as pairs of name and value."""
    rate = () if stats.rate is None else (("data rate of a call", rate_text(stats.rate)),)
    at_once = f"{stats.max_concurrency:,}" if stats.exact else f"{stats.max_concurrency:,} or more"
    moved = () if stats.rate is None and not stats.bytes else (("bytes", f"{byte_text(stats.bytes)}"),)
    return (
        ("events", f"{stats.events:,}"),
        ("load", f"{stats.load:.2%}"),
        ("time", duration_text(stats.seconds)),
        *moved,
        *rate,
        ("at once, at most", at_once),
        *(("duration, median", duration_text(value)) for value in (stats.duration_p50_s,) if value is not None),
        *(("duration, 95 %", duration_text(value)) for value in (stats.duration_p95_s,) if value is not None),
        ("duration, longest", duration_text(stats.duration_max_s)),
        ("cases", f"{stats.cases:,}"),
        ("cases that start here", f"{stats.starts:,}"),
        ("cases that end here", f"{stats.ends:,}"),
    )


def shorten(text: str, longest: int = _MAX_LINE) -> str:
    """Shorten a long line in the middle, as both ends of a path are informative.

    >>> shorten("/a/very/long/path/to/a/file.h5", 16)
    '/a/ver…a/file.h5'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 5
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def make_printable(text: str) -> str:
    """Make file names and similar text printable: no control characters, only valid UTF-8.

    >>> make_printable("a\\x00b\\nc"), make_printable("\\udcff")
    ('a\\\\x00b\\\\nc', '\\\\udcff')
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def short_count(count: int) -> str:
    """Format a count for an edge label.

    >>> short_count(9999), short_count(12_345), short_count(3_000_000)
    ('9999', '12.3k', '3M')
    """
    for limit, unit in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if count >= limit:
            return f"{count / (limit if unit != 'k' else 1000):.3g}{unit}"
    return str(count)


def stable_id(name: str) -> str:
    """Return an identifier that depends only on the name.

    >>> stable_id("read:/usr")
    'n1a0ed7dbd7a5'
    """
    return "n" + hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=6).hexdigest()
