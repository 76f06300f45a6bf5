"""A layers report as one offline HTML file: tree and timeline, files, collectives, request sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import jinja2

from ...results.layers import Collective, FileLayers, HandleNode, Layers, LayersReport, Mark, Operation, SizeRow
from ..templating import page_template
from ..text.units import byte_text, caller_name, layer_name, time_text
from .labels import fate_text, most_important, nesting_text, note_lines, scope_text

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


MAX_NODES: Final = 80
MAX_FILES: Final = 40
_MAX_COLLECTIVES: Final = 8
_MAX_RANKS: Final = 24
_MAX_MACHINES: Final = 24
# white text on each has a contrast of 4.5 or more
_LAYER_ROWS: Final = {
    "NETCDF": "#7a4fa3", "PNETCDF": "#8a5bb3", "HDF5": "#b04a6f", "MPIIO": "#0b6e99", "STDIO": "#4f7830",
    "POSIX": "#3c4a57", "KERNEL": "#6a7279", "OTHER": "#7d6c42",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A handle and its lane."""

    node: HandleNode
    bars: list[Bar]
    above: str
    """Ids of its ancestor nodes, for folding."""
    folds: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """Use of a file by a layer."""

    moving: int
    bytes: int
    opens: int
    others: int
    callers: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SizeLine:
    """Sizes of requests of one kind."""

    caller: str
    layer: str
    way: str
    calls: int
    shares: list[float]
    """Counts by size, relative to the most frequent size."""
    counts: list[int]


def page_of(report: LayersReport, *, refresh_s: float | None = None, lost: Sequence[str] = ()) -> str:
    """Render the page; names of programs and files are escaped.

    Args:
        report: the report.
        refresh_s: interval at which the page reloads itself, s.
        lost: sentences on losses in transit.
    """
    layers = report.layers
    start_s, span_s = time_axis(layers)
    rows = _rows(layers)
    sizes = _sizes(layers.sizes)
    files = most_important(layers.files, MAX_FILES)
    several = [row for row in layers.collectives if row.processes > 1]
    return _template().render(
        report=report,
        lost=lost,
        layers=layers,
        nesting=nesting_text(layers),
        notes=list(note_lines(layers)),
        colours=COLOURS,
        layer_colours=_LAYER_ROWS,
        width=WIDTH,
        rows=rows,
        rows_left_out=len(layers.handles) - len(rows) + layers.handles_left_out,
        ticks=axis_ticks(span_s),
        start_s=start_s,
        span_s=span_s,
        names=[row.layer for row in layers.layers],
        machines=layers.host_layers[:_MAX_MACHINES] if len({row.host for row in layers.host_layers}) > 1 else [],
        machines_left_out=len(layers.host_layers) - _MAX_MACHINES + layers.host_layers_left_out,
        files=[(row, _cells(row)) for row in files],
        files_left_out=len(layers.files) - len(files) + layers.files_left_out,
        collectives=sorted(several, key=lambda row: (not row.bytes, -row.seconds))[:_MAX_COLLECTIVES],
        most_ranks=_MAX_RANKS,
        longest={row.call + row.file: _longest(row) for row in layers.collectives},
        sizes=sizes,
        size_names=_size_names(layers.sizes),
        refresh_s=refresh_s,
    )


@cache
def _template() -> jinja2.Template:
    return page_template(
        "layers.html", duration=time_text, layer=layer_name, caller=caller_name, fate=fate_text, scope=scope_text
    )


def _rows(layers: Layers) -> list[Row]:
    """Return the first handles with their lanes, parents before children."""
    kept = layers.handles[:MAX_NODES]
    nodes = {row.node: row for row in kept}
    lanes = layer_lanes(layers, [row.node for row in kept])
    parents = {row.parent for row in kept}
    made = []
    for row in kept:
        above, at_parent = [], row.parent
        while at_parent in nodes:
            above.append(f"n{at_parent}")
            at_parent = nodes[at_parent].parent
        made.append(Row(row, lanes[row.node], " ".join(above), row.node in parents))
    return made


def _cells(file: FileLayers) -> dict[str, Cell]:
    made: dict[str, Cell] = {}
    for name in {access.layer for access in file.accesses}:
        rows = [access for access in file.accesses if access.layer == name]
        made[name] = Cell(
            moving=sum(row.reads + row.writes for row in rows),
            bytes=sum(row.bytes_read + row.bytes_written for row in rows),
            opens=sum(row.opens for row in rows),
            others=sum(row.calls - row.reads - row.writes - row.opens - row.closes for row in rows),
            seconds=sum(row.exclusive_seconds for row in rows),
            callers=", ".join(sorted({caller_name(row.caller) for row in rows})),
        )
    return made


def _longest(collective: Collective) -> float:
    return max((row.seconds for row in collective.ranks), default=0.0) or 1.0


def _size_names(sizes: Sequence[SizeRow]) -> list[str]:
    return [_power_text(size) for size in _powers(sizes)]


def _powers(sizes: Sequence[SizeRow]) -> list[int]:
    """Return the occurring sizes and all powers between them."""
    known = sorted({row.from_bytes for row in sizes})
    if not known:
        return []
    powers = [0] if known[0] == 0 else []
    at = max(1, known[0] or (known[1] if len(known) > 1 else 1))
    while at <= known[-1]:
        powers.append(at)
        at *= 2
    return powers


def _power_text(size: int) -> str:
    for unit, factor in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if size >= factor:
            return f"{size // factor}{unit}"
    return str(size)


def _sizes(sizes: Sequence[SizeRow]) -> list[SizeLine]:
    powers = _powers(sizes)
    lines: dict[tuple[str, str, str], dict[int, int]] = {}
    for row in sizes:
        lines.setdefault((row.caller, row.layer, row.way), {})[row.from_bytes] = row.calls
    made = []
    for (caller, layer, way), counts in lines.items():
        most = max(counts.values())
        there = [counts.get(power, 0) for power in powers]
        made.append(SizeLine(caller, layer, way, sum(there), [count / most for count in there], there))
    order = {name: at for at, name in enumerate(_LAYER_ROWS)}
    return sorted(made, key=lambda line: (order.get(line.layer, 9), line.way, line.caller))
