"""Computes advice from aggregated call statistics."""

from __future__ import annotations

from posixpath import dirname
from typing import Final

import numpy as np

from ...events import Kind, Layer
from ...results.advice import Advice, AdviceFinding, Destination, Spent
from ...results.prediction import Prediction
from ..common.texts import size_text
from ..file_groups import CHANNEL, DATA, SYSTEM
from .call_statistics import LOWEST, Calls, CallStatistics, Flags, Floats
from .rules.claims import Floor, findings_of
from .rules.rules_chunks import chunks
from .rules.rules_metadata import fsync, locks, opens_and_metadata
from .rules.rules_order import AccessOrders, misaligned_requests, random_reads, read_back, repeated_bytes
from .rules.rules_processes import checkpoints, conflicts, imbalance, mounts
from .rules.rules_requests import requests_of, small_requests

_MAX_DESTINATIONS: Final = 8  # maximum number of listed destinations
_MAX_FINDINGS: Final = 32  # maximum number of listed findings
_BUSY: Final = 0.01  # minimum share of the busiest lane's time for a lane to count


def advice_of(statistics: CallStatistics, periodicity: Prediction | None = None, run_s: float | None = None) -> Advice:
    """Compute the advice for a job.

    Args:
        statistics: aggregated call statistics.
        periodicity: prediction of the job's period, if known.
        run_s: duration of the run, s, if known more precisely than from its calls.
    """
    seen_s = max(statistics.last_ns - statistics.first_ns, 0) / 1e9
    run = max(run_s or 0.0, seen_s)
    floor_s = max(statistics.settings.floor_s, statistics.settings.floor_share * run)
    calls = Calls(statistics)
    lane, _ = statistics.lanes
    spent = _time_by_kind(calls)
    busiest = statistics.busiest_thread

    def others(group: int) -> float:
        rows = np.flatnonzero(statistics.top(group))
        mine = rows[lane[statistics.keys.thread[rows]] == lane[busiest]]
        return float(statistics.cells.sums[mine, 1].sum()) / 1e9

    return Advice(
        job=statistics.job,
        events=statistics.events,
        first_s=statistics.first_ns / 1e9,
        last_s=statistics.last_ns / 1e9,
        run_s=run,
        lanes=_busy_lanes(calls),
        slowest=statistics.label(busiest),
        spent=spent,
        io_s=spent.io_s,
        io_share=min(spent.io_s / run, 1.0) if run else 0.0,
        system_s=others(SYSTEM),
        waiting_s=others(CHANNEL),
        bytes_read=int(calls.bytes[calls.reads].sum()),
        bytes_written=int(calls.bytes[calls.writes].sum()),
        manner=_request_size_text(calls),
        destinations=_destinations(calls),
        findings=_findings(calls, periodicity, run, floor_s) if run else [],
        floor_share=statistics.settings.floor_share,
        floor_s=floor_s,
        losses=statistics.losses,
    )


def _findings(calls: Calls, periodicity: Prediction | None, run_s: float, floor_s: float) -> list[AdviceFinding]:
    if not len(calls.rows):
        return []
    settings = calls.statistics.settings
    places = AccessOrders(calls)
    by_chunks, chunked = chunks(calls)
    claims = [
        *by_chunks,
        *random_reads(calls, places),
        *repeated_bytes(calls, places),
        *read_back(calls, chunked, places),
        *fsync(calls),
        *opens_and_metadata(calls),
        *locks(calls),
        *misaligned_requests(calls, places),
        *small_requests(calls, chunked, places),
    ]
    found = [
        *findings_of(calls, claims, run_s, Floor(settings.floor_share, settings.floor_s)),
        *imbalance(calls, run_s, floor_s),
        *mounts(calls, run_s, floor_s),
        *checkpoints(calls, periodicity, run_s, floor_s),
        *conflicts(calls, run_s),
    ]
    return sorted(found, key=lambda finding: -finding.gain_s)[:_MAX_FINDINGS]


def _request_size_text(calls: Calls) -> str:
    """Describe the mean request size of the dominant direction; "" if no bytes moved."""
    write, read = (int(calls.bytes[way].sum()) for way in (calls.writes, calls.reads))
    way, what, size = (calls.writes, "writes", write) if write >= read else (calls.reads, "reads", read)
    count = requests_of(calls, way)
    return f"through {size_text(size / count)} {what}" if size and count else ""


def _busy_lanes(calls: Calls) -> int:
    """Return the number of lanes with a relevant share of time on data. Beside a rank, only ranks count."""
    statistics = calls.statistics
    ns, thread = calls.ns.astype(np.float64), calls.thread
    ranked = np.array([each.rank >= 0 for each in statistics.threads], bool)
    if ranked[statistics.busiest_thread]:  # else the launcher's own files make it one of the ranks
        ns, thread = ns[ranked[thread]], thread[ranked[thread]]
    sums_by_lane = statistics.sums_by_lane(ns, thread)
    return int(np.count_nonzero(sums_by_lane >= max(_BUSY * sums_by_lane.max(initial=0.0), 1.0)))


def _time_by_kind(calls: Calls) -> Spent:
    """Return the time of the busiest lane by kind of call."""
    statistics = calls.statistics
    if not len(calls.rows):
        return Spent()
    lane = statistics.lanes[0][calls.thread]
    mine = lane == int(np.argmax(np.bincount(lane, calls.ns)))
    synced = calls.kind == int(Kind.SYNC)
    opening = np.isin(calls.kind, (int(Kind.CREATE), int(Kind.DUPLICATE), int(Kind.DESTROY))) & ~calls.lookups

    def seconds(wanted: Flags) -> float:
        return float(calls.ns[mine & wanted].sum()) / 1e9

    return Spent(
        read_s=seconds(calls.reads),
        write_s=seconds(calls.writes),
        sync_s=seconds(synced),
        metadata_s=seconds(~(calls.reads | calls.writes | synced)),
        opening_s=seconds(opening),
        lookup_s=seconds(calls.lookups),
        names_s=seconds(calls.name_changes),
    )


def _bytes_at_file_system(calls: Calls, ways: Flags, kind: Kind) -> Floats:
    """Return the bytes that reached the file system in one direction, by file.

    A library that converts, compresses or caches moves other bytes than it is asked for. Its calls count only for files
    without recorded calls of a lowest layer below.
    """
    keys, sums = calls.statistics.keys, calls.statistics.cells.sums
    size = len(calls.statistics.files)
    system_calls = (keys.layer == int(Layer.POSIX)) | (keys.layer == int(Layer.KERNEL))
    deep = system_calls & keys.deep & (keys.group == DATA)
    moves = deep & ((keys.kind == int(Kind.READ)) | (keys.kind == int(Kind.WRITE)))
    is_below = np.bincount(keys.file[moves], minlength=size) > 0
    this_way = deep & (keys.kind == int(kind))
    below = np.bincount(keys.file[this_way], sums[this_way, 2], minlength=size)
    lowest = np.isin(calls.layer, LOWEST)
    asked = calls.by_file(calls.bytes, ways & ~lowest)
    is_asked = calls.by_file(calls.calls, ~lowest) > 0
    moved: Floats = calls.by_file(calls.bytes, ways & lowest) + np.where(is_asked & is_below, below, asked)
    return moved


def _destinations(calls: Calls) -> list[Destination]:
    statistics = calls.statistics
    places: dict[tuple[str, str], int] = {}
    of_file = np.array(
        [
            places.setdefault((info.mount_point or dirname(info.path), info.filesystem), len(places))
            for info in statistics.files
        ],
        np.int64,
    )
    taken = np.flatnonzero(calls.reads | calls.writes | (calls.kind == int(Kind.SYNC)))
    taken_at = of_file[calls.file[taken]]
    read, written = (
        np.bincount(of_file, _bytes_at_file_system(calls, ways, kind), minlength=len(places))
        for ways, kind in ((calls.reads, Kind.READ), (calls.writes, Kind.WRITE))
    )
    made = []
    for number, (place, kind) in enumerate(places):
        total = float(read[number] + written[number])
        if not total:
            continue
        rows = taken[taken_at == number]
        seconds = statistics.slowest(calls.ns[rows].astype(np.float64), calls.thread[rows])
        made.append(
            Destination(
                place=place,
                type=kind,
                bytes_read=int(read[number]),
                bytes_written=int(written[number]),
                seconds=seconds,
                rate=total / seconds if seconds > 0 else None,
            )
        )
    made.sort(key=lambda each: -each.bytes_read - each.bytes_written)
    return made[:_MAX_DESTINATIONS]
