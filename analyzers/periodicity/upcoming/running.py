"""How much longer the last phase goes on, while its end may still be to come."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ..phases.phases import Floats
from ..tuning import TUNING

_ROOT: Final = math.sqrt(2)
_NEVER: Final = 1e-9


class Ending(NamedTuple):
    """One way in which a phase may end.

    Attributes:
        odds: of it; those of all ways add up to one.
        length: of the phase then, bins.
        deviation: standard deviation of that length, bins; 0 where it has ended.
    """

    odds: float
    length: float
    deviation: float


class _Kind(NamedTuple):
    """Phases of about one length: how many they are, their mean length and its standard deviation, bins."""

    phases: int
    mean: float
    deviation: float


def endings(lengths: Floats, length: float, since: float) -> list[Ending]:
    """Returns how a phase may end of which so much was seen, and nothing for so long.

    Phases have several lengths: where others use the file system, some take several times as long. A phase has ended
    with what was seen of it, or goes on and the next request of it has not ended yet. The first is as likely as such
    lengths were, the second as longer ones were, and as requests are that take so long.

    Args:
        lengths: of complete phases, bins, at least one.
        length: of the last phase as far as it was seen, bins.
        since: bins since then.
    """
    kinds = _kinds(lengths)
    requests = TUNING.chances.requests / max(float(lengths.sum()) / len(lengths), _NEVER)
    silent = requests * math.exp(-requests * since)
    ended, found = 0.0, []
    for kind in kinds:
        share = kind.phases / len(lengths)
        off = (length - kind.mean) / kind.deviation
        ended += share * math.exp(-off * off / 2) / (kind.deviation * math.sqrt(2 * math.pi))
        off = (length + since - kind.mean) / kind.deviation
        left = 0.5 * math.erfc(off / _ROOT)
        if left > _NEVER:
            # the mean of a normal distribution that is known to exceed a value, and its deviation
            beyond = math.exp(-off * off / 2) / math.sqrt(2 * math.pi) / left
            narrower = math.sqrt(max(1 + off * beyond - beyond * beyond, _NEVER))
            found.append(Ending(share * left * silent, kind.mean + kind.deviation * beyond, kind.deviation * narrower))
    whole = ended + sum(each.odds for each in found)
    if not whole > 0:
        return [Ending(1.0, length, 0.0)]
    return [Ending(each.odds / whole, *each[1:]) for each in (Ending(ended, length, 0.0), *found)]


def _kinds(lengths: Floats) -> list[_Kind]:
    """Sorts lengths into kinds between which nothing lies; their spread is that of all about their kind's mean."""
    ordered = np.sort(lengths)
    cuts = np.flatnonzero(ordered[1:] > (1 + TUNING.chances.unlike) * ordered[:-1]) + 1
    parts = np.split(ordered, cuts)
    means = [max(float(part.sum()) / len(part), _NEVER) for part in parts]
    square = sum(float(np.square(part / mean - 1).sum()) for part, mean in zip(parts, means, strict=True))
    # a belief that weighs as much as one more length
    spread = math.sqrt((square + TUNING.chances.usual**2) / (len(lengths) - len(parts) + 1))
    return [
        _Kind(len(part), mean, max(spread * mean, TUNING.chances.sharpest))
        for part, mean in zip(parts, means, strict=True)
    ]
