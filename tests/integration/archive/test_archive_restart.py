"""Real processes: an aggregator is killed while it archives a job; the final archive equals an undisturbed one."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.archive.file.reader import ArchiveReader
from support.servers.restarted_job import feed_part, opened_source, wait_for_events
from support.servers.running_aggregator import feeding, serving, until
from support.servers.served_process import served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for

PARTS = 6
CALLS = 200
OF_STREAMS = ("host", "rank", "calls", "first_s", "last_s", "files", "closed", "losses")
"""Fields of ``iotide archive info`` for a stream that do not depend on the time of saving."""
QUICK = {"IOTIDE_SERVE_ARCHIVE__CHECKPOINT_S": "0.2"}


def part(number: int) -> str:
    """Return lines of a trace: calls of two processes, each with a unique time and size."""
    lines = []
    for call in range(CALLS):
        start_ns = (1_700_000_000 + 10 * number) * 10**9 + 10_000_000 * call + 7 * number
        told = {"call": "pwrite64", "path": f"/scratch/{call % 7}-{number}", "size": 1000 + call, "offset": call * call}
        pid = 1 + call % 2
        told |= {
            "start_ns": start_ns,
            "dur_ns": 1000 + call,
            "stream": str(pid),
            "pid": pid,
            "tid": pid,
            "rank": pid - 1,
        }
        lines.append(json.dumps(told))
    return "\n".join(lines) + "\n"


@contextmanager
def following(trace: Path, endpoint: str) -> Iterator[None]:
    """Run a collector that follows a trace; it ends in order."""
    with Program(
        [*IOTIDE, "collect", "--connect", endpoint, "--job", "j", trace], env=plain_environment()
    ) as collector:
        yield
        collector.send_signal(signal.SIGTERM)
        assert collector.wait(DEADLINE_S) == 0


def dumped(folder: Path) -> tuple[list[object], list[object]]:
    """Return the report on the one archive in a folder without its size, and its calls."""
    (archive,) = folder.glob("*.iotide")
    info = iotide("archive", "info", "--json", archive, cwd=folder)
    assert info.returncode == 0, info.stderr
    assert iotide("archive", "verify", archive, cwd=folder).returncode == 0
    dump = iotide("archive", "dump", archive, cwd=folder)
    assert dump.returncode == 0, dump.stderr
    told = json.loads(info.stdout)
    of_streams = [{name: each[name] for name in OF_STREAMS} for each in told["streams"]]
    calls = [json.loads(line) | {"stream": ""} for line in dump.stdout.splitlines()]
    return [told["complete"], told["problems"], *of_streams], calls


def archived(folder: Path, kills: dict[int, signal.Signals], **settings: str) -> tuple[list[object], list[object]]:
    """Archive a job whose trace grows in parts; after some parts the aggregator gets a signal."""
    folder.mkdir()
    archives, trace = folder / "archives", folder / "trace.jsonl"
    chosen = {"IOTIDE_SERVE_ARCHIVE__FOLDER": str(archives), "IOTIDE_SERVE_JOURNAL__SNAPSHOT_S": "0.2", **settings}
    with served(folder, **chosen) as server:
        with following(trace, server.endpoint):
            for number in range(PARTS):
                with trace.open("a") as file:
                    file.write(part(number))
                if number in kills:
                    if number % 2:
                        wait_for(lambda: server.events() >= CALLS * (number + 1), what="a part")  # noqa: B023
                    server.end(kills[number])
                    server.start()
            wait_for(lambda: server.events() == CALLS * PARTS, what="all calls")
        assert server.end(signal.SIGTERM) == 0
    return dumped(archives)


async def test_archive_that_is_gone_is_counted_and_another_goes_on(tmp_path: Path) -> None:
    folder, source = tmp_path / "archives", opened_source()
    kept = {"ingest": f"ipc://{tmp_path}/in", "state": tmp_path / "state", "archive": {"folder": folder}}
    async with serving(**kept) as first:
        agent = feeding(first, source)
        await agent.__aenter__()
        feed_part(source, 0)
        await wait_for_events(first, 180)
        # data that is not in a file yet is not lost with it
        await until(lambda: first.aggregator.counters["archive_bytes"])
    (path,) = folder.glob("*.iotide")
    path.unlink()
    async with serving(**kept) as second:
        assert second.aggregator.jobs["job"].losses.all_losses(ended=False)["events_not_archived:lost"] == 180
        feed_part(source, 1)
        await wait_for_events(second, 360)
        for stream in range(3):
            source.end(f"s{stream}")
        await until(lambda: not second.aggregator.jobs["job"].streams)
    await agent.__aexit__(None, None, None)
    (path,) = folder.glob("*.iotide")
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert reader.complete
        assert not reader.problems
        assert [stream.closed for stream in reader.streams.values()] == [True] * 3
        batches = [(number, each.batch) for number in reader.streams for each in reader.calls(number)]
    assert sum(len(batch) for _, batch in batches) == 180
    assert {reader.streams[number].files[int(batch.file[0])].path for number, batch in batches} == {"/scratch/out"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[object], list[object]]:
    return archived(tmp_path_factory.mktemp("archived") / "undisturbed", {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "settings"),
    [
        ({1: signal.SIGKILL}, {}),
        ({0: signal.SIGKILL, 3: signal.SIGKILL, 4: signal.SIGKILL}, QUICK),
        ({1: signal.SIGKILL, 3: signal.SIGKILL}, {"IOTIDE_SERVE_JOURNAL__SNAPSHOT_S": "600"}),
        ({2: signal.SIGTERM, 3: signal.SIGKILL, 5: signal.SIGTERM}, QUICK),
    ],
    ids=["once", "thrice", "journal alone", "in order, too"],
)
def test_archive_equals_that_of_an_undisturbed_run(
    tmp_path: Path,
    kills: dict[int, signal.Signals],
    settings: dict[str, str],
    undisturbed: tuple[list[object], list[object]],
) -> None:
    info, calls = archived(tmp_path / "killed", kills, **settings)
    assert calls == undisturbed[1]
    assert info == undisturbed[0]
