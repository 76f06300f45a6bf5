"""Discrete Fourier transform of a signal, its outliers, and candidates for the dominant frequency."""

from __future__ import annotations

import cmath
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....results.prediction import Frequency
from ...settings import DetectSettings
from .detectors import find_outliers, z_scores

Floats = npt.NDArray[np.float64]

_RELATIVE_TOLERANCE = 0.02  # maximum relative deviation of a harmonic from a multiple
_ROUNDING = 1e-12  # relative amplitude of rounding errors
_MODULO_TOLERANCE_HZ = 1e-5  # remainder below which the reference sees a harmonic, Hz


class Spectrum(Struct, frozen=True, eq=False):
    """Single-sided spectrum of N real samples: bins k = 1 .. N // 2, without the mean.

    Attributes:
        transform: X_k, complex128 ([FTIO], Eq. 2).
        samples: N, at least 1.
        sampling_frequency_hz: f_s, Hz.
    """

    transform: npt.NDArray[np.complex128]
    samples: int
    sampling_frequency_hz: float

    @property
    def frequency_hz(self) -> Floats:
        """f_k = k f_s / N ([FTIO], Eq. 3)."""
        return np.arange(1, len(self.transform) + 1) * self.sampling_frequency_hz / self.samples

    @property
    def power(self) -> Floats:
        """p_k = |X_k|^2 / N."""
        squared: Floats = np.square(self.transform.real) + np.square(self.transform.imag)
        return squared / self.samples

    @property
    def amplitude(self) -> Floats:
        """Amplitude of each cosine of the signal: 2 |X_k| / N (Eq. 4). It is not doubled at the Nyquist frequency."""
        single = np.abs(self.transform) * (2 / max(self.samples, 1))
        if self.samples % 2 == 0 and len(single):
            single[-1] /= 2
        return single


class Candidates(Struct, frozen=True, eq=False):
    """Spectral bins that may be the dominant frequency.

    Attributes:
        bins: indices k - 1 into the spectrum's arrays, ascending, without harmonics.
        z: z-score of every bin of the spectrum.
        confidence: confidence of each candidate in [0, 1], by the reference's formula.
        dropped: number of dropped harmonics.
    """

    bins: npt.NDArray[np.intp]
    z: Floats
    confidence: Floats
    dropped: int


def spectrum_of(values: Floats, sampling_frequency_hz: float) -> Spectrum:
    """Transform real samples; rounding errors of a constant signal are set to 0."""
    every = np.fft.rfft(values) if len(values) else np.zeros(1, np.complex128)
    transform = every[1:]
    if len(transform) and float(np.abs(transform).max()) <= _ROUNDING * abs(complex(every[0])):
        transform = np.zeros_like(transform)
    return Spectrum(transform, max(1, len(values)), sampling_frequency_hz)


def find_candidates(
    spectrum: Spectrum, settings: DetectSettings, harmonics: Literal["relative", "modulo"] = "relative"
) -> Candidates:
    """Find the outliers of the spectrum that are close to its largest one.

    A candidate has a z-score above the threshold and above ``tolerance`` times the largest (Eq. 6), or is an outlier by
    ``settings.outlier``. A candidate that is a multiple of a lower one is a harmonic and dropped. With z-scores, the
    confidence of candidate k is the mean of two shares of z_k: in the sum over the bins that pass the tolerance, and in
    the sum over those that pass the threshold, both without harmonics.

    Args:
        spectrum: spectrum.
        settings: detector, tolerance, threshold, and power or amplitude.
        harmonics: test for multiples: "relative" compares the ratio of frequencies to 2 %; "modulo" uses a
            floating-point remainder below 1e-5 Hz like the reference, which misses many multiples.
    """
    strength = spectrum.power if settings.spectrum == "power" else np.abs(spectrum.transform)
    z = z_scores(strength)
    if settings.outlier != "zscore":
        outliers = find_outliers(settings.outlier, strength, settings.tolerance)
        outlying_bins = np.flatnonzero(outliers.found)
        fundamentals = _fundamentals(outlying_bins, spectrum, harmonics)
        return Candidates(fundamentals, z, outliers.confidence[fundamentals], len(outlying_bins) - len(fundamentals))
    near = z > settings.tolerance * z.max(initial=0.0)
    outlying = z > settings.z_threshold
    outlying_bins = np.flatnonzero(near & outlying)
    fundamentals = _fundamentals(outlying_bins, spectrum, harmonics)
    is_counted = np.ones(len(z), bool)
    is_counted[outlying_bins] = False
    is_counted[fundamentals] = True
    shares = [
        z[fundamentals] / total for passed in (near, outlying) if (total := float(z[passed & is_counted].sum())) > 0
    ]
    confidence = np.minimum(sum(shares, np.zeros(len(fundamentals))) / 2, 1.0)
    return Candidates(fundamentals, z, confidence, len(outlying_bins) - len(fundamentals))


def describe(spectrum: Spectrum, candidates: Candidates) -> list[Frequency]:
    """Return the candidates as public results, strongest first; the samples must be in bytes/s."""
    rows = candidates.bins[np.argsort(-candidates.z[candidates.bins], kind="stable")].tolist()
    confidence = dict(zip(candidates.bins.tolist(), candidates.confidence.tolist(), strict=True))
    unit = spectrum.sampling_frequency_hz / spectrum.samples
    nyquist = spectrum.samples / 2
    return [
        Frequency(
            frequency_hz=(k + 1) * unit,
            period_s=1 / ((k + 1) * unit),
            amplitude=abs(complex(spectrum.transform[k])) * (1 if k + 1 == nyquist else 2) / spectrum.samples,
            phase_rad=cmath.phase(complex(spectrum.transform[k])),
            z_score=float(candidates.z[k]),
            confidence=confidence[k],
        )
        for k in rows
    ]


def _fundamentals(
    bins: npt.NDArray[np.intp], spectrum: Spectrum, harmonics: Literal["relative", "modulo"]
) -> npt.NDArray[np.intp]:
    """Return the bins, ascending, that are no multiple of a lower one among them."""
    fundamentals: list[int] = []
    for k in bins.tolist():
        lower = np.array(fundamentals, np.float64) + 1
        if harmonics == "modulo":
            unit = spectrum.sampling_frequency_hz / spectrum.samples
            multiple = np.mod((k + 1) * unit, lower * unit) < _MODULO_TOLERANCE_HZ
        else:
            ratio = (k + 1) / lower
            whole = np.rint(ratio)
            multiple = (whole > 1) & (np.abs(ratio / np.maximum(whole, 1) - 1) <= _RELATIVE_TOLERANCE)
        if not multiple.any():
            fundamentals.append(k)
    return np.array(fundamentals, np.intp)
