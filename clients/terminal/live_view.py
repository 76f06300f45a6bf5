"""How a run is shown while it goes on: a status area in a terminal, or one line a prediction elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TextIO

from ...results.prediction import Prediction
from ..text.prediction_text import prediction_lines
from .status_area import HEIGHT, StatusArea


class LiveView(Protocol):
    """What shows a run; all calls come from one thread."""

    @property
    def moves(self) -> bool:
        """True where ``tick`` shows something."""
        ...

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
        from .area_view import AreaView  # which brings Rich, that nothing but a terminal needs

        return AreaView(stream)
    return LineView(stream)


class SilentView:
    """Shows nothing."""

    moves = False

    def predicted(self, prediction: Prediction) -> None:
        """Shows nothing."""

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Has nothing to give back."""


class LineView:
    """Prints a prediction that says something else than the one before: a line for each period."""

    moves = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._found: bool | str | None = None
        self._closed = False

    def predicted(self, prediction: Prediction) -> None:
        """Prints the prediction; of a row that finds no period, or claims none, only the first."""
        if self._closed:
            return
        found = "incomplete" if prediction.incomplete else prediction.period_s is not None
        if found is True or self._found != found:
            for line in prediction_lines(prediction, with_job=False):
                print(f"iotide: {line}", file=self._stream, flush=True)
        self._found = found

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Lines come with predictions only."""

    def close(self) -> None:
        """Prints no more."""
        self._closed = True
