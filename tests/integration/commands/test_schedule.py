"""``iotide schedule`` on real programs that write concurrently."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from iotide.clients.schedulers.backends.cgroup import ControlGroupWeights
from iotide.clients.schedulers.limits import Limit
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

WRITER = """
import os, sys, time
file, pause_s, calls = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
out = os.open(file, os.O_CREAT | os.O_WRONLY)
while True:
    for call in range(calls):
        os.pwrite(out, b"x" * 65536, call * 65536)
        time.sleep(0.01)
    time.sleep(pause_s)
"""


def test_two_jobs_that_write_at_once_are_limited_and_freed(tmp_path: Path) -> None:
    environment = plain_environment()
    serve = [*IOTIDE, "serve", "--ingest", f"ipc://{tmp_path}/in", "--publish", "none", "--http", "127.0.0.1:0"]
    running: list[Program[str]] = []
    with Program(serve, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = re.findall(r"http (http://\S+),", server.stderr.readline())[0]
        try:
            for job, pause_s, calls in (("short", "0.4", "40"), ("long", "1.5", "150")):
                gate = tmp_path / f"{job}.sock"
                collect = [*IOTIDE, "collect", "--socket", str(gate), "--connect", f"ipc://{tmp_path}/in", "--job", job]
                running.append(Program(collect, cwd=tmp_path, env=environment, text=True))
                wait_for(gate.exists, what="the collector's socket")
                told = iotide("collect", "--socket", gate, "--print-environment", cwd=tmp_path)
                traced = environment | dict(word.split("=", 1) for word in told.stdout.split())
                program = [sys.executable, "-c", WRITER, str(tmp_path / job), pause_s, calls]
                running.append(Program(program, cwd=tmp_path, env=traced, text=True))
                groups = tmp_path / "groups" / job
                groups.mkdir(parents=True)
                (groups / "io.max").touch()

            def file_system() -> str | None:
                found = iotide("contention", "--json", url, cwd=tmp_path)
                known = json.loads(found.stdout)["file_systems"] if found.returncode == 0 else []
                return max(known, key=lambda each: len(each["jobs"]))["file_system"] if known else None

            name = wait_for(file_system, what="a file system")
            schedule = [*IOTIDE, "schedule", url, "--file-system", name, "--json", "--interval", "0.1"]
            schedule += ["--capacity", "8M", "--policy", "set-10", "--backend", "cgroup", "--device", "254:0"]
            schedule += ["--groups", f"{tmp_path}/groups/{{job}}"]
            with Program(schedule, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as scheduler:
                assert scheduler.stdout is not None

                def limited() -> set[str]:
                    assert scheduler.stdout is not None
                    return {limit["job"] for limit in json.loads(scheduler.stdout.readline())["limits"]}

                wait_for(limited, what="a limit")
                wait_for(lambda: any(path.read_text() for path in tmp_path.glob("groups/*/io.max")), what="its file")
                scheduler.send_signal(signal.SIGTERM)
                scheduler.communicate(timeout=DEADLINE_S)
                assert scheduler.returncode == 0
            left = {path.read_text() for path in tmp_path.glob("groups/*/io.max")}
            assert left <= {"", "254:0 rbps=max wbps=max\n"}
            once = iotide("schedule", url, "--file-system", name, "--once", cwd=tmp_path)
            assert once.returncode == 0
            assert "of 2 jobs in I/O" in once.stdout
            unnamed = iotide("schedule", url, cwd=tmp_path)
            assert (unnamed.returncode, name in unnamed.stderr) == (2, True), unnamed.stderr
        finally:
            for each in running:
                each.kill()
                each.wait()
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0


def test_traced_programs_wait_by_the_plan_and_continue_at_its_end(tmp_path: Path) -> None:
    """One collector, two jobs, and a third without pacing."""
    environment = plain_environment()
    gate = tmp_path / "t.sock"
    serve = [*IOTIDE, "serve", "--ingest", f"ipc://{tmp_path}/in", "--publish", "none", "--http", "127.0.0.1:0"]
    collect = [*IOTIDE, "collect", "--socket", str(gate), "--connect", f"ipc://{tmp_path}/in", "--pace", str(tmp_path)]
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Program(serve, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True))
        assert server.stderr is not None
        url = re.findall(r"http (http://\S+),", server.stderr.readline())[0]
        stack.callback(server.kill)
        stack.callback(stack.enter_context(Program(collect, cwd=tmp_path, env=environment)).kill)
        wait_for(gate.exists, what="the collector's socket")
        for job, pause_s, calls in (("short", "0.4", "40"), ("long", "1.5", "150"), ("free", "0.4", "40")):
            asked = [] if job == "free" else ["--pace", tmp_path]
            told = iotide("collect", "--socket", gate, "--job", job, "--print-environment", *asked, cwd=tmp_path)
            traced = environment | dict(word.split("=", 1) for word in told.stdout.split())
            assert ("IOTIDE_PACE" in traced) == (job != "free")
            program = [sys.executable, "-c", WRITER, str(tmp_path / job), pause_s, calls]
            stack.callback(stack.enter_context(Program(program, cwd=tmp_path, env=traced)).kill)

        def file_system() -> str | None:
            found = iotide("contention", "--json", url, cwd=tmp_path)
            known = json.loads(found.stdout)["file_systems"] if found.returncode == 0 else []
            return max(known, key=lambda each: len(each["jobs"]))["file_system"] if known else None

        name = wait_for(file_system, what="a file system")
        schedule = [*IOTIDE, "schedule", url, "--file-system", name, "--json", "--interval", "0.1"]
        schedule += ["--capacity", "7M", "--policy", "fcfs", "--backend", "preload"]
        with Program(schedule, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as scheduler:
            wait_for(lambda: waited(url) > 0, what="a waiting call")
            scheduler.send_signal(signal.SIGTERM)
            assert scheduler.wait() == 0
        assert moves(tmp_path)


def waited(url: str) -> float:
    """Return the waiting time of calls in s, from the aggregator's metrics."""
    metrics = httpx.get(f"{url}/metrics").text
    return float(re.findall(r"^iotide_paced_wait_seconds_total (\S+)$", metrics, re.M)[0])


def moves(folder: Path) -> bool:
    """Return whether each of the programs has written since the call."""
    names = ("short", "long", "free")
    before = {name: (folder / name).stat().st_mtime_ns for name in names}
    return bool(wait_for(lambda: all((folder / name).stat().st_mtime_ns > before[name] for name in names)))


def test_kernel_takes_the_weights_of_groups_and_their_removal(tmp_path: Path) -> None:
    """The groups are in version 1 or 2 of the hierarchy, on a disk in a file with the I/O scheduler BFQ."""
    with disk_with_bfq(tmp_path / "disk") as device, contextlib.ExitStack() as stack:
        parent = next((Path(each) for each in ("/sys/fs/cgroup/blkio", "/sys/fs/cgroup") if has_weights(each)), None)
        if parent is None:
            pytest.skip("no group of this machine has a weight of BFQ")
        groups = [parent / f"iotide-test-{os.getpid()}-{job}" for job in "ab"]
        for group in groups:
            group.mkdir()
            stack.callback(group.rmdir)

        def weights() -> list[str]:
            names = ("io.bfq.weight", "blkio.bfq.weight_device")
            return [(group / name).read_text() for group in groups for name in names if (group / name).exists()]

        backend = ControlGroupWeights(f"{parent}/iotide-test-{os.getpid()}-{{job}}", device)
        untouched = weights()
        assert backend.apply([Limit("a", 1e6, 0.1), Limit("b", 2e6, 0.2)]) == []
        assert [re.findall(rf"^{device} (\d+)$", text, re.M) for text in weights()] == [["14"], ["29"]]
        assert backend.clear() == []
        assert weights() == untouched


def has_weights(folder: str) -> bool:
    """Return whether a new group in a folder has a weight of BFQ."""
    group = Path(folder) / f"iotide-probe-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        return any((group / name).exists() for name in ("io.bfq.weight", "blkio.bfq.weight_device"))
    finally:
        group.rmdir()


@contextlib.contextmanager
def disk_with_bfq(image: Path) -> Iterator[str]:
    """Attach a file as a disk that BFQ schedules; yield its MAJOR:MINOR."""
    if os.geteuid() != 0:
        pytest.skip("only root can attach a file as a disk")
    image.write_bytes(bytes(1 << 20))
    attached = subprocess.run([need("losetup"), "--find", "--show", str(image)], capture_output=True, text=True)
    if attached.returncode != 0:
        pytest.skip(f"no file can be attached as a disk: {attached.stderr.strip()}")
    disk = Path("/sys/block") / Path(attached.stdout.strip()).name
    try:
        if "bfq" not in (disk / "queue/scheduler").read_text():
            pytest.skip("this kernel has no BFQ")
        (disk / "queue/scheduler").write_text("bfq")
        yield (disk / "dev").read_text().strip()
    finally:
        subprocess.run(["losetup", "--detach", attached.stdout.strip()], check=True)


def test_wrong_use_is_told(tmp_path: Path) -> None:
    for words, told in (
        (["nowhere", "--file-system", "x"], "no address"),
        (["http://127.0.0.1:9"], "no answer"),
        (["http://127.0.0.1:9", "--file-system", "x", "--once"], "no answer"),
        (["http://127.0.0.1:9", "--file-system", "x", "--policy", "luck"], "expected one of"),
        (["http://127.0.0.1:9", "--file-system", "x", "--backend", "cgroup"], "--groups and --device"),
        (["http://127.0.0.1:9", "--file-system", "x", "--backend", "lustre"], "--lctl"),
        (["http://127.0.0.1:9", "--file-system", "x", "--backend", "lustre", "--lctl", "/none"], "is no program"),
    ):
        done = iotide("schedule", *words, cwd=tmp_path)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
