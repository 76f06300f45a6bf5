"""Filters that select the events of a graph. All terms must hold; docs/dfg.md lists them."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....events import EventBatch, Flag, Kind, Layer, StreamInfo
from .expression_errors import check_length, raise_declaration_error
from .mapping import Names
from .paths import normalise

MAX_TERMS: Final = 32
_UNIX_FROM_S: Final = 1e8  # times from here on are Unix times, earlier ones are relative
_LATEST_S: Final = 2.0**33  # upper bound of times, s
_LARGEST: Final = 2**31 - 1  # upper bound of ranks and pids

NUMBERS: Final = ("rank", "pid")
TEXTS: Final = ("path", "call")
OF_STREAM: Final = ("host", "command", "job", "trace")
CODED: Final = {"layer": Layer, "kind": Kind}
_KEYS: Final = ("path", "call", "layer", "kind", "rank", "pid", "time", "failed", *OF_STREAM)
_EXPECTED: Final = (
    "terms such as path=/scratch/*, path~ckpt, call=read*,write*, layer=POSIX, rank=0-3, time=10..20, failed=no, "
    f"command!=ls; the keys are {', '.join(_KEYS)}"
)
_TERM: Final = re.compile(r"(?P<key>\w*)\s*(?P<operator>!=|!~|=|~)\s*")
_VALUE: Final = re.compile(r'"([^"]*)"|([^\s,"]+)')
_SPACE: Final = re.compile(r"\s*")

Mask = npt.NDArray[np.bool_]
Span = tuple[float, float]


class Term(Struct, frozen=True):
    """One condition: any of the values, or with ``negated`` none of them.

    Attributes:
        texts: patterns for ``path``, ``call`` and stream properties, as regular expressions over the whole text.
        spans: closed intervals of numbers; for ``time`` half-open, s.
    """

    key: str
    negated: bool
    texts: tuple[re.Pattern[str], ...] = ()
    spans: tuple[Span, ...] = ()

    def fits(self, text: str) -> bool:
        """Return whether a text matches one of the values."""
        return any(pattern.fullmatch(text) for pattern in self.texts)


class Filter(Struct, frozen=True):
    """A declared filter.

    Attributes:
        text: declaration; "" selects all events.
        terms: conditions that must all hold.
    """

    text: str = ""
    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str, sites: Mapping[str, str] | None = None) -> Filter:
        """Parse a declaration, with terms separated by white space.

        Args:
            text: declaration such as ``path=$SCRATCH/* call=read*,write* rank=0-3``.
            sites: folders by site variable, for paths that begin with one.

        Raises:
            ConfigError: the declaration is invalid; the text shows where.
        """
        check_length("filter", text)
        terms: list[Term] = []
        at = _skip(text, 0)
        while at < len(text):
            if len(terms) == MAX_TERMS:
                raise_declaration_error("filter", text, at, "too many terms", f"at most {MAX_TERMS}")
            term, at = _parse_term(text, at, sites or {})
            terms.append(term)
            if at < len(text) and not text[at].isspace():
                raise_declaration_error(
                    "filter", text, at, "a term does not end here", "white space between terms, a comma between values"
                )
            at = _skip(text, at)
        return cls(text.strip(), tuple(terms))


class Selector:
    """Applies a filter to one job's events. Patterns are evaluated once per distinct call and file.

    Args:
        declared: filter.
        start_ns: start of the trace, to which times below 10^8 s are relative. None if unknown (live); such times then
            select nothing.
    """

    def __init__(self, declared: Filter, start_ns: int | None = None) -> None:
        self.filter = declared
        self._start_ns = start_ns
        self._known: dict[int, Mask] = {}

    def of(self, batch: EventBatch, names: Names, info: StreamInfo) -> Mask | None:
        """Return which events are selected, bool[n]; None for all."""
        terms = self.filter.terms
        if not terms or not len(batch):
            return None
        if not all(_lets_stream(term, info) for term in terms if term.key in OF_STREAM):
            return np.zeros(len(batch), np.bool_)
        mask: Mask | None = None
        for place, term in enumerate(terms):
            if term.key not in OF_STREAM:
                fits = self._fits(place, term, batch, names, info) ^ term.negated
                mask = fits if mask is None else mask & fits
        return mask

    def _fits(self, place: int, term: Term, batch: EventBatch, names: Names, info: StreamInfo) -> Mask:
        if term.key == "path":
            return self._look_up(place, batch.file, len(names.files), lambda n: _path_fits(term, names.files[n].path))
        if term.key == "call":
            return self._look_up(place, batch.call, len(names.calls), lambda n: term.fits(names.calls[n]))
        if term.key == "failed":
            column: npt.NDArray[Any] = (batch.flags & int(Flag.FAILED)) != 0
        elif term.key == "time":
            return self._within_times(term, batch)
        else:
            column = getattr(batch, term.key)
        if term.key == "rank":
            column = np.where(column < 0, info.rank, column)
        elif term.key == "pid":
            column = np.where(column == 0, info.pid, column)
        return _any((column >= low) & (column <= high) for low, high in term.spans)

    def _look_up(self, place: int, numbers: npt.NDArray[Any], defined: int, fits: Callable[[int], bool]) -> Mask:
        table = self._known.get(place)
        known = 0 if table is None else len(table)
        if table is None or known < defined:
            new = np.fromiter((fits(number) for number in range(known, defined)), np.bool_, defined - known)
            self._known[place] = table = new if table is None else np.concatenate([table, new])
        result: Mask = table[np.where(numbers < len(table), numbers, 0)]
        return result

    def _within_times(self, term: Term, batch: EventBatch) -> Mask:
        spans = []
        for low, high in term.spans:
            edges = [self._on_clock(edge) for edge in (low, high)]
            if edges[0] is not None and edges[1] is not None:
                spans.append((edges[0], edges[1]))
        if not spans:
            return np.zeros(len(batch), np.bool_)
        return _any((batch.start >= low) & (batch.start < high) for low, high in spans)

    def _on_clock(self, seconds: float) -> int | None:
        if math.isinf(seconds):
            return np.iinfo(np.int64).max if seconds > 0 else np.iinfo(np.int64).min
        if seconds >= _UNIX_FROM_S:
            return round(seconds * 1e9)
        return None if self._start_ns is None else self._start_ns + round(seconds * 1e9)


def _any(masks: Any) -> Mask:
    result: Mask = np.logical_or.reduce(list(masks))
    return result


def _path_fits(term: Term, path: str) -> bool:
    return term.fits(path) or term.fits(normalise(path))


def _lets_stream(term: Term, info: StreamInfo) -> bool:
    text = info.origin if term.key == "trace" else getattr(info, term.key)
    candidates = [text, text.rpartition("/")[2]] if term.key == "trace" else [text]
    return any(term.fits(candidate) for candidate in candidates) ^ term.negated


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _parse_term(text: str, at: int, sites: Mapping[str, str]) -> tuple[Term, int]:
    found = _TERM.match(text, at)
    if found is None:
        raise_declaration_error("filter", text, at, "this is no term", _EXPECTED)
    key, operator = found["key"], found["operator"]
    if key not in _KEYS:
        raise_declaration_error("filter", text, at, f"{key!r} is no key" if key else "a key is missing", _EXPECTED)
    by_text = key in TEXTS or key in OF_STREAM
    if operator.endswith("~") and not by_text:
        raise_declaration_error(
            "filter", text, found.start("operator"), f"~ looks for text, and {key} has none", f"{key}= or {key}!="
        )
    values, end = _parse_values(text, found.end(), key)
    negated = operator.startswith("!")
    if by_text:
        contains = operator.endswith("~")
        if key == "path":
            values = [(_without_variable(text, value, where, sites), where) for value, where in values]
        patterns = tuple(re.compile(_regex_of(value, contains), re.DOTALL) for value, _ in values)
        return Term(key, negated, texts=patterns), end
    return Term(key, negated, spans=tuple(_parse_span(text, key, value, where) for value, where in values)), end


def _regex_of(value: str, contains: bool) -> str:
    return f".*{re.escape(value)}.*" if contains else fnmatch.translate(value)


def _without_variable(text: str, value: str, at: int, sites: Mapping[str, str]) -> str:
    if not value.startswith("$"):
        return value
    name, slash, rest = value[1:].partition("/")
    if name not in sites:
        known = ", ".join(f"${known}" for known in sites) or "a path, for no site variable is known"
        raise_declaration_error("filter", text, at, f"${name} is no site variable", known)
    return sites[name].rstrip("/") + slash + rest


def _parse_values(text: str, at: int, key: str) -> tuple[Sequence[tuple[str, int]], int]:
    values: list[tuple[str, int]] = []
    while True:
        found = _VALUE.match(text, at)
        if found is None:
            raise_declaration_error(
                "filter", text, at, f"a value of {key} is missing", f'{key}=VALUE, or {key}="a value with spaces"'
            )
        values.append((found[1] if found[1] is not None else found[2], found.start()))
        at = found.end()
        if not text.startswith(",", at):
            return values, at
        at += 1


def _parse_span(text: str, key: str, value: str, at: int) -> Span:
    if key in CODED:
        for member in CODED[key]:
            if member.name == value.upper().replace("-", ""):
                return float(member), float(member)
        raise_declaration_error(
            "filter", text, at, f"{value!r} is no {key}", ", ".join(member.name for member in CODED[key])
        )
    if key == "failed":
        if value not in ("yes", "no"):
            raise_declaration_error("filter", text, at, f"failed={value}", "yes or no")
        return (1.0, 1.0) if value == "yes" else (0.0, 0.0)
    if key == "time":
        low, dots, high = value.partition("..")
        edges = _seconds(low, -math.inf), _seconds(high, math.inf)
        if not dots or not edges[0] < edges[1]:  # false for NaN
            raise_declaration_error(
                "filter", text, at, f"{value!r} is no stretch of time", "seconds such as 10..20, 10.. or ..20"
            )
        return edges
    low, dash, high = value.partition("-")
    bounds = _whole(low), _whole(high) if dash and high else (_LARGEST if dash else _whole(low))
    if bounds[0] is None or bounds[1] is None or bounds[0] > bounds[1]:
        raise_declaration_error(
            "filter", text, at, f"{value!r} is no {key}", f"{key}=3, {key}=0-3, {key}=8- or {key}=0,2,4"
        )
    return float(bounds[0]), float(bounds[1])


def _seconds(text: str, otherwise: float) -> float:
    if not text:
        return otherwise
    try:
        seconds = float(text)
    except ValueError:
        return math.nan
    return seconds if 0 <= seconds < _LATEST_S else math.nan


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text[:12]) <= _LARGEST and len(text) < 12 else None
