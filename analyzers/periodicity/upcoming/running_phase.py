"""Remaining length of the last phase while it may be running."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ..phases.phases import Floats
from ..tuning import TUNING

_ROOT: Final = math.sqrt(2)
_NEVER: Final = 1e-9  # negligible probability, or length


class Ending(NamedTuple):
    """One possible end of a phase.

    Attributes:
        odds: odds of this end; the odds of all ends add up to one.
        length: length of the phase in that case, bins.
        deviation: standard deviation of that length, bins; 0 if it has ended.
    """

    odds: float
    length: float
    deviation: float


class _Kind(NamedTuple):
    """Phases of similar length: number, mean length and its standard deviation, bins."""

    phases: int
    mean: float
    deviation: float


def endings(lengths: Floats, length: float, since: float) -> list[Ending]:
    """Return the possible ends of a phase, given its visible length and the silence since.

    Phases have several lengths: if other jobs use the file system, some take several times as long. Either the phase
    has ended, or its next request has not finished yet. The odds of an end follow from past phases of such lengths. The
    odds of continuation follow from longer phases, and from the duration of requests.

    Args:
        lengths: lengths of complete phases, bins, at least one.
        length: visible length of the last phase, bins.
        since: time since then, bins.
    """
    kinds = _kinds(lengths)
    requests = TUNING.next_phase.requests_per_phase / max(float(lengths.sum()) / len(lengths), _NEVER)
    silent = requests * math.exp(-requests * since)
    ended, found = 0.0, []
    for kind in kinds:
        share = kind.phases / len(lengths)
        off = (length - kind.mean) / kind.deviation
        ended += share * math.exp(-off * off / 2) / (kind.deviation * math.sqrt(2 * math.pi))
        off = (length + since - kind.mean) / kind.deviation
        left = 0.5 * math.erfc(off / _ROOT)
        if left > _NEVER:
            # mean and deviation of a normal distribution truncated from below
            beyond = math.exp(-off * off / 2) / math.sqrt(2 * math.pi) / left
            narrower = math.sqrt(max(1 + off * beyond - beyond * beyond, _NEVER))
            found.append(Ending(share * left * silent, kind.mean + kind.deviation * beyond, kind.deviation * narrower))
    whole = ended + sum(each.odds for each in found)
    if not whole > 0:
        return [Ending(1.0, length, 0.0)]
    return [Ending(each.odds / whole, *each[1:]) for each in (Ending(ended, length, 0.0), *found)]


def _kinds(lengths: Floats) -> list[_Kind]:
    """Group lengths into kinds separated by gaps. The common relative spread is around the mean of each kind."""
    ordered = np.sort(lengths)
    cuts = np.flatnonzero(ordered[1:] > (1 + TUNING.next_phase.kind_length_difference) * ordered[:-1]) + 1
    parts = np.split(ordered, cuts)
    means = [max(float(part.sum()) / len(part), _NEVER) for part in parts]
    square = sum(float(np.square(part / mean - 1).sum()) for part, mean in zip(parts, means, strict=True))
    # the prior weighs as much as one more length
    spread = math.sqrt((square + TUNING.next_phase.prior_spread**2) / (len(lengths) - len(parts) + 1))
    return [
        _Kind(len(part), mean, max(spread * mean, TUNING.next_phase.start_resolution_bins))
        for part, mean in zip(parts, means, strict=True)
    ]
