"""Every tuned number of the estimator, by what it is about: meaning, unit, and the benchmark that it was chosen on.

Sources, in brackets: a, ``accuracy``; c, ``calibration``; f, the false alarms of ``calibration``; s, ``stumbles``; o,
``online``; g, ``groups``; d, no measurement, a definition. ``benchmarks/accuracy/sensitivity.py`` measures what half
and twice each number do; it changes them in place, so that modules read them when they use them. "Spread" is a
standard deviation over the mean. Bounds of memory and work, guards against rounding and constants of mathematics are
none of these.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Same(Struct, frozen=True):
    """What counts as the same, as right, and as sure."""

    period: float = 0.1  # difference of logarithms up to which two periods are one [a, s]
    periodicity: float = 0.14  # the same between two predictions of a running job [o]
    right: float = 0.05  # of the period: one that is off by less is right [d]
    near: float = 0.2  # of a period: a phase that starts within it came as predicted [d]
    far_less: float = 0.5  # ratio of spreads from which on one way to see phases is clearly the better [a, s]
    irregular: float = 0.1  # spread of intervals from which on something may be wrong with them [a, s]
    even: float = 0.03  # spread of intervals, or of volumes, below which they are equal [o]
    surer: float = 0.1  # difference of confidences by which a shorter stretch, or a part of a job, must be surer [o, g]
    trusted: float = 0.5  # confidence from which on there is a period [d]
    sure: float = 0.9  # confidence from which on nothing else need be looked at [c]
    told: float = 0.15  # confidence below which no period is told [f]


class Cutting(Struct, frozen=True):
    """What a phase is."""

    smoothing: float = 1 / 16  # of the period: the signal is smoothed over it [a]
    gap: float = 1 / 4  # of the period: shorter pauses do not end a phase [a]
    within: float = 0.9  # of a pause: the gap that a hypothesis closes when the pause is to stay open [a]
    silent: float = 0.01  # of the noise threshold: a bin that moves less is empty [a]
    small: float = 0.2  # of the volume of the phase with the median byte: smaller ones are other I/O, or unseen [a, s]
    faint: float = 0.05  # the same, where phases are of unlike volume [s]
    busy: float = 0.5  # share of bins above the threshold from which on pauses are sought, too [a, s]
    edges: int = 2  # bins between two phases that the edges of both fill [a]
    half_level: float = 0.5  # quantile of bandwidth at which unlike phases are cut off first [a]
    half_level_from: float = 0.3  # confidence from which on what is found there counts [a, f]
    low_level: float = 0.1  # the second such quantile [a]
    low_level_from: float = 0.7  # the confidence for it [a, f]
    fewest_bins: int = 12  # of a window, that are looked at [f]


class Multiples(Struct, frozen=True):
    """Phases that ran together, told by their volumes."""

    alike: float = 0.12  # by how much a volume may differ from a whole multiple, as a share [a]
    similar: float = 0.25  # the same, where most phases stand alone [a]
    single: float = 0.4  # share of the phases that must stand alone [a]
    mostly: float = 0.7  # the same, for ``similar`` [a]
    fitting: float = 0.9  # share of the phases that must be whole multiples [a]
    as_long: float = 0.5  # by how much the logarithm of a length may differ [f]
    most: int = 6  # phases that may run together [a]
    dip: float = 0.9  # of what moves near: a bin that moves less may be a pause [a]
    reach: float = 0.15  # of a phase's volume, to both sides of where one should end: there its end is sought [a]


class Regular(Struct, frozen=True):
    """How intervals between phases are read."""

    far_likelier: float = 0.1  # ratio of chances that makes intervals between ends the better ones [a]
    missed: int = 3  # phases in a row that may be missed, and periods that an interval over missed ones spans [s]
    likelier: float = 6.0  # logarithm of a ratio of likelihoods that tells missed phases, pauses, or a drift [s]
    astray: float = 1 / 5  # share of the intervals that may be astray, and of the phases that may be extra ones [s]
    longer: float = 1 / 8  # share of the pauses that may be longer where a program computes for a fixed time [s]
    paused: float = 0.6  # share of the time that several pauses may take [s]
    fewest: int = 5  # intervals, or phases, from which more than their mean can be told [a, s]
    latest: int = 2  # intervals that can show a new period [o]
    changed: float = 8.0  # logarithm of a ratio of likelihoods that tells a change, for one place where it may be [o]
    unchanged: float = 1.2  # longest over shortest interval up to which there is no change [o]
    close: float = 0.4  # of the usual interval: a phase that comes earlier may be an extra one [s]
    drift_over: int = 16  # latest intervals that it is measured on [s]
    steepest: float = 0.06  # of an interval, by which the next may differ in a drift [s]
    as_good: float = 1.2  # ratio of squares up to which a line explains what a change does [s]
    drifted: float = 2.0  # standard errors by which the latest intervals must differ to count instead of all [o]
    small_phases: float = 0.97  # ratio of spreads that tells that small phases are phases [s]


class Lines(Struct, frozen=True):
    """The line of the spectrum."""

    cycles: float = 2.0  # in the window, at least [a]
    shortest: float = 3.0  # bins of a period, at least [a]
    hypotheses: int = 3  # peaks that are tried [a]
    longer: float = 0.1  # by how much more alike a signal must be to itself after several periods [a]
    twice: float = 2.0  # by how many times, where volumes do not alternate [a]
    band: float = 4.0  # times its frequency: the noise that a line stands in [f]
    alternates: float = 0.4  # share of the variance of volumes that a pattern of several periods must explain [a]
    slower: float = 0.6  # of its frequency: below it changes are slower ones [f]
    stands_out: float = 3.0  # ratio of power to slower changes that makes a line prominent [f]
    valley: float = 0.05  # by how much the autocorrelation must fall off beside a peak [a]
    valley_from: float = 0.4  # of a lag, before it: so far away the valley is sought [a]
    present: float = 1.5  # periods with I/O at which nothing is periodic; twice as many are [f]
    least_support: float = 0.05  # of a line that counts [f]
    full_support: float = 0.65  # from which on it counts fully [f]
    deep: float = 0.4  # amplitude over the mean from which on a line is no ripple [f]
    believed: float = 0.3  # of a line's confidence, that phases which agree with it need to give the period [a]
    contradicts: float = 0.5  # of the confidence of the other, that is lost where line and phases disagree [f]


class Quality(Struct, frozen=True):
    """How sure a segmentation is."""

    even: float = 0.35  # spread of intervals at which regularity is worth 1/e [a, f]
    alike: float = 0.3  # spread of volumes at which their likeness is [a, f]
    resolved: float = 0.05  # spread of volumes: they are never known better [a]
    accident: float = 0.01  # chance of an accident at which a finding is worth a half [f]
    proven: float = 1e-8  # the same, where intervals are believed to keep a mean distance, however uneven [s, f]
    uneven: float = 0.5  # spread of intervals at which this belief is worth 1/e [s, f]
    trials: float = 10.0  # segmentations among which one was chosen: chances of an accident count so often [f]
    prior: float = 0.4  # confidence in phases that are alike and clear, but too few to rule out chance [o]
    blurred: float = 0.6  # contrast from which on phases may be believed for their shape [f]
    clear: float = 0.9  # contrast from which on they are [f]
    backed: float = 0.4  # weight that a line of the same period adds [a]
    change_costs: float = 0.5  # weight that a segmentation loses that holds for the latest phases only [o]
    believed: float = 0.25  # by how much one more value is off, when spreads are weighed [o]


class Chances(Struct, frozen=True):
    """How likely the next phase is foreseen, and when it comes."""

    careful: float = 12.0  # intervals, with which what is known of a finished job is taken to the second power [f]
    usual: float = 0.15  # spread of the intervals of a job that nothing is known of [c]
    believed: int = 1  # intervals that this belief weighs as much as [c]
    measured: tuple[tuple[float, float], ...] = (
        *((0.0, 0.0), (0.18, 0.25), (0.25, 0.37), (0.35, 0.455), (0.5, 0.5), (1.0, 1.0)),
    )  # confidence in the next start, and the share that was right at it [c]
    silence: float = 1.5  # periods without a phase, from which on confidence fades [c]
    gone: float = 4.0  # periods at which it is gone [c]
    recent: int = 32  # latest intervals, lengths and volumes that intervals come from [s]
    requests: float = 8.0  # of a phase, one after another: what of it is unseen until they end [s]
    unlike: float = 0.25  # by how much a length must exceed the next shorter one to be of another kind [s]
    rate: float = 0.025  # share of the phases that are missed, or go astray, in a job that nothing is known of [s]
    weight: float = 4.0  # intervals that this belief weighs as much as [s]
    unlikely: float = 0.02  # share of the odds below which no course is expected [s]
    sharpest: float = 0.3  # bins: no start is known better [s]
    clock_pause: float = 1 / 8  # of the period: phases that follow closer have no end that tells a time [s]


class Others(Struct, frozen=True):
    """Periods beside the main one, and what hides one."""

    intervals: int = 3  # of a period that has ended, or lies within another, at least [o]
    explained: float = 0.8  # of the variance of volumes, by the place in a pattern; of the intervals within [f]
    even: float = 0.25  # by how much intervals within a phase may differ; twice as much is a spread of old ones [f]
    faster: float = 1.6  # main period over one within or between, at least [f]
    share: float = 0.001  # of the volume, that is worth a period [f]
    longest: int = 32  # phases of a pattern, at most [f]
    told: int = 4  # earlier periods, and bursts that are taken out, at most [o]
    dominates: float = 0.5  # share of the volume from which on a burst may hide a period [f]
    left: float = 0.5  # of the bins, that a burst must leave [f]
    parts: int = 64  # of the window: a burst goes on across pauses shorter than one [f]
    stream_gaps: float = 2.0  # a period, that make a stream of requests if they are even [f]
    stream: float = 1.7  # longest over usual gap of an even stream of requests, at most [f]
    stream_periods: int = 8  # that tell such a stream [f]
    short: int = 16  # bins of a period in which pauses of a bin may be those between two requests [f]
    unresolved: float = 2.0  # bins; such a pause is shorter [f]
    true: float = 0.25  # of the bins' power at a period, that must be the requests' [f]


class Following(Struct, frozen=True):
    """Where a running job is looked at."""

    history: int = 24  # periods that regularity is learnt from [s, o]
    around: int = 6  # predictions, of which one looks at another resolution [o]
    order: float = 4.0  # ratio of periods that are of another order [o]
    lasting: float = 0.5  # of a level's stretch, that a period seen only there must fill [f]
    recalled: float = 4.5  # periods that show the old one to be back after a silence [o]
    proof: float = 1.5  # times the known period for which a faster one may be the inside of a phase [o]
    looks: int = 8  # per period, at one that is sure; a pause of the share of one may end a phase [c]
    others: int = 16  # predictions, of which one looks for further periods [o]
    changed: float = 1.5  # ratio of periods that cuts the window for good [o]
    intervals: int = 3  # new ones that it takes [o]
    like: float = 1.3  # ratio of an interval to the period, up to which it is one of the periodicity [f]
    margin: float = 0.25  # of an interval: how far before a phase the signal is cut [o]
    bins: int = 32  # of a period, that are fine enough [a]


class Grouping(Struct, frozen=True):
    """Which members do I/O together."""

    phases: int = 4  # at a level where phases show [g]
    contrast: float = 0.3  # share of the bytes within phases less share of the time [g]
    together: float = 0.35  # correlation of two parts of one group [g]
    shared: float = 0.25  # of a group with what has no clear phases [g]
    inside: float = 0.8  # share of the bytes within phases of another group, beyond chance, of its part [g]
    regular: float = 0.7  # share of its distances, in phases of the other, that are alike if it is none [g]
    like_counts: float = 1.5  # ratio of the numbers of phases of two members of one group [g]
    turns: float = 0.15  # by how much the numbers of phases of members in turn differ, and phases fall together [g]
    evenness: float = 0.25  # deviation of the distances of phases in turn, of their mean [g]
    told: float = 0.7  # confidence from which on the period of a group is told [g]
    seen: int = 5  # phases of a group from which on its period is told [g]
    every: int = 8  # predictions, of which one looks for groups anew [g]


class Tuning(Struct, frozen=True):
    """All of them."""

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
