"""Data of the charts of a finished trace. They are columns, in the units of the public results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct

if TYPE_CHECKING:  # not needed to draw one signal, which each report does
    from ..prediction import OtherPeriod, Prediction
    from .analysis import Validity, WaveletView
    from .replay import Replay

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]


class TraceSignal(Struct, frozen=True, eq=False):
    """Bandwidth over time, separately for reads and writes.

    Attributes:
        start_s: start of the first bin.
        bin_s: length of a bin.
        read: bytes/s in each bin, float64; zeros if only writes were requested.
        written: bytes/s in each bin, of the same length.
    """

    start_s: float
    bin_s: float
    read: Floats
    written: Floats

    @property
    def total(self) -> Floats:
        """Read and writes together."""
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
    """The spectrum in which candidates were searched, and the autocorrelation.

    Attributes:
        frequency_hz: frequency of each bin, ascending, without the mean.
        power: |X_k|^2 / N of each bin.
        threshold: power above which a bin is an outlier; None for methods without a threshold.
        candidates: bins that may contain the dominant frequency.
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
    """A period of other members, with its own phases and replay (None: not possible)."""

    other: OtherPeriod
    phases: PhaseColumns
    replay: Replay | None


class PlotData(Struct, frozen=True, eq=False):
    """All data of the charts of one trace. ``notes`` lists what is left out and why.

    Attributes:
        signal: of the members that have the reported period; so are phases, spectrum, replay and wavelet.
        whole: signal of all members, if not all have the period.
        beside: the periods of other members, in the order of the prediction.
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
