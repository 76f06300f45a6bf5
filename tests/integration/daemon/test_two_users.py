"""Two non-root users of one machine: neither can see, change, fake or stop the other's iotide."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.pipeline.job_interactions import rank_jobs
from iotide.cli.collect.command import stop_collector
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import CORE_NAME, library_of
from iotide.collectors.transport.spool_files import SpoolFiles
from iotide.daemon.publish.http import application, authentication, http_server  # noqa: F401  (the copies import nothing)
from iotide.events import Interner, StreamInfo
from iotide.events.network.wire import Heartbeat, Hello, encode
from support.servers.running_aggregator import Fed, feeding, periodic_batch, serving
from support.system.users import ALICE, BOB, UserProcess, as_user, need_root
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.regions import MadeRegion

pytestmark = [need_root, pytest.mark.slow]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name that all users may enter."""
    path = Path(tempfile.mkdtemp(prefix="iotide-", dir="/tmp"))
    path.chmod(0o1777)
    yield path
    shutil.rmtree(path)


def aggregator(folder: Path, access: dict[str, Any]) -> Callable[[Callable[[Any], None]], None]:
    """Return a function that runs an aggregator with a job until its process is ended."""

    async def run(send: Callable[[Any], None]) -> None:
        source = Fed()
        source.open("s", "hers", user="alice", host="n1", pid=7)
        source.periodic("s")
        options = {
            "ingest": f"ipc://{folder}/in",
            "publish": f"ipc://{folder}/out",
            "http": f"unix:{folder}/http",
            "state": folder / "state",
            "archive": {"folder": folder / "archives", "checkpoint_s": 0.01},
            "access": access,
        }
        async with serving(**options) as server, feeding(server, source):
            while not (list((folder / "archives").glob("*.iotide")) and "hers" in server.aggregator.jobs):
                await asyncio.sleep(0.01)
            await asyncio.to_thread(send, "ready")
            while True:
                await asyncio.sleep(0.1)

    return lambda send: asyncio.run(run(send))


@contextlib.contextmanager
def of_alice(folder: Path, **access: Any) -> Iterator[int]:
    """Run an aggregator of user alice; yield its process."""
    warm = folder / "warm"
    warm.mkdir()

    def stop_when_ready(_: Any) -> None:
        asked(warm / "http", ("GET", "/api/v1/openapi.json"))
        raise InterruptedError  # all lazy imports are done now

    with contextlib.suppress(InterruptedError):
        aggregator(warm, access)(stop_when_ready)
    rank_jobs([], InteractionSettings()).model_dump_json()
    own = folder / "alice"
    own.mkdir()
    os.chown(own, ALICE, ALICE)
    own.chmod(0o755)
    with UserProcess(ALICE, aggregator(own, access)) as hers:
        assert hers.receive() == "ready"
        yield hers.pid


def refused(act: Callable[[], Any]) -> str:
    """Return the error of the system, or the result if it is allowed."""
    try:
        return f"allowed: {act()!r}"
    except PermissionError:
        return "refused"
    except FileNotFoundError:
        return "not there"


def connected(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(path))


def asked(path: Path, *questions: tuple[str, str]) -> list[tuple[int, str]]:
    answers = []
    for method, question in questions:
        connection = http.client.HTTPConnection("iotide")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request(method, question)
        answer = connection.getresponse()
        answers.append((answer.status, answer.read().decode()))
        connection.close()
    return answers


def test_sockets_files_and_processes_of_an_aggregator_are_closed_to_another_user(folder: Path) -> None:
    own = folder / "alice"
    with of_alice(folder) as pid:
        (archive,) = (own / "archives").glob("*.iotide")
        (journal,) = (own / "state" / "journal").glob("*.journal")

        def try_all() -> dict[str, str]:
            return {
                **{name: refused(lambda name=name: connected(own / name)) for name in ("in", "out", "http")},
                "list the state": refused(lambda: list((own / "state").iterdir())),
                "read the journal": refused(journal.read_bytes),
                "write the journal": refused(lambda: journal.open("ab")),
                "remove the journal": refused(journal.unlink),
                "take the lock": refused(lambda: (own / "state" / "lock").open("ab")),
                "read an archive": refused(archive.read_bytes),
                "write an archive": refused(lambda: archive.open("r+b")),
                "put an archive there": refused(lambda: (archive.parent / "another.iotide").write_bytes(b"")),
                "take a socket's place": refused(lambda: (own / "in").unlink()),
                "look at open files": refused(lambda: list(Path(f"/proc/{pid}/fd").iterdir())),
                "look at memory": refused(lambda: Path(f"/proc/{pid}/mem").open("rb")),
                "stop it": refused(lambda: os.kill(pid, signal.SIGSTOP)),
                "end it": refused(lambda: os.kill(pid, signal.SIGKILL)),
            }

        assert set(as_user(BOB, try_all).values()) == {"refused"}
        assert as_user(ALICE, lambda: asked(own / "http", ("GET", "/api/v1/jobs/hers"))[0][0]) == 200


def test_another_user_sees_none_of_the_jobs_by_any_route(folder: Path) -> None:
    path = folder / "alice" / "http"
    with of_alice(folder, visibility="own"):
        paths = as_user(BOB, lambda: asked(path, ("GET", "/api/v1/jobs"), ("GET", "/api/v1/openapi.json")))
        assert "hers" not in paths[0][1]
        described = json.loads(paths[1][1])["paths"]
        assert len(described) > 20
        questions = [
            (method.upper(), path.replace("{job}", "hers"))
            for path, methods in described.items()
            for method in ("get", "post", "put", "delete")
            if method in methods or "{job}" in path
        ]
        questions += [("GET", f"/jobs/hers{page}") for page in ("", "/dfg", "/layers")]
        questions += [("GET", "/metrics"), ("GET", "/api/v1/live-io?file_system=/scratch")]
        for question, (status, text) in zip(questions, as_user(BOB, lambda: asked(path, *questions)), strict=True):
            assert status in (200, 403, 404, 405, 422), question
            assert status != 200 or "hers" not in text, question
        assert as_user(ALICE, lambda: asked(path, ("GET", "/api/v1/jobs/hers"))[0][0]) == 200


def test_streams_of_a_local_user_belong_to_the_user_named_by_the_kernel(folder: Path) -> None:
    """bob claims alice's job and name, and in the handshake alice's credentials."""
    own = folder / "alice"
    forged = {b"Socket-Type": b"DEALER", b"Peer-Address": f"localhost:{ALICE}:{ALICE}:1".encode()}
    with of_alice(folder, visibility="own", local_users=True):
        as_user(BOB, lambda: introduced(own / "in", forged, "b"))
        as_user(ALICE, lambda: introduced(own / "in", {b"Socket-Type": b"DEALER"}, "a"))
        wait_for(lambda: len(jobs := jobs_at(own / "http")) == 3 and jobs, what="the jobs")
        assert jobs_at(own / "http") == {"hers": "alice", "hers@#61002": "#61002", "a": "alice"}
        seen = as_user(BOB, lambda: asked(own / "http", ("GET", "/api/v1/jobs"))[0][1])
        assert [job["job"] for job in json.loads(seen)["jobs"]] == ["hers@#61002"]


def jobs_at(path: Path) -> dict[str, str]:
    ((_, text),) = asked(path, ("GET", "/api/v1/jobs"))
    return {job["job"]: job["user"] for job in json.loads(text)["jobs"]}


def introduced(path: Path, properties: dict[bytes, bytes], stream: str) -> str:
    """Opens a stream by hand, with properties of a connection as ZMTP 3.0 has them; returns the answer."""

    def block(text: bytes, size: int) -> bytes:
        return len(text).to_bytes(size, "big") + text

    answers = bytearray()

    def answered(expected: bytes) -> None:
        while expected not in answers:
            answers.extend(part := peer.recv(4096))
            assert part, "the connection was closed"

    job = "a" if stream == "a" else "hers"
    (hello,) = encode(Hello(collector=stream, stream=stream, info=StreamInfo(job=job, source="test", user="alice")))
    ready = b"\x05READY" + b"".join(block(name, 1) + block(value, 4) for name, value in properties.items())
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(DEADLINE_S)
        peer.connect(str(path))
        peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\0" + b"NULL".ljust(20, b"\0") + bytes(32))
        answered(b"NULL")
        peer.sendall(b"\x04" + block(ready, 1))
        answered(b"READY")
        (beat,) = encode(Heartbeat(collector=stream))  # its answer shows that the stream was opened
        peer.sendall(b"".join(b"\x02" + block(bytes(each), 8) for each in (hello, beat)))
        answered(b"heartbeat")
    return "opened"


def test_collector_takes_no_calls_of_another_users_program(folder: Path) -> None:
    """Even if its socket were open to all, which it is not."""
    gate = folder / "gate"

    def collect(send: Callable[[Any], None]) -> dict[str, Any]:
        source = PreloadSource(gate, Origin(job="hers", host="n1"))
        send(oct(gate.stat().st_mode & 0o777))
        gate.chmod(0o777)
        send("open")
        while not source.counters["processes_refused"]:
            source.poll()
        found = {"refused": source.counters["processes_refused"], "events": source.counters["events"]}
        source.close()
        return found

    def offer() -> str:
        with MadeRegion() as region:
            region.put(10)
            region.hand_over(gate)
        return "offered"

    with UserProcess(ALICE, collect) as hers:
        assert hers.receive() == "0o600"
        assert hers.receive() == "open"
        assert as_user(BOB, offer) == "offered"
        assert hers.receive() == {"refused": 1, "events": 0}


@pytest.mark.parametrize(("listener", "expected"), [(BOB, "refused"), (ALICE, "handed over")])
def test_program_hands_its_calls_to_no_other_users_socket(folder: Path, listener: int, expected: str) -> None:
    """bob takes the place of alice's socket: paths below /tmp are predictable, and a program then writes there."""
    library = Path(shutil.copy(library_of(CORE_NAME), folder))
    library.chmod(0o755)
    gate = folder / "tracer.sock"

    def listen(send: Callable[[Any], None]) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(str(gate))
            gate.chmod(0o777)
            listening.listen(64)
            send("listening")
            while True:
                peer, _ = listening.accept()
                with peer:
                    message, descriptors, _, _ = socket.recv_fds(peer, 256, 4)
                    if descriptors:
                        return "handed over"
                    if message == b"last":
                        return "refused"

    def run() -> int:
        environment = {"LD_PRELOAD": str(library), "IOTIDE_SOCKET": str(gate), "IOTIDE_JOB": "hers"}
        code = subprocess.run(["/bin/ls", str(folder)], env=environment, capture_output=True, check=True).returncode
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as last:
            last.connect(str(gate))
            last.send(b"last")
        return code

    with UserProcess(listener, listen) as other:
        assert other.receive() == "listening"
        assert as_user(ALICE, run) == 0
        assert other.receive() == expected


def test_collector_is_stopped_by_its_own_user_only(folder: Path) -> None:
    """bob listens at the path of alice's collector, and his number may be that of another process by now."""
    gate = folder / "tracer.sock"

    def listen(send: Callable[[Any], None]) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(str(gate))
            gate.chmod(0o777)
            listening.listen()
            send("listening")
            while True:
                signal.pause()

    with UserProcess(BOB, listen) as his:
        assert his.receive() == "listening"
        assert f"belongs to user {BOB}" in as_user(ALICE, lambda: stop_collector(gate))


def test_spool_of_a_collector_is_closed_to_another_user(folder: Path) -> None:
    def spool(send: Callable[[Any], None]) -> None:
        files = SpoolFiles(1 << 20, folder)
        assert files.append(periodic_batch(Interner(), periods=3, until_s=1.7e9)) is not None
        send([each.name for each in Path("/proc/self/fd").iterdir() if "iotide-spool" in _target(each)])
        while True:
            signal.pause()

    with UserProcess(ALICE, spool) as hers:
        numbers = hers.receive()
        assert numbers, "no file exists there"
        assert not list(folder.glob("iotide-spool-*"))
        paths = [Path(f"/proc/{hers.pid}/fd/{each}") for each in numbers]
        opened = as_user(BOB, lambda: [refused(path.read_bytes) for path in paths])
        assert set(opened) == {"refused"}


def _target(link: Path) -> str:
    with contextlib.suppress(OSError):
        return str(link.readlink())
    return ""
