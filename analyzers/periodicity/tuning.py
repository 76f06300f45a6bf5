"""Tuned numbers of the estimator, by topic. Each has a meaning, a unit, and the benchmark used to choose it.

Sources in brackets: a, ``accuracy``; c, ``calibration``; f, the false alarms of ``calibration``; s, ``stumbles``; o,
``online``; g, ``groups``; d, no measurement, a definition. ``benchmarks/accuracy/sensitivity.py`` measures the effect
of half and twice each number. It changes the numbers in place, so modules read them at the time of use. "Spread" is a
standard deviation over the mean. Bounds of memory and work, guards against rounding, and mathematical constants are not
listed here.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Same(Struct, frozen=True):
    """Tolerances for equal, correct and certain results."""

    period: float = 0.1  # maximum difference of logarithms of two equal periods [a, s]
    periodicity: float = 0.14  # same, between two predictions of a running job [o]
    right: float = 0.05  # maximum error of a correct period, as a share of it [d]
    near: float = 0.2  # maximum deviation of a phase's start from its prediction, in periods [d]
    far_less: float = 0.5  # maximum ratio of spreads at which one set of phases is clearly better [a, s]
    irregular: float = 0.1  # spread of intervals from which on alternatives are examined [a, s]
    even: float = 0.03  # maximum spread of equal intervals, or of equal volumes [o]
    surer: float = 0.1  # minimum gain in confidence of a shorter window, or of a part of a job [o, g]
    trusted: float = 0.5  # minimum confidence of a period [d]
    sure: float = 0.9  # confidence from which on no alternative is examined [c]
    told: float = 0.15  # minimum confidence of a reported period [f]


class Cutting(Struct, frozen=True):
    """Definition of a phase."""

    smoothing: float = 1 / 16  # length of the smoothing window, in periods [a]
    gap: float = 1 / 4  # maximum pause within a phase, in periods [a]
    within: float = 0.9  # gap closed by a hypothesis that keeps a pause open, as a share of the pause [a]
    silent: float = 0.01  # maximum volume of an empty bin, as a share of the noise threshold [a]
    # minimum volume of a phase, as a share of the phase with the median byte; smaller: other I/O, or missed [a, s]
    small: float = 0.2
    faint: float = 0.05  # same, for phases of unequal volume [s]
    busy: float = 0.5  # share of bins above the threshold from which on pauses are searched, too [a, s]
    edges: int = 2  # bins between two phases that belong to the edges of both [a]
    half_level: float = 0.5  # first quantile of bandwidth at which the signal is clipped for unequal phases [a]
    half_level_from: float = 0.3  # minimum confidence of a result from it [a, f]
    low_level: float = 0.1  # second quantile [a]
    low_level_from: float = 0.7  # minimum confidence of a result from it [a, f]
    fewest_bins: int = 12  # minimum bins of an analyzed window [f]


class Multiples(Struct, frozen=True):
    """Phases without a pause between them, detected by their volumes."""

    alike: float = 0.12  # maximum relative deviation of a volume from a whole multiple [a]
    similar: float = 0.25  # same, if most phases are single [a]
    single: float = 0.4  # minimum share of single phases [a]
    mostly: float = 0.7  # same, for ``similar`` [a]
    fitting: float = 0.9  # minimum share of phases with a whole multiple as volume [a]
    as_long: float = 0.5  # maximum deviation of the logarithm of a length [f]
    most: int = 6  # maximum number of merged phases [a]
    dip: float = 0.9  # maximum bandwidth of a possible pause, as a share of its surroundings [a]
    # search range for a phase's end around its expected place, as a share of the phase's volume [a]
    reach: float = 0.15


class Regular(Struct, frozen=True):
    """Interpretation of intervals between phases."""

    far_likelier: float = 0.1  # maximum ratio of chances at which intervals between ends are preferred [a]
    missed: int = 3  # maximum consecutive missed phases, and periods spanned by an interval over missed phases [s]
    likelier: float = 6.0  # minimum log likelihood ratio of missed phases, pauses, or a drift [s]
    astray: float = 1 / 5  # maximum share of stray intervals, and of extra phases [s]
    longer: float = 1 / 8  # maximum share of longer pauses of a program with a fixed computation time [s]
    paused: float = 0.6  # maximum share of time in several pauses [s]
    fewest: int = 5  # minimum intervals, or phases, for more than their mean [a, s]
    latest: int = 2  # minimum intervals of a new period [o]
    changed: float = 8.0  # minimum log likelihood ratio of a change at one possible place [o]
    unchanged: float = 1.2  # maximum ratio of the longest to the shortest interval without a change [o]
    close: float = 0.4  # maximum interval before an extra phase, as a share of the usual interval [s]
    drift_over: int = 16  # latest intervals from which a drift is measured [s]
    steepest: float = 0.06  # maximum relative change from one interval to the next in a drift [s]
    as_good: float = 1.2  # maximum ratio of squares at which a line explains a change as well [s]
    drifted: float = 2.0  # minimum deviation of the latest intervals to replace all, in standard errors [o]
    small_phases: float = 0.97  # maximum ratio of spreads at which small phases are accepted [s]


class Lines(Struct, frozen=True):
    """Lines of the spectrum."""

    cycles: float = 2.0  # minimum cycles in the window [a]
    shortest: float = 3.0  # minimum bins per period [a]
    hypotheses: int = 3  # number of peaks tried [a]
    longer: float = 0.1  # minimum gain in autocorrelation for a multiple of a period [a]
    twice: float = 2.0  # same, as a factor, if volumes do not alternate [a]
    band: float = 4.0  # noise band of a line, in multiples of its frequency [f]
    alternates: float = 0.4  # minimum share of the variance of volumes explained by a pattern of several periods [a]
    slower: float = 0.6  # upper bound of slower changes, as a share of a line's frequency [f]
    stands_out: float = 3.0  # minimum ratio of a line's power to slower changes for full prominence [f]
    valley: float = 0.05  # minimum drop of the autocorrelation beside a peak [a]
    valley_from: float = 0.4  # start of the search range for that drop, as a share of the lag [a]
    present: float = 1.5  # periods with I/O at which presence is 0; it is 1 at twice as many [f]
    least_support: float = 0.05  # minimum support of a line that counts [f]
    full_support: float = 0.65  # support from which on a line counts fully [f]
    deep: float = 0.4  # minimum amplitude over mean of a line that is no ripple [f]
    # minimum quality of agreeing phases to provide the period, as a share of the line's confidence [a]
    believed: float = 0.3
    contradicts: float = 0.5  # confidence lost if line and phases disagree, as a share of the other's confidence [f]


class Quality(Struct, frozen=True):
    """Quality of a segmentation."""

    even: float = 0.35  # spread of intervals at which regularity is 1/e [a, f]
    alike: float = 0.3  # spread of volumes at which likeness is 1/e [a, f]
    resolved: float = 0.05  # resolution of the spread of volumes [a]
    accident: float = 0.01  # chance at which a finding has a confidence factor of 1/2 [f]
    proven: float = 1e-8  # same, for intervals with a mean distance, however uneven [s, f]
    uneven: float = 0.5  # spread of intervals at which the factor of ``proven`` is 1/e [s, f]
    trials: float = 10.0  # number of segmentations tried, by which chances are multiplied [f]
    prior: float = 0.4  # confidence in phases that are alike and clear, but too few to exclude chance [o]
    blurred: float = 0.6  # minimum contrast of phases that are accepted for their shape [f]
    clear: float = 0.9  # contrast from which on such phases count fully [f]
    backed: float = 0.4  # weight added by a line of the same period [a]
    change_costs: float = 0.5  # weight lost by a segmentation that holds for the latest phases only [o]
    believed: float = 0.25  # deviation of the additional value in weighted spreads [o]


class Chances(Struct, frozen=True):
    """Probability and time of the next phase."""

    careful: float = 12.0  # intervals at which the confidence for a finished job is squared [f]
    usual: float = 0.15  # spread of the intervals of an unknown job (prior) [c]
    believed: int = 1  # weight of this prior, in intervals [c]
    measured: tuple[tuple[float, float], ...] = (
        *((0.0, 0.0), (0.18, 0.25), (0.25, 0.37), (0.35, 0.455), (0.5, 0.5), (1.0, 1.0)),
    )  # confidence in the next start, and measured share of correct predictions [c]
    silence: float = 1.5  # overdue time at which confidence starts to fall, in periods [c]
    gone: float = 4.0  # overdue time at which confidence is 0, in periods [c]
    recent: int = 32  # latest intervals, lengths and volumes from which 90 % intervals are computed [s]
    # sequential requests per phase; the part of a running request is not visible before its end [s]
    requests: float = 8.0
    unlike: float = 0.25  # minimum relative difference of lengths of different kinds [s]
    rate: float = 0.025  # share of missed phases, and of stray intervals, of an unknown job (prior) [s]
    weight: float = 4.0  # weight of this prior, in intervals [s]
    unlikely: float = 0.02  # minimum share of the odds of a course [s]
    outlier: float = 2.5  # deviation from a grid that does not move it, in standard deviations [s]
    gridded: float = 2.0  # minimum log likelihood ratio of a grid [s]
    sharpest: float = 0.3  # resolution of a start, bins [s]
    clock_pause: float = 1 / 8  # minimum pause for timing from the ends of phases, in periods [s]


class Others(Struct, frozen=True):
    """Secondary periods, and signals that hide or imitate a period."""

    intervals: int = 3  # minimum intervals of an earlier or inner period [o]
    # minimum share of variance of volumes explained by a pattern, and of regular inner intervals [f]
    explained: float = 0.8
    # maximum relative deviation of intervals within a phase; twice as much for the spread of earlier ones [f]
    even: float = 0.25
    faster: float = 1.6  # minimum ratio of the main period to an inner one [f]
    share: float = 0.001  # minimum share of volume of a reported period [f]
    longest: int = 32  # maximum phases of a pattern [f]
    told: int = 4  # maximum earlier periods, and removed bursts [o]
    dominates: float = 0.5  # minimum share of volume of a burst that may hide a period [f]
    left: float = 0.5  # minimum share of bins left without a burst [f]
    parts: int = 64  # share of the window, as a divisor, below which a pause does not end a burst [f]
    stream_gaps: float = 2.0  # minimum gaps per period of a stream of requests [f]
    stream: float = 1.7  # maximum ratio of the longest to the usual gap of an even stream of requests [f]
    stream_periods: int = 8  # minimum periods of such a stream [f]
    short: int = 16  # maximum period, in bins, at which gaps of one bin may lie between two requests [f]
    unresolved: float = 2.0  # maximum mean gap between such requests, bins [f]
    true: float = 0.25  # minimum share of the binned power at a period that the requests have [f]


class Following(Struct, frozen=True):
    """Window and resolution for a running job."""

    history: int = 24  # periods of history from which regularity is learned [s, o]
    around: int = 6  # predictions per look at another resolution [o]
    familiar: int = 12  # predictions with one period from which on it is followed between thorough searches [s, g]
    proven: int = 32  # same, from which on thorough searches are rarer [o]
    rarely: int = 4  # factor by which they and searches for further periods are then rarer [o]
    order: float = 4.0  # minimum ratio of periods of different order [o]
    lasting: float = 0.5  # minimum share of a level's range with a period that only this level shows [f]
    recalled: float = 4.5  # periods after a silence that confirm the old period [o]
    proof: float = 1.5  # minimum ratio of the known period to a faster one that may be the inside of a phase [o]
    looks: int = 8  # predictions per period for a certain period; a pause of one interval may end a phase [c]
    others: int = 16  # predictions per search for further periods [o]
    changed: float = 1.5  # minimum ratio of periods that shortens the window permanently [o]
    intervals: int = 3  # minimum new intervals for it [o]
    like: float = 1.3  # maximum ratio of an interval to the period that still belongs to it [f]
    margin: float = 0.25  # distance of the window's start before a phase, in intervals [o]
    bins: int = 32  # bins per period that are fine enough [a]
    unfound: int = 32  # predictions without a trusted period after which searches become rarer [o]
    again: float = 1 / 8  # share of the further predictions for which a search without a result is kept [o]
    longest: int = 64  # maximum number of predictions for which it is kept [o]


class Grouping(Struct, frozen=True):
    """Members of a job that do I/O together."""

    phases: int = 4  # minimum phases at a level that shows phases [g]
    contrast: float = 0.3  # minimum share of bytes within phases less the share of time [g]
    together: float = 0.35  # minimum correlation of two parts of one group [g]
    shared: float = 0.25  # minimum correlation of a group with members without clear phases [g]
    inside: float = 0.8  # minimum share of bytes of a part within phases of another group, beyond chance [g]
    regular: float = 0.7  # minimum share of equal distances of an independent group, in phases of the other [g]
    like_counts: float = 1.5  # maximum ratio of the phase counts of two members of one group [g]
    turns: float = 0.15  # maximum relative difference of phase counts, and overlap, of members that take turns [g]
    evenness: float = 0.25  # maximum deviation of the distances of phases that take turns, over their mean [g]
    told: float = 0.7  # minimum confidence of a group's reported period [g]
    seen: int = 5  # minimum phases of a group's reported period [g]
    every: int = 8  # predictions per search for groups [g]


class Tuning(Struct, frozen=True):
    """All tuned numbers."""

    same: Same = Same()
    cutting: Cutting = Cutting()
    multiples: Multiples = Multiples()
    regular: Regular = Regular()
    lines: Lines = Lines()
    quality: Quality = Quality()
    chances: Chances = Chances()
    others: Others = Others()
    following: Following = Following()
    grouping: Grouping = Grouping()


TUNING: Final = Tuning()
