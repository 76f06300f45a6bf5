"""Live view of a run. It is a status area in a terminal, otherwise one line per prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TextIO

from ...results.prediction import Prediction
from ..text.prediction_text import prediction_lines
from .status_area import HEIGHT, StatusArea


class LiveView(Protocol):
    """A view of a run; all calls but ``end`` come from one thread."""

    @property
    def is_animated(self) -> bool:
        """True if ``tick`` displays something."""
        ...

    def show_prediction(self, prediction: Prediction) -> None:
        """Set a new prediction."""
        ...

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Set the bytes moved so far and the current bandwidth. Also set that of each bin until now (bytes/s)."""
        ...

    def end(self) -> None:
        """Stop displaying predictions; later ones include time after the command's end. Thread-safe."""
        ...

    def close(self) -> None:
        """Release the terminal."""
        ...


def open_view(stream: TextIO, *, quiet: bool) -> LiveView:
    """Return the view that fits the stream."""
    if quiet:
        return SilentView()
    if StatusArea.fits(stream, HEIGHT):
        from .area_view import AreaView  # imports Rich, which only a terminal needs

        return AreaView(stream)
    return LineView(stream)


class SilentView:
    """A view that shows nothing."""

    is_animated = False

    def show_prediction(self, prediction: Prediction) -> None:
        """Show nothing."""

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class LineView:
    """Prints a line for each prediction with a period. Without a period it prints a line for changes of the state."""

    is_animated = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._found: bool | str | None = None
        self._closed = False

    def show_prediction(self, prediction: Prediction) -> None:
        """Print the prediction; of successive predictions without a period only the first."""
        if self._closed:
            return
        found = "incomplete" if prediction.incomplete else prediction.period_s is not None
        if found is True or self._found != found:
            for line in prediction_lines(prediction, with_job=False):
                print(f"iotide: {line}", file=self._stream, flush=True)
        self._found = found

    def tick(self, now_s: float, moved: int, rate: float, bandwidth: Sequence[float]) -> None:
        """Do nothing: lines are only printed with predictions."""

    def end(self) -> None:
        """Stop printing."""
        self._closed = True

    def close(self) -> None:
        """Stop printing."""
        self._closed = True
