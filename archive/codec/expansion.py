"""Expand a grammar to its terminals: symbol by symbol, copying the expansion of repeated rules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...events.errors import InputError
from .grammar import Rules


def expand(rules: Rules, length: int, where: str) -> npt.NDArray[np.int32]:
    """Return the terminals of a grammar, int32[length].

    Time and memory are bounded by the number of symbols and by ``length``, even for a malicious grammar.

    Raises:
        InputError: the arrays are not a grammar (a rule is missing, empty or recursive), or the length is wrong.
    """
    ends = _rule_ends(rules, where)
    values, counts = rules.values.tolist(), rules.counts.tolist()
    begins, stops = [0, *ends[:-1].tolist()], ends.tolist()
    out = np.empty(length, np.int32)
    view = memoryview(out.data)  # faster than the array for a few terminals at a time
    spans: list[tuple[int, int] | None] = [None] * len(stops)  # range in out of each expanded rule
    is_open = bytearray(len(stops))
    is_open[0] = True
    filled, rule, at, started, times = 0, 0, 0, 0, 1
    waiting: list[tuple[int, int, int, int]] = []  # rules that enclose the current one
    while True:
        if at == stops[rule]:
            spans[rule] = started, filled
            is_open[rule] = False
            filled = _repeat(out, started, filled, times, where)
            if not waiting:
                break
            rule, at, started, times = waiting.pop()
            continue
        value, count = values[at], counts[at]
        at += 1
        if value >= 0:
            if count > length - filled:
                raise _broken(where, f"{length} calls")
            if count == 1:
                view[filled] = value
            else:
                out[filled : filled + count] = value
            filled += count
            continue
        inner = -1 - value
        span = spans[inner]
        if span is None:
            if is_open[inner]:
                raise _broken(where, "rules that do not contain themselves")
            waiting.append((rule, at, started, times))
            rule, at, started, times = inner, begins[inner], filled, count
            is_open[rule] = True
            continue
        low, high = span
        if (high - low) * count > length - filled:
            raise _broken(where, f"{length} calls")
        view[filled : filled + high - low] = view[low:high]
        filled = _repeat(out, filled, filled + high - low, count, where)
    if filled != length:
        raise _broken(where, f"{length} calls, not {filled}")
    return out


def _rule_ends(rules: Rules, where: str) -> npt.NDArray[np.int64]:
    """Return the end of each rule among the symbols, int64[rules].

    Raises:
        InputError: the arrays do not fit together, or a rule is missing or empty.
    """
    ends = np.cumsum(rules.lengths, dtype=np.int64)
    if not len(ends) or int(ends[-1]) != len(rules.values) or len(rules.values) != len(rules.counts):
        raise _broken(where, "the symbols of all rules, one after the other")
    if len(rules.values) and int(rules.values.min()) < -len(ends):
        raise _broken(where, f"a rule below {len(ends)}")
    if not rules.counts.all() or (len(ends) > 1 and not rules.lengths.all()):
        raise _broken(where, "rules with symbols, and counts from 1")
    return ends


def _repeat(out: npt.NDArray[np.int32], start: int, stop: int, times: int, where: str) -> int:
    """Repeat the range from start to stop so many times. Returns the end of the last copy."""
    if times == 1:
        return stop
    end = start + (stop - start) * times
    if end > len(out):
        raise _broken(where, f"{len(out)} calls")
    while stop < end:
        more = min(stop - start, end - stop)
        out[stop : stop + more] = out[start : start + more]
        stop += more
    return end


def _broken(where: str, expected: str) -> InputError:
    return InputError(where, None, "the grammar is broken", expected)
