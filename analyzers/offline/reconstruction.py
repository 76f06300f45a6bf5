"""Reconstruction of a signal from its mean and its strongest cosines. Source: [FTIO], Eq. 4."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...results.traces.analysis import Reconstruction, Wave
from ..periodicity.spectrum.spectrum import Floats, spectrum_of

_ROUNDING: Final = 1e-12  # relative amplitude of rounding errors


def reconstruct(values: Floats, bin_s: float, start_s: float, count: int) -> Reconstruction:
    """Select the ``count`` strongest frequencies of a signal, and compute the residual.

    x_n = (1/N) [X_0 + sum_k 2 |X_k| cos(2 pi k n / N + arg X_k)], with the Nyquist term not doubled (Eq. 4).

    Args:
        values: bandwidth in bins of equal length, bytes/s.
        bin_s: length of a bin, s.
        start_s: start of the first bin, s.
        count: maximum number of waves; all waves together reproduce the signal.
    """
    spectrum = spectrum_of(values, 1 / bin_s)
    amplitude, frequency = spectrum.amplitude, spectrum.frequency_hz
    # Parseval: the variance of a cosine is half of its squared amplitude, at the Nyquist frequency all of it
    variance = 0.5 * np.square(amplitude)
    if len(values) % 2 == 0 and len(variance):
        variance[-1] *= 2
    total = float(variance.sum())
    order = np.argsort(-variance, kind="stable")[:count]
    order = order[variance[order] > (_ROUNDING * float(values.max(initial=0.0))) ** 2]
    return Reconstruction(
        start_s=start_s,
        mean=float(values.mean()) if len(values) else 0.0,
        waves=[
            Wave(
                frequency_hz=float(frequency[k]),
                period_s=float(1 / frequency[k]),
                amplitude=float(amplitude[k]),
                phase_rad=float(np.angle(spectrum.transform[k])),
                share=min(float(variance[k]) / total, 1.0),
            )
            for k in order
        ],
        relative_residual=math.sqrt(max(1 - float(variance[order].sum()) / total, 0.0)) if total > 0 else 0.0,
    )
