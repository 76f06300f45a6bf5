"""Extract the bandwidth intervals from TMIO's records and their short forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import Kind

_MB: Final = 1e6
_OF_VERSION_1: Final = "max_transfersize_over_ranks"

MOVED: Final[dict[str, Kind]] = {
    "read_sync": Kind.READ,
    "read_async_t": Kind.READ,
    "read_async": Kind.READ,
    "write_sync": Kind.WRITE,
    "write_async_t": Kind.WRITE,
    "write_async": Kind.WRITE,
}
"""Sections about moved data."""

LEFT_OUT: Final = {"read_async_b": "required_bandwidth", "write_async_b": "required_bandwidth", "io_time": "io_time"}
"""Other sections, and why they are left out."""

_RECORDS: Final = frozenset(MOVED | LEFT_OUT)

_LEVELS: Final = (
    ("b_rank_avr", "t_rank_s", "t_rank_e"),
    ("b_ind", "t_ind_s", "t_ind_e"),
    ("b_overlap_avr", "t_overlap", ""),
)
"""Bandwidth, begin and end of intervals, in order of preference. "" if each lasts until the next begins."""

_SAMPLE_START, _SAMPLE_END, _SAMPLE_BANDWIDTH = 1, 2, 5  # indices in a sample of the MessagePack layout
_SAMPLES = 13
_DEEPEST: Final = 4  # maximum nesting of lists of records

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of constant bandwidth, arrays of equal length."""

    section: str
    kind: Kind
    start_s: Floats
    end_s: Floats
    bandwidth: Floats
    """Bytes/s."""
    ranks: int = 0
    ragged: str = ""
    """Mismatch between the arrays' lengths, if any."""


def joined(parts: Sequence[Intervals]) -> Intervals:
    """Join intervals of one section and direction."""
    if len(parts) == 1:
        return parts[0]
    return Intervals(
        parts[0].section,
        parts[0].kind,
        np.concatenate([part.start_s for part in parts]),
        np.concatenate([part.end_s for part in parts]),
        np.concatenate([part.bandwidth for part in parts]),
    )


def is_record(value: Any, depth: int = _DEEPEST) -> bool:
    """Return whether ``intervals_of`` supports a decoded value."""
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return value[0] in _RECORDS
        return bool(value) and depth > 0 and all(is_record(part, depth - 1) for part in value)
    if not isinstance(value, dict):
        return False
    if not _RECORDS.isdisjoint(value) or isinstance(value.get("bandwidth"), dict):
        return True
    return _short_form(value) is not None


def excluded_sections(value: Any) -> Iterator[str]:
    """Yield the rule for each section that is left out."""
    if isinstance(value, dict):
        yield from (LEFT_OUT[name] for name in value if name in LEFT_OUT)
    elif isinstance(value, list) and value and isinstance(value[0], str):
        if value[0] in ("read_async", "write_async"):
            yield "required_bandwidth"
        elif value[0] == "io_time":
            yield "io_time"


def intervals_of(value: Any, undirected: Kind) -> Iterator[Intervals]:
    """Yield the intervals of a record, section by section.

    Args:
        value: a decoded record that ``is_record`` accepts.
        undirected: kind of the intervals in a short form, which has no direction.
    """
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            yield from _of_samples(value)
        else:
            for part in value:
                yield from intervals_of(part, undirected)
        return
    named = {name: part for name, part in value.items() if name in MOVED and isinstance(part, dict)}
    for name, section in named.items():
        yield from _of_bandwidth(name, MOVED[name], section.get("bandwidth"), section)
    if named or not LEFT_OUT.keys().isdisjoint(value):
        return
    arrays = value.get("bandwidth") if isinstance(value.get("bandwidth"), dict) else _short_form(value)
    yield from _of_bandwidth("read_sync" if undirected is Kind.READ else "write_sync", undirected, arrays, value)


def _short_form(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Interprets ``{b, t}`` as steps and ``{b, ts, te}`` as intervals. The names may have suffixes."""
    if any(name in value for level in _LEVELS for name in level[:1]):
        return dict(value)
    arrays = [name for name, array in value.items() if isinstance(name, str) and isinstance(array, list)]
    rates = [name for name in arrays if name.startswith("b")]
    times = [name for name in arrays if name.startswith("t")]
    if len(rates) != 1:
        return None
    if len(times) == 1:
        return {"b_overlap_avr": value[rates[0]], "t_overlap": value[times[0]]}
    starts, ends = ([name for name in times if name.endswith(letter)] for letter in "se")
    if len(times) == 2 and starts and ends:
        return {"b_rank_avr": value[rates[0]], "t_rank_s": value[starts[0]], "t_rank_e": value[ends[0]]}
    return None


def _of_bandwidth(name: str, kind: Kind, arrays: Any, section: Mapping[str, Any]) -> Iterator[Intervals]:
    if not isinstance(arrays, dict):
        return
    for rate_name, start_name, end_name in _LEVELS:
        rates, starts = floats_of(arrays.get(rate_name)), floats_of(arrays.get(start_name))
        if not len(rates) and not len(starts):
            continue
        ends = floats_of(arrays.get(end_name)) if end_name else starts[1:]
        if end_name and not len(ends) and len(starts):
            ends = np.append(starts[1:], starts[-1])  # each lasts until the next begins
        if not end_name and len(rates) == len(starts):
            rates = rates[:-1]  # the last step has no end
        count = min(len(rates), len(starts), len(ends))
        steps = 0 if end_name else 1
        even = len(rates) == len(ends) == len(starts) - steps
        given = f"{rate_name}, {start_name}" + (f", {end_name}" if end_name else "")
        ragged = "" if even else f"{given} have {len(rates)}, {len(starts)}, {len(ends)} values"
        scale = _MB if _OF_VERSION_1 in section else 1.0
        ranks = section.get("number_of_ranks", section.get("ranks", 0))
        ranks = int(ranks) if isinstance(ranks, int | float) and 0 <= ranks < 2**31 else 0
        yield Intervals(name, kind, starts[:count], ends[:count], rates[:count] * scale, ranks, ragged)
        return


def _of_samples(record: list[Any]) -> Iterator[Intervals]:
    """Parse one record of the MessagePack layout; for asynchronous I/O it uses the actual throughput."""
    kind = MOVED.get(record[0])
    samples = record[_SAMPLES] if kind is not None and len(record) > _SAMPLES else None
    if kind is None or not isinstance(samples, list) or not samples:
        return
    whole = [sample for sample in samples if isinstance(sample, list) and len(sample) > _SAMPLE_BANDWIDTH]
    starts, ends, rates = (
        floats_of([sample[at] for sample in whole]) for at in (_SAMPLE_START, _SAMPLE_END, _SAMPLE_BANDWIDTH)
    )
    short = len(samples) - len(whole)
    ragged = f"{short} of {len(samples)} samples have too few values" if short else ""
    ranks = record[11] if isinstance(record[11], int) and 0 <= record[11] < 2**31 else 0
    name = record[0] if record[0] in ("read_sync", "write_sync") else record[0] + "_t"
    yield Intervals(name, kind, starts, ends, rates, ranks, ragged)


def floats_of(values: Any) -> Floats:
    """Convert a list to an array; values that are not numbers become NaN."""
    if not isinstance(values, list):
        return np.empty(0)
    try:
        return np.array(values, np.float64).reshape(len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values])


def _float(value: Any) -> float:
    try:
        return float(value) if isinstance(value, int | float) else float("nan")
    except OverflowError:
        return float("nan")
