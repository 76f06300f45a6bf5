"""Claims of rules. A claim is the cause of each call's time, and the part of it that can be saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import Layer
from ....events.programs import common_pattern
from ....results.advice import AdviceFinding, Cause
from ...common.sorting import is_among, sorted_distinct
from ...common.state import Ints
from ..call_statistics import Calls, CallStatistics, Floats

_COMPARED: Final = 1000  # maximum number of paths that are compared for a pattern
_EXAMPLES: Final = 3  # maximum number of example paths per finding
_BETTER: Final = 1.001  # minimum ratio of saved times at which a later claim takes a row; excludes rounding


class Group(NamedTuple):
    """Rows that one finding is about."""

    statistics: CallStatistics
    calls: Calls
    rows: Ints
    calls_made: int
    """Number of calls of all threads."""
    size: int
    files: int
    where: str
    """Path of the file, or the common part of several paths."""
    noun: str
    """"files", "folders", or both."""


class Part(NamedTuple):
    """Part of a group's calls."""

    calls: int
    size: int
    share: float
    """Share of the group's time."""


class FindingText(NamedTuple):
    """Texts of a finding."""

    title: str
    why: str
    change: str
    part: Part | None = None
    """If the finding is about a part of the group's calls."""
    short: str = ""
    """The change in a few words, if it is not the usual one of the cause."""


@dataclass(frozen=True)
class Claim:
    """Result of one rule.

    Attributes:
        cause: cause of the time.
        rows: row numbers of ``Calls``.
        gain_ns: time that can be saved per row, ns.
        place: place of each row; rows of one place form one finding.
        words: function that writes the texts.
        numbers: further figures.
        ends_calls: whether the change saves whole calls, and not only a part of their time.
        alike: whether the calls take about the same time each without other processes. Large and small reads do not.
    """

    cause: Cause
    rows: Ints
    gain_ns: npt.NDArray[Any]
    place: Ints
    words: Callable[[Group], FindingText]
    numbers: dict[str, float] = field(default_factory=dict)
    ends_calls: bool = False
    alike: bool = False


def assigned_claims(calls: Calls, claims: Sequence[Claim]) -> Iterator[tuple[Claim, Ints, Floats]]:
    """Assign each row to the claim that saves the most of it. Ties go to the earlier claim.

    Yields:
        Each claim with its rows, and the time saved per row, ns.
    """
    best = np.zeros(len(calls.rows))
    owner = np.full(len(calls.rows), -1)
    for number, claim in enumerate(claims):
        better = claim.gain_ns > best[claim.rows] * _BETTER
        rows = claim.rows[better]
        best[rows], owner[rows] = claim.gain_ns[better], number
    for number, claim in enumerate(claims):
        mine = owner[claim.rows] == number
        if mine.any():
            yield claim, claim.rows[mine], claim.gain_ns[mine]


class Floor(NamedTuple):
    """Least saving of a finding."""

    share: float
    """Share of the run."""
    seconds: float
    """Time, s, on a machine without other work: other processes lengthen each call, and the run."""


class Saving(NamedTuple):
    """Time that a change saves, s."""

    least: float
    """Time in the calls alone."""
    expected: float
    most: float
    """With all of the time between the calls that may belong to them."""
    alone: float
    """The expected time without other processes on the machine."""


def findings_of(calls: Calls, claims: Sequence[Claim], run_s: float, floor: Floor) -> Iterator[AdviceFinding]:
    """Create findings from claims that save at least the floor; smaller ones are not reported."""
    for claim, rows, gain in assigned_claims(calls, claims):
        place = claim.place[is_among(claim.rows, rows)]
        for each in sorted_distinct(place).tolist():
            mine = place == each
            chosen = rows[mine]
            saving = _saving(calls, claim, chosen, gain[mine], run_s)
            if saving.expected < floor.share * run_s or saving.alone < floor.seconds:
                continue
            group = group_of(calls, chosen)
            words = claim.words(group)
            yield _with_gaps(finding_of(group, claim.cause, words, saving.least, run_s, claim.numbers), saving, run_s)


def _saving(calls: Calls, claim: Claim, rows: Ints, gain: Floats, run_s: float) -> Saving:
    """Return the saving of a claim on some rows.

    How much of the uncertain time between the calls is saved, the calls do not show. The geometric mean of the bounds
    is wrong by the least factor in the worst case.
    """

    def saved(each: Floats) -> float:
        return min(calls.statistics.slowest(each, calls.thread[rows]), run_s)

    def expected(scale: Floats) -> float:
        least = saved((gain + share * calls.sure_gap_ns[rows]) * scale)
        return math.sqrt(least * saved(with_gaps * scale))

    share = gain / np.maximum(calls.ns[rows], 1) if claim.ends_calls else np.zeros(len(rows))
    with_gaps = gain + share * calls.gap_ns[rows]
    undisturbed = 1.0 / calls.stretch[rows] if claim.alike else np.ones(len(rows))
    return Saving(saved(gain), expected(np.ones(len(rows))), saved(with_gaps), expected(undisturbed))


def _with_gaps(found: AdviceFinding, saving: Saving, run_s: float) -> AdviceFinding:
    """Return a finding whose change also saves a part of the time between the calls."""
    if saving.most <= found.gain_s:
        return found
    cost = max(found.seconds, saving.expected)
    shares = {"share": min(cost, run_s) / run_s, "gain_share": min(saving.expected, run_s) / run_s}
    return found.model_copy(update={"seconds": cost, "gain_s": saving.expected, "gain_most_s": saving.most, **shares})


def group_of(calls: Calls, rows: Ints) -> Group:
    """Return the common properties of rows."""
    statistics = calls.statistics
    files = sorted_distinct(calls.file[rows])
    listed = calls.of_folders[rows]
    noun = "folders" if listed.all() else "files and folders" if listed.any() else "files"
    if len(files) == 1:
        where = statistics.path(int(files[0])) or "a file without a name"
    else:
        classes = sorted_distinct(statistics.class_of[files])
        folders = sorted_distinct(statistics.folder_of[files])
        if len(classes) == 1:
            paths = [statistics.path(int(file)) for file in files[:_COMPARED].tolist()]
            where = f"{len(files):,} {noun} {common_pattern(paths)}"
        elif len(folders) == 1:
            where = f"{len(files):,} {noun} in {statistics.folders[int(folders[0])]}"
        else:
            where = f"{len(files):,} {noun}"
    return Group(
        statistics=statistics,
        calls=calls,
        rows=rows,
        calls_made=int(calls.calls[rows].sum()),
        size=int(calls.bytes[rows].sum()),
        files=len(files),
        where=where,
        noun=noun,
    )


def finding_of(
    group: Group, cause: Cause, words: FindingText, gain_s: float, run_s: float, numbers: dict[str, float] | None = None
) -> AdviceFinding:
    """Create a finding about a group."""
    statistics, calls, rows = group.statistics, group.calls, group.rows
    ns = calls.ns[rows].astype(np.float64)
    part = words.part or Part(group.calls_made, group.size, 1.0)
    seconds = statistics.slowest(ns, calls.thread[rows]) * part.share
    gain_s = min(gain_s, seconds)
    by_thread = np.bincount(calls.thread[rows], ns)
    layers, which = np.unique(calls.layer[rows], return_inverse=True)
    layer = int(layers[np.argmax(np.bincount(which, ns))])
    slowest = int(np.argmax(by_thread))
    return AdviceFinding(
        cause=cause,
        title=words.title,
        why=words.why,
        change=words.change,
        short=words.short,
        seconds=seconds,
        share=min(seconds / run_s, 1.0) if run_s else 0.0,
        gain_s=gain_s,
        gain_least_s=gain_s,
        gain_most_s=gain_s,
        gain_share=min(gain_s, run_s) / run_s if run_s else 0.0,
        layer=Layer(layer).name,
        calls=part.calls,
        bytes=part.size,
        files=group.files,
        examples=_examples(statistics, calls.file[rows], ns),
        processes=len(sorted_distinct(calls.thread[rows])),
        gain_at_most=statistics.threads[slowest].is_worker,
        slowest=statistics.label(slowest),
        first_s=int(calls.first[rows].min()) / 1e9,
        last_s=int(calls.last[rows].max()) / 1e9,
        numbers=numbers or {},
    )


def _examples(statistics: CallStatistics, file: Ints, ns: Floats) -> list[str]:
    """Return the files with the most time. Folders are examples only of findings about folders alone."""
    times = np.bincount(file, ns)
    is_file = ~statistics.is_folder[: len(times)]
    if (times[is_file] > 0).any():
        times = times * is_file
    order = np.argsort(-times, kind="stable")[:_EXAMPLES].tolist()
    return [path for each in order if times[each] > 0 and (path := statistics.path(each))]
