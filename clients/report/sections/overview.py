"""The beginning of a report: the job's I/O in figures and sentences, and its state."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from ....events.counted_text import counted
from ....events.programs import class_name, common_pattern
from ....results.advice import Advice
from ....results.findings import Findings
from ....results.jobs.job import FileTotal, JobDetail
from ...text.headline import Headline, make_headline
from ...text.job_sentence import job_sentence
from ...text.prediction_text import io_share_text
from ...text.units import byte_text, clock_text, duration_text, layer_name, rate_text, time_text
from ..job_data import JobData
from ..markup import Lines, bullets, code, figure_text, heading, sentence
from .io_cost import Cost, io_cost, share_text

if TYPE_CHECKING:
    from ....results.layers import Mount

_MAX_COMMAND: Final = 400
_OTHER: Final = "(other)"
"""Files without a known path in the job's table."""
_MIN_SHARE: Final = 0.05
"""Least share of the bytes for which a file is named."""
_KERNEL: Final = frozenset({"devpts", "devtmpfs", "proc", "sysfs"})
"""File systems without a program's data."""


def title(subject: JobData) -> Lines:
    """Yield the name of the job, its command, and its run time."""
    yield f"<h1>{escape(subject.job.title)}</h1>"
    command = shlex.join(subject.command) or subject.job.command
    if len(command) > _MAX_COMMAND:
        command = f"{command[:_MAX_COMMAND]} ..."
    lines = [code(command)] if command else []
    when = f"{duration_text(subject.duration_s)}"
    if subject.wall_clock:
        when = f"{clock_text(subject.started_s)} to {clock_text(subject.ended_s)}, {when}"
    if subject.exit_status is not None:
        when += f"; exit status {subject.exit_status}"
    elif subject.job.state != "ended":
        when += f"; {subject.job.state}"
    lines.append(escape(when))
    lines += [escape(note) for note in subject.notes]
    yield f'<p class="soft">{"<br>".join(lines)}</p>'


def short(subject: JobData, advice: Advice | None) -> Lines:
    """Yield the job in one sentence; nothing if no data moved."""
    if advice is None:
        return
    now_s = subject.ended_s if subject.job.state != "ended" and subject.wall_clock else None
    if sentence_text := job_sentence(advice, subject.prediction, now_s, partial=subject.is_partial):
        yield f"<p><b>{escape(sentence(sentence_text))}.</b></p>"


def facts(subject: JobData, headline: Headline, findings: Findings) -> Lines:
    """Yield the figures."""
    job, prediction = subject.job, subject.prediction
    yield '<div class="facts">'
    yield figure_text("Period", headline.period, "; ".join(headline.notes))
    predictions = counted(subject.predictions, "predictions") if subject.predictions else ""
    yield figure_text("Confidence", headline.confidence, predictions)
    yield figure_text("Written", byte_text(job.bytes_written))
    yield figure_text("Read", byte_text(job.bytes_read))
    yield figure_text("I/O calls", f"{calls_of(subject, findings):,}", f"{job.events_dropped:,} dropped")
    if (cost := io_cost(findings, job, subject.duration_s)) is not None and cost.overlaps:
        if cost.slowest_share:
            yield figure_text("In I/O", share_text(cost.slowest_share), "of the time of a rank, on average")
    elif cost is not None:
        note = f"of the time of {cost.slowest}" if cost.slowest else "of the time"
        yield figure_text("In I/O", share_text(cost.slowest_share), note)
    if prediction is not None and (scores := prediction.scores) is not None:
        yield figure_text("Bytes per phase", byte_text(scores.bytes_per_phase), f"I/O {io_share_text(prediction)}")
    yield "</div>"


def overview_part(subject: JobData, findings: Findings) -> Lines:
    """Yield a few sentences: members with I/O, moved data, cost."""
    yield heading("What it did")
    yield from bullets(escape(line) for line in _sentences(subject, findings))


def calls_of(subject: JobData, findings: Findings) -> int:
    """Return the number of calls: an event may summarise many."""
    layers = [] if findings.layers is None else findings.layers.layers
    return max(subject.job.events, sum(row.calls for row in layers))


def _sentences(subject: JobData, findings: Findings) -> Iterator[str]:
    job, heat = subject.job, findings.heat
    who = f"{job.ranks:,} ranks" if job.ranks > 1 else ""
    if not who and heat is not None and heat.members > 1:
        who = f"{heat.members:,} processes"
    nodes = f"{len(job.hosts):,} nodes" if len(job.hosts) > 1 else (job.hosts or ["one node"])[0]
    yield f"{sentence(who or 'It')} ran for {duration_text(subject.duration_s)} on {nodes}."
    moved = job.bytes_read + job.bytes_written
    if not moved:
        yield "No byte of the program's data was read or written."
    else:
        files = _files(job)
        rate = f", {rate_text(moved / subject.duration_s)} on average" if subject.duration_s > 0 else ""
        yield f"It wrote {byte_text(job.bytes_written)} and read {byte_text(job.bytes_read)}{rate}{files}."
    if (cost := io_cost(findings, job, subject.duration_s)) is not None:
        yield _costs(cost)
    if (mount := _main_mount(findings)) is not None and mount.mount_point:
        share = {"shared": ", shared between nodes", "local": ", local to a node"}.get(mount.scope, "")
        yield f"Most of it is on {mount.mount_point} ({mount.filesystem or 'unknown type'}{share})."
    layers = [] if findings.layers is None else [row for row in findings.layers.layers if row.program_seconds > 0]
    if len(layers) > 1:
        names = ", ".join(layer_name(row.layer) for row in sorted(layers, key=lambda row: -row.program_seconds))
        yield f"Layers, by time: {names}."


def _main_mount(findings: Findings) -> Mount | None:
    """Return the file system with most of the program's data. Return None if no file system has most of it."""
    mounts = [] if findings.layers is None else findings.layers.mounts
    if findings.advice is not None:
        moved = {row.place: row.bytes_read + row.bytes_written for row in findings.advice.destinations}
        main = next((place for place, size in moved.items() if 2 * size > sum(moved.values())), "")
        return next((mount for mount in mounts if mount.mount_point == main), None) if main else None
    on_disk = [mount for mount in mounts if mount.filesystem not in _KERNEL]
    return max(on_disk, key=lambda row: (row.bytes_read + row.bytes_written, row.calls), default=None)


def _costs(cost: Cost) -> str:
    spent = time_text(cost.slowest_s)
    if cost.overlaps:
        of_rank = f"{share_text(cost.slowest_share)} of the run of a rank on average; " if cost.slowest_share else ""
        return f"Calls on its data took {of_rank}{spent} in all, as calls at the same time add up."
    if not cost.slowest:
        return f"Calls on its data took {spent}, {share_text(cost.slowest_share)} of the run."
    mean = "" if cost.mean_share is None else f", and {share_text(cost.mean_share)} on average"
    return f"Calls on its data took {share_text(cost.slowest_share)} of the run of {cost.slowest} ({spent}){mean}."


def _files(job: JobDetail) -> str:
    """Return the file with the most bytes, or files whose names differ only in numbers, and their share."""
    alike: dict[str, list[FileTotal]] = {}
    for row in job.files:
        if row.bytes_read + row.bytes_written:
            alike.setdefault(class_name(row.path), []).append(row)
    sizes = {name: sum(row.bytes_read + row.bytes_written for row in rows) for name, rows in alike.items()}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    share = sizes.get(largest, 0) / (job.bytes_read + job.bytes_written)
    if share < _MIN_SHARE:
        return ""
    rows = alike[largest]
    where = "files without a name" if largest == _OTHER else common_pattern([row.path for row in rows])
    if len(rows) > 1:
        where = f"{len(rows):,} files {where}"
    if len(alike) == 1 and share > 0.99:
        return f"; all of it in {where}"
    return f"; {share_text(min(share, 1.0))} of it in {where}"


def headline(subject: JobData) -> Headline:
    """Return the headline on the period."""
    return make_headline(subject.prediction)
