"""Findings on requests that change on their way down, and on files: small requests, many small files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import FileType
from ....events.counted_text import counted
from ....results.layers import Account, Finding, Layers, Step
from ...common.sorting import distinct_pairs, sorted_distinct
from ...common.state import Ints
from ...common.texts import duration_text, layer_label, list_text
from ...file_groups import DATA
from ..calls import BOTTOM, LAYERS, PROGRAM
from ..report_context import ReportContext
from ..settings import Thresholds
from ..state.call_tables import FILE, WAYS, layer_name

_KIB: Final = 1024
_FORMATS: Final = ("HDF5", "NETCDF", "PNETCDF")
_MAX_TOLD: Final = 10  # maximum number of findings per direction
_AT: Final = {name: at for at, name in enumerate(FILE)}


def amplified(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers that amplify requests.

    They make many calls per request, move more or fewer bytes, or read in order to write.
    """
    for account in report.accounts:
        mine = [step for step in report.steps if step.caller == account.layer != step.layer]
        below = [step for step in mine if step.way == account.way]
        crossed = [step for step in below if step.caller_way not in (account.way, "other")]
        if account.way == "read":
            yield from _crossed(report, account.layer, crossed, limits)
        yield from _more(report, account, [step for step in below if step not in crossed], limits)


def computing(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report format libraries that spend most of the time of their requests themselves."""
    for row in report.layers:
        whole = _request_seconds(report, row.layer, "read") + _request_seconds(report, row.layer, "write")
        own = row.data_seconds - row.metadata_seconds
        if row.layer not in _FORMATS or whole < limits.least_s or own < limits.computing_share * whole:
            continue
        yield Finding(
            rule="computing",
            layer=row.layer,
            text=f"{own / whole:.0%} of the {duration_text(whole)} in {layer_label(row.layer)}'s reads and "
            f"writes is its own: "
            "filters, conversion, copies, messages, not the layers below",
            value=own / whole,
            threshold=limits.computing_share,
            seconds=own,
            numbers={"request_seconds": whole},
        )


def _request_seconds(report: Layers, layer: str, way: str) -> float:
    """Return the inclusive time of a layer's requests, s."""
    return sum(row.seconds for row in report.fates if row.layer == layer and row.way == way)


def _crossed(report: Layers, layer: str, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """Report reads within writes: blocks are read, changed and written back."""
    size = sum(step.bytes for step in steps)
    written = sum(row.bytes for row in report.accounts if row.layer == layer and row.way == "write")
    if size < _KIB or size < (limits.bytes_below - 1) * written:
        return
    seconds = sum(step.seconds for step in steps)
    yield Finding(
        rule="read_to_write",
        layer=layer,
        text=f"{layer_label(layer)}'s writes read {size:,} bytes below in "
        f"{counted(sum(step.calls for step in steps), 'reads')} "
        f"({duration_text(seconds)}) for {written:,} that they write: blocks that are written in part are read before",
        value=size / max(1, written),
        threshold=limits.bytes_below - 1,
        seconds=max(seconds, _request_seconds(report, layer, "write")),
        numbers={"bytes": size, "written": written},
    )


def _more(report: Layers, account: Account, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """Report more calls or bytes below than requested, or fewer bytes."""
    calls, moved = sum(step.calls for step in steps), sum(step.bytes for step in steps)
    below = sum(step.seconds for step in steps)
    seconds = max(below, _request_seconds(report, account.layer, account.way))
    name = layer_label(account.layer)
    if account.calls and calls / account.calls >= limits.calls_below:
        yield Finding(
            rule="more_calls",
            layer=account.layer,
            text=f"{name} makes {counted(calls, account.way + 's')} below for "
            f"{counted(account.calls, account.way + 's')} of its own "
            f"({calls / account.calls:,.1f} each, {duration_text(below)})",
            value=calls / account.calls,
            threshold=limits.calls_below,
            seconds=seconds,
            numbers={"calls": account.calls, "below": calls},
        )
    if account.bytes < _KIB or not calls:
        return
    ratio = moved / account.bytes
    if ratio >= limits.bytes_below or ratio <= 1 / limits.bytes_below:
        past = "read" if account.way == "read" else "written"
        yield Finding(
            rule="more_bytes" if ratio > 1 else "fewer_bytes",
            layer=account.layer,
            text=f"{ratio:.2f} bytes are {past} below {name} for each byte that goes through it ({moved:,} for "
            f"{account.bytes:,})",
            value=ratio,
            threshold=limits.bytes_below if ratio > 1 else 1 / limits.bytes_below,
            seconds=seconds,
            numbers={"bytes": account.bytes, "below": moved},
        )


class _Rows(NamedTuple):
    """Accesses of the lowest layers to each data file, by caller."""

    file: Ints
    over: Ints
    layer: Ints
    sums: npt.NDArray[np.int64]
    kind: Ints
    """Class of the file."""


def of_files(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report small requests, and folders with many small files."""
    rows = _rows_of(view)
    yield from _small_requests(view, rows, limits)
    yield from _many_files(view, rows, limits)


def _small_requests(view: ReportContext, rows: _Rows, limits: Thresholds) -> Iterator[Finding]:
    """Report small requests to similar files; files with few requests are combined by folder."""
    moves = np.zeros(len(view.folder_of_class), np.int64)
    np.add.at(moves, rows.kind, rows.sums[:, _AT["reads"]] + rows.sums[:, _AT["writes"]])
    by_folder = moves[rows.kind] < limits.small_calls
    place = np.where(by_folder, len(moves) + view.folder_of_class[rows.kind], rows.kind)
    pairs, group, total = _summed(place * LAYERS + rows.layer, rows.sums)
    for way in WAYS[:2]:
        names = (f"{way}s", "bytes_read" if way == "read" else "bytes_written", f"{way}_ns")
        columns = [total[:, _AT[name]] for name in names]
        small = np.flatnonzero((columns[0] >= limits.small_calls) & (columns[1] < limits.small_bytes * columns[0]))
        for which in small[np.argsort(-columns[2][small], kind="stable")][:_MAX_TOLD].tolist():
            at, number = divmod(int(pairs[which]), LAYERS)
            calls, size, ns = (int(column[which]) for column in columns)
            mine = np.flatnonzero(group == which)
            files = len(sorted_distinct(rows.file[mine]))
            callers = sorted({int(each) for each in rows.over[mine]} - {PROGRAM, number})
            made_for = f" for {list_text(layer_label(layer_name(each)) for each in callers)}" if callers else ""
            folder = at >= len(moves)
            where = f"{counted(files, 'files')} in {view.folders[at - len(moves)]}" if folder else view.class_path(at)
            yield Finding(
                rule="small_requests",
                layer=layer_name(number),
                text=f"{counted(calls, way + 's')} of {size / calls:,.0f} bytes on average "
                f"{'from' if way == 'read' else 'to'} "
                f"{where}{made_for} take {duration_text(ns / 1e9)}",
                value=size / calls,
                threshold=limits.small_bytes,
                seconds=ns / 1e9,
                numbers={"calls": calls, "bytes": size, "files": files},
            )


def _many_files(view: ReportContext, rows: _Rows, limits: Thresholds) -> Iterator[Finding]:
    """Report folders with many small files whose time is mostly spent on opening and closing."""
    pairs, group, total = _summed(view.folder_of_class[rows.kind] * LAYERS + rows.layer, rows.sums)
    types = np.array(view.analyzer.files.types)
    opened = (rows.sums[:, _AT["opens"]] > 0) & (types[rows.file] != FileType.DIRECTORY)
    opened_files = distinct_pairs(group[opened], rows.file[opened])[0]
    count = np.bincount(opened_files, minlength=len(pairs))
    size = total[:, _AT["bytes_read"]] + total[:, _AT["bytes_written"]]
    whole = total[:, _AT["exclusive_ns"]]
    beside = whole - total[:, _AT["read_ns"]] - total[:, _AT["write_ns"]]
    many = (count >= limits.many_files) & (size < limits.small_file_bytes * count)
    for which in np.flatnonzero(many & (beside >= limits.metadata_share * whole)).tolist():
        folder, number = divmod(int(pairs[which]), LAYERS)
        files, seconds = int(count[which]), int(beside[which]) / 1e9
        share = int(beside[which]) / max(1, int(whole[which]))
        yield Finding(
            rule="many_files",
            layer=layer_name(number),
            text=f"{files:,} files in {view.folders[folder]} with {size[which] / files:,.0f} bytes moved each on "
            f"average: {share:.0%} of the time on them goes to opening, closing and the like "
            f"({duration_text(seconds)})",
            value=share,
            threshold=limits.metadata_share,
            seconds=seconds,
            numbers={"files": files, "bytes": int(size[which])},
        )


def _rows_of(view: ReportContext) -> _Rows:
    file, over, layer, sums = view.by_file
    files = view.analyzer.files
    rows = np.flatnonzero(((BOTTOM >> layer) & 1 == 1) & (files.group_of(file) == DATA) & (file != 0))
    return _Rows(file[rows], over[rows], layer[rows], sums[rows], files.class_of(file[rows]))


def _summed(key: Ints, sums: npt.NDArray[np.int64]) -> tuple[Ints, npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Return the distinct keys, the index of each row's key, and the sums by key."""
    pairs, group = np.unique(key, return_inverse=True)
    total = np.zeros((len(pairs), sums.shape[1]), np.int64)
    np.add.at(total, group, sums)
    return pairs, group, total
