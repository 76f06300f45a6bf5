"""The headline of a prediction as text, shared by terminals, reports, pages and logs."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ...events.counted_text import counted
from ...results.base import Estimate
from ...results.prediction import (
    MIN_STAMPS_PER_PERIOD,
    Drift,
    Frequency,
    Interruptions,
    ModeName,
    OtherPeriod,
    Pattern,
    PatternOf,
    Prediction,
    Who,
    WorkShifts,
)
from .units import byte_text, duration_text

_MODE_TEXT: Final[dict[ModeName, str]] = {"read": "of what is read", "write": "of what is written", "both": ""}
_PATTERN_TEXT: Final[dict[PatternOf, str]] = {
    "intervals": "interval lasts",
    "pauses": "pause lasts",
    "durations": "phase takes",
    "volumes": "phase moves",
}
_SAME_VALUE: Final = 0.1
"""Largest relative difference of two values of a pattern that count as equal in texts."""
_NOT_PERIODIC: Final = "not clearly periodic"
_MAX_NAMES: Final = 3
_MAX_NAME: Final = 48
_FOLDERS: Final = 2  # displayed components of a path
NO_PERIOD: Final = "no period"
NO_PERIOD_CLAIMED: Final = "no period claimed"
NO_PERIOD_NOTE: Final = "none of these lines is a period; the weight says how far a line stands out from the others"
"""Note below spectral lines without a period."""


class Headline(Struct, frozen=True):
    """Headline of a prediction.

    Attributes:
        period: length of the period, or that there is none.
        confidence: its confidence, percent; "-" without a period.
        notes: further parts of the headline, one clause each.
        found: whether there is a period.
    """

    period: str
    confidence: str
    notes: tuple[str, ...]
    found: bool


def make_headline(prediction: Prediction | None, start_s: float | None = None) -> Headline:
    """Return the headline; times count from ``start_s`` or the window's start.

    ``prediction`` is None before the first one.
    """
    if prediction is None:
        return Headline(NO_PERIOD, "-", ("no call was seen",), found=False)
    if prediction.incomplete:
        return Headline(NO_PERIOD_CLAIMED, "-", (incompleteness_text(prediction),), found=False)
    window, period = prediction.window, prediction.period_s
    if period is None:
        earlier = [each for each in prediction.others if each.relation == "earlier"]
        notes = [further_period_text(each, window.start_s if start_s is None else start_s) for each in earlier]
        notes.append(f"{duration_text(window.end_s - window.start_s)} seen")
        if prediction.stamp_s:
            return Headline(NO_PERIOD_CLAIMED, "-", (*notes, stamps_text(prediction)), found=False)
        return Headline(NO_PERIOD, "-", tuple(notes), found=False)
    notes = [interval_text(period).strip(" ()"), _MODE_TEXT[prediction.mode]]
    notes += course_texts(prediction)
    notes.append("" if prediction.who is None else f"of {members_text(prediction.who)}")
    notes.append("" if prediction.periodic else _NOT_PERIODIC)
    for count, what in ((prediction.ranks_unseen, "ranks"), (prediction.nodes_unseen, "nodes")):
        notes.append(f"{counted(count, what)} not seen" if count else "")
    present_notes = tuple(note for note in notes if note)
    return Headline(duration_text(period.value), f"{prediction.confidence:.0%}", present_notes, found=True)


def further_periods(prediction: Prediction | None) -> list[OtherPeriod]:
    """Return the periods that the headline does not contain."""
    others = [] if prediction is None else other_periods(prediction)
    return [each for each in others if make_headline(prediction).found or each.relation != "earlier"]


def other_periods(prediction: Prediction) -> list[OtherPeriod]:
    """Return the other periods, except that of larger phases if a pattern of volumes has it."""
    volumes = _pattern(prediction, "volumes")
    if volumes is None or prediction.period_s is None:
        return prediction.others
    whole_s = len(volumes.values) * prediction.period_s.value
    told = prediction.shifts is not None  # their mean distance then includes rests
    return [
        each
        for each in prediction.others
        if each.relation != "around" or not (told or _is_near(each.period_s.value, whole_s))
    ]


def weight_text(prediction: Prediction | None, line: Frequency) -> str:
    """Format the weight of a spectral line. For the line of the reported period its confidence."""
    if prediction is not None and prediction.period_s is not None and prediction.period_s.value == line.period_s:
        return make_headline(prediction).confidence
    return f"{line.confidence:.0%}"


def headline_text(prediction: Prediction) -> str:
    """Return the headline in one line."""
    headline = make_headline(prediction)
    notes = ", ".join(note for note in headline.notes if note != _NOT_PERIODIC)
    brackets = f" ({notes})" if notes else ""
    if not headline.found:
        return f"{headline.period}{brackets}"
    word = "period" if prediction.periodic else "perhaps a period of"
    return f"{word} {headline.period}{brackets}  confidence {headline.confidence}"


def drift_text(drift: Drift) -> str:
    """Format the change of a period."""
    change = "longer" if drift.per_phase > 0 else "shorter"
    return f"{100 * abs(drift.per_phase):.2g}% {change} each time, now {duration_text(drift.period_s.value)}"


def course_texts(prediction: Prediction) -> list[str]:
    """Format how phases differ from even ones, one clause each: drift, shifts, interruptions, patterns."""
    texts = [] if prediction.drift is None else [drift_text(prediction.drift)]
    if prediction.shifts is not None:
        texts.append(shifts_text(prediction.shifts))
    if prediction.interruptions is not None:
        texts.append(interruptions_text(prediction.interruptions))
    volumes = _pattern(prediction, "volumes")
    # the duration follows from the volume
    return texts + [pattern_text(each) for each in prediction.patterns if each.of != "durations" or volumes is None]


def shifts_text(shifts: WorkShifts) -> str:
    """Format the shifts of a program."""
    phases, rest = counted(shifts.phases, "phases"), duration_text(shifts.rest_s.value)
    now = ", resting now" if shifts.resting else ""
    return f"in shifts of {phases} with rests of {rest} between them, {shifts.seen} seen{now}"


def interruptions_text(interruptions: Interruptions) -> str:
    """Format missing phases and pauses: "2 of the last 20 phases missing and a pause of 63 s"."""
    parts = []
    if interruptions.missing:
        whole = interruptions.phases + interruptions.missing
        parts.append(f"{interruptions.missing} of the last {whole} phases missing")
    if interruptions.pauses:
        longest = duration_text(interruptions.longest_pause_s)
        several = f"{interruptions.pauses} pauses of up to {longest}"
        parts.append(f"a pause of {longest}" if interruptions.pauses == 1 else several)
    return " and ".join(parts)


def pattern_text(pattern: Pattern) -> str:
    """Format a pattern: "each 4th phase moves 16 MB, the others 4 MB", or all its values in order of time."""
    formatted = byte_text if pattern.of == "volumes" else duration_text
    values, what = pattern.values, _PATTERN_TEXT[pattern.of]
    for at in (values.index(max(values)), values.index(min(values))):
        rest = values[:at] + values[at + 1 :]
        if all(_is_near(each, rest[0]) for each in rest) and not _is_near(values[at], rest[0]):
            each = "every other" if len(rest) == 1 else f"each {_ordinal(len(values))}"
            return f"{each} {what} {formatted(values[at])}, the others {formatted(sum(rest) / len(rest))}"
    # as it repeats, any place may be the first one: one with small values
    ordered = min(values[at:] + values[:at] for at in range(len(values)))
    return f"{pattern.of} repeat: {', '.join(map(formatted, ordered))}"


def _pattern(prediction: Prediction, of: PatternOf) -> Pattern | None:
    return next((each for each in prediction.patterns if each.of == of), None)


def _is_near(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME_VALUE * max(abs(one), abs(other))


def _ordinal(number: int) -> str:
    """Format the number of a place in a pattern.

    >>> _ordinal(3), _ordinal(12)
    ('3rd', '12th')
    """
    return f"{number}{'rd' if number == 3 else 'th'}"


def incompleteness_text(prediction: Prediction) -> str:
    """Format the missing share of a prediction's window."""
    return f"{1 - prediction.completeness:.0%} of the data is missing"


def stamps_text(prediction: Prediction) -> str:
    """Format the periods for which timestamps are too coarse."""
    shortest = duration_text(MIN_STAMPS_PER_PERIOD * prediction.stamp_s)
    resolution = "whole seconds" if prediction.stamp_s == 1 else f"multiples of {duration_text(prediction.stamp_s)}"
    return f"the times are {resolution}, which show no period below {shortest}"


def further_period_text(other: OtherPeriod, start_s: float) -> str:
    """Format a further period of a job; times count from ``start_s``."""
    period = f"{duration_text(other.period_s.value)}{interval_text(other.period_s)}"
    span = f"{duration_text(max(other.start_s - start_s, 0.0))} to {duration_text(other.end_s - start_s)}"
    match other.relation:
        case "earlier":
            return f"before, from {span}: a period of {period}, {other.phases} phases"
        case "within":
            return f"within: bursts every {period}, {other.phases} of them"
        case "around":
            return f"around: a larger phase every {period}"
        case "beside":
            phase = other.next_phase
            due = "" if phase is None else f", next at {duration_text(phase.start_s.value - start_s)}"
            each = "" if other.bytes_per_phase is None else f" of {byte_text(other.bytes_per_phase)}"
            return f"{group_period_text(other)}, {other.phases} phases{each}{due}"


def group_period_text(other: OtherPeriod) -> str:
    """Format a period of other members, with these members."""
    whose = "others" if other.who is None else members_text(other.who)
    period = f"{duration_text(other.period_s.value)}{interval_text(other.period_s)}"
    return f"beside: {whose} every {period}, confidence {other.confidence:.0%}"


def members_text(who: Who) -> str:
    """Format the members that have a period: ranks 0-3, command lmp, files *.chk."""
    names = who.members[:_MAX_NAMES]
    kind = who.kind.removesuffix("es" if who.kind == "processes" else "s") if _is_single(who) else who.kind
    more = f" and {len(who.members) - len(names)} more" if len(who.members) > len(names) else ""
    return f"{kind} {', '.join(map(_short, names))}{more}"


def _is_single(who: Who) -> bool:
    return len(who.members) == 1 and not (who.kind == "ranks" and "-" in who.members[0])


def _short(name: str) -> str:
    """Shorten a command to its program's basename and arguments, up to a maximum length.

    Names may contain any characters.
    """
    name = "".join(letter if letter.isprintable() else "?" for letter in " ".join(name.split()))
    if name.startswith("/") and " " not in name and name.count("/") > _FOLDERS:
        name = f".../{'/'.join(name.split('/')[-_FOLDERS:])}"
    program, blank, rest = name.partition(" ")
    if blank and "/" in program:
        name = f"{program.rpartition('/')[2]} {rest}"
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 3]}..."


def interval_text(estimate: Estimate) -> str:
    """Format an interval in brackets; "" if it is too narrow to matter."""
    if estimate.high - estimate.low <= 0.005 * abs(estimate.value):
        return ""
    return f" ({duration_text(estimate.low)} to {duration_text(estimate.high)})"
