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


class Tolerances(Struct, frozen=True):
    """Tolerances for equal, correct and certain results."""

    equal_period_log: float = 0.1  # maximum difference of logarithms of two equal periods [a, s]
    equal_prediction_log: float = 0.14  # same, between two predictions of a running job [o]
    correct_period: float = 0.05  # maximum error of a correct period, as a share of it [d]
    on_time: float = 0.2  # maximum deviation of a phase's start from its prediction, in periods [d]
    clearly_smaller_spread: float = 0.5  # maximum ratio of spreads at which one set of phases is clearly better [a, s]
    irregular_spread: float = 0.1  # spread of intervals from which on alternatives are examined [a, s]
    equal_spread: float = 0.03  # maximum spread of equal intervals, or of equal volumes [o]
    confidence_gain: float = 0.1  # minimum gain in confidence of a shorter window, or of a part of a job [o, g]
    min_confidence: float = 0.5  # minimum confidence of a period [d]
    certain_confidence: float = 0.9  # confidence from which on no alternative is examined [c]
    reported_confidence: float = 0.15  # minimum confidence of a reported period [f]


class PhaseSegmentation(Struct, frozen=True):
    """Definition of a phase."""

    smoothing_periods: float = 1 / 16  # length of the smoothing window, in periods [a]
    max_gap_periods: float = 1 / 4  # maximum pause within a phase, in periods [a]
    closed_gap_share: float = 0.9  # gap closed by a hypothesis that keeps a pause open, as a share of the pause [a]
    empty_bin_share: float = 0.01  # maximum volume of an empty bin, as a share of the noise threshold [a]
    # minimum volume of a phase, as a share of the phase with the median byte; smaller: other I/O, or missed [a, s]
    min_volume_share: float = 0.2
    min_unequal_volume_share: float = 0.05  # same, for phases of unequal volume [s]
    busy_share: float = 0.5  # share of bins above the threshold from which on pauses are searched, too [a, s]
    edge_bins: int = 2  # bins between two phases that belong to the edges of both [a]
    # first quantile of bandwidth at which the signal is clipped for unequal phases [a]
    first_clip_quantile: float = 0.5
    first_clip_confidence: float = 0.3  # minimum confidence of a result from it [a, f]
    second_clip_quantile: float = 0.1  # second quantile [a]
    second_clip_confidence: float = 0.7  # minimum confidence of a result from it [a, f]
    min_window_bins: int = 12  # minimum bins of an analyzed window [f]


class MergedPhases(Struct, frozen=True):
    """Phases without a pause between them, detected by their volumes."""

    multiple_tolerance: float = 0.12  # maximum relative deviation of a volume from a whole multiple [a]
    loose_multiple_tolerance: float = 0.25  # same, if most phases are single [a]
    min_single_share: float = 0.4  # minimum share of single phases [a]
    loose_min_single_share: float = 0.7  # same, for ``loose_multiple_tolerance`` [a]
    min_fitting_share: float = 0.9  # minimum share of phases with a whole multiple as volume [a]
    length_log_tolerance: float = 0.5  # maximum deviation of the logarithm of a length [f]
    max_merged: int = 6  # maximum number of merged phases [a]
    max_dip: float = 0.9  # maximum bandwidth of a possible pause, as a share of its surroundings [a]
    # search range for a phase's end around its expected place, as a share of the phase's volume [a]
    dip_reach: float = 0.15


class PhaseIntervals(Struct, frozen=True):
    """Interpretation of intervals between phases."""

    end_chance_ratio: float = 0.1  # maximum ratio of chances at which intervals between ends are preferred [a]
    max_missed: int = 3  # maximum consecutive missed phases, and periods spanned by an interval over missed phases [s]
    min_log_likelihood_ratio: float = 6.0  # minimum log likelihood ratio of missed phases, pauses, or a drift [s]
    max_stray_share: float = 1 / 5  # maximum share of stray intervals, and of extra phases [s]
    max_long_pause_share: float = 1 / 8  # maximum share of longer pauses of a program with a fixed computation time [s]
    max_paused_time_share: float = 0.6  # maximum share of time in several pauses [s]
    max_rest_share: float = 1 / 3  # maximum share of rests between equal shifts of phases [s]
    max_rest_periods: float = 10.0  # maximum length of these rests, in periods [s]
    min_repetitions: int = 3  # minimum repetitions of a pattern of intervals, lengths or volumes [s]
    max_pattern: int = 12  # maximum length of such a pattern, in phases; longer ones are shifts of equal phases [s]
    min_intervals: int = 5  # minimum intervals, or phases, for more than their mean [a, s]
    min_new_intervals: int = 2  # minimum intervals of a new period [o]
    change_log_likelihood: float = 8.0  # minimum log likelihood ratio of a change at one possible place [o]
    # minimum log likelihood ratio of levels between changes, and of a walk or no period [f, o]
    change_log_odds: float = 0.0
    change_rate: float = 0.05  # share of intervals with a change of the period (prior) [f, o]
    level_deviation: float = 1.0  # standard deviation of the logarithm of a period around the median (prior) [f, o]
    min_walk_step: float = 0.3  # minimum standard deviation of a step of the logarithm of an interval (prior) [f]
    max_walk_step: float = 0.7  # maximum of it (prior) [f]
    # log odds of independent intervals against a walk, before they are observed [f, s]
    independent_log_odds: float = 1.5
    wandering_share: float = 0.08  # share of jobs whose intervals wander slowly around a level (prior) [f, s, o]
    bounds_prior: float = 0.1  # area of the prior of the logarithms of the bounds of intervals [f, s]
    # weight of the log odds of independent intervals around a mean: models are wider than jobs are [c, f]
    evidence_weight: float = 2.0
    max_unchanged_ratio: float = 1.2  # maximum ratio of the longest to the shortest interval without a change [o]
    max_extra_interval: float = 0.4  # maximum interval before an extra phase, as a share of the usual interval [s]
    drift_intervals: int = 24  # latest intervals from which a drift is measured [s]
    max_drift: float = 0.06  # maximum relative change from one interval to the next in a drift [s]
    line_square_ratio: float = 1.2  # maximum ratio of squares at which a line explains a change as well [s]
    # minimum deviation of the latest intervals to replace all, in standard errors [o]
    drift_standard_errors: float = 2.0
    small_phase_spread_ratio: float = 0.97  # maximum ratio of spreads at which small phases are accepted [s]


class SpectralLines(Struct, frozen=True):
    """Lines of the spectrum."""

    min_cycles: float = 2.0  # minimum cycles in the window [a]
    min_period_bins: float = 3.0  # minimum bins per period [a]
    tried_peaks: int = 3  # number of peaks tried [a]
    multiple_gain: float = 0.1  # minimum gain in autocorrelation for a multiple of a period [a]
    multiple_gain_factor: float = 2.0  # same, as a factor, if volumes do not alternate [a]
    noise_band: float = 4.0  # noise band of a line, in multiples of its frequency [f]
    # minimum share of the variance of volumes explained by a pattern of several periods [a]
    alternation_share: float = 0.4
    slow_band_end: float = 0.6  # upper bound of slower changes, as a share of a line's frequency [f]
    full_prominence_ratio: float = 3.0  # minimum ratio of a line's power to slower changes for full prominence [f]
    min_valley: float = 0.05  # minimum drop of the autocorrelation beside a peak [a]
    valley_start: float = 0.4  # start of the search range for that drop, as a share of the lag [a]
    zero_presence_periods: float = 1.5  # periods with I/O at which presence is 0; it is 1 at twice as many [f]
    min_support: float = 0.05  # minimum support of a line that counts [f]
    full_support: float = 0.65  # support from which on a line counts fully [f]
    min_depth: float = 0.4  # minimum amplitude over mean of a line that is no ripple [f]
    # minimum quality of agreeing phases to provide the period, as a share of the line's confidence [a]
    phase_confidence_share: float = 0.3
    # confidence lost if line and phases disagree, as a share of the other's confidence [f]
    contradiction_loss: float = 0.5


class Quality(Struct, frozen=True):
    """Quality of a segmentation."""

    interval_spread_scale: float = 0.35  # spread of intervals at which regularity is 1/e [a, f]
    volume_spread_scale: float = 0.3  # spread of volumes at which likeness is 1/e [a, f]
    volume_spread_resolution: float = 0.05  # resolution of the spread of volumes [a]
    half_confidence_chance: float = 0.01  # chance at which a finding has a confidence factor of 1/2 [f]
    mean_distance_chance: float = 1e-8  # same, for intervals with a mean distance, however uneven [s, f]
    # maximum ratio of the rate of a period to that of another one, beside which it is a log [o]
    log_rate_ratio: float = 0.02
    # spread of intervals at which the factor of ``mean_distance_chance`` is 1/e [s, f]
    uneven_spread_scale: float = 0.5
    tried_segmentations: float = 10.0  # number of segmentations tried, by which chances are multiplied [f]
    # confidence in phases that are alike and clear, but too few to exclude chance [o]
    few_phases_confidence: float = 0.4
    min_contrast: float = 0.6  # minimum contrast of phases that are accepted for their shape [f]
    full_contrast: float = 0.9  # contrast from which on such phases count fully [f]
    line_weight: float = 0.4  # weight added by a line of the same period [a]
    change_weight_loss: float = 0.5  # weight lost by a segmentation that holds for the latest phases only [o]
    added_value_deviation: float = 0.25  # deviation of the additional value in weighted spreads [o]


class NextPhaseOdds(Struct, frozen=True):
    """Probability and time of the next phase."""

    finished_job_intervals: float = 13.0  # intervals at which the confidence for a finished job is squared [f]
    few_intervals_power: float = 5.0  # power of their ratio to fewer or more intervals [f]
    prior_spread: float = 0.15  # spread of the intervals of an unknown job (prior) [c]
    prior_intervals: int = 1  # weight of this prior, in intervals [c]
    measured_shares: tuple[tuple[float, float], ...] = (
        *((0.0, 0.0), (0.18, 0.25), (0.25, 0.37), (0.35, 0.455), (0.5, 0.5), (1.0, 1.0)),
    )  # confidence in the next start, and measured share of correct predictions [c]
    # quality of phases, and measured share of starts as predicted, over the one expected of their intervals [c, s]
    measured_phases: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.2, 0.3), (0.5, 0.85), (0.75, 0.9), (1.0, 1.0))
    overdue_begin: float = 1.5  # overdue time at which confidence starts to fall, in periods [c]
    overdue_end: float = 4.0  # overdue time at which confidence is 0, in periods [c]
    recent_phases: int = 32  # latest intervals, lengths and volumes from which 90 % intervals are computed [s]
    # sequential requests per phase; the part of a running request is not visible before its end [s]
    requests_per_phase: float = 8.0
    kind_length_difference: float = 0.25  # minimum relative difference of lengths of different kinds [s]
    prior_miss_rate: float = 0.025  # share of missed phases, and of stray intervals, of an unknown job (prior) [s]
    prior_miss_intervals: float = 4.0  # weight of this prior, in intervals [s]
    min_course_odds: float = 0.02  # minimum share of the odds of a course [s]
    grid_outlier_deviations: float = 2.5  # deviation from a grid that does not move it, in standard deviations [s]
    grid_log_likelihood: float = 2.0  # minimum log likelihood ratio of a grid [s]
    start_resolution_bins: float = 0.3  # resolution of a start, bins [s]
    min_end_clock_pause: float = 1 / 8  # minimum pause for timing from the ends of phases, in periods [s]
    equal_shifts_prior: float = 0.3  # probability that rests divide phases into equal shifts (prior) [s]
    max_shift_phases: int = 96  # latest phases from which shifts are learned [s]
    unequal_shift_rate: float = 0.1  # share of shifts with another number of phases (prior) [s]


class SecondaryPeriods(Struct, frozen=True):
    """Secondary periods, and signals that hide or imitate a period."""

    min_intervals: int = 3  # minimum intervals of an earlier or inner period [o]
    # minimum share of variance of volumes explained by a pattern, and of regular inner intervals [f]
    min_explained_share: float = 0.8
    # maximum relative deviation of intervals within a phase; twice as much for the spread of earlier ones [f]
    interval_tolerance: float = 0.25
    min_period_ratio: float = 1.6  # minimum ratio of the main period to an inner one [f]
    min_volume_share: float = 0.001  # minimum share of volume of a reported period [f]
    max_pattern_phases: int = 32  # maximum phases of a pattern [f]
    max_earlier_periods: int = 4  # maximum earlier periods, and removed bursts [o]
    min_burst_share: float = 0.5  # minimum share of volume of a burst that may hide a period [f]
    min_left_share: float = 0.5  # minimum share of bins left without a burst [f]
    window_parts: int = 64  # share of the window, as a divisor, below which a pause does not end a burst [f]
    min_stream_gaps: float = 2.0  # minimum gaps per period of a stream of requests [f]
    max_stream_gap_ratio: float = 1.7  # maximum ratio of the longest to the usual gap of an even stream of requests [f]
    min_stream_periods: int = 8  # minimum periods of such a stream [f]
    # maximum period, in bins, at which gaps of one bin may lie between two requests [f]
    max_sparse_period_bins: int = 16
    max_sparse_gap_bins: float = 2.0  # maximum mean gap between such requests, bins [f]
    min_true_power_share: float = 0.25  # minimum share of the binned power at a period that the requests have [f]


class LiveSearch(Struct, frozen=True):
    """Window and resolution for a running job."""

    history_periods: int = 24  # periods of history from which regularity is learned [s, o]
    predictions_per_other_level: int = 6  # predictions per look at another resolution [o]
    # predictions with one period from which on it is followed between thorough searches [s, g]
    familiar_predictions: int = 12
    proven_predictions: int = 32  # same, from which on thorough searches are rarer [o]
    proven_factor: int = 4  # factor by which they and searches for further periods are then rarer [o]
    period_order_ratio: float = 4.0  # minimum ratio of periods of different order [o]
    min_lasting_share: float = 0.5  # minimum share of a level's range with a period that only this level shows [f]
    recall_periods: float = 4.5  # periods after a silence that confirm the old period [o]
    # minimum ratio of the known period to a faster one that may be the inside of a phase [o]
    inside_period_ratio: float = 1.5
    # predictions per period for a certain period; a pause of one interval may end a phase [c]
    predictions_per_period: int = 8
    predictions_per_secondary_search: int = 16  # predictions per search for further periods [o]
    window_change_ratio: float = 1.5  # minimum ratio of periods that shortens the window permanently [o]
    min_changed_intervals: int = 3  # minimum new intervals for it [o]
    same_interval_ratio: float = 1.3  # maximum ratio of an interval to the period that still belongs to it [f]
    window_margin_intervals: float = 0.25  # distance of the window's start before a phase, in intervals [o]
    bins_per_period: int = 32  # bins per period that are fine enough [a]
    unfound_predictions: int = 32  # predictions without a trusted period after which searches become rarer [o]
    # share of the further predictions for which a search without a result is kept [o]
    kept_prediction_share: float = 1 / 8
    max_kept_predictions: int = 64  # maximum number of predictions for which it is kept [o]
    predictions_per_new_search: int = 12  # predictions by which a job with a period earns a search of alternatives [o]
    max_earned_searches: int = 32  # maximum number of earned searches, which a new job has, too [o]
    # minimum ratio of the last phase's length to all others at which it may consist of phases of a shorter period [o]
    longer_phase_ratio: float = 2.0


class Grouping(Struct, frozen=True):
    """Members of a job that do I/O together."""

    min_level_phases: int = 4  # minimum phases at a level that shows phases [g]
    min_contrast: float = 0.3  # minimum share of bytes within phases less the share of time [g]
    min_group_correlation: float = 0.35  # minimum correlation of two parts of one group [g]
    min_unclear_correlation: float = 0.25  # minimum correlation of a group with members without clear phases [g]
    min_inside_share: float = 0.8  # minimum share of bytes of a part within phases of another group, beyond chance [g]
    # minimum share of equal distances of an independent group, in phases of the other [g]
    max_equal_distance_share: float = 0.7
    max_count_ratio: float = 1.5  # maximum ratio of the phase counts of two members of one group [g]
    # maximum relative difference of phase counts, and overlap, of members that take turns [g]
    turn_tolerance: float = 0.15
    # maximum deviation of the distances of phases that take turns, over their mean [g]
    turn_distance_deviation: float = 0.25
    min_reported_confidence: float = 0.7  # minimum confidence of a group's reported period [g]
    min_reported_phases: int = 5  # minimum phases of a group's reported period [g]
    predictions_per_search: int = 8  # predictions per search for groups [g]


class Tuning(Struct, frozen=True):
    """All tuned numbers."""

    tolerances: Tolerances = Tolerances()
    segmentation: PhaseSegmentation = PhaseSegmentation()
    merged_phases: MergedPhases = MergedPhases()
    intervals: PhaseIntervals = PhaseIntervals()
    spectral_lines: SpectralLines = SpectralLines()
    quality: Quality = Quality()
    next_phase: NextPhaseOdds = NextPhaseOdds()
    secondary_periods: SecondaryPeriods = SecondaryPeriods()
    live: LiveSearch = LiveSearch()
    grouping: Grouping = Grouping()


TUNING: Final = Tuning()
