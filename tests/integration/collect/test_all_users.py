"""One collector of root collects the programs of two real users, each in a process of that user."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import iotide
import pytest
from iotide.cli.collect.all_users import collect_all_users
from iotide.cli.collect.node_refusals import Refusals, RefusedGroup
from iotide.cli.collect.node_users import UserCollector, begin_collector
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.sources.preload.rings.passed_peers import NumberedPeer
from iotide.collectors.tracer.preload_environment import CORE_NAME, library_of
from iotide.collectors.transport.collector_store import NAME
from iotide.daemon.access.access import REFUSED
from iotide.daemon.server import Server
from iotide.events import ConfigError
from iotide.events.losses import REFUSED_USERS
from iotide.events.network.curve import make_keys
from iotide.events.network.peers import user_name
from support.places import PROGRAMS
from support.servers.principals import Listed
from support.servers.running_aggregator import serving, until
from support.system.commands import IOTIDE, Program, plain_environment
from support.system.commands import iotide as run_iotide
from support.system.descriptors import open_files
from support.system.users import ALICE, BOB, as_user, need_root
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need, need_library

pytestmark = [need_root, pytest.mark.slow]
BLOCK, BLOCKS = 4096, 100
MOVED = BLOCK * BLOCKS
ALICE_NAME, BOB_NAME = user_name(ALICE), user_name(BOB)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name that all users may enter, and a copy of the tracer that all may read."""
    path = Path(tempfile.mkdtemp(prefix="iotide-", dir="/tmp"))
    path.chmod(0o1777)
    shutil.copy(library_of(CORE_NAME), path / CORE_NAME).chmod(0o755)
    yield path
    shutil.rmtree(path)


class Node:
    """``iotide collect --all-users``, and programs of users that it collects."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._folder = folder

    @contextmanager
    def waiting_program(self, user: int, job: str) -> Iterator[Callable[[], None]]:
        """Run a program that writes MOVED bytes, waits, and writes as many again; yield what ends its wait."""
        write = f"dd if=/dev/zero of={job}.{user} bs={BLOCK} count={BLOCKS}"
        with self._program(user, job, f"{write}; read line; exec {write}") as process:

            def go_on() -> None:
                process.communicate(b"\n", timeout=DEADLINE_S)
                assert process.returncode == 0

            yield go_on

    def write(self, user: int, job: str) -> None:
        """Write MOVED bytes as a user."""
        with self._program(user, job, f"exec dd if=/dev/zero of={job}.{user} bs={BLOCK} count={BLOCKS}") as process:
            process.communicate(timeout=DEADLINE_S)
            assert process.returncode == 0

    def collectors(self, user: int) -> list[int]:
        """Return the processes that collect the user's programs."""
        return [pid for pid in self.all_collectors() if user in user_ids(pid)]

    def all_collectors(self) -> list[int]:
        """Return the processes that collect programs and that this one has started."""
        return [pid for pid in children_of(self.process.pid) if not is_keeper(pid)]

    async def keeper(self) -> int:
        """Return the process that keeps descriptors for the next collector, once it runs."""
        await until(lambda: any(map(is_keeper, children_of(self.process.pid))))
        (found,) = filter(is_keeper, children_of(self.process.pid))
        return found

    async def end(self) -> tuple[int, str]:
        """End it; return its status and what it reports."""
        self.process.send_signal(signal.SIGTERM)
        _, report = await asyncio.to_thread(self.process.communicate, timeout=DEADLINE_S)
        return self.process.returncode, report

    def _program(self, user: int, job: str, command: str) -> Program[bytes]:
        socket = f"{self._folder}/tracer.sock"
        environment = plain_environment(LD_PRELOAD=f"{self._folder}/{CORE_NAME}", IOTIDE_SOCKET=socket, IOTIDE_JOB=job)
        return Program(
            ["/bin/sh", "-c", command],
            cwd=self._folder,
            env=environment,
            user=user,
            group=user,
            extra_groups=[],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def read_line(process: subprocess.Popen[str]) -> str:
    """Read one line of what a process reports. ``communicate`` does not return what ``readline`` has buffered."""
    assert process.stderr is not None
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(process.stderr.fileno(), 1)):
        line += byte
    return line.decode()


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def user_ids(pid: int) -> set[int]:
    """Return the user ids of a process; none if it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{pid}/status").read_text()
        if not re.search(r"^State:\s+Z", status, re.M):
            return set(map(int, re.findall(r"^Uid:\s+(.*)", status, re.M)[0].split()))
    return set()


def is_keeper(pid: int) -> bool:
    """Return whether a process has a session of its own, as keepers have."""
    with suppress(ProcessLookupError):
        return os.getsid(pid) == pid
    return False


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reading_memory(user: int, pid: int) -> str:
    """Return the error of a user who reads the memory of a process; "" without an error."""
    first = int(Path(f"/proc/{pid}/maps").read_text().partition("-")[0], 16)

    def read() -> str:
        try:
            with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
                memory.seek(first)
                memory.read(16)
        except OSError as error:
            return type(error).__name__
        return ""

    return str(as_user(user, read))


@asynccontextmanager
async def collected(folder: Path, *options: str, endpoint: str = "", within: Sequence[str] = ()) -> AsyncIterator[Node]:
    gate = folder / "tracer.sock"
    command = [*within, *IOTIDE, "collect", "--all-users", "--socket", str(gate), *options]
    command += ["--connect", endpoint or f"ipc://{folder}/in"]
    with Program(command, env=plain_environment(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "collects the programs of all users" in await asyncio.to_thread(read_line, process)
        yield Node(folder, process)


def aggregator(folder: Path) -> AbstractAsyncContextManager[Server]:
    """Run an aggregator to which the collectors of all users may connect."""
    return serving(ingest=f"ipc://{folder}/in", publish=f"ipc://{folder}/out", access={"local_users": True})


def bytes_of(server: Server) -> dict[tuple[str, str], int]:
    """Return the written bytes by user and job."""
    return {
        (session.user, job.partition("@")[0]): session.bytes_written for job, session in server.aggregator.jobs.items()
    }


def losses_of(server: Server) -> dict[str, int]:
    return dict(sum((session.losses.total for session in server.aggregator.jobs.values()), Counter[str]()))


async def test_programs_of_each_user_are_jobs_of_that_user(folder: Path) -> None:
    async with aggregator(folder) as server, collected(folder, "--grace", "0.1") as node:
        with node.waiting_program(ALICE, "long") as go_on:
            await asyncio.to_thread(node.write, ALICE, "short")
            await asyncio.to_thread(node.write, BOB, "short")
            await until(lambda: len(bytes_of(server)) == 3)
            (collector,) = node.collectors(ALICE)
            assert user_ids(collector) == {ALICE}
            assert reading_memory(ALICE, collector) == "PermissionError"
            assert reading_memory(0, collector) == ""
            await asyncio.to_thread(go_on)
        await until(lambda: not node.all_collectors())  # unused ones end
        await asyncio.to_thread(node.write, BOB, "later")
        assert await node.end() == (0, "")
        assert bytes_of(server) == {
            (ALICE_NAME, "long"): 2 * MOVED,
            (ALICE_NAME, "short"): MOVED,
            (BOB_NAME, "short"): MOVED,
            (BOB_NAME, "later"): MOVED,
        }
        assert losses_of(server) == {}


async def test_key_of_the_node_proves_the_users_of_programs(folder: Path, tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    secret, public = listed.key("node", "collect")
    keys = ("--key", str(secret), "--server-key", str(public))
    async with (
        serving(access=listed.settings()) as server,
        collected(folder, *keys, endpoint=server.ingest_endpoint) as node,
    ):
        await asyncio.gather(*(asyncio.to_thread(node.write, user, "job") for user in (ALICE, BOB)))
        assert await node.end() == (0, "")
        assert bytes_of(server) == {(ALICE_NAME, "job"): MOVED, (BOB_NAME, "job"): MOVED}


async def test_unit_lets_it_do_all_that_it_does(folder: Path) -> None:
    need("systemd-analyze")
    need_library("libseccomp.so.2")
    unit = Path(iotide.__file__).parent / "deploy/systemd/iotide-node.service"
    within = (sys.executable, str(PROGRAMS / "as_unit.py"), str(unit))
    async with aggregator(folder) as server, collected(folder, "--state", f"{folder}/state", within=within) as node:
        with node.waiting_program(ALICE, "hers") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            await asyncio.to_thread(node.write, 0, "of-root")
            assert await node.end() == (0, "")  # programs continue
            await asyncio.to_thread(go_on)
        assert bytes_of(server) == {(ALICE_NAME, "hers"): MOVED, ("root", "of-root"): MOVED}


async def test_user_whose_collector_is_killed_loses_nothing_and_others_notice_nothing(folder: Path) -> None:
    async with aggregator(folder) as server, collected(folder, "--state", f"{folder}/state") as node:
        with node.waiting_program(ALICE, "hers") as go_on, node.waiting_program(BOB, "his") as he_goes_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED, MOVED])
            (collector,) = node.collectors(ALICE)
            (other,) = node.collectors(BOB)
            os.kill(collector, signal.SIGKILL)
            await asyncio.to_thread(go_on)
            await until(lambda: bytes_of(server)[ALICE_NAME, "hers"] == 2 * MOVED)
            assert node.collectors(BOB) == [other]
            await asyncio.to_thread(he_goes_on)
        status, report = await node.end()
        assert (status, report.count("\n")) == (1, 1)
        assert f"the collector of user {ALICE_NAME} ended with signal 9" in report
        assert bytes_of(server) == {(ALICE_NAME, "hers"): 2 * MOVED, (BOB_NAME, "his"): 2 * MOVED}
        assert losses_of(server) == {}
        assert {each.name: each.stat().st_uid for each in (folder / "state").iterdir()} == {
            str(user): user for user in (ALICE, BOB)
        }


async def test_programs_that_come_while_a_killed_collector_ends_are_collected(folder: Path) -> None:
    """Its socket is closed some time before the system reports its end."""
    async with aggregator(folder) as server, collected(folder) as node:
        for count in range(1, 11):
            await asyncio.to_thread(node.write, ALICE, "hers")
            await until(lambda count=count: bytes_of(server).get((ALICE_NAME, "hers")) == count * MOVED)
            for collector in node.collectors(ALICE):
                os.kill(collector, signal.SIGKILL)
        status, report = await node.end()
        assert (status, report.count("ended with signal 9")) == (1, 10)
        assert losses_of(server) == {}


async def test_crash_of_root_s_process_loses_nothing(folder: Path) -> None:
    """Its processes of users continue, and its successor adopts them. The programs that connect meanwhile wait."""
    async with aggregator(folder) as server, collected(folder) as killed:
        with killed.waiting_program(ALICE, "hers") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            (collector,) = killed.collectors(ALICE)
            os.kill(killed.process.pid, signal.SIGSTOP)
            await asyncio.to_thread(killed.write, ALICE, "before")
            killed.process.kill()
            await asyncio.to_thread(killed.process.wait)
            await asyncio.to_thread(killed.write, BOB, "meanwhile")
            async with collected(folder) as node:
                await asyncio.to_thread(go_on)
                await until(
                    lambda: (
                        bytes_of(server)
                        == {
                            (ALICE_NAME, "hers"): 2 * MOVED,
                            (ALICE_NAME, "before"): MOVED,
                            (BOB_NAME, "meanwhile"): MOVED,
                        }
                    )
                )
                assert (user_ids(collector), node.collectors(ALICE)) == ({ALICE}, [])
                assert await node.end() == (0, "")
                assert not user_ids(collector)
        assert losses_of(server) == {}


async def test_accepted_program_whose_processes_of_root_and_user_are_killed_is_collected(folder: Path) -> None:
    """It has ended, so nothing but the accepted connection has its memory."""
    async with aggregator(folder) as server, collected(folder) as killed:
        await asyncio.to_thread(killed.write, ALICE, "first")
        await until(lambda: bytes_of(server) == {(ALICE_NAME, "first"): MOVED})
        (collector,) = killed.collectors(ALICE)
        keeper = await killed.keeper()
        os.kill(collector, signal.SIGSTOP)
        before = set(open_files(keeper))
        await asyncio.to_thread(killed.write, ALICE, "unread")
        await until(lambda: set(open_files(keeper)) - before)
        killed.process.kill()
        os.kill(collector, signal.SIGKILL)
        await asyncio.to_thread(killed.process.wait)
        async with collected(folder) as node:
            await until(lambda: len(bytes_of(server)) == 2)
            status, report = await node.end()
            assert (status, report.count("ended with signal 9")) == (1, 1)
        assert bytes_of(server) == {(ALICE_NAME, "first"): MOVED, (ALICE_NAME, "unread"): MOVED}
        assert losses_of(server) == {}


async def test_keeper_that_is_killed_twice_costs_no_processor_until_it_may_be_replaced(folder: Path) -> None:
    async with collected(folder) as node:
        os.kill(await node.keeper(), signal.SIGKILL)
        assert "1 so far" in await asyncio.to_thread(read_line, node.process)
        second = await node.keeper()
        before_s = processor_time(node.process.pid)
        os.kill(second, signal.SIGKILL)
        assert "2 so far" in await asyncio.to_thread(read_line, node.process)
        spent_s = processor_time(node.process.pid) - before_s
        await node.end()
        assert spent_s < 1


async def test_crash_of_root_s_process_after_that_of_its_keeper_loses_nothing(folder: Path) -> None:
    """Another keeper gets the socket, the users' processes and the connections that they have not read."""
    async with aggregator(folder) as server, collected(folder) as killed:
        with killed.waiting_program(BOB, "his") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            await asyncio.to_thread(killed.write, ALICE, "first")
            await until(lambda: len(bytes_of(server)) == 2)
            (collector,), (kept,) = killed.collectors(ALICE), killed.collectors(BOB)
            os.kill(collector, signal.SIGSTOP)
            first = await killed.keeper()
            before = set(open_files(first))
            await asyncio.to_thread(killed.write, ALICE, "unread")
            await until(lambda: set(open_files(first)) - before)
            os.kill(first, signal.SIGKILL)
            assert killed.process.stderr is not None
            report = await asyncio.to_thread(read_line, killed.process)
            assert "another process keeps programs" in report
            assert await killed.keeper() != first
            for process in (killed.process.pid, collector):
                os.kill(process, signal.SIGKILL)
            await asyncio.to_thread(killed.process.wait)
            async with collected(folder) as node:
                await asyncio.to_thread(go_on)
                await until(lambda: len(bytes_of(server)) == 3 and bytes_of(server)[BOB_NAME, "his"] == 2 * MOVED)
                assert user_ids(kept) == {BOB}  # adopted, not replaced
                status, report = await node.end()
                assert (status, report.count("ended with signal 9")) == (1, 1), report
        assert bytes_of(server)[ALICE_NAME, "unread"] == MOVED
        assert losses_of(server) == {}


async def test_second_collector_of_all_users_takes_nothing_from_a_running_one(folder: Path) -> None:
    async with aggregator(folder) as server, collected(folder) as node:
        gate = folder / "tracer.sock"
        refused = await asyncio.to_thread(run_iotide, "collect", "--all-users", "--socket", gate, cwd=folder)
        assert refused.returncode == 2
        assert "another collector listens there" in refused.stderr
        await asyncio.to_thread(node.write, ALICE, "hers")
        assert await node.end() == (0, "")
        assert bytes_of(server) == {(ALICE_NAME, "hers"): MOVED}


async def test_processes_of_users_get_changed_keys_of_the_node(folder: Path, tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    secret, public = listed.key("node", "collect")
    keys = ("--key", str(secret), "--server-key", str(public))
    async with (
        serving(access=listed.settings()) as server,
        collected(folder, *keys, endpoint=server.ingest_endpoint) as node,
    ):
        with node.waiting_program(ALICE, "hers") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            (tmp_path / "next").mkdir()
            new_public, new_secret = make_keys(tmp_path / "next", "node")
            secret.write_text("no key")
            node.process.send_signal(signal.SIGHUP)
            assert node.process.stderr is not None
            line = await asyncio.to_thread(read_line, node.process)
            assert "the earlier keys stay in use" in line
            new_secret.replace(secret)
            listed.revoke("node")
            listed.list_key("node", new_public, "collect")
            await until(lambda: server.aggregator.counters[f"{REFUSED}ingest"])
            await asyncio.to_thread(go_on)
            await until(lambda: list(bytes_of(server).values()) == [2 * MOVED])
        status, report = await node.end()
        assert status == 0, report
        assert losses_of(server) == {}


def test_process_of_a_user_without_a_descriptor_for_its_end_leaves_nothing(folder: Path) -> None:
    def begin() -> str:
        with os.scandir("/proc/self/fd") as found:
            used = max(int(each.name) for each in found)
        for _ in range(used):  # no number below is free
            used = max(used, os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 5, used + 5))  # two pairs of sockets
        with pytest.raises(OSError, match="Too many open files"):
            begin_collector(ALICE, ALICE, lambda _: 0, lambda: None, lambda _: None)
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        return "ended"

    assert as_user(0, begin) == "ended"


async def test_collector_that_cannot_start_is_started_once_per_program(folder: Path) -> None:
    """A user could otherwise make root start processes without end."""
    hers = folder / "state" / str(ALICE)
    (hers / NAME).mkdir(parents=True)  # no file can be written there
    hers.parent.chmod(0o711)
    os.chown(hers, ALICE, ALICE)
    options = ("--state", f"{folder}/state", "--grace", "0.1")
    async with aggregator(folder) as server, collected(folder, *options) as node:
        await asyncio.to_thread(node.write, ALICE, "hers")
        await asyncio.to_thread(node.write, BOB, "his")
        await until(lambda: bytes_of(server))  # his program was accepted after hers
        await until(lambda: not node.all_collectors())
        for _ in range(20):  # no further one is started
            assert not node.all_collectors()
            await asyncio.sleep(0.05)
        status, report = await node.end()
        assert status == 1
        assert f"the collector of user {ALICE_NAME} cannot run: state = {hers}" in report
        assert f"the collector of user {ALICE_NAME} ended with status 1" in report
        assert bytes_of(server) == {(BOB_NAME, "his"): MOVED}


async def test_program_of_a_user_beyond_the_bound_runs_untraced(folder: Path) -> None:
    async with aggregator(folder) as server, collected(folder, "--max-users", "1") as node:
        with node.waiting_program(ALICE, "hers") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            await asyncio.gather(*(asyncio.to_thread(node.write, BOB, "his") for _ in range(3)))
            await until(lambda: losses_of(server) == {REFUSED_USERS: 6})  # sh and dd, three times
            refused = server.aggregator.jobs["his"]
            assert (refused.user, refused.losses.total) == (BOB_NAME, {REFUSED_USERS: 6})
            assert server.aggregator.collector_counters()[REFUSED_USERS] == 6
            await asyncio.to_thread(node.write, BOB, "his")
            await asyncio.to_thread(go_on)
        status, report = await node.end()
        assert status == 0, report
        assert f"a program of user {BOB} is not traced: --max-users 1 is reached" in report
        assert bytes_of(server) == {(ALICE_NAME, "hers"): 2 * MOVED, (BOB_NAME, "his"): 0}
        assert losses_of(server) == {REFUSED_USERS: 8}  # also what was refused last


async def test_refused_program_adds_nothing_to_the_job_of_another_user_that_it_names(folder: Path) -> None:
    async with aggregator(folder) as server, collected(folder, "--max-users", "1") as node:
        with node.waiting_program(ALICE, "hers") as go_on:
            await until(lambda: list(bytes_of(server).values()) == [MOVED])
            await asyncio.to_thread(node.write, BOB, "hers")
            await until(lambda: losses_of(server) == {REFUSED_USERS: 2})
            assert server.aggregator.jobs[f"hers@{BOB_NAME}"].losses.total == {REFUSED_USERS: 2}
            await asyncio.to_thread(go_on)
        assert (await node.end())[0] == 0


def test_user_who_stops_the_process_that_reports_refused_programs_holds_up_no_reports_of_others() -> None:
    events, pids = select.epoll(), []

    def begin(group: RefusedGroup) -> UserCollector:
        started = begin_collector(0, 0, lambda passed: int(passed.ended), lambda: None, lambda number: None)
        if group.uid == ALICE:
            signal.pidfd_send_signal(started.watch, signal.SIGSTOP)
        pids.append(group.uid)
        return started

    refusals = Refusals(begin, events, most_s=0.1)
    for number, user in enumerate((ALICE, BOB)):
        ours, theirs = socket.socketpair()
        theirs.close()
        refusals.add(NumberedPeer(number, ours), RefusedGroup(user, user, REFUSED_USERS), "a bound is reached")
    while refusals.unreported:
        refusals.handle({descriptor for descriptor, _ in events.poll(0.05)}, at_once=True)
    assert pids == [ALICE, BOB]
    events.close()


@pytest.mark.parametrize("other", [["trace.jsonl"], ["--job", "j"], ["--ends-at", "+3600"], ["--until-unused"]])
def test_options_of_one_job_or_other_sources_are_usage_errors(folder: Path, other: list[str]) -> None:
    refused = run_iotide("collect", "--all-users", "--socket", folder / "gate", *other, cwd=folder)
    assert refused.returncode == 2
    assert "--all-users collects traced programs of all jobs" in refused.stderr


def test_only_root_collects_the_programs_of_all_users(folder: Path) -> None:
    def start() -> str:
        with pytest.raises(ConfigError) as refused:
            collect_all_users(folder / "gate", CollectorSettings(), grace_s=1.0, max_users=1)
        return str(refused.value)

    assert "--all-users needs root" in as_user(ALICE, start)


def test_state_of_all_users_is_in_a_folder_that_only_root_changes(folder: Path) -> None:
    def start() -> str:
        with pytest.raises(ConfigError) as refused:
            collect_all_users(folder / "gate", CollectorSettings(state=folder), grace_s=1.0, max_users=1)
        return str(refused.value)

    assert f"--state {folder} can be changed by others" in as_user(0, start)
