"""Results of jobs are transferred between partitions unchanged, within the bounds of a message."""

from __future__ import annotations

import math
import zlib
from typing import Any

import pytest
from iotide.analyzers.contention.loads import JobView
from iotide.daemon.cluster.contention.results import (
    ClusterFindings,
    PackedJob,
    Slot,
    decode_findings,
    encode_findings,
    is_repeated,
    messages_of,
    pack_job,
    results_of,
)
from iotide.daemon.jobs.encoding.job_rows import JobRow, LoadRow, decode_rows, decode_span, other_jobs
from iotide.daemon.jobs.encoding.shared_files import decode_shared
from iotide.daemon.state.alert_file import StoredAlerts
from iotide.events import ProtocolError
from iotide.results.contention import Contention
from iotide.results.jobs.file_systems import FileSystemUse, IoPhase, JobFileSystems
from iotide.results.jobs.job import JobSummary
from msgspec import msgpack
from msgspec.structs import replace
from support.formats.nesting import nested
from support.jobs.result_factories import make_detail, make_prediction

NOW_S = 1000.0


def view(job: str, last_s: float = NOW_S, phases: int = 3) -> JobView:
    rows = [
        IoPhase(start_s=10.0 * at, end_s=10.0 * at + 1, bytes_read=0, bytes_written=7 * at, calls=9, seconds=0.5)
        for at in range(phases)
    ]
    use = FileSystemUse(
        file_system="scratch",
        place="shared",
        bytes_read=0,
        bytes_written=100,
        calls=9,
        seconds=1.0,
        metadata_calls=0,
        metadata_seconds=0.0,
        phases=rows,
    )
    facts = make_detail(job).model_dump(include=set(JobSummary.model_fields)) | {"last_event_at_s": last_s}
    summary = JobSummary.model_validate(facts)
    prediction = make_prediction(job)
    endless = prediction.model_copy(
        update={"period_s": prediction.period_s and prediction.period_s.model_copy(update={"high": float("inf")})}
    )
    return JobView(summary, JobFileSystems(job=job, gap_s=0.25, file_systems=[use]), endless)


def slots(partition: int, views: list[JobView], made_at_s: float = NOW_S, limit: int = 1 << 20) -> list[Slot]:
    messages, _ = messages_of([pack_job(each) for each in views], made_at_s, limit, 1 << 30)
    return [Slot(partition, number, payload) for number, payload in enumerate(messages)]


def test_results_of_all_partitions_are_read_as_they_were_the_latest_active_first() -> None:
    one, two, three = view("one", 5.0), view("two", 7.0), view("three", 6.0)
    found = results_of([*slots(0, [one, two]), *slots(1, [three])], NOW_S, 10, 0)
    assert found.views == [two, three, one]
    assert results_of([*slots(0, [one, two]), *slots(1, [three])], NOW_S, 2, 0).views == [two, three]


def test_projects_of_jobs_are_read_and_absent_in_messages_of_earlier_versions() -> None:
    packed = pack_job(view("one"), project="sea"), pack_job(view("two"))
    (message,), _ = messages_of(packed, NOW_S, 1 << 20, 1 << 30)
    assert results_of([Slot(0, 0, message)], NOW_S, 10, 0).projects == {"one": "sea"}
    earlier = msgpack.decode(message)
    for job in earlier["jobs"]:
        del job["project"]
    found = results_of([Slot(0, 0, msgpack.encode(earlier))], NOW_S, 10, 0)
    assert (len(found.views), found.unread, found.projects) == (2, 0, {})


def test_a_partition_that_publishes_less_than_before_has_no_jobs_of_earlier_rounds() -> None:
    views = [view(f"j{number}", float(number), phases=200) for number in range(6)]
    before = slots(0, views, NOW_S, limit=pack_job(views[0]).size + 64)
    assert len(before) == 6
    assert len(results_of(before, NOW_S, 10, 0).views) == 6
    after = slots(0, views[:1], NOW_S + 1)
    assert results_of([*after, *before[1:]], NOW_S, 10, 0).views == views[:1]


def test_a_job_that_has_moved_is_read_once_from_its_latest_message() -> None:
    moved = slots(0, [view("j", 1.0)], NOW_S) + slots(1, [view("j", 2.0)], NOW_S + 1)
    assert [each.summary.last_event_at_s for each in results_of(moved, NOW_S, 10, 0).views] == [2.0]


def test_results_are_repeated_until_each_partition_with_jobs_has_later_ones() -> None:
    def made(one_s: float, two_s: float) -> dict[int, float]:
        jobs = [*slots(1, [view("one")], one_s), *slots(2, [view("two")], two_s), *slots(3, [], NOW_S)]
        return results_of(jobs, NOW_S, 10, 0).made_at_s

    observed = made(990.0, 990.0)
    assert observed == {1: 990.0, 2: 990.0}
    assert not is_repeated(observed, {})
    assert is_repeated(made(990.0, 994.0), observed)
    assert not is_repeated(made(994.0, 994.0), observed)


def test_results_of_an_unserved_partition_are_skipped_after_a_while() -> None:
    assert results_of(slots(0, [view("j")], NOW_S), NOW_S + 901, 10, 0).views == []


def test_jobs_beyond_the_bounds_are_counted_and_smaller_ones_kept() -> None:
    small, large = PackedJob("a", 1.0, bytes(10)), PackedJob("b", 2.0, bytes(5000))
    messages, left_out = messages_of([large, small], NOW_S, 1000, 10_000)
    assert (len(messages), left_out) == (1, 1)
    _, left_out = messages_of([small] * 10, NOW_S, 1000, small.size * 4)
    assert left_out == 6
    files = PackedJob("c", 1.0, bytes(10), bytes(5000))  # only its files cannot be transferred
    assert messages_of([files], NOW_S, 1000, 10_000)[1] == 0


@pytest.mark.parametrize("payload", [b"", b"\x00", b"nonsense", b"\x84" + b"\xa1a" * 9])
def test_messages_that_cannot_be_read_are_counted(payload: bytes) -> None:
    good = slots(1, [view("j")])
    found = results_of([Slot(0, 0, payload), *good], NOW_S, 10, 0)
    assert (len(found.views), found.unread) == (1, 1)
    with pytest.raises(ProtocolError):
        decode_findings(payload)
    with pytest.raises(ProtocolError):
        decode_shared(payload)


def test_text_that_is_no_utf8_is_counted_as_unread() -> None:
    text = msgpack.encode({"after": "xyz"}).replace(b"xyz", b"\xed\xa0\x80")
    with pytest.raises(ProtocolError):
        decode_findings(zlib.compress(text))
    with pytest.raises(ProtocolError):
        decode_rows(msgpack.encode([{"job": "xyz", "last_s": 1.0}]).replace(b"xyz", b"\xed\xa0\x80"))
    assert results_of([Slot(0, 0, text), Slot(0, 1, zlib.compress(text))], NOW_S, 10, 0).unread == 2


def test_documents_nested_too_deeply_are_refused() -> None:
    document = nested({"job": "j", "start_ns": 1, "end_ns": 2, "own_clock": False})
    rows = b"\x91" + document
    for decode, data in (
        (decode_span, document),
        (decode_rows, rows),
        (decode_shared, zlib.compress(document)),
        (decode_findings, zlib.compress(document)),
    ):
        with pytest.raises(ProtocolError, match="cannot be read"):
            decode(data)
    assert results_of([Slot(0, 0, document)], NOW_S, 10, 0).unread == 1


@pytest.mark.parametrize(
    "change", [{"bin_s": 0.0}, {"start_s": math.nan}, {"mounts": {"/": -1}}, {"moved": b"1234567"}]
)
def test_traffic_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    row = LoadRow(1.0, 1.0, bytes(8), "u", {"/": 1}, [], [])
    assert other_jobs([JobRow("j", 1.0, load=row)])[1]
    with pytest.raises(ProtocolError):
        other_jobs([JobRow("j", 1.0, load=replace(row, **change))])


def test_published_results_are_restored() -> None:
    contention = Contention(
        made_at_s=NOW_S,
        horizon_s=60.0,
        completeness=1.0,
        jobs=0,
        file_systems=[],
        slowdowns=[],
        collisions=[],
        abstained=[],
    )
    found = ClusterFindings(after=3, contention=contention, kept=StoredAlerts(), projects={"j": "sea"})
    assert decode_findings(encode_findings(found)) == found
