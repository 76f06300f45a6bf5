"""What pictures of a finished trace are drawn from: columns, in the units of the public results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct

if TYPE_CHECKING:  # none of these is needed to draw one signal, which each report does
    from ..prediction import OtherPeriod, Prediction
    from .analysis import Validity, WaveletView
    from .replay_evaluation import Replay

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]


class TraceSignal(Struct, frozen=True, eq=False):
    """Bandwidth over time, reads and writes apart.

    Attributes:
        start_s: start of the first bin.
        bin_s: length of a bin.
        read: bytes/s in each bin, float64; zeros where only writes were asked for.
        written: bytes/s in each bin, of the same length.
    """

    start_s: float
    bin_s: float
    read: Floats
    written: Floats

    @property
    def total(self) -> Floats:
        """Reads and writes together."""
        return self.read + self.written

    @property
    def end_s(self) -> float:
        """End of the last bin."""
        return self.start_s + len(self.written) * self.bin_s


class PhaseColumns(Struct, frozen=True, eq=False):
    """I/O phases in order of time; float64 arrays of equal length, seconds and bytes."""

    start_s: Floats
    end_s: Floats
    volume_bytes: Floats

    def __len__(self) -> int:
        return len(self.start_s)


class SpectrumColumns(Struct, frozen=True, eq=False):
    """The spectrum in which candidates were looked for, and the autocorrelation.

    Attributes:
        frequency_hz: of each bin, ascending, the mean left out.
        power: |X_k|^2 / N of each bin.
        threshold: the power above which a bin is an outlier; None where that is not told by a threshold.
        candidates: bins that may hold the dominant frequency.
        harmonics: outlying bins that are multiples of a candidate.
        lag_s: lags of the autocorrelation, from 0.
        autocorrelation: its values, 1 at lag 0.
    """

    frequency_hz: Floats
    power: Floats
    threshold: float | None
    candidates: Positions
    harmonics: Positions
    lag_s: Floats
    autocorrelation: Floats


class PeriodPanel(Struct, frozen=True, eq=False):
    """A period that others have beside the main one, with its own phases and replay (None: none can be made)."""

    other: OtherPeriod
    phases: PhaseColumns
    replay: Replay | None


class PlotData(Struct, frozen=True, eq=False):
    """All that the pictures of one trace show; ``notes`` says what is left out and why.

    Attributes:
        signal: of those who have the period that was found; so are phases, spectrum, replay and wavelet.
        whole: that of all, where it is not the period of all.
        beside: the periods of others, in the order of the prediction.
    """

    prediction: Prediction
    signal: TraceSignal
    phases: PhaseColumns
    spectrum: SpectrumColumns
    replay: Replay | None
    wavelet: WaveletView | None = None
    validity: Validity | None = None
    notes: tuple[str, ...] = ()
    whole: TraceSignal | None = None
    beside: tuple[PeriodPanel, ...] = ()
