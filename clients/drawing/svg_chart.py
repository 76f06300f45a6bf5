"""One chart as SVG: axes with round ticks, steps, lines, bands and a legend. Needs no drawing library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

Point: TypeAlias = tuple[float, float]
Row = TypeVar("Row", bound=tuple[float, ...])

_WIDTH: Final = 1000.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 76.0, 30.0, 46.0
_MAX_TICKS: Final = 8
_LETTER: Final = 7.2
"""Approximate width of a letter of the legend."""
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_MIN_STEP: Final = 1e-300
"""Far above the limit of float precision."""
_GRID: Final = 0.5
"""Distance in SVG units, which are about pixels, at which values are the same."""


def round_ticks(low: float, high: float, most: int = _MAX_TICKS) -> list[float]:
    """Return at most ``most`` round numbers from ``low`` to ``high``, evenly spaced.

    >>> round_ticks(0, 1.3), round_ticks(0, 7)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    """
    if not (math.isfinite(low) and math.isfinite(high) and (high - low) / most >= _MIN_STEP):
        return [low] if math.isfinite(low) else []
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        (factor * power for factor in _STEPS if (high - low) / (factor * power) <= most - 1), _STEPS[-1] * 2 * power
    )
    first = math.ceil(low / step - 1e-9)
    ticks = (round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1))
    return list(dict.fromkeys(ticks))[:most]  # large, close numbers may be rounded to the same tick


class Chart:
    """A chart whose methods take data in axis units. Anything outside of the axes is clipped.

    Args:
        height: total height in SVG units; the width is 1000.
        x: limits of the horizontal axis.
        y: limits of the vertical axis.
    """

    def __init__(self, height: float, x: tuple[float, float], y: tuple[float, float]) -> None:
        self._height = height
        self._x, self._y = _widened(x), _widened(y)
        self._drawn: list[str] = []
        self._axes: list[str] = []
        self._legend_at = _LEFT

    def steps(
        self, edges: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str, opacity: float = 0.8
    ) -> None:
        """Fill between two rows of steps; ``edges`` has one more element. Steps of equal height are joined."""
        x = [_text(self._at_x(edge)) for edge in edges]
        bottoms = [_on_grid(self._at_y(value)) for value in low]
        # A step is visible, however small it is.
        tops = [
            min(_on_grid(self._at_y(value)), bottom - _GRID) if value > under else bottom
            for value, under, bottom in zip(high, low, bottoms, strict=True)
        ]
        path = "".join(_outline(x, bottoms, tops, *filled) for filled in _filled_ranges(bottoms, tops))
        if path:
            self._drawn.append(f'<path d="{path}" fill="{colour}" fill-opacity="{opacity}"/>')

    def line(
        self, x: Sequence[float], y: Sequence[float], colour: str, *, width: float = 1.5, dots: bool = False
    ) -> None:
        """Draw a line through points; a non-finite point interrupts it."""
        path = ""
        for stretch in _finite_stretches(zip(x, y, strict=True)):
            points = [(self._at_x(at), self._at_y(value)) for at, value in stretch]
            path += "M" + "L".join(f"{_text(at)} {_text(value)}" for at, value in _thinned(points))
            if dots:
                self._drawn += [
                    f'<circle cx="{_text(at)}" cy="{_text(value)}" r="2.5" fill="{colour}"/>' for at, value in points
                ]
        if path:
            self._drawn.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> None:
        """Fill between two lines, separately for each run of finite points."""
        for stretch in _finite_stretches(zip(x, low, high, strict=True)):
            there = _thinned([(self._at_x(at), self._at_y(top)) for at, _, top in stretch])
            back = _thinned([(self._at_x(at), self._at_y(bottom)) for at, bottom, _ in reversed(stretch)])
            points = " ".join(f"{_text(at)},{_text(value)}" for at, value in (*there, *back))
            self._drawn.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.2"/>')

    def mark(self, x: float, colour: str, *, dotted: bool = False) -> None:
        """Draw a vertical line over the whole height."""
        at = self._at_x(x)
        dash = ' stroke-dasharray="1.5 3"' if dotted else ""
        self._drawn.append(
            f'<path d="M{at:.1f} {_TOP}V{self._height - _BOTTOM}" stroke="{colour}" stroke-width="1"{dash}/>'
        )

    def box(self, x: tuple[float, float], y: tuple[float, float], colour: str) -> None:
        """Draw a rectangle."""
        left, right = (self._at_x(at) for at in x)
        bottom, top = (self._at_y(at) for at in y)
        self._drawn.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{bottom - top:.1f}" '
            f'fill="{colour}" fill-opacity="0.15" stroke="{colour}" stroke-dasharray="5 3"/>'
        )

    def legend(self, text: str, colour: str, opacity: float = 0.8) -> None:
        """Add a legend entry above the data."""
        at = self._legend_at
        self._axes.append(
            f'<rect x="{at:.0f}" y="8" width="14" height="10" fill="{colour}" fill-opacity="{opacity}"/>'
            f'<text x="{at + 19:.0f}" y="17">{escape(text)}</text>'
        )
        self._legend_at += 19 + _LETTER * len(text) + 22

    def label_x(self, text: str) -> None:
        """Draw ticks and name of the horizontal axis."""
        base = self._height - _BOTTOM
        for tick in round_ticks(*self._x, most=11):
            at = self._at_x(tick)
            self._axes.append(
                f'<path d="M{at:.1f} {base}v5" stroke="#1b2733"/>'
                f'<text x="{at:.1f}" y="{base + 19}" text-anchor="middle">{tick:.6g}</text>'
            )
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        self._axes.append(f'<text x="{middle}" y="{self._height - 8}" text-anchor="middle">{escape(text)}</text>')

    def label_y(self, text: str, colour: str = "#1b2733", *, right: bool = False, top: float | None = None) -> None:
        """Draw ticks and name of the vertical axis.

        Args:
            text: the name.
            colour: colour of the text.
            right: draw the axis at the right.
            top: value at the top for a second scale from 0; by default the limits of the axis.
        """
        low, high = self._y if top is None else (0.0, top)
        edge, out = (_WIDTH - _RIGHT, 1) if right else (_LEFT, -1)
        anchor = "start" if right else "end"
        for tick in round_ticks(low, high, most=6):
            at = self._at_y(self._y[0] + (tick - low) / (high - low) * (self._y[1] - self._y[0]))
            self._axes.append(
                f'<path d="M{edge} {at:.1f}h{5 * out}" stroke="#1b2733"/>'
                f'<text x="{edge + 9 * out}" y="{at + 4:.1f}" text-anchor="{anchor}" fill="{colour}">{tick:.6g}</text>'
            )
        middle, place = (_TOP + self._height - _BOTTOM) / 2, edge + 58 * out
        self._axes.append(
            f'<text transform="translate({place} {middle}) rotate(-90)" text-anchor="middle" fill="{colour}">'
            f"{escape(text)}</text>"
        )

    def text(self) -> str:
        """Return the SVG element."""
        base, width, high = self._height - _BOTTOM, _WIDTH - _LEFT - _RIGHT, self._height - _BOTTOM - _TOP
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {self._height:.0f}" '
            'font-family="system-ui, sans-serif" font-size="13" fill="#1b2733">'
            f'<svg x="{_LEFT}" y="{_TOP}" width="{width}" height="{high}" viewBox="{_LEFT} {_TOP} {width} {high}">'
            f"{''.join(self._drawn)}</svg>"
            f'<path d="M{_LEFT} {_TOP}V{base}H{_WIDTH - _RIGHT}" fill="none" stroke="#1b2733"/>'
            f"{''.join(self._axes)}</svg>"
        )

    def _at_x(self, value: float) -> float:
        low, high = self._x
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def _at_y(self, value: float) -> float:
        low, high = self._y
        return self._height - _BOTTOM - (value - low) / (high - low) * (self._height - _BOTTOM - _TOP)


def _widened(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    return (low, high) if high > low else (low, low + 1.0)


def _text(value: float) -> str:
    """Return a coordinate with one digit after the point.

    >>> _text(76.0), _text(183.94)
    ('76', '183.9')
    """
    return f"{value:.1f}".removesuffix(".0")


def _on_grid(value: float) -> float:
    return round(value / _GRID) * _GRID


def _filled_ranges(bottoms: Sequence[float], tops: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of steps that have a height."""
    begin = 0
    for filled, steps in groupby(zip(bottoms, tops, strict=True), key=lambda step: step[0] > step[1]):
        end = begin + len(list(steps))
        if filled:
            yield begin, end
        begin = end


def _outline(x: Sequence[str], bottoms: Sequence[float], tops: Sequence[float], begin: int, end: int) -> str:
    """Return the path around a range of steps, with a corner only where the height changes."""
    up = "".join(f"H{x[i]}V{_text(tops[i])}" for i in range(begin + 1, end) if tops[i] != tops[i - 1])
    down = "".join(
        f"H{x[i]}V{_text(bottoms[i - 1])}" for i in range(end - 1, begin, -1) if bottoms[i] != bottoms[i - 1]
    )
    return f"M{x[begin]} {_text(bottoms[begin])}V{_text(tops[begin])}{up}H{x[end]}V{_text(bottoms[end - 1])}{down}Z"


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Return the points of a line without those between two others of the same height."""
    heights = [_on_grid(height) for _, height in points]
    last = len(points) - 1
    return [
        point
        for i, point in enumerate(points)
        if not 0 < i < last or heights[i - 1] != heights[i] or heights[i] != heights[i + 1]
    ]


def _finite_stretches(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the runs of rows whose numbers are all finite."""
    stretches: list[list[Row]] = [[]]
    for row in rows:
        if all(map(math.isfinite, row)):
            stretches[-1].append(row)
        elif stretches[-1]:
            stretches.append([])
    return [stretch for stretch in stretches if stretch]
