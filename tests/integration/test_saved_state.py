"""An aggregator that is ended in order and started again goes on as if it had never stopped."""

from __future__ import annotations

import hashlib
import re
import signal
import subprocess
import zlib
from functools import partial
from pathlib import Path

import pytest
from iotide.analyzers.pipeline.snapshots import restore, snapshot
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.saved_state import _MAGIC, NAME, _checked, _shared
from iotide.events import ConfigError
from support.commands import IOTIDE, Program, iotide, plain_environment
from support.restarts import UNTIL_S, feed, has, job_at, opened, told
from support.serving import feeding, serving, until
from support.waiting import DEADLINE_S, wait_for

SAMPLE = Path(__file__).parents[1] / "data" / "tmio-8ranks.jsonl"


@pytest.mark.parametrize("journal", [True, False])
async def test_restart_is_seen_in_nothing(tmp_path: Path, journal: bool) -> None:
    kept: dict[str, object] = {"journal": {"on": journal}}
    undisturbed, restarted = opened(), opened()
    async with serving(ingest=f"ipc://{tmp_path}/u") as server, feeding(server, undisturbed):
        for part in range(4):
            feed(undisturbed, part)
            await has(server, 180 * (part + 1))
        expected = told(server.aggregator.jobs["job"])
    ingest, state = f"ipc://{tmp_path}/r", tmp_path / "state"
    async with serving(ingest=ingest, state=state, **kept) as first:
        agent = feeding(first, restarted)
        await agent.__aenter__()
        feed(restarted, 0)
        await has(first, 180)
    assert (state / NAME).stat().st_mode & 0o777 == 0o600
    feed(restarted, 1)  # while none runs
    assert not list(state.glob("journal/*"))
    async with serving(ingest=ingest, state=state, **kept) as second:
        assert (state / NAME).exists() == journal
        assert second.aggregator.jobs["job"].analyzers.events == 180
        await has(second, 360)
    async with serving(ingest=ingest, state=state, **kept) as third:
        assert third.aggregator.jobs["job"].analyzers.events == 360
        feed(restarted, 2)
        feed(restarted, 3)
        await has(third, 720)
        assert told(third.aggregator.jobs["job"]) == expected
    await agent.__aexit__(None, None, None)


async def test_streams_that_nobody_goes_on_with_are_cut_off(tmp_path: Path) -> None:
    ingest, state = f"ipc://{tmp_path}/r", tmp_path / "state"
    source = opened()
    async with serving(ingest=ingest, state=state) as first, feeding(first, source):
        feed(source, 0)
        await has(first, 180)
    async with serving(ingest=ingest, state=state, bounds={"forget_after_s": 0.2}) as second:
        jobs = second.aggregator.jobs
        await until(lambda: detail_of(jobs["job"], UNTIL_S).losses.get("streams_cut_off") == 3)
        assert not jobs["job"].streams


async def test_jobs_that_had_ended_are_there_with_their_last_word(tmp_path: Path) -> None:
    state = tmp_path / "state"
    source = opened()
    async with serving(state=state, linger_s=0.0) as first, feeding(first, source):
        feed(source, 0)
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
    source = opened()
    async with serving(state=state) as first, feeding(first, source):
        feed(source, 0)
        await has(first, 180)
    content = (state / NAME).read_bytes()
    bad = {"cut": content[:-7], "flipped": content[:99] + b"\0" + content[100:], "foreign": b"PK\3\4", "empty": b""}
    (state / NAME).write_bytes(bad[damage])
    async with serving(state=state) as second:
        assert not second.aggregator.jobs
    assert (state / "jobs.unreadable").read_bytes() == bad[damage]
    assert "set aside as jobs.unreadable" in caplog.text


async def test_state_that_lacks_what_this_version_keeps_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    source = opened()
    async with serving(state=state) as first, feeding(first, source):
        feed(source, 0)
        await has(first, 180)
        shared = _shared(first.aggregator)
    content = (state / NAME).read_bytes()
    document = restore(_checked(content), shared)
    del document["aggregator"]["_ages"]
    packed = zlib.compress(snapshot(document, shared))
    (state / NAME).write_bytes(_MAGIC + hashlib.sha256(packed).digest() + packed)
    async with serving(state=state) as second:
        assert not second.aggregator.jobs
    assert "set aside as jobs.unreadable" in caplog.text


async def test_two_aggregators_do_not_share_a_folder(tmp_path: Path) -> None:
    async with serving(state=tmp_path):
        with pytest.raises(ConfigError, match="used by another aggregator"):
            async with serving(state=tmp_path):
                raise AssertionError


async def test_state_is_kept_where_the_next_one_cannot_listen(tmp_path: Path) -> None:
    state = tmp_path / "state"
    source = opened()
    async with serving(state=state) as first, feeding(first, source):
        feed(source, 0)
        await has(first, 180)
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
