"""Live view of a run in a terminal: three rows at the bottom."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ...results.prediction import Prediction
from ..text.headline import group_period_text, make_headline
from ..text.prediction_text import next_phase_text, sparkline, time_limit_text
from ..text.units import byte_text, rate_text
from .status_area import HEIGHT, StatusArea


class AreaView:
    """Bandwidth, period and a countdown to the next phase, at the bottom of a terminal."""

    is_animated = True

    def __init__(self, terminal: TextIO) -> None:
        self._area = StatusArea(terminal, HEIGHT)
        self._area.open()
        self._prediction: Prediction | None = None
        self._ended = False

    def show_prediction(self, prediction: Prediction) -> None:
        """Show the prediction from the next tick on."""
        if not self._ended:
            self._prediction = prediction

    def end(self) -> None:
        """Keep the prediction that is shown."""
        self._ended = True

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Redraw the area."""
        width = self._area.width
        head = f" {rate_text(rate):>10}  {byte_text(moved):>9} "
        wave = sparkline(bandwidth[-4 * (width - len(head) - 12) :], width - len(head) - 12)
        self._area.show(
            [
                self._styled(Text.assemble((" iotide ", "bold white on dark_cyan"), (head, "dim"), (wave, "cyan"))),
                self._styled(self._periodicity()),
                self._styled(self._upcoming(now_s)),
            ]
        )

    def close(self) -> None:
        """Release the rows."""
        self._area.close()

    def _periodicity(self) -> Text:
        prediction = self._prediction
        if prediction is None:
            return Text(" waiting for I/O", style="dim")
        headline = make_headline(prediction)
        notes = f" ({', '.join(headline.notes)})" if headline.notes else ""
        if not headline.found:
            return Text(f" {headline.period}{notes}", style="yellow" if prediction.incomplete else "dim")
        return Text.assemble(
            " period " if prediction.periodic else " perhaps a period of ",
            (headline.period, "bold"),
            f"{notes}   confidence ",
            (headline.confidence, "bold"),
        )

    def _upcoming(self, now_s: float) -> Text:
        if self._prediction is None:
            return Text("")
        beside = [each for each in self._prediction.others if each.relation == "beside"]
        limit = self._prediction.time_limit
        ending = "" if limit is None else time_limit_text(limit)
        parts = [next_phase_text(self._prediction.next_phase, now_s), ending, *map(group_period_text, beside)]
        return Text(f" {'; '.join(filter(None, parts))}")

    def _styled(self, text: Text) -> str:
        text.truncate(self._area.width, overflow="ellipsis")
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=self._area.width + 1, color_system="256").print(text, end="")
        return out.getvalue()
