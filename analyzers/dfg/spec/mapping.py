"""Mapping of [DFG] from an event to the name of its activity, or to none.

Declared in one line, ``PART+PART+...``; docs/dfg.md lists the parts. Events without a name are dropped before edges are
counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from typing import Final, Protocol

from msgspec import Struct

from ....events import ConfigError, FileInfo, Kind, Layer
from . import paths
from .expression_errors import Piece, check_length, raise_declaration_error, split

MAX_RULES: Final = 1000
DROP: Final = "-"
_EXPECTED: Final = "ACTIVITY CALL PATH, such as: input:\\1  p?read.*  /data/(\\w+)/"
_REFERENCE: Final = re.compile(r"\\(\d+)|\{call\}")

Match = tuple[str, ...]
"""Match of a path pattern: the whole match, then its groups."""


class Rule(Struct, frozen=True):
    """One line of a rule file.

    Calls that fully match ``call`` on paths that contain a match of ``path`` are ``activity``.
    """

    activity: str
    call: re.Pattern[str]
    path: re.Pattern[str]

    def name(self, call: str, match: Match) -> str:
        """Return the activity's name; "" if the rule drops the event."""
        if self.activity == DROP:
            return ""

        def meant(reference: re.Match[str]) -> str:
            return match[int(reference[1])] if reference[1] else call

        return _REFERENCE.sub(meant, self.activity)


class Rules(Struct, frozen=True):
    """Rules of one file, in order."""

    rules: tuple[Rule, ...]

    def of_call(self, call: str) -> frozenset[int]:
        """Return the indices of the rules that match a call."""
        return frozenset(number for number, rule in enumerate(self.rules) if rule.call.fullmatch(call))

    def of_path(self, path: str) -> tuple[tuple[int, Match], ...]:
        """Return the indices of the rules that match a path, each with its match."""
        found = ((number, rule.path.search(path)) for number, rule in enumerate(self.rules))
        return tuple((number, _groups(match)) for number, match in found if match)

    def name(self, call: str, fits_call: frozenset[int], fits_path: Sequence[tuple[int, Match]]) -> str:
        """Return the name from the first matching rule. Returns "" if none matches or the rule drops the event."""
        for number, match in fits_path:
            if number in fits_call:
                return self.rules[number].name(call, match)
        return ""


def parse_rules(text: str, where: str) -> Rules:
    """Parse a file of rules: one rule per line in three columns. ``#`` begins a comment.

    Args:
        text: content of the file.
        where: file name, for messages.

    Raises:
        ConfigError: a line is invalid; the text names file, line and expected form.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        columns = bare.split(maxsplit=2)
        if len(columns) != 3:
            raise ConfigError(f"{where}:{number}: {len(columns)} of three columns; expected {_EXPECTED}")
        activity, call, path = columns
        rule = Rule(activity, _compiled(call, where, number), _compiled(path, where, number))
        for reference in _REFERENCE.finditer(activity):
            if reference[1] and int(reference[1]) > rule.path.groups:
                raise ConfigError(
                    f"{where}:{number}: {activity} refers to group {reference[1]} and the path's pattern has "
                    f"{rule.path.groups}; expected {_EXPECTED}"
                )
        rules.append(rule)
    if not 1 <= len(rules) <= MAX_RULES:
        raise ConfigError(f"{where}: {len(rules)} rules; expected 1 to {MAX_RULES}, each {_EXPECTED}")
    return Rules(tuple(rules))


def _groups(match: re.Match[str]) -> Match:
    return (match[0], *(group or "" for group in match.groups()))


def _compiled(pattern: str, where: str, line: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"{where}:{line}: {pattern!r} is no regular expression ({error}); expected {_EXPECTED}"
        ) from None


DEFAULT_MAPPING: Final = "call+dirs:2"
MAX_PARTS: Final = 8
DEEPEST: Final = 64  # maximum number of levels of a part

CALL_PARTS: Final = ("call", "kind", "layer")
PATH_PARTS: Final = ("dirs", "site", "path", "name", "ext", "pattern", "role")
_KNOWN: Final = "call, kind, layer, dirs:N, site, site:N, path, name, ext, pattern, role, or rules:FILE alone"


class Names(Protocol):
    """Names of the numbers in a batch; lists that only grow, such as ``pipeline.numbering.JobNames``."""

    calls: list[str]
    files: list[FileInfo]


class Part(Struct, frozen=True):
    """One part of a name.

    Attributes:
        kind: one of CALL_PARTS or PATH_PARTS.
        levels: number of levels of ``dirs`` and ``site``.
    """

    kind: str
    levels: int = 0


class Mapping(Struct, frozen=True):
    """A declared mapping.

    Attributes:
        text: declaration.
        parts: parts of the name, joined by ":"; empty with rules.
        sites: variables of the parts ``site``.
        rules: rules of ``rules:FILE``, otherwise None.
    """

    text: str
    parts: tuple[Part, ...]
    sites: paths.Sites
    rules: Rules | None = None

    @classmethod
    def parse(
        cls, text: str, *, sites: Table[str, str] | None = None, read: Callable[[str], str] | None = None
    ) -> Mapping:
        """Parse a declaration.

        Args:
            text: declaration such as ``call+dirs:2``, ``call+site:1``, ``layer+call+ext``, ``call+role``,
                ``rules:my.rules``.
            sites: folders by site variable, such as {"SCRATCH": "/p/scratch/ann"}.
            read: function that returns the text of a file of rules.

        Raises:
            ConfigError: the declaration, a site or a rule is invalid; the text shows where.
        """
        check_length("mapping", text)
        variables = paths.Sites(sites or {})
        pieces = list(split(text, "+"))
        if len(pieces) == 1 and pieces[0].startswith("rules:"):
            name = pieces[0].removeprefix("rules:").strip()
            if not name or read is None:
                problem = "there is no file" if not name else "rules are not read here"
                raise_declaration_error(
                    "mapping", text, pieces[0].at, problem, "rules:FILE" if not name else "parts of a name"
                )
            return cls(f"rules:{name}", (), variables, parse_rules(read(name), name))
        if len(pieces) > MAX_PARTS:
            raise_declaration_error("mapping", text, pieces[MAX_PARTS].at, "too many parts", f"at most {MAX_PARTS}")
        parts = tuple(_part(piece, text) for piece in pieces)
        for piece, part in zip(pieces, parts, strict=True):
            if parts.count(part) > 1:
                raise_declaration_error("mapping", text, piece.at, f"{piece!s} stands twice", "each part once")
        return cls("+".join(pieces), parts, variables)

    @property
    def depends_on_layer(self) -> bool:
        """Whether names depend on the layer, besides call and file."""
        return any(part.kind == "layer" for part in self.parts)

    @property
    def depends_on_kind(self) -> bool:
        """Whether names depend on the kind of the call."""
        return any(part.kind == "kind" for part in self.parts)

    @property
    def depends_on_role(self) -> bool:
        """Whether names depend on the number of cases that use a file."""
        return any(part.kind == "role" for part in self.parts)

    def of_call(self, call: str, layer: int, kind: int) -> tuple[str, ...]:
        """Return the texts for a call, one per part; "" for parts of paths."""
        values = {"call": call, "layer": _member_name(Layer, layer), "kind": _member_name(Kind, kind).lower()}
        return tuple(values.get(part.kind, "") for part in self.parts)

    def of_path(self, path: str, shared: bool) -> tuple[str, ...]:
        """Return the texts for a file, one per part. Returns "" for parts of calls and for unknown ones."""
        path = paths.normalise(path)
        return tuple(self._of_path(part, path, shared) if path else "" for part in self.parts)

    def _of_path(self, part: Part, path: str, shared: bool) -> str:
        if part.kind == "dirs":
            return paths.top_levels(path, part.levels)
        if part.kind == "site":
            return self.sites.name(path, part.levels)
        if part.kind == "role":
            return "shared" if shared else "own"
        if part.kind in _OF_PATH:
            return _OF_PATH[part.kind](path)
        return ""


_OF_PATH: Final[dict[str, Callable[[str], str]]] = {
    "path": lambda path: path,
    "name": lambda path: path.rstrip("/").rpartition("/")[2] or path,
    "ext": paths.extension,
    "pattern": paths.pattern,
}


def joined(of_call: tuple[str, ...], of_path: tuple[str, ...]) -> str:
    """Join the texts of call and file. Unknown parts are skipped, and "" means that there are none."""
    return ":".join(text for text in (a or b for a, b in zip(of_call, of_path, strict=True)) if text)


def _part(piece: Piece, text: str) -> Part:
    kind, colon, argument = piece.partition(":")
    if kind not in (*CALL_PARTS, *PATH_PARTS):
        problem = f"{kind!r} is no part of a name" if piece else "a part is missing"
        raise_declaration_error("mapping", text, piece.at, problem, _KNOWN)
    if not colon and kind != "dirs":
        return Part(kind)
    if kind not in ("dirs", "site"):
        raise_declaration_error("mapping", text, piece.at + len(kind), f"{kind} takes no number", _KNOWN)
    lowest = 1 if kind == "dirs" else 0
    if not (argument.isascii() and argument.isdigit() and len(argument) < 4 and lowest <= int(argument) <= DEEPEST):
        where = piece.at + len(kind) + len(colon)
        raise_declaration_error(
            "mapping", text, where, f"{argument!r} is no number of levels", f"{kind}:{lowest} to {kind}:{DEEPEST}"
        )
    return Part(kind, int(argument))


def _member_name(vocabulary: type[Layer] | type[Kind], value: int) -> str:
    try:
        return vocabulary(value).name
    except ValueError:
        return vocabulary(0).name
