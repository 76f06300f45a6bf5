"""What rules of advice say: of each call's time, which cause it has and what of it can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import Layer
from ....results.advice import AdviceFinding, Cause
from ...common.state import Ints
from ..picture import Calls, Floats, Picture

_EXAMPLES: Final = 3


class Group(NamedTuple):
    """Rows that one finding is about."""

    picture: Picture
    calls: Calls
    rows: Ints
    calls_made: int
    """Of all threads."""
    size: int
    files: int
    where: str
    """The path of the one file, or what several have in common."""


class Words(NamedTuple):
    """What a finding says."""

    title: str
    why: str
    change: str


@dataclass(frozen=True)
class Claim:
    """What one rule says.

    Attributes:
        cause: which.
        rows: of ``Calls``.
        gain_ns: what can be saved of each.
        place: rows of one place are one finding.
        words: makes the sentences.
    """

    cause: Cause
    rows: Ints
    gain_ns: npt.NDArray[Any]
    place: Ints
    words: Callable[[Group], Words]
    numbers: dict[str, float] = field(default_factory=dict)


def settled(calls: Calls, claims: Sequence[Claim]) -> Iterator[tuple[Claim, Ints, Floats]]:
    """Leaves each row to the claim that saves the most of it; of equal ones the earlier.

    Yields:
        Each claim with the rows that it has, and what it saves of each.
    """
    best = np.zeros(len(calls.rows))
    owner = np.full(len(calls.rows), -1)
    for number, claim in enumerate(claims):
        better = claim.gain_ns > best[claim.rows] * 1.001
        rows = claim.rows[better]
        best[rows], owner[rows] = claim.gain_ns[better], number
    for number, claim in enumerate(claims):
        mine = owner[claim.rows] == number
        if mine.any():
            yield claim, claim.rows[mine], claim.gain_ns[mine]


def findings_of(calls: Calls, claims: Sequence[Claim], run_s: float, floor_s: float) -> Iterator[AdviceFinding]:
    """Makes findings of claims that save more than the floor; what is below it is not told."""
    picture = calls.picture
    for claim, rows, gain in settled(calls, claims):
        place = claim.place[np.isin(claim.rows, rows)]
        for each in np.unique(place).tolist():
            mine = place == each
            chosen = rows[mine]
            saved = min(picture.slowest(gain[mine], calls.thread[chosen]), run_s)
            if saved < floor_s:
                continue
            group = group_of(calls, chosen)
            words = claim.words(group)
            yield made(group, claim.cause, words, saved, run_s, claim.numbers)


def group_of(calls: Calls, rows: Ints) -> Group:
    """Returns what rows have in common."""
    picture = calls.picture
    files = np.unique(calls.file[rows])
    if len(files) == 1:
        where = picture.path(int(files[0])) or "a file without a name"
    else:
        classes = np.unique(picture.class_of[files])
        folders = np.unique(picture.folder_of[files])
        if len(classes) == 1:
            where = f"{len(files):,} files {picture.class_names[int(classes[0])]}"
        elif len(folders) == 1:
            where = f"{len(files):,} files in {picture.folders[int(folders[0])]}"
        else:
            where = f"{len(files):,} files"
    return Group(
        picture=picture,
        calls=calls,
        rows=rows,
        calls_made=int(calls.calls[rows].sum()),
        size=int(calls.bytes[rows].sum()),
        files=len(files),
        where=where,
    )


def made(
    group: Group, cause: Cause, words: Words, gain_s: float, run_s: float, numbers: dict[str, float] | None = None
) -> AdviceFinding:
    """Makes a finding about a group."""
    picture, calls, rows = group.picture, group.calls, group.rows
    ns = calls.ns[rows].astype(np.float64)
    seconds = picture.slowest(ns, calls.thread[rows])
    by_thread = np.bincount(calls.thread[rows], ns)
    layers, which = np.unique(calls.layer[rows], return_inverse=True)
    layer = int(layers[np.argmax(np.bincount(which, ns))])
    return AdviceFinding(
        cause=cause,
        title=words.title,
        why=words.why,
        change=words.change,
        seconds=seconds,
        share=min(seconds / run_s, 1.0) if run_s else 0.0,
        gain_s=min(gain_s, seconds),
        gain_share=min(gain_s, seconds, run_s) / run_s if run_s else 0.0,
        layer=Layer(layer).name,
        calls=group.calls_made,
        bytes=group.size,
        files=group.files,
        examples=_examples(picture, calls.file[rows], ns),
        processes=len(np.unique(calls.thread[rows])),
        slowest=picture.label(int(np.argmax(by_thread))),
        first_s=int(calls.first[rows].min()) / 1e9,
        last_s=int(calls.last[rows].max()) / 1e9,
        numbers=numbers or {},
    )


def _examples(picture: Picture, file: Ints, ns: Floats) -> list[str]:
    times = np.bincount(file, ns)
    order = np.argsort(-times, kind="stable")[:_EXAMPLES].tolist()
    return [path for each in order if times[each] > 0 and (path := picture.path(each))]
