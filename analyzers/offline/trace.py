"""Period of a finished trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from msgspec.structs import replace

from ...events.errors import ConfigError
from ...results.prediction import PERIODIC_FROM, ModeName, Prediction
from ..common.sorting import Ordering, ordered
from ..periodicity.aliasing import is_alias
from ..periodicity.estimator import PeriodEstimate, SignalWindow
from ..periodicity.estimators import ftio_reference
from ..periodicity.estimators.named_estimators import ESTIMATORS, prediction_of
from ..periodicity.estimators.secondary_periods import ended_period, other_periods
from ..periodicity.phases.dominant_burst import without_bursts
from ..periodicity.tuning import TUNING
from ..settings import FINEST_NS, USUAL_HZ, DetectSettings
from ..signal.bandwidth import FACTOR, BandwidthSignal
from ..signal.binning import bin_range
from ..signal.ring import Ring
from .requests import Batches, Requests, Spells

_WAYS: Final[tuple[ModeName, ...]] = ("write", "read")
_OVERVIEW: Final = 2048  # bins of the first look at a trace
_ESTIMATED: Final = 2**20  # maximum bins of an estimate, the newest
_SEARCHED: Final = 2**18  # maximum bins for the search of further periods
_MIN_BINS: Final = 1024  # minimum bins of a short trace, unless they would be below the minimum length
_SHORTEST_NS: Final = FINEST_NS // FACTOR**3


def detect(batches: Batches, settings: DetectSettings, job: str, ordering: Ordering = ordered) -> Prediction:
    """Find the period of a finished trace like ``examine``, and return the prediction only."""
    return examine(batches, settings, job, ordering)[0]


def examine(
    batches: Batches, settings: DetectSettings, job: str, ordering: Ordering = ordered
) -> tuple[Prediction, SignalWindow]:
    """Find the period of a finished trace. Without a certain one, that of reads or writes alone.

    The mode of the prediction names the direction. Everything else is as in ``examine_mode``.
    """
    found = examine_mode(batches, settings, job, ordering)
    if settings.mode != "both" or settings.method != "tide" or found[0].periodic or settings.sampling != "volume":
        return found
    ways = (examine_mode(batches, settings.model_copy(update={"mode": mode}), job, ordering) for mode in _WAYS)
    return max((way for way in ways if way[0].periodic), key=lambda way: way[0].confidence, default=found)


def examine_mode(
    batches: Batches, settings: DetectSettings, job: str, ordering: Ordering = ordered
) -> tuple[Prediction, SignalWindow]:
    """Find the period of a finished trace. The window is the trace, and the prediction is made at its end.

    The window reaches from the first event of any kind to the end of the last one. For the reference, and with
    ``sampling="point"``, it reaches from the first request of the mode to the end of the last such request.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        settings: method and limits.
        job: job name in the result.
        ordering: function that sorts the requests for ``sampling="point"``; in memory by default.

    Returns:
        The prediction, without a period for an empty trace; and the signal that it was made from.
    """
    requests = Requests(
        batches, settings.mode, on_clock=settings.method != "reference" and settings.sampling == "volume"
    )
    first_ns, last_ns = min(requests.firsts, default=0), max(requests.lasts, default=0)
    error = 0.0
    finest: SignalWindow | None = None
    if settings.sampling == "point":
        view, error = _point_view(requests, settings, first_ns, ordering)
        periodicity = ESTIMATORS[settings.method](view, settings)
    elif settings.fixed_hz is not None:
        view = _trace_view(signal_of_requests(requests, settings.bin_ns, settings), requests, settings)
        view, periodicity = _estimated(view, settings, requests)
    else:
        span_ns = last_ns - first_ns if requests.first_ns is None else requests.last_ns - requests.first_ns
        bin_ns = _finest(span_ns, settings)
        finest = _trace_view(signal_of_requests(requests, bin_ns, settings), requests, settings)
        view, periodicity = _best(finest, partial(_estimated, settings=settings, requests=requests))
    if settings.method == "tide":
        fine = finest if finest is not None and len(finest.bandwidth) <= _SEARCHED else view
        if periodicity.others:
            pass  # two programs leave nothing unexplained
        elif periodicity.period_s is not None:
            periodicity = replace(periodicity, others=other_periods(fine, periodicity.period_s.value))
        elif (ended := ended_period(fine)) is not None and not is_alias(requests, fine, ended.period_s.value):
            periodicity = replace(periodicity, others=[ended])
    return prediction_of(job, settings, view, periodicity, made_at_s=view.end_s, adapted=False, error=error), view


def _estimated(view: SignalWindow, settings: DetectSettings, requests: Requests) -> tuple[SignalWindow, PeriodEstimate]:
    """Return the period and its view; single bursts that hide a period are removed."""
    periodicity = _periodicity(view, settings, requests)
    if settings.method == "tide" and periodicity.confidence < PERIODIC_FROM:
        for shorter in without_bursts(view):
            found = _periodicity(shorter, settings, requests)
            if found.confidence > max(periodicity.confidence, PERIODIC_FROM):
                return shorter, found
    return view, periodicity


def _periodicity(view: SignalWindow, settings: DetectSettings, requests: Requests) -> PeriodEstimate:
    """Run the estimator. A result of the default estimator that is only due to binning is discarded."""
    periodicity = ESTIMATORS[settings.method](view, settings)
    if settings.method == "reference" or periodicity.period_s is None:
        return periodicity
    if is_alias(requests, view, periodicity.period_s.value):
        return PeriodEstimate(dominant=periodicity.dominant[1:], harmonics_dropped=periodicity.harmonics_dropped)
    return periodicity


def signal_of_requests(requests: Requests, bin_ns: int, settings: DetectSettings) -> BandwidthSignal:
    """Bin requests. If the bins do not cover their time, these are the newest bins of the largest group of requests.

    Groups are separated by pauses that are longer than the bins.
    """
    signal = BandwidthSignal(bin_ns, settings.trace_bins)
    span_ns = 0 if requests.first_ns is None else requests.last_ns - requests.first_ns
    if requests.is_one_piece or span_ns // bin_ns < settings.trace_bins - 1:
        for piece in requests:
            signal.add(*piece)
        return signal
    groups, newest = Spells(settings.trace_bins), 0
    for start, end, _ in requests:
        groups.add(last := bin_range(start, end, bin_ns)[1])
        newest = max(newest, int(last.max(initial=0)))
    if (largest := groups.longest()) is not None:
        newest = largest[1]
    oldest = max(newest - settings.trace_bins + 1, 0)
    is_cut = False
    for start, end, volume in requests:
        first, last = bin_range(start, end, bin_ns)
        is_cut = is_cut or bool((first[last <= newest] < oldest).any())
        rows = (last >= oldest) & (last <= newest)
        signal.add(start[rows], end[rows], volume[rows])
    if is_cut:  # the signal begins with its oldest bin, whether or not a request touches it
        edge = np.array([oldest * bin_ns])
        signal.add(edge, edge, np.zeros(1))
    return signal


def _finest(span_ns: int, settings: DetectSettings) -> int:
    """Return the bin length for a trace, ns. It is 10 ms, less for short and more for long traces."""
    bin_ns = FINEST_NS
    while span_ns // bin_ns >= settings.trace_bins - 1:
        bin_ns *= FACTOR
    while bin_ns > _SHORTEST_NS and span_ns // bin_ns < min(_MIN_BINS, settings.trace_bins // FACTOR):
        bin_ns //= FACTOR
    return bin_ns


def _best(
    finest: SignalWindow, look: Callable[[SignalWindow], tuple[SignalWindow, PeriodEstimate]]
) -> tuple[SignalWindow, PeriodEstimate]:
    """Analyze a trace in few bins first. Finer bins follow until its period is certain and resolved.

    Of results that agree, the one with the fewest bins counts, if it has 32 bins per period or more. Otherwise the most
    certain one counts, or that of the coarser bins if the certainty is similar and its period has 32 bins.
    """
    views = [finest]
    while len(views[-1].bandwidth) > _OVERVIEW:
        views.append(_coarser(views[-1]))
    best_view, best = look(views[-1])
    for at in map(_newest, reversed(views)):
        view, periodicity = (best_view, best) if at is views[-1] else look(at)
        if periodicity.period_s is None:
            continue
        finer = (
            best.period_s is not None
            and abs(math.log(periodicity.period_s.value / best.period_s.value)) < TUNING.tolerances.equal_period_log
        )
        # bins that are too coarse for a period may merge two phases
        coarse = best.period_s is not None and best.period_s.value < TUNING.live.bins_per_period * best_view.bin_s
        margin = 0.0 if coarse else TUNING.tolerances.confidence_gain
        if best.period_s is None or finer or periodicity.next_confidence > best.next_confidence + margin:
            best_view, best = view, periodicity
        fine = best.period_s is not None and best.period_s.value >= TUNING.live.bins_per_period * best_view.bin_s
        # a period whose next phase is not certain may consist of phases that only finer bins separate
        sure = (
            TUNING.tolerances.min_confidence
            if best.next_confidence >= TUNING.tolerances.min_confidence
            else TUNING.tolerances.certain_confidence
        )
        if fine and best.confidence >= sure:
            break
    return best_view, best


def _coarser(view: SignalWindow) -> SignalWindow:
    """Merge groups of four bins; bins start at multiples of their length."""
    bin_ns = round(view.bin_s * 1e9)
    low = round(view.start_s / view.bin_s)
    ring = Ring(bin_ns, len(view.bandwidth))
    ring.add(low, view.bandwidth, low + len(view.bandwidth) - 1)
    joined = ring.coarser(FACTOR)
    return SignalWindow(
        joined.read(joined.oldest, joined.newest + 1) / FACTOR,
        bin_s=view.bin_s * FACTOR,
        start_s=joined.oldest * joined.bin_ns / 1e9,
        now_s=(joined.newest + 1) * joined.bin_ns / 1e9,
        cut=view.cut,
        ended=view.ended,
    )


def _newest(view: SignalWindow) -> SignalWindow:
    skipped = len(view.bandwidth) - _ESTIMATED
    if skipped <= 0:
        return view
    return SignalWindow(
        view.bandwidth[skipped:],
        bin_s=view.bin_s,
        start_s=view.start_s + skipped * view.bin_s,
        now_s=view.now_s,
        cut=True,
        ended=view.ended,
    )


def _trace_view(signal: BandwidthSignal, requests: Requests, settings: DetectSettings) -> SignalWindow:
    firsts, lasts = requests.firsts, requests.lasts
    if not len(signal):
        from_ns = min(firsts, default=0)
        to_ns = from_ns if settings.method == "reference" else max(lasts, default=0)
    else:
        from_ns, to_ns = signal.first_ns or 0, signal.last_ns or 0
    if settings.method != "reference":
        # timestamps that are off by more than the ring do not extend the window
        reach = signal.capacity * signal.bin_ns
        from_ns = min([from_ns, *(early for early in firsts if early > to_ns - reach)])
        to_ns = max([to_ns, *(late for late in lasts if late < from_ns + reach)])
    samples = signal.read(from_ns, to_ns)
    return SignalWindow(
        samples.bandwidth,
        bin_s=signal.bin_ns / 1e9,
        start_s=samples.first_ns / 1e9,
        now_s=samples.end_ns / 1e9,
        ended=True,
        cut=samples.first_ns > from_ns,
    )


def _point_view(
    requests: Requests, settings: DetectSettings, first_ns: int, ordering: Ordering
) -> tuple[SignalWindow, float]:
    """Return the view and the abstraction error |V(sampled) - V(trace)| / V(trace)."""
    start_ns = first_ns if requests.first_ns is None else requests.first_ns
    duration_s = 0.0 if requests.first_ns is None else (requests.last_ns - requests.first_ns) / 1e9
    frequency_hz = settings.fixed_hz or USUAL_HZ
    if duration_s * frequency_hz > settings.trace_bins:
        raise ConfigError(
            f"{duration_s:.6g} s at {frequency_hz:g} Hz are more than {settings.trace_bins} samples; "
            "lower the sampling frequency, or sample by volume"
        )
    as_published = settings.method == "reference"
    samples = ftio_reference.point_samples(requests, frequency_hz, ordering, as_published=as_published)
    bin_s, start_s = 1 / frequency_hz, start_ns / 1e9
    total = float(sum(int(volume.sum()) for _, _, volume in requests))
    error = abs(float(samples.sum()) * bin_s - total) / total if total else 0.0
    return SignalWindow(samples, bin_s=bin_s, start_s=start_s, now_s=start_s + len(samples) * bin_s, ended=True), error
