"""Targets: messages between members of a cluster: of gateways, questions about jobs, and answers to them."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import msgpack
import msgspec
from iotide.analyzers.contention.loads import JobView
from iotide.daemon.cluster.contention.results import (
    ClusterFindings,
    Slot,
    decode_findings,
    encode_findings,
    messages_of,
    pack_job,
    results_of,
)
from iotide.daemon.cluster.gateway_routes import GatewayRoutes
from iotide.daemon.jobs.encoding.job_rows import TimeSpan, decode_span
from iotide.daemon.state.alert_file import StoredAlerts
from iotide.events import ProtocolError
from iotide.events.network.wire import Ack, Heartbeat, Reject, decode, encode
from iotide.results.contention import Contention
from iotide.results.jobs.file_systems import JobFileSystems
from iotide.results.jobs.job import JobSummary
from support.jobs.result_factories import make_detail, make_prediction

from .mutation import Choose, change_bytes, change_tree
from .target import Target, Unsound
from .targets_http import asked
from .targets_wire import changed, packed, said, samples, unpacked

NOW_S = 1000.0
_PARTITIONS = 4
_MOST_STREAMS = 20
_QUESTIONS = (b"/internal/rank", b"/internal/culprits?job=job", b"/internal/dfg?job=job&versus=x")
_TIMES = b"start_ns=0&end_ns=4000000000000000000"


def run_gateway(data: bytes) -> None:
    """A gateway routes any message of a collector to an existing partition, or refuses it in a valid message."""
    routes = _routes()
    for number, frames in enumerate(unpacked(data)):
        sent, answers = routes.receive(b"peer" if number % 5 else b"other", frames, number * 1.0, "ann" * (number % 2))
        for answer in answers:
            decode([bytes(frame) for frame in answer])
        for partition, message in sent:
            if not 0 <= partition < _PARTITIONS or not message:
                raise Unsound(f"{len(message)} frames for partition {partition}")
    if routes.streams > _MOST_STREAMS:
        raise Unsound(f"{routes.streams} streams")
    for partition in range(_PARTITIONS):
        for _, told in routes.on_owner_changed(partition):
            decode([bytes(frame) for frame in told])
    routes.forget(1e6)
    if routes.streams or routes.peers:
        raise Unsound(f"{routes.streams} streams of {routes.peers} silent collectors are still known")


def owner_answers() -> list[bytes]:
    told: list[Ack | Reject | Heartbeat] = [Heartbeat()]
    for stream in _streams():
        told += [Ack(stream=stream, seq=1, credit=4), Reject(stream=stream, seq=2, code="gap", reason="2 is missing")]
        told.append(Ack(stream=stream, seq=99, credit=4))
    return [packed([[bytes(frame) for frame in encode(message)] for message in told])]


def run_owner(data: bytes) -> None:
    """A gateway passes any answer of an owner on, or drops it."""
    routes = _routes()
    for frames in said():
        routes.receive(b"peer", frames, 0.0)
    for number, frames in enumerate(unpacked(data)):
        routes.answer(b"peer" if number % 5 else b"unknown", number % _PARTITIONS, frames)
    routes.forget(1e6)


@cache
def _streams() -> tuple[str, ...]:
    found = dict.fromkeys(msgspec.msgpack.decode(frames[0]).get("stream") for frames in said())
    return tuple(stream for stream in found if stream)


def _routes() -> GatewayRoutes:
    return GatewayRoutes(_PARTITIONS, lambda partition: partition != 1, _MOST_STREAMS, 120.0)


def questions() -> list[bytes]:
    """Bodies of the questions that one member asks another about its jobs."""
    status, rows = asked().answer("GET", b"/internal/loads?" + _TIMES)
    graph_status, graph = asked().answer("GET", b"/api/v1/jobs/job/dfg")
    if (status, graph_status) != (200, 200):
        raise Unsound(f"{status} {graph_status}")
    return [rows, graph]


def changed_question(choose: Choose, data: bytes) -> bytes:
    """Change rows of jobs, also inside of their compressed documents; another body is changed as bytes."""
    try:
        rows = msgspec.msgpack.decode(data)
    except msgspec.DecodeError:
        return change_bytes(choose, data, (), ())
    row = choose.choice(rows)
    if isinstance(row, dict) and isinstance(row.get("files"), bytes) and choose.random() < 0.6:
        row["files"] = _changed_document(choose, row["files"])
        return _packed(rows)
    return _packed(change_tree(choose, rows))


def _packed(value: Any) -> bytes:
    return bytes(msgpack.packb(value, default=repr, unicode_errors="surrogatepass"))


def run_questions(data: bytes) -> None:
    """Each question with any body is answered, without an internal error."""
    for target in _QUESTIONS:
        status, _ = asked().answer("POST", target, (), data)
        if status not in (200, 422):
            raise Unsound(f"{status} to {target!r}")


def spans() -> list[bytes]:
    return [msgspec.msgpack.encode(TimeSpan(1, 4 * 10**18, False))]


def changed_span(choose: Choose, data: bytes) -> bytes:
    return _packed(change_tree(choose, msgspec.msgpack.decode(data)))


def run_span(data: bytes) -> None:
    """The answer of a partition about a job's time is read, or refused."""
    try:
        decode_span(data)
    except ProtocolError:
        return


def results() -> list[bytes]:
    """Results of a partition's jobs, and findings of the process that analyzes contention."""
    facts = make_detail("job").model_dump(include=set(JobSummary.model_fields)) | {"last_event_at_s": NOW_S}
    use = JobFileSystems(job="job", gap_s=0.25, file_systems=[])
    view = JobView(JobSummary.model_validate(facts), use, make_prediction("job"))
    rows = msgspec.msgpack.decode(questions()[0])
    told, _ = messages_of([pack_job(view, rows[0]["files"])], NOW_S, 1 << 20, 1 << 30)
    lists: dict[str, Any] = {name: [] for name in ("file_systems", "slowdowns", "collisions", "abstained")}
    contention = Contention(made_at_s=NOW_S, horizon_s=60.0, completeness=1.0, jobs=0, **lists)
    found = ClusterFindings(after=3, contention=contention, kept=StoredAlerts())
    return [*told, encode_findings(found)]


def changed_results(choose: Choose, data: bytes) -> bytes:
    """Change a document, or one within a message."""
    try:
        message = msgspec.msgpack.decode(data)
        job = message["jobs"][0]
    except (msgspec.DecodeError, LookupError, TypeError):
        return _changed_document(choose, data)
    what = choose.choice(("results", "files", ""))
    if not what:
        return _packed(change_tree(choose, message))
    job[what] = _changed_document(choose, job[what])
    return _packed(message)


def _changed_document(choose: Choose, data: bytes) -> bytes:
    return zlib.compress(_packed(change_tree(choose, msgspec.msgpack.decode(zlib.decompress(data)))), 1)


def run_results(data: bytes) -> None:
    """Results and findings of other members are read, or counted as unread."""
    read = results_of([Slot(0, 0, data), Slot(1, 0, data)], NOW_S, 10, 10)
    for view in read.views:
        view.summary.model_dump_json()
    try:
        decode_findings(data).model_dump_json()
    except ProtocolError:
        return


def targets() -> list[Target]:
    return [
        Target("cluster-gateway", samples, run_gateway, changed, quick=300),
        Target("cluster-owner", owner_answers, run_owner, changed, quick=300),
        Target("cluster-questions", questions, run_questions, changed_question, quick=60),
        Target("cluster-results", results, run_results, changed_results, quick=300),
        Target("cluster-span", spans, run_span, changed_span, quick=3000),
    ]
