"""Start of collectors on other nodes: the commands, their arguments, and nodes that do not respond."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.cli.run.nodes.collectors import NodeCollectors
from iotide.cli.run.nodes.entry import make_entry
from iotide.cli.run.nodes.launchers import Launcher, address_towards, launcher_of
from iotide.cli.run.nodes.messages import Instructions, StatusMessage, UntracedProgram, encode_line
from iotide.daemon.access.principals import read_principals
from iotide.events import UnavailableError
from iotide.events.network.curve import read_pair
from support.system.waiting import DEADLINE_S

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_NUM_NODES": "3", "SLURMD_NODENAME": "n1"}
NODES = """NodeName=n1 Arch=x86_64 NodeAddr=10.0.0.1 NodeHostName=n1 OS=Linux 6.1 #1 SMP
NodeName=n2 Arch=x86_64 NodeAddr=10.0.0.2 NodeHostName=n2
NodeName=n3 Arch=x86_64 NodeHostName=n3
"""
ORDERS = Instructions(
    endpoint="tcp://127.0.0.1:1", public="p", secret="s", server="t", socket="/x", job="j", ends_at_s=0.0, batch=None
)


@pytest.fixture
def programs(tmp_path: Path) -> Callable[[str, str], None]:
    """Make programs with the names of Slurm's commands."""

    def make(name: str, script: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    make("srun", "exit 0")
    make("scontrol", f"cat <<'END'\n{NODES}END")
    return make


def found(tmp_path: Path, said: list[str], **environment: str) -> Launcher | None:
    return launcher_of(JOB | {"PATH": f"{tmp_path}:/usr/bin:/bin"} | environment, said.append)


@pytest.mark.usefixtures("programs")
def test_step_of_ours_is_on_the_other_nodes_and_knows_nothing_of_the_jobs_tasks(tmp_path: Path) -> None:
    launcher = found(tmp_path, [], SLURM_NTASKS="96", SLURM_CPU_BIND="cores", SLURM_CONF="/etc/s.conf", HOME="/h")
    assert launcher is not None
    assert (launcher.nodes, launcher.address) == (("n2", "n3"), "10.0.0.2")
    (command,) = launcher.commands
    assert {"--jobid=7", "--overlap", "--nodes=2", "--ntasks=2", "--nodelist=n2,n3"} < set(command)
    assert dict(launcher.environment) == {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "SLURM_CONF": "/etc/s.conf",
        "HOME": "/h",
    }


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "environment",
    [
        {"SLURM_JOB_NUM_NODES": "1"},
        {"SLURM_JOB_NUM_NODES": ""},
        {"SLURM_JOB_ID": ""},
        {"SLURM_STEP_NUM_TASKS": "8"},
    ],
    ids=["one node", "unknown", "no job", "one of several tasks"],
)
def test_no_launcher_without_other_nodes(tmp_path: Path, environment: dict[str, str]) -> None:
    said: list[str] = []
    assert found(tmp_path, said, **environment) is None
    assert said == []


@pytest.mark.usefixtures("programs")
def test_node_that_is_none_of_the_jobs_starts_them_on_all(tmp_path: Path) -> None:
    launcher = found(tmp_path, [], SLURMD_NODENAME="login")
    assert launcher is not None
    assert launcher.nodes == ("n1", "n2", "n3")


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(("exported", "is_told"), [("ALL", False), ("ALL,A=1", False), ("NONE", True), ("A,B", True)])
def test_tasks_that_do_not_get_our_environment_are_told(tmp_path: Path, exported: str, is_told: bool) -> None:
    said: list[str] = []
    assert found(tmp_path, said, SLURM_EXPORT_ENV=exported) is not None
    assert len(said) == is_told


def test_controller_that_does_not_answer_is_told(tmp_path: Path, programs: Callable[[str, str], None]) -> None:
    programs("scontrol", "echo 'slurm_load_node error: Unable to contact slurm controller' >&2; exit 1")
    said: list[str] = []
    assert found(tmp_path, said) is None
    (line,) = said
    assert "programs on other nodes are not seen: scontrol: slurm_load_node error" in line


def test_address_is_that_of_the_way_to_a_host() -> None:
    assert address_towards("127.0.0.1") == "127.0.0.1"
    with pytest.raises(UnavailableError, match="no route to"):
        address_towards("no-such-host.invalid")


def test_keys_of_a_run_are_private_and_let_its_nodes_in_alone(tmp_path: Path) -> None:
    entry = make_entry(tmp_path, "::1")
    assert entry.endpoint == "tcp://[::1]:*"
    assert entry.access.key is not None
    assert entry.access.principals is not None
    assert read_pair(entry.access.key).public.decode() == entry.server
    (listed,) = read_principals(entry.access.principals).listed
    assert (listed.key, listed.may) == (entry.public, {"collect"})


def collectors(said: list[str], script: str, nodes: tuple[str, ...] = ("n2", "n3")) -> NodeCollectors:
    launcher = Launcher(nodes, "127.0.0.1", (("sh", "-c", script),), {"PATH": "/usr/bin:/bin"})
    return NodeCollectors(launcher, ORDERS, said.append)


def says(*news: StatusMessage) -> str:
    return "; ".join(f"echo '{encode_line(each).decode().strip()}'" for each in news)


def test_reports_of_nodes_are_summed() -> None:
    said: list[str] = []
    listening = [StatusMessage(node=node, state="listening") for node in ("n2", "n3")]
    heard = [StatusMessage(node=node, state="heard") for node in ("n2", "n3")]
    ended = [StatusMessage(node="n2", state="ended", unseen=[UntracedProgram("busybox", "is statically linked", 2)])]
    ended.append(StatusMessage(node="n3", state="ended", reason="17 calls were not acknowledged"))
    running = collectors(said, f"read orders; {says(*listening, *heard)}; cat; {says(*ended)}")
    running.wait_until_listening()
    assert said == ["collectors listen on n2, n3, too"]
    assert running.end() == 1
    assert said[1:] == ["not seen, or not to the end: n3, 17 calls were not acknowledged"]
    assert [(row.program, row.times) for row in running.unseen] == [("busybox", 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("cat >/dev/null", "where no collector was started"),
        ("exit 1", "where no collector was started"),
        (
            says(StatusMessage(node="n2", state="listening")) + "; cat >/dev/null",
            "whose collector never reached this node",
        ),
        (says(StatusMessage(node="n2", state="heard")) + "; cat >/dev/null", "whose collector was gone"),
        (says(StatusMessage(node="n2", state="failed", reason="no room")), "no room"),
        ("echo '{\"node\": 1}'; echo nonsense; cat >/dev/null", "where no collector was started"),
        ("head -c 3000000 /dev/zero; cat >/dev/null", "where no collector was started"),
    ],
    ids=["silent", "gone", "unreached", "killed", "failed", "garbage", "no end of a line"],
)
def test_node_that_lacks_something_is_named(script: str, told: str) -> None:
    said: list[str] = []
    running = collectors(said, script, ("n2",))
    running.wait_until_listening(0.2)
    assert running.end() == 1
    assert said[-1] == f"not seen, or not to the end: n2, {told}"


@pytest.mark.slow
def test_launcher_that_does_not_end_is_ended() -> None:
    said: list[str] = []
    running = collectors(said, "trap '' HUP; sleep 600", ("n2",))
    running.wait_until_listening(0.1)
    assert running.end(0.1) == 1


def test_launcher_that_cannot_be_started_is_told() -> None:
    said: list[str] = []
    running = NodeCollectors(Launcher(("n2",), "127.0.0.1", (("/no/such",),), {}), ORDERS, said.append)
    running.wait_until_listening()
    assert running.end() == 1
    assert said[0] == "/no/such: No such file or directory"


def test_hosts_that_failed_or_have_no_command_are_not_waited_for() -> None:
    said: list[str] = []
    listens = f"{says(StatusMessage(node='n2', state='listening'))}; cat >/dev/null"
    commands = (("sh", "-c", listens), ("false",))
    running = NodeCollectors(Launcher(("n2", "n3", "n4"), "127.0.0.1", commands, {"PATH": "/bin"}), ORDERS, said.append)
    begun_s = time.monotonic()
    running.wait_until_listening(DEADLINE_S)
    assert time.monotonic() - begun_s < DEADLINE_S
    assert said[0] == "collectors listen on n2, too"
    assert said[1].startswith("no collector yet on n3, n4: ")
    assert running.end() == 3


def test_collector_that_comes_late_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    script = f"until test -e {tmp_path}/go; do sleep 0.05; done; "
    script += f"{says(StatusMessage(node='n2', state='listening'))}; cat >/dev/null"
    running = collectors(said, script, ("n2",))
    running.wait_until_listening(0.1)
    assert "no collector yet on n2: programs that start there before it are not recorded" in said
    (tmp_path / "go").touch()
    running.end()
    assert "the collector of n2 has started: earlier calls of programs there are missing" in said


@pytest.mark.slow
def test_invalid_message_is_no_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "iotide.cli.run.nodes.on_node"], input=b"hello\n", capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b'"state":"failed"' in done.stdout
