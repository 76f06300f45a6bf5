"""How a run is shown while it goes on: a status area in a terminal, or one line a prediction elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Protocol, TextIO

from rich.console import Console
from rich.text import Text

from ..events.models import Prediction
from .lines import next_phase_text, prediction_line, sparkline
from .status_area import StatusArea
from .units import byte_text, duration_text, rate_text

HEIGHT = 3


class LiveView(Protocol):
    """What shows a run; all calls come from one thread."""

    def predicted(self, prediction: Prediction) -> None:
        """Takes in a new prediction."""
        ...

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Takes in the bytes moved so far, the bandwidth now, and that of each bin until now (bytes/s)."""
        ...

    def close(self) -> None:
        """Gives the terminal back."""
        ...


def open_view(stream: TextIO, *, quiet: bool) -> LiveView:
    """Chooses the view that fits the stream."""
    if quiet:
        return SilentView()
    if StatusArea.fits(stream, HEIGHT):
        return AreaView(stream)
    return LineView(stream)


class SilentView:
    """Shows nothing."""

    def predicted(self, prediction: Prediction) -> None:
        """Shows nothing."""

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Has nothing to give back."""


class LineView:
    """Prints a line when a prediction says something else than the line before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._found: bool | None = None
        self._closed = False

    def predicted(self, prediction: Prediction) -> None:
        """Prints the prediction; of a row that finds no rhythm, only the first."""
        if self._closed:
            return
        found = prediction.period_s is not None
        if found or self._found is not found:
            print(f"iotide: {prediction_line(prediction, with_job=False)}", file=self._stream, flush=True)
        self._found = found

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Lines come with predictions only."""

    def close(self) -> None:
        """Prints no more."""
        self._closed = True


class AreaView:
    """Bandwidth, period and a countdown to the next phase, at the bottom of a terminal."""

    def __init__(self, terminal: TextIO) -> None:
        self._area = StatusArea(terminal, HEIGHT)
        self._area.open()
        self._prediction: Prediction | None = None

    def predicted(self, prediction: Prediction) -> None:
        """Shows the prediction from the next tick on."""
        self._prediction = prediction

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Draws the area anew."""
        width = self._area.width
        head = f" {rate_text(rate):>10}  {byte_text(moved):>9} "
        wave = sparkline(bandwidth[-4 * (width - len(head) - 12) :], width - len(head) - 12)
        self._area.show(
            [
                self._styled(Text.assemble((" iotide ", "bold white on dark_cyan"), (head, "dim"), (wave, "cyan"))),
                self._styled(self._rhythm()),
                self._styled(self._upcoming(now_s)),
            ]
        )

    def close(self) -> None:
        """Gives the rows back."""
        self._area.close()

    def _rhythm(self) -> Text:
        prediction = self._prediction
        if prediction is None:
            return Text(" waiting for I/O", style="dim")
        if prediction.period_s is None:
            seen = prediction.window.end_s - prediction.window.start_s
            return Text(f" no rhythm ({duration_text(seen)} seen)", style="dim")
        period = prediction.period_s
        return Text.assemble(
            " period " if prediction.periodic else " perhaps a period of ",
            (duration_text(period.value), "bold"),
            f" ({duration_text(period.low)} to {duration_text(period.high)})   confidence ",
            (f"{prediction.confidence:.0%}", "bold"),
        )

    def _upcoming(self, now_s: float) -> Text:
        return Text(f" {next_phase_text(self._prediction, now_s)}" if self._prediction else "")

    def _styled(self, text: Text) -> str:
        text.truncate(self._area.width, overflow="ellipsis")
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=self._area.width + 1, color_system="256").print(text, end="")
        return out.getvalue()
