"""Messages with the results of a partition's jobs. Its owner packs them, the analyzer unpacks them. No I/O."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from pydantic import Field, ValidationError

from ....analyzers.contention.loads import JobView
from ....events import ProtocolError
from ....events.network.malformed import MALFORMED
from ....results.base import Model
from ....results.contention import Contention
from ....results.jobs.file_systems import JobFileSystems
from ....results.jobs.job import JobSummary
from ....results.prediction import Prediction
from ...jobs.encoding.shared_files import SharedFiles, decode_shared
from ...state.alert_file import StoredAlerts

VERSION: Final = 1
"""Version of the messages; messages of another version are skipped."""
_MAX_DOCUMENT_BYTES: Final = 64 << 20
"""Maximum uncompressed bytes of one document; the 512 phases of a job take far less."""
_RETAINED_S: Final = 900.0
"""Time for which results count after their partition has lost its owner, s."""
_LEVEL: Final = 1
_T = TypeVar("_T", bound=Model)


class JobResults(Model):
    """The public results of one job from which contention is computed."""

    summary: JobSummary
    use: JobFileSystems
    prediction: Prediction | None = None


class PackedJob(Struct, frozen=True):
    """One job in a message."""

    job: str
    last_s: float
    """Unix time of its last event."""
    results: bytes
    files: bytes = b""
    """The job's files, by ``encode_shared``; empty if they are unknown or too large."""
    project: str = ""
    """Project of the job, vouched for by its nodes."""

    @property
    def size(self) -> int:
        """Approximate bytes."""
        return len(self.results) + len(self.files) + len(self.job) + len(self.project) + 32


class _Message(Struct):
    version: int
    slots: int
    made_at_s: float
    jobs: list[PackedJob]


class ClusterFindings(Model):
    """The analyzer's findings: contention, and the data that its successor needs to continue the alerts."""

    after: int = Field(ge=0)
    """Sequence number of the message that this one replaces; 0: none."""
    contention: Contention
    kept: StoredAlerts
    projects: dict[str, str] = Field(default_factory=dict)
    """Projects of the culprits."""


def pack_job(view: JobView, files: bytes = b"", project: str = "") -> PackedJob:
    """Return the results of a job for a message."""
    results = JobResults(summary=view.summary, use=view.use, prediction=view.prediction)
    return PackedJob(view.summary.job, view.summary.last_event_at_s or 0.0, _document(results), files, project)


def messages_of(jobs: Iterable[PackedJob], made_at_s: float, limit: int, total: int) -> tuple[list[bytes], int]:
    """Distribute the results of a partition's jobs over messages.

    Args:
        jobs: results, most recently active job first.
        made_at_s: Unix time.
        limit: maximum bytes of a message.
        total: maximum bytes of all messages.

    Returns:
        At least one message, and the number of jobs that were left out.
    """
    slots: list[list[PackedJob]] = [[]]
    used, left, left_out = 0, total, 0
    for job in jobs:
        if job.size > limit and job.files:
            job = msgspec.structs.replace(job, files=b"")
        if job.size > limit or job.size > left:
            left_out += 1
            continue
        if used + job.size > limit:
            slots.append([])
            used = 0
        slots[-1].append(job)
        used += job.size
        left -= job.size
    found = [_Message(VERSION, len(slots), made_at_s, each) for each in slots]
    return [msgspec.msgpack.encode(each) for each in found], left_out


class Slot(NamedTuple):
    """A message that the servers retained."""

    partition: int
    number: int
    payload: bytes


class Results(NamedTuple):
    """Results of the jobs of all partitions, most recently active first."""

    views: list[JobView]
    shared: list[SharedFiles]
    unread: int
    """Jobs and messages that could not be read."""
    projects: dict[str, str]
    """Projects of jobs, as vouched for by their nodes."""
    made_at_s: dict[int, float]
    """Time of the latest results by partition; only partitions with jobs."""


def results_of(slots: Iterable[Slot], now_s: float, most: int, most_shared: int) -> Results:
    """Return the results of all jobs from the retained messages of all partitions.

    Args:
        slots: messages, in any order.
        now_s: Unix time; messages older than 15 minutes are skipped, as no process serves their partition.
        most: maximum number of jobs; the most recently active ones are used.
        most_shared: maximum number of jobs whose files are read.
    """
    by_partition, unread = _messages_of(slots, now_s)
    jobs = sorted(_latest_jobs(by_partition.values()), key=lambda each: (-each.last_s, each.job))[:most]
    views: list[JobView] = []
    shared: list[SharedFiles] = []
    for job in jobs:
        try:
            views.append(_view(job.results))
            if job.files and len(shared) < most_shared:
                shared.append(decode_shared(job.files))
        except ProtocolError:
            unread += 1
    projects = {job.job: job.project for job in jobs if job.project}
    made_at_s = {
        partition: max(each.made_at_s for each in messages.values())
        for partition, messages in by_partition.items()
        if any(each.jobs for each in messages.values())
    }
    return Results(views, shared, unread, projects, made_at_s)


def is_repeated(made_at_s: Mapping[int, float], observed: Mapping[int, float]) -> bool:
    """Return whether a partition has no later results than at an earlier observation."""
    return any(observed.get(partition) == at_s for partition, at_s in made_at_s.items())


def projects_of_culprits(found: Contention, projects: Mapping[str, str]) -> dict[str, str]:
    """Return the projects of the jobs that slow others down."""
    culprits = {culprit.job for slowdown in found.slowdowns for culprit in slowdown.culprits}
    return {job: project for job in culprits if (project := projects.get(job))}


def _messages_of(slots: Iterable[Slot], now_s: float) -> tuple[dict[int, dict[int, _Message]], int]:
    """Return the current messages by partition and number, and how many cannot be read."""
    by_partition: dict[int, dict[int, _Message]] = {}
    unread = 0
    for slot in slots:
        try:
            message = msgspec.msgpack.decode(slot.payload, type=_Message)
        except MALFORMED:
            unread += 1
            continue
        if message.version == VERSION and message.made_at_s > now_s - _RETAINED_S:
            by_partition.setdefault(slot.partition, {})[slot.number] = message
    return by_partition, unread


def _latest_jobs(partitions: Iterable[dict[int, _Message]]) -> Iterator[PackedJob]:
    """Yield each job once, from its latest message."""
    latest: dict[str, tuple[float, PackedJob]] = {}
    for messages in partitions:
        count = max(messages.values(), key=lambda each: each.made_at_s).slots  # further ones are of an earlier round
        for number, message in messages.items():
            for job in message.jobs if number < count else ():
                if job.job not in latest or latest[job.job][0] < message.made_at_s:
                    latest[job.job] = message.made_at_s, job
    return (job for _, job in latest.values())


def encode_findings(found: ClusterFindings) -> bytes:
    """Return findings as bytes."""
    return _document(found)


def decode_findings(data: bytes) -> ClusterFindings:
    """Return findings from bytes. Raises ProtocolError."""
    return _read(data, ClusterFindings)


def _view(data: bytes) -> JobView:
    results = _read(data, JobResults)
    return JobView(results.summary, results.use, results.prediction)


def _document(model: Model) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(model.model_dump()), _LEVEL)  # msgpack has infinity, JSON does not


def _read(data: bytes, kind: type[_T]) -> _T:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _MAX_DOCUMENT_BYTES)
        if unpacking.unconsumed_tail:
            raise ProtocolError(f"{kind.__name__} takes more than {_MAX_DOCUMENT_BYTES} bytes")
        return kind.model_validate(msgspec.msgpack.decode(text, strict=False))
    except (zlib.error, *MALFORMED) as error:
        raise ProtocolError(f"{kind.__name__} cannot be read: {error}") from None
    except ValidationError as error:
        raise ProtocolError(f"{kind.__name__} has {error.error_count()} errors") from None
