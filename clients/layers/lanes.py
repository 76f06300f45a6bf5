"""The timeline of handles: operations of each as bars on lanes with a common axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...results.layers import Layers, Mark, Operation
from ..text.units import byte_text, time_text

WIDTH: Final = 4000
"""Width of a lane in units; bars closer than one unit are merged."""
_MIN_WIDTH: Final = 6.0
_TICKS: Final = 6
_STEPS: Final = (1, 2, 5)
COLOURS: Final[dict[Operation, str]] = {
    "read": "#e07b1f",
    "write": "#e9b90c",
    "open": "#2f6fc4",
    "close": "#3a9a57",
    "other": "#aab3bd",
}
_ORDER: Final[tuple[Operation, ...]] = ("other", "read", "write", "open", "close")
"""Drawing order; later ones are on top. Opens and closes are last, as they are few and short."""


@dataclass(slots=True)
class Bar:
    """Operations of one kind that are drawn as one bar."""

    operation: Operation
    left: float
    right: float
    calls: int
    seconds: float
    bytes: int
    start_s: float
    """Seconds since the start of the axis."""

    @property
    def width(self) -> float:
        """Visible width."""
        return max(_MIN_WIDTH, self.right - self.left)

    @property
    def text(self) -> str:
        """Text of the tooltip."""
        size = f", {byte_text(self.bytes)}" if self.operation in ("read", "write") else ""
        times = f"{self.calls:,} calls" if self.calls != 1 else "1 call"
        return f"{self.operation}: {times} in {time_text(self.seconds)}{size}, at {time_text(self.start_s)}"


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of the axis."""

    at: float
    """Position as a share of the axis, percent."""
    text: str


def layer_lanes(layers: Layers, nodes: Sequence[int]) -> dict[int, list[Bar]]:
    """Return the bars of the given nodes, in drawing order."""
    lanes: dict[int, list[Bar]] = {node: [] for node in nodes}
    start_s, span = time_axis(layers)
    marks: dict[tuple[int, Operation], list[Mark]] = {}
    for mark in layers.marks:
        if mark.node in lanes:
            marks.setdefault((mark.node, mark.operation), []).append(mark)
    for operation in _ORDER:
        for node in nodes:
            lanes[node] += _bars(marks.get((node, operation), ()), start_s, span)
    return lanes


def time_axis(layers: Layers) -> tuple[float, float]:
    """Return start and length of the axis, s."""
    firsts, lasts = [mark.start_s for mark in layers.marks], [mark.end_s for mark in layers.marks]
    start_s = min(firsts, default=layers.first_s)
    return start_s, max(max(lasts, default=layers.last_s) - start_s, 1e-9)


def axis_ticks(span_s: float) -> list[Tick]:
    """Return round ticks on an axis that begins at 0."""
    step = next(
        size for power in range(-9, 12) for factor in _STEPS if (size := factor * 10.0**power) * _TICKS >= span_s
    )
    count = int(span_s / step + 1e-9)
    return [Tick(100 * at * step / span_s, time_text(at * step) if at else "0") for at in range(count + 1)]


def _bars(marks: Sequence[Mark], start_s: float, span_s: float) -> list[Bar]:
    bars: list[Bar] = []
    for mark in marks:
        left, right = ((at - start_s) / span_s * WIDTH for at in (mark.start_s, mark.end_s))
        last = bars[-1] if bars else None
        if last is not None and left - last.right < 1:
            last.right = max(last.right, right)
            last.calls += mark.calls
            last.seconds += mark.seconds
            last.bytes += mark.bytes
        else:
            at_s = mark.start_s - start_s
            bars.append(Bar(mark.operation, left, right, mark.calls, mark.seconds, mark.bytes, at_s))
    return bars
