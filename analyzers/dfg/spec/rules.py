"""Rules from a file that name activities by regular expressions over call and path. The first match counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from ....events import ConfigError

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
