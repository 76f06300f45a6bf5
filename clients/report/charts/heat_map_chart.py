"""The heat map of a report. It shows the time of each member in calls on program data, by time bin."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from ....results.jobs.heat_map import HeatMap, HeatRow
from ...drawing.charts import time_unit
from ...drawing.svg_chart import round_ticks

_WIDTH: Final = 960.0
_LEFT: Final = 190.0
_RIGHT: Final = 14.0
_TOP: Final = 30.0
_MAX_LABEL: Final = 26
_PROCESS_ID: Final = re.compile(r":\d+\)?(?: and \d+ more)?$")
"""End of a name: the process id, and the number of other processes of the row."""
_LOWEST_ROW: Final = 13.0  # of a line of text
_HUES: Final = (("write", "#0b6e99"), ("read", "#d9822b"), ("other calls", "#8a5fb0"))
_STEPS: Final = (0.15, 0.35, 0.55, 0.75, 1.0)
_MAX_ROWS: Final = 48
_MIN_ROW: Final = 0.005
"""Least time of a drawn row, as a share of the largest row's time."""
_MIN_SHARE: Final = 0.001  # of a bin


def shown_rows(heat: HeatMap) -> list[HeatRow]:
    """Return the drawn rows in their order: those with the most time, without invisible ones."""
    least = max((row.seconds for row in heat.rows), default=0.0) * _MIN_ROW
    kept = sorted((row for row in heat.rows if row.seconds >= least), key=lambda row: -row.seconds)[:_MAX_ROWS]
    names = {id(row) for row in kept}
    return [row for row in heat.rows if id(row) in names]


def heat_picture(heat: HeatMap, rows: list[HeatRow]) -> str:
    """Draw a row per member or group of neighbours. Each bin with I/O has a cell.

    The hue shows the kind of I/O that takes most of the time, the darkness its share of the bin.

    Args:
        heat: the whole map.
        rows: rows to draw, at least one.

    Returns:
        An SVG element.
    """
    bins = len(rows[0].read)
    unit = time_unit(bins * heat.bin_s)
    high = min(max(260.0 / len(rows), _LOWEST_ROW), 26.0)
    base = _TOP + high * len(rows)
    wide = (_WIDTH - _LEFT - _RIGHT) / bins
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {base + 42:.0f}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#1b2733">',
        f"<title>Time in I/O calls of {len(rows)} rows over time</title>",
    ]
    for at, (name, colour) in enumerate(_HUES):
        parts.append(
            f'<rect x="{_LEFT + 110 * at:.0f}" y="8" width="14" height="10" fill="{colour}"/>'
            f'<text x="{_LEFT + 110 * at + 19:.0f}" y="17">{name}</text>'
        )
    for number, row in enumerate(rows):
        top = _TOP + high * number
        parts.append(
            f'<text x="{_LEFT - 6:.0f}" y="{top + high / 2 + 4:.1f}" text-anchor="end">'
            f"<title>{escape(row.name)}</title>{escape(_label(row.name))}</text>"
        )
        parts.append(_cells(row, heat.bin_s, top, wide, high))
    parts.append(f'<path d="M{_LEFT} {_TOP}V{base:.1f}H{_WIDTH - _RIGHT}" fill="none" stroke="#1b2733"/>')
    for tick in round_ticks(0.0, bins * heat.bin_s / unit.factor, most=11):
        x = _LEFT + tick * unit.factor / heat.bin_s * wide
        parts.append(
            f'<path d="M{x:.1f} {base:.1f}v5" stroke="#1b2733"/>'
            f'<text x="{x:.1f}" y="{base + 18:.1f}" text-anchor="middle">{tick:.6g}</text>'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{base + 36:.1f}" text-anchor="middle">{unit.name} since the first I/O</text>')
    return "".join(parts) + "</svg>"


def _label(name: str) -> str:
    """Return a name with a shortened command; the process id is kept, and the host if there is room.

    >>> _label("cat /etc/passwd /etc/group (vm:4687)"), _label("rank 3")
    ('cat /etc/pass... (vm:4687)', 'rank 3')
    >>> _label("cat /etc/passwd (login1.cluster.example.org:4687) and 3 more")
    'cat /e...:4687) and 3 more'
    """
    if len(name) <= _MAX_LABEL:
        return name
    command, bracket, place = name.rpartition(" (")
    room = _MAX_LABEL - len(f"...{bracket}{place}")
    if bracket and room > 2:
        return f"{command[:room]}...{bracket}{place}"
    end = process[0] if (process := _PROCESS_ID.search(name)) else ""
    return f"{name[: max(_MAX_LABEL - 3 - len(end), 0)]}...{end}"


def _cells(row: HeatRow, bin_s: float, top: float, wide: float, high: float) -> str:
    """Draw the cells of a row; equal neighbours are merged into one rectangle."""
    drawn: list[str] = []
    begin, look = 0, (-1, 0)
    looks = [_cell_colour(row, at, bin_s) for at in range(len(row.read))]
    for at, one in enumerate([*looks, (-1, -1)]):
        if one == look:
            continue
        if look[0] >= 0:
            hue, step = look
            drawn.append(
                f'<rect x="{_LEFT + begin * wide:.2f}" y="{top + 0.5:.1f}" width="{(at - begin) * wide:.2f}" '
                f'height="{high - 1:.1f}" fill="{_HUES[hue][1]}" fill-opacity="{_STEPS[step]}"/>'
            )
        begin, look = at, one
    return "".join(drawn)


def _cell_colour(row: HeatRow, at: int, bin_s: float) -> tuple[int, int]:
    """Return hue and darkness of a cell; (-1, 0) for an empty one."""
    each = (row.written[at], row.read[at], row.other[at])
    share = sum(each) / (bin_s * row.members)
    if share < _MIN_SHARE:
        return -1, 0
    steps = (0.01, 0.05, 0.25, 0.6)
    return each.index(max(each)), sum(share >= limit for limit in steps)
