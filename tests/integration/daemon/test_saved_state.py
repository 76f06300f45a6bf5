"""An aggregator that is shut down in order and restarted continues as if it had never stopped."""

from __future__ import annotations

import hashlib
import re
import signal
import subprocess
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from iotide.analyzers.pipeline import snapshots
from iotide.analyzers.pipeline.snapshots import STATE_VERSION, restore, snapshot
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.state.saved_state import _MAGIC, NAME, _shared
from iotide.daemon.state.state_file import StateFile, StateWriter
from iotide.events import ConfigError
from support.places import DATA
from support.servers.restarted_job import UNTIL_S, feed_part, job_at, opened_source, published_results, wait_for_events
from support.servers.running_aggregator import Fed, asking, feeding, serving, until
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for

SAMPLE = DATA / "tmio-8ranks.jsonl"


@pytest.mark.parametrize("journal", [True, False])
async def test_restart_is_seen_in_nothing(tmp_path: Path, journal: bool) -> None:
    kept: dict[str, object] = {"journal": {"on": journal}}
    undisturbed, restarted = opened_source(), opened_source()
    async with serving(ingest=f"ipc://{tmp_path}/u") as server, feeding(server, undisturbed):
        for part in range(4):
            feed_part(undisturbed, part)
            await wait_for_events(server, 180 * (part + 1))
        expected = published_results(server.aggregator.jobs["job"])
    ingest, state = f"ipc://{tmp_path}/r", tmp_path / "state"
    async with serving(ingest=ingest, state=state, **kept) as first:
        agent = feeding(first, restarted)
        await agent.__aenter__()
        feed_part(restarted, 0)
        await wait_for_events(first, 180)
    assert (state / NAME).stat().st_mode & 0o777 == 0o600
    feed_part(restarted, 1)  # while none runs
    assert not list(state.glob("journal/*"))
    async with serving(ingest=ingest, state=state, **kept) as second:
        assert (state / NAME).exists() == journal
        assert second.aggregator.jobs["job"].analyzers.events == 180
        await wait_for_events(second, 360)
    async with serving(ingest=ingest, state=state, **kept) as third:
        assert third.aggregator.jobs["job"].analyzers.events == 360
        feed_part(restarted, 2)
        feed_part(restarted, 3)
        await wait_for_events(third, 720)
        assert published_results(third.aggregator.jobs["job"]) == expected
    await agent.__aexit__(None, None, None)


async def test_streams_that_no_collector_continues_are_cut_off(tmp_path: Path) -> None:
    ingest, state = f"ipc://{tmp_path}/r", tmp_path / "state"
    source = opened_source()
    async with serving(ingest=ingest, state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
    async with serving(ingest=ingest, state=state, bounds={"forget_after_s": 0.2}) as second:
        jobs = second.aggregator.jobs
        await until(lambda: detail_of(jobs["job"], UNTIL_S).losses.get("streams_cut_off") == 3)
        assert not jobs["job"].streams


async def test_jobs_that_had_ended_are_there_with_their_last_word(tmp_path: Path) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state, linger_s=0.0) as first, feeding(first, source):
        feed_part(source, 0)
        for stream in range(3):
            source.end(f"s{stream}")
        await until(
            lambda: "job" in first.aggregator.jobs and detail_of(first.aggregator.jobs["job"], 0).state == "ended"
        )
        before = detail_of(first.aggregator.jobs["job"], UNTIL_S)
    async with serving(state=state) as second:
        after = detail_of(second.aggregator.jobs["job"], UNTIL_S)
    assert after == before
    assert after.last_word is not None


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "empty"])
async def test_damaged_state_is_set_aside_and_jobs_begin_anew(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
    content = (state / NAME).read_bytes()
    bad = {"cut": content[:-7], "flipped": content[:99] + b"\0" + content[100:], "foreign": b"PK\3\4", "empty": b""}
    (state / NAME).write_bytes(bad[damage])
    async with serving(state=state) as second:
        assert not second.aggregator.jobs
        lost_jobs = second.aggregator.counters["job_states_lost"]
    assert (state / "jobs.unreadable").read_bytes() == bad[damage]
    assert "jobs.unreadable" in caplog.text
    assert "start anew" in caplog.text
    assert lost_jobs == (damage == "flipped")  # it is in the job's part, so the others are not affected


async def test_state_that_lacks_what_this_version_keeps_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
        shared = _shared(first.aggregator)
    rewrite(state / NAME, shared, lambda document: document["aggregator"].pop("_ages"))
    async with serving(state=state) as second:
        assert not second.aggregator.jobs
    assert "renamed to jobs.unreadable" in caplog.text
    assert "lacks _ages" in caplog.text


async def test_state_of_another_version_is_set_aside_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
    written = (state / NAME).read_bytes()
    monkeypatch.setattr(snapshots, "STATE_VERSION", STATE_VERSION + 1)
    async with serving(state=state) as second:
        assert not second.aggregator.jobs
    assert f"of version {STATE_VERSION}; this iotide has {STATE_VERSION + 1}" in caplog.text
    assert (state / "jobs.unreadable").read_bytes() == written


async def test_state_in_one_piece_as_earlier_versions_wrote_it_is_gone_on_with(tmp_path: Path) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
        before = published_results(first.aggregator.jobs["job"])
        shared, jobs = _shared(first.aggregator), dict(first.aggregator.jobs.items())
    file = StateFile(state / NAME)
    document = restore(file.rest(), shared)
    file.close()
    document["aggregator"]["jobs"] = jobs
    packed = zlib.compress(snapshot(document, shared))
    (state / NAME).write_bytes(_MAGIC + hashlib.sha256(packed).digest() + packed)
    for _ in range(2):  # the second one reads the first one's output
        async with serving(state=state) as second:
            assert published_results(second.aggregator.jobs["job"]) == before


def rewrite(path: Path, shared: Mapping[str, object], change: Callable[[dict[str, Any]], object]) -> None:
    """Change the content of a state outside of the jobs."""
    file = StateFile(path)
    document = restore(file.rest(), shared)
    change(document)
    with path.with_suffix(".new").open("wb") as target:
        writer = StateWriter(target)
        for job in file.jobs:
            writer.copy_job(job, file)
        writer.finish(snapshot(document, shared))
    file.close()
    path.with_suffix(".new").replace(path)


async def test_jobs_sleep_until_they_are_asked_for_and_are_listed_as_they_were(tmp_path: Path) -> None:
    state, jobs = tmp_path / "state", [f"job{number}" for number in range(5)]
    source = Fed()
    async with serving(state=state) as first, feeding(first, source):
        for job in jobs:
            source.open(f"s-{job}", job)
            source.periodic(f"s-{job}", periods=6, until_s=UNTIL_S)
        await until(lambda: len(first.aggregator.jobs) == len(jobs) and first.stats.events == 60 * len(jobs))
        before = {job: published_results(first.aggregator.jobs[job]) for job in jobs}
        async with asking(first) as client:
            listed = (await client.get("/api/v1/jobs")).json()["jobs"]
    for round_ in range(2):  # the second time four of them are unchanged copies
        async with serving(state=state) as second, asking(second) as client:
            table = second.aggregator.jobs
            assert set(table.asleep) == set(jobs)
            again = (await client.get("/api/v1/jobs")).json()["jobs"]
            assert {each["job"]: each["events"] for each in again} == {each["job"]: each["events"] for each in listed}
            metrics = (await client.get("/metrics")).text
            assert 'iotide_jobs{state="running"} 5.0' in metrics
            assert set(table.asleep) == set(jobs)
            assert (await client.get("/api/v1/jobs/job3")).json()["events"] == 60
            assert set(table.asleep) == set(jobs) - {"job3"}, round_
            assert (await client.get("/api/v1/jobs/none")).status_code == 404
    async with serving(state=state) as third:
        assert {job: published_results(third.aggregator.jobs[job]) for job in jobs} == before


async def test_damaged_job_begins_anew_with_a_report_while_others_continue(tmp_path: Path) -> None:
    ingest, state = f"ipc://{tmp_path}/r", tmp_path / "state"
    source = Fed()
    async with serving(ingest=ingest, state=state) as first:
        agent = feeding(first, source)
        await agent.__aenter__()
        for job in ("lost", "kept"):
            source.open(f"s-{job}", job)
            source.periodic(f"s-{job}", periods=6, until_s=UNTIL_S)
        await until(lambda: first.stats.events == 120)
    file = StateFile(state / NAME)
    at = file.jobs["lost"].section.at
    file.close()
    content = bytearray((state / NAME).read_bytes())
    content[at + 20] ^= 1
    (state / NAME).write_bytes(content)
    async with serving(ingest=ingest, state=state) as second:
        source.periodic("s-lost", periods=6, until_s=UNTIL_S)
        source.periodic("s-kept", periods=6, until_s=UNTIL_S)
        jobs = second.aggregator.jobs
        await until(lambda: "lost" in jobs and jobs["lost"].analyzers.events == 60)
        await until(lambda: jobs["kept"].analyzers.events == 120)
        assert detail_of(jobs["lost"], UNTIL_S).losses == {"streams_lost_with_state": 1}
        assert detail_of(jobs["kept"], UNTIL_S).losses == {}
    await agent.__aexit__(None, None, None)


async def test_two_aggregators_do_not_share_a_folder(tmp_path: Path) -> None:
    async with serving(state=tmp_path):
        with pytest.raises(ConfigError, match="used by another aggregator"):
            async with serving(state=tmp_path):
                raise AssertionError


async def test_state_is_kept_where_the_next_one_cannot_listen(tmp_path: Path) -> None:
    state = tmp_path / "state"
    source = opened_source()
    async with serving(state=state) as first, feeding(first, source):
        feed_part(source, 0)
        await wait_for_events(first, 180)
    async with serving() as other:
        with pytest.raises(ConfigError, match="cannot listen"):
            async with serving(state=state, ingest=other.ingest_endpoint):
                raise AssertionError
    async with serving(state=state) as second:
        assert second.aggregator.jobs["job"].analyzers.events == 180


def test_serve_that_is_ended_and_started_again_has_its_jobs(tmp_path: Path) -> None:
    ingest, state = f"ipc://{tmp_path}/in", tmp_path / "state"
    command = [
        *IOTIDE,
        "serve",
        "--ingest",
        ingest,
        "--publish",
        "none",
        "--http",
        "127.0.0.1:0",
        "--state",
        str(state),
    ]
    answers = []
    for run in range(2):
        with Program(command, cwd=tmp_path, env=plain_environment(), stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            url = re.findall(r"http (\S+),", server.stderr.readline())[0]
            if not run:
                done = iotide("collect", "--replay", "--connect", ingest, "--job", "j", SAMPLE, cwd=tmp_path)
                assert done.returncode == 0
            found = wait_for(partial(job_at, url), what="the job")
            answers.append((found.events, found.bytes_written, found.calls, found.files))
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=DEADLINE_S) == 0
    assert answers[0] == answers[1]
