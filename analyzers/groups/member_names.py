"""Names of groups of members, in the terms of the job."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from ...results.prediction import Who, WhoKind
from .members import Member

_MAX_NAMES: Final = 16  # maximum number of listed names
_NUMBER: Final = re.compile(r"(\d+)")


def name_groups(groups: Sequence[Sequence[Member]], shares: Sequence[float]) -> list[Who]:
    """Name groups by what distinguishes them: commands, ranks, hosts, files, or processes.

    Args:
        groups: members of each group.
        shares: share of the job's bytes of each group.
    """
    names_by_kind = [_names_of(group) for group in groups]
    kind: WhoKind = next((each for each in _KINDS if _distinguishing_names(each, names_by_kind)), "processes")
    return [
        Who(
            kind=kind, members=_shown(about[kind]), share=min(max(share, 0.0), 1.0), ranks=about["ranks"][:_MAX_NAMES],
            hosts=_shown(about["hosts"]), commands=_shown(about["commands"]), files=_shown(about["files"]),
        )
        for about, share in zip(_without_numbers(names_by_kind), shares, strict=True)
    ]  # fmt: skip


def _without_numbers(names_by_kind: Sequence[dict[WhoKind, list[str]]]) -> list[dict[WhoKind, list[str]]]:
    """Merge commands that differ only in numbers, if this distinguishes the groups equally well."""
    short: list[dict[WhoKind, list[str]]] = [
        {**about, "commands": merge_numbered_names(about["commands"])} for about in names_by_kind
    ]
    return (
        short
        if _distinguishing_names("commands", short) or not _distinguishing_names("commands", names_by_kind)
        else list(names_by_kind)
    )


def merge_numbered_names(names: Sequence[str]) -> list[str]:
    """Merge names that differ only in numbers; differing numbers become ``*``.

    >>> merge_numbered_names(["dd of=ck.1 bs=64k", "dd of=ck.2 bs=64k", "cp 1"])
    ['dd of=ck.* bs=64k', 'cp 1']
    """
    kin: dict[str, list[list[str]]] = {}
    for name in names:
        kin.setdefault(_NUMBER.sub("*", name), []).append(_NUMBER.split(name))
    made = []
    for pieces in kin.values():
        columns = [set(column) for column in zip(*pieces, strict=True)]
        made.append("".join(column.pop() if len(column) == 1 else "*" for column in columns))
    return made


_KINDS: Final[tuple[WhoKind, ...]] = ("commands", "ranks", "hosts", "files")


def _distinguishing_names(kind: WhoKind, names_by_kind: Sequence[dict[WhoKind, list[str]]]) -> bool:
    """Return whether each group has names of a kind. No name may be shared with another group."""
    names = [about[kind] for about in names_by_kind]
    if not all(names):
        return False
    if kind == "ranks":
        bounds = sorted(tuple(map(int, each.split("-"))) for group in names for each in group)
        return all(before[-1] < after[0] for before, after in itertools.pairwise(bounds))
    return len(set().union(*names)) == sum(map(len, names))


def _names_of(group: Sequence[Member]) -> dict[WhoKind, list[str]]:
    return {
        "commands": sorted({member.key.command for member in group} - {""}),
        "ranks": _ranges(group),
        "hosts": sorted({host for member in group for host in member.hosts}),
        "files": sorted({member.key.files for member in group} - {""}),
        "processes": list(map(str, sorted({pid for member in group for pid in member.pids}))),
    }


def _ranges(group: Sequence[Member]) -> list[str]:
    """Return the ranks as ranges: 0-3, 8."""
    made: list[tuple[int, int]] = []
    for low, high in sorted(member.ranks for member in group if member.ranks[0] >= 0):
        if made and low <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(high, made[-1][1])
        else:
            made.append((low, high))
    return [str(low) if low == high else f"{low}-{high}" for low, high in made]


def _shown(names: list[str]) -> list[str]:
    return names[:_MAX_NAMES]
