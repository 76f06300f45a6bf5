"""Power over time and period as a character map."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from ...results.traces.analysis import WaveletView
from ..text.units import duration_text

_SHADES: Final = " .:-=+*#%@"
_ROWS, _COLUMNS = 16, 64
_LABEL: Final = 12


def power_map(view: WaveletView, start_s: float, period_s: float | None) -> Iterator[str]:
    """Draw the map with one line per period, long periods first. It is darker where the amplitude is higher.

    The reported period is marked. Cells affected by the window's edges are blank.

    Args:
        view: the power.
        start_s: zero of the displayed times.
        period_s: the reported period.
    """
    yield "power over time and period (what the edges of the window touch is left out)"
    rows, columns = min(_ROWS, len(view.periods_s)), min(_COLUMNS, len(view.times_s))
    cells = [[_cell(view, rows, row, columns, column) for column in range(columns)] for row in range(rows)]
    highest = max((power for line in cells for power in line if power is not None), default=0.0)
    marked = None if period_s is None else _row_of(view, rows, period_s)
    for row in reversed(range(rows)):
        drawn = "".join(_shade(power, highest) for power in cells[row])
        label = duration_text(math.sqrt(view.periods_s[_edge(view, rows, row)] * _longest_period(view, rows, row)))
        yield f"{label:>{_LABEL}} |{drawn}|{'  <- period' if row == marked else ''}"
    first, last = f"{view.times_s[0] - start_s:.1f} s", f"{view.times_s[-1] - start_s:.1f} s"
    yield f"{'':{_LABEL}}  {first}{last:>{max(columns - len(first), 0)}}"


def _edge(view: WaveletView, rows: int, row: int) -> int:
    return row * len(view.periods_s) // rows


def _longest_period(view: WaveletView, rows: int, row: int) -> float:
    return view.periods_s[_edge(view, rows, row + 1) - 1]


def _row_of(view: WaveletView, rows: int, period_s: float) -> int | None:
    if not view.periods_s[0] <= period_s <= view.periods_s[-1]:
        return None
    return max(row for row in range(rows) if view.periods_s[_edge(view, rows, row)] <= period_s)


def _cell(view: WaveletView, rows: int, row: int, columns: int, column: int) -> float | None:
    """Return the highest time-averaged power of a cell's periods. Return None outside of the cone of influence."""
    periods = range(_edge(view, rows, row), _edge(view, rows, row + 1))
    first, stop = column * len(view.times_s) // columns, (column + 1) * len(view.times_s) // columns
    if view.periods_s[periods.start] > max(view.cone_s[first:stop]):
        return None
    return max(sum(view.power[period][first:stop]) / (stop - first) for period in periods)


def _shade(power: float | None, highest: float) -> str:
    if power is None or highest <= 0:
        return " "
    return _SHADES[min(int(math.sqrt(power / highest) * len(_SHADES)), len(_SHADES) - 1)]
