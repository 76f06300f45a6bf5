"""A tracer written in C for FTIO's predictor, connected to iotide."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.places import PROGRAMS
from support.servers.running_aggregator import serving, until
from support.system.commands import IOTIDE, iotide
from support.system.line_process import LineProcess
from support.tracing.programs import need, need_header

SOURCE = PROGRAMS / "ftio_sender.c"
PERIOD_S = 10.0
BURSTS, RANKS, WRITES = 12, 4, 10


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_header("zmq.h")
    made = tmp_path_factory.mktemp("programs") / "ftio_sender"
    subprocess.run([need("gcc"), "-Wall", "-Wextra", "-Werror", "-O1", "-o", made, SOURCE, "-lzmq"], check=True)
    return made


@pytest.fixture
def sender(program: Path) -> Iterator[LineProcess]:
    with LineProcess([program, "tcp://127.0.0.1:*"]) as made:
        yield made


def done(line: str) -> bool:
    return line == "done"


def is_right(line: str) -> bool:
    """Return whether a reply has the true frequency, a confidence, and the size of two doubles."""
    if line == "done":
        return False
    frequency, confidence, size = line.split()
    return abs(float(frequency) * PERIOD_S - 1) < 0.01 and 0.9 < float(confidence) <= 1 and size == "16"


def test_bursts_sent_as_to_ftio_are_answered_as_ftio_answers(sender: LineProcess) -> None:
    reply = sender.wait_for_line(lambda line: line.startswith("reply ")).split()[1]
    options = ["--http", "none", "--publish", "none", "--ingest", "tcp://127.0.0.1:*", "--interval", "0.05"]
    ftio = ["--ftio-listen", "tcp://127.0.0.1:*", "--ftio-reply", reply]
    with LineProcess([*IOTIDE, "serve", *options, *ftio], output="stderr") as served:
        endpoint = served.wait_for_line(lambda line: ", ftio tcp://" in line).rsplit(" ", 1)[1]
        sender.write_line(f"to {endpoint}")
        sender.wait_for_line(done)
        sender.write_line(f"send 0 {BURSTS} {RANKS}")
        assert is_right(sender.wait_for_line(is_right))
        sender.write_line("raw 68656c6c6f")
        said = served.wait_for_line(lambda line: "expected MessagePack" in line)
        assert f"message {BURSTS * RANKS + 1}:" in said
        sender.write_line(f"send {BURSTS} 1 {RANKS}")
        assert is_right(sender.wait_for_line(is_right))
        assert served.end(signal.SIGTERM) == 0


def test_collector_forwards_every_message(sender: LineProcess) -> None:
    async def scenario() -> None:
        async with serving() as server:
            ftio = ["--ftio-listen", "tcp://127.0.0.1:*", "--ftio-job", "4711"]
            with LineProcess([*IOTIDE, "collect", "--connect", server.ingest_endpoint, *ftio], output="stderr") as node:
                line = await asyncio.to_thread(node.wait_for_line, lambda line: "ftio tcp://" in line)
                endpoint = line.rsplit(" ", 1)[1]
                sender.write_line(f"to {endpoint}")
                sender.write_line(f"send 0 {BURSTS} {RANKS}")
                jobs = server.aggregator.jobs
                await until(lambda: "4711" in jobs and jobs["4711"].totals.events == BURSTS * RANKS * WRITES)
                await until(lambda: jobs["4711"].prediction and jobs["4711"].prediction.period_s)
                found = jobs["4711"].prediction
                assert found is not None
                assert found.period_s is not None
                assert found.period_s.value == pytest.approx(PERIOD_S, rel=0.01)
                assert jobs["4711"].bytes_written == BURSTS * RANKS * WRITES * 1_000_000
                assert await asyncio.to_thread(node.end, signal.SIGTERM) == 0

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["serve", "--ftio-reply", "tcp://127.0.0.1:5556"], "ftio_listen"),
        (["serve", "--ingest", "tcp://127.0.0.1:*", "--http", "none", "--ftio-listen", "tcp://*:5555"], "allow_remote"),
        (["collect", "--ftio-listen", "tcp://*:5555"], "allow_remote"),
        (["collect", "--replay", "--ftio-listen", "tcp://127.0.0.1:*"], "leave out --socket and --ftio-listen"),
    ],
)
def test_options_that_cannot_be_served_end_the_start(command: list[str], words: str, tmp_path: Path) -> None:
    ended = iotide(*command, cwd=tmp_path)
    assert ended.returncode == 2
    assert words in ended.stderr
