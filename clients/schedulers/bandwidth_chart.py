"""Bandwidth of each job over time under each policy, as one SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...scheduling.protocol import JobState
from ..drawing.charts import SOFT, rate_unit, time_unit
from ..drawing.svg_chart import Chart
from .fluid import Job

BINS: Final = 900
_COLOURS: Final = (
    "#0b6e99", "#d9822b", "#7a3e9d", "#3a7d44", "#c0392b", "#1f9e9e", "#b8860b", "#5c6bc0", "#8d4b32", "#d16ba5",
)  # fmt: skip
_HEIGHT: Final = 230.0
_HEAD: Final = 34.0
_OTHERS: Final = "others"


class Groups:
    """Grouping of jobs in the chart. Groups are single jobs, or classes if there are more jobs than colours."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        named = [job.name for job in jobs]
        if len(jobs) > len(_COLOURS):
            named = [job.kind or job.name for job in jobs]
        kept = list(dict.fromkeys(named))
        if len(kept) > len(_COLOURS):
            kept = kept[: len(_COLOURS) - 1]
        self.names = kept + ([_OTHERS] if len(kept) < len(set(named)) else [])
        places = {name: place for place, name in enumerate(kept)}
        self.of_job = [places.get(name, len(kept)) for name in named]

    def colour(self, place: int) -> str:
        """Return the colour of a group."""
        return SOFT if self.names[place] == _OTHERS else _COLOURS[place % len(_COLOURS)]


class Shares:
    """Exact bandwidth of each group in time bins; a recorder of ``simulate``."""

    def __init__(self, groups: Groups, from_s: float, to_s: float, bins: int = BINS) -> None:
        self._groups = groups
        self._from, self._width, self._bins = from_s, (to_s - from_s) / bins, bins
        self.moved = [[0.0] * bins for _ in groups.names]

    def __call__(self, begin: float, end: float, waiting: Sequence[JobState], shares: Sequence[float]) -> None:
        """Add an interval with constant rates."""
        first = max(0, int((begin - self._from) / self._width))
        last = min(self._bins - 1, int((end - self._from) / self._width))
        for place in range(first, last + 1):
            low = self._from + place * self._width
            lasting = min(end, low + self._width) - max(begin, low)
            if lasting > 0:
                for state, share in zip(waiting, shares, strict=True):
                    self.moved[self._groups.of_job[state.number]][place] += share * lasting

    def rates(self) -> list[list[float]]:
        """Return the bytes/s of each group in each bin."""
        return [[moved / self._width for moved in row] for row in self.moved]


def draw(results: Mapping[str, Shares], groups: Groups, bandwidth: float, window_s: tuple[float, float]) -> str:
    """Draw one panel per policy, all with the same axes.

    Args:
        results: recorded bandwidth under each policy.
        groups: grouping of the jobs.
        bandwidth: bytes/s that all jobs share.
        window_s: start and end of the drawn interval.

    Returns:
        An SVG document.
    """
    unit, rate = time_unit(window_s[1] - window_s[0]), rate_unit(bandwidth)
    low, high = (moment / unit.factor for moment in window_s)
    panels = []
    for number, (policy, shares) in enumerate(results.items()):
        chart = Chart(_HEIGHT, (low, high), (0.0, 1.05 * bandwidth / rate.factor))
        edges = [low + (high - low) * place / BINS for place in range(BINS + 1)]
        below = [0.0] * BINS
        for place, row in enumerate(shares.rates()):
            above = [under + value / rate.factor for under, value in zip(below, row, strict=True)]
            chart.steps(edges, below, above, groups.colour(place), opacity=0.9)
            below = above
        chart.legend(policy, "#ffffff")
        if number == 0:
            for place, name in enumerate(groups.names):
                chart.legend(name, groups.colour(place))
        if number == len(results) - 1:
            chart.label_x(f"{unit.name} since the start")
        chart.label_y(rate.name)
        at = f'y="{_HEAD + number * _HEIGHT:.0f}" width="1000" height="{_HEIGHT:.0f}" '
        panels.append(chart.text().replace("<svg ", f"<svg {at}", 1))
    whole = _HEAD + len(results) * _HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {whole:.0f}" width="1000" height="{whole:.0f}">'
        f'<rect width="1000" height="{whole:.0f}" fill="#ffffff"/>'
        '<text x="500" y="22" text-anchor="middle" font-family="system-ui, sans-serif" font-size="16" fill="#1b2733">'
        f"Bandwidth by policy</text>{''.join(panels)}</svg>\n"
    )
