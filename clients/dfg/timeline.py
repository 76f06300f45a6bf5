"""The timeline plot of [DFG]: one activity by case, with the number of concurrent calls. Needs matplotlib."""

from __future__ import annotations

import io
import re
import warnings
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from ...events.errors import UnavailableError
from ...results.dfg import Timeline
from ..drawing.charts import READ, SOFT, WRITE, time_unit
from ..text.units import byte_text, duration_text
from .labels import make_printable, shorten

try:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise UnavailableError("the timeline needs matplotlib: pip install 'iotide[plot]'") from error

_WIDTH: Final = 11.0
_DPI: Final = 110
_MAX_NAMES: Final = 40
_MAX_HEIGHT: Final = 9.0
_MIN_VISIBLE: Final = 1 / 1500  # of the chart's width: a call without duration is still visible
_MANY_BARS: Final = 5_000
_COLUMNS: Final = 1_500

Floats = npt.NDArray[np.float64]


def draw_timeline(timeline: Timeline, form: Literal["png", "svg"]) -> bytes:
    """Draw the calls of one activity as bars, one row per case. The number of concurrent calls is above.

    Args:
        timeline: the activity.
        form: format of the chart; an SVG with more than 5,000 bars contains a bitmap.
    """
    rows = timeline.occurrences
    begin = min((row.start_s for row in rows), default=0.0)
    start = np.array([row.start_s - begin for row in rows])
    end = np.array([row.end_s - begin for row in rows])
    cases = {name: at for at, name in enumerate(sorted({row.case for row in rows}, key=_natural_key))}
    place = np.array([cases[row.case] for row in rows], np.int64)
    span = float(end.max(initial=0.0)) or 1e-6
    unit = time_unit(span)
    height = min(max(0.28 * len(cases), 1.2), _MAX_HEIGHT)
    figure = Figure(figsize=(_WIDTH, height + 2.0), layout="constrained", dpi=_DPI)
    figure.suptitle(_title(timeline, len(cases)), x=0.01, ha="left", fontsize="medium", parse_math=False)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, height])
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize="small")
    _draw_concurrency(above, start / unit.factor, end / unit.factor)
    _bars(below, start / unit.factor, end / unit.factor, place, span / unit.factor)
    _label_cases(below, list(cases))
    below.set_xlim(-0.01 * span / unit.factor, 1.01 * span / unit.factor)
    below.set_xlabel(
        f"{unit.name} since the first call; every second call of a case has the other colour", fontsize="small"
    )
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # missing glyphs are drawn as a box
        figure.savefig(out, format=form, metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()


def concurrency(start: Floats, end: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the times at which the number of concurrent calls changes, ascending.

    It also returns that number from each time on.

    A call that ends when another starts does not overlap it; one of no duration does not count.

    >>> [column.tolist() for column in concurrency(np.array([0.0, 1.0, 2.0]), np.array([2.0, 3.0, 4.0]))]
    [[0.0, 1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1, 0]]
    """
    times, place = np.unique(np.concatenate([start, end]), return_inverse=True)
    steps = np.bincount(place, np.repeat([1.0, -1.0], len(start)), len(times))
    return times, np.cumsum(steps).astype(np.int64)


def max_in_columns(times: Floats, number: npt.NDArray[np.int64], most: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Thin the result of ``concurrency`` to columns of equal width. Each column has the highest number in it.

    Returns:
        The edges of at most ``most`` columns, ascending, and one number less; unchanged if there are few.
    """
    if len(times) <= most + 1:
        return times, number[:-1]
    edges = np.linspace(times[0], times[-1], most + 1)
    within = np.searchsorted(times, edges[:-1], "right") - 1  # the number at the start of the column
    # the last change within the column
    before = np.append(np.searchsorted(times, edges[1:-1], "left"), len(number) - 1) - 1
    highest = np.maximum(np.maximum.reduceat(number[:-1], within), number[before])
    return edges, highest


def _draw_concurrency(axes: Axes, start: Floats, end: Floats) -> None:
    times, number = concurrency(start, end)
    if len(times) > 1:
        edges, highest = max_in_columns(times, number, _COLUMNS)
        axes.stairs(highest, edges, fill=True, color=WRITE, alpha=0.75)
    axes.set_ylim(0, max(int(number.max(initial=0)), 1) * 1.15)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.set_ylabel("at once", fontsize="small")


def _bars(axes: Axes, start: Floats, end: Floats, place: npt.NDArray[np.int64], span: float) -> None:
    shown = np.maximum(end, start + _MIN_VISIBLE * span)
    segments = np.stack([np.stack([start, place], 1), np.stack([shown, place], 1)], 1)
    rows = int(place.max(initial=0)) + 1
    width = min(max(250.0 / rows, 1.0), 9.0)
    colours = to_rgba_array([WRITE, READ])[_number_in_case(place) % 2]
    lines = LineCollection(list(segments), colors=colours, linewidths=width, capstyle="butt", alpha=0.85)
    lines.set_rasterized(len(start) > _MANY_BARS)
    axes.add_collection(lines)
    axes.set_ylim(rows - 0.4, -0.6)


def _number_in_case(place: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place)
    numbers = np.empty(len(place), np.int64)
    numbers[order] = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return numbers


def _natural_key(name: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]


def _label_cases(axes: Axes, cases: list[str]) -> None:
    step = -(-len(cases) // _MAX_NAMES) or 1
    places = range(0, len(cases), step)
    names = [shorten(make_printable(cases[at]), 28).replace("$", r"\$") for at in places]
    axes.set_yticks(list(places), names)
    if step > 1:
        axes.set_ylabel(f"every {step}th case is named", fontsize="small", color=SOFT)


def _title(timeline: Timeline, cases: int) -> str:
    rows = timeline.occurrences
    moved = sum(row.bytes or 0 for row in rows)
    took = sum(row.end_s - row.start_s for row in rows)
    name = shorten(make_printable(timeline.activity), 60)
    amount = f", {byte_text(moved)}" if any(row.bytes is not None for row in rows) else ""
    text = f"{name}: {len(rows):,} calls in {cases:,} case{'s' * (cases != 1)}, {duration_text(took)} in all{amount}"
    return text + (f"; {timeline.left_out:,} later ones are left out" if timeline.left_out else "")
