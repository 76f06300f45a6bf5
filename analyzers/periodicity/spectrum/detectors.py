"""Outliers of a spectrum: z-scores, clustering, isolation forest, local outlier factor, or peaks.

All methods except z-scores take the spectrum as points (f_k / max f, p_k / sum p). Their parameters are those of FTIO
as run by ``ftio-hpc`` 0.0.9, so that results agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....events.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    from ...settings import OutlierName

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_CONTAMINATION: Final = 0.001  # expected share of outliers
_NEIGHBOURS: Final = 20  # neighbours of the local outlier factor
_DBSCAN_BINS: Final = 2**15  # memory of the method grows with the square of the bins
_CLUSTER_BINS: Final = 2**16  # maximum bins of the other methods
_SEED: Final = 0


class Outliers(Struct, frozen=True, eq=False):
    """Outlier classification of all bins.

    Attributes:
        found: whether each bin is an outlier.
        confidence: degree to which each bin is an outlier, in [0, 1].
    """

    found: Flags
    confidence: Floats


def z_scores(strength: Floats) -> Floats:
    """z_k = |p_k - mean(p)| / std(p), with the population's standard deviation (Eq. 5). 0 for a flat spectrum."""
    if not len(strength):
        return strength
    off: Floats = np.abs(strength - strength.mean())
    spread = math.sqrt(float(off @ off) / len(off))
    return off / spread if spread > 1e-12 * float(strength.max()) else np.zeros_like(strength)


def find_outliers(name: OutlierName, strength: Floats, tolerance: float) -> Outliers:
    """Find outliers by a method other than z-scores.

    ===================  ============================================================================================
    ``dbscan``           bins outside of all clusters: two points within eps form one, with eps^2 = ((1 - tolerance)
                         (max p - min p))^2 + (distance of two bins)^2; confidence is p over its maximum
    ``isolation-forest`` one bin in a thousand, at least one, that random cuts isolate first
    ``lof``              the same share, by local outlier factor over 20 neighbours
    ``peaks``            local maxima of at least ``tolerance`` times the highest value; confidence is 1
    ===================  ============================================================================================

    The confidence of ``isolation-forest`` and ``lof`` is the decision function, scaled to the range 0 to 1.

    Args:
        name: method.
        strength: power or amplitude of the bins k = 1, 2, ..., at least 0.
        tolerance: see above.

    Raises:
        UnavailableError: the method needs scikit-learn, which is not installed.
        ConfigError: the spectrum has too many bins for the method.
    """
    total = float(strength.sum())
    if len(strength) < 2 or not total > 0:
        return Outliers(np.zeros(len(strength), bool), np.zeros(len(strength)))
    limit = _DBSCAN_BINS if name == "dbscan" else _CLUSTER_BINS
    if name != "peaks" and len(strength) > limit:
        raise ConfigError(
            f"{name} takes at most {limit} spectral bins and there are {len(strength)}; "
            "lower the sampling frequency, narrow the window, or use zscore or peaks"
        )
    at = np.arange(1, len(strength) + 1) / len(strength)
    return _METHODS[name](at, strength / total, tolerance)


def _dbscan(at: Floats, share: Floats, tolerance: float) -> Outliers:
    from sklearn.cluster import DBSCAN

    eps = math.hypot((1 - tolerance) * float(share.max() - share.min()), float(at[1] - at[0]))
    labels = DBSCAN(eps=eps, min_samples=2).fit(np.column_stack([at, share])).labels_
    return Outliers(labels == -1, share / share.max())


def _isolation_forest(at: Floats, share: Floats, tolerance: float) -> Outliers:
    from sklearn.ensemble import IsolationForest

    points = np.column_stack([at, share])
    model = IsolationForest(contamination=_CONTAMINATION, random_state=_SEED).fit(points)
    return _by_decision(model.decision_function(points))


def _lof(at: Floats, share: Floats, tolerance: float) -> Outliers:
    from sklearn.neighbors import LocalOutlierFactor

    points = np.column_stack([at, share])
    neighbours = min(_NEIGHBOURS, len(points) - 1)
    model = LocalOutlierFactor(n_neighbors=neighbours, contamination=_CONTAMINATION, novelty=True).fit(points)
    return _by_decision(model.decision_function(points))


def _by_decision(decision: Floats) -> Outliers:
    """Classify by decision values: outliers are negative, and the lowest value has the highest confidence."""
    span = float(decision.max() - decision.min())
    confidence = (decision.max() - decision) / span if span > 0 else np.zeros(len(decision))
    return Outliers(decision < 0, confidence)


def _peaks(at: Floats, share: Floats, tolerance: float) -> Outliers:
    from scipy.signal import find_peaks

    found = np.zeros(len(share), bool)
    found[find_peaks(share, height=tolerance * float(share.max()))[0]] = True
    return Outliers(found, found.astype(np.float64))


def _with_sklearn(method: Callable[[Floats, Floats, float], Outliers]) -> Callable[[Floats, Floats, float], Outliers]:
    def guarded(at: Floats, share: Floats, tolerance: float) -> Outliers:
        try:
            return method(at, share, tolerance)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sklearn":
                raise
            raise UnavailableError("this outlier detector needs scikit-learn: pip install 'iotide[cluster]'") from None

    return guarded


_METHODS: Final[dict[OutlierName, Callable[[Floats, Floats, float], Outliers]]] = {
    "dbscan": _with_sklearn(_dbscan),
    "isolation-forest": _with_sklearn(_isolation_forest),
    "lof": _with_sklearn(_lof),
    "peaks": _peaks,
}
