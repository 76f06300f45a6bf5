"""`iotide run` with hosts of a real mpirun. The other host is a network namespace, and its ssh a script."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.archive.file.reader import ArchiveReader
from iotide.results.jobs.run import RunSummary
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

OTHER = "other-host"
BLOCKS = 100
BLOCK_BYTES = 4096
WRITER = f"""
[ $OMPI_COMM_WORLD_RANK$PMI_RANK = 1 ] || read -r _
dd if=/dev/zero of=out.$OMPI_COMM_WORLD_RANK$PMI_RANK bs={BLOCK_BYTES} count={BLOCKS} status=none
"""
"""Rank 0 awaits the end of its input: SIGPIPE kills MPICH's mpirun that passes it on after the rank has ended."""
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done # hydra passes -x as to ssh
shift
{refusal}
exec nsenter -t {holder} -n -u -m env -i PATH=/usr/bin:/bin HOME=/ sh -c "$*"
"""
REFUSAL = 'case "$*" in *on_node*) echo "no such program" >&2; exit 127 ;; esac'


@dataclass(frozen=True)
class Host:
    """Another host: its address, ours in the same network, a folder of each host at the same path, and its process."""

    address: str
    own_address: str
    folder: Path
    holder: int

    def agent(self, path: Path, refusal: str = "") -> Path:
        """Write a program that starts commands there as ssh does."""
        path.write_text(AGENT.format(holder=self.holder, refusal=refusal))
        path.chmod(0o755)
        return path


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    ip, unshare = need("ip"), need("unshare")
    need("nsenter")
    number = os.getpid()
    network = f"198.18.{number % 256}.{number // 256 % 64 * 4}"  # of a range for tests of networks (RFC 2544)
    own, other = (network[: network.rindex(".") + 1] + str(int(network.rpartition(".")[2]) + i) for i in (1, 2))
    with tempfile.TemporaryDirectory(prefix="hosts-", dir="/tmp") as name:
        here, there = Path(name, "files"), Path(name, "other")
        here.mkdir()
        there.mkdir()
        inside = f"mount --bind {there} {here} && hostname {OTHER} && echo ready && exec cat"
        holder = subprocess.Popen(
            [unshare, "--net", "--uts", "--mount", "sh", "-c", inside],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            try:
                link = f"iot{number}"
                peer = ["peer", "name", "eth0", "netns", str(holder.pid)]
                enter = [need("nsenter"), "-t", str(holder.pid), "-n", ip]
                if (
                    holder.stdout.readline() != b"ready\n"
                    or subprocess.run(
                        [ip, "link", "add", link, "type", "veth", *peer], capture_output=True, check=False
                    ).returncode
                ):
                    pytest.skip("this machine allows no network namespaces")
                for words in (
                    [ip, "addr", "add", f"{own}/30", "dev", link],
                    [ip, "link", "set", link, "up"],
                    [*enter, "addr", "add", f"{other}/30", "dev", "eth0"],
                    [*enter, "link", "set", "eth0", "up"],
                    [*enter, "link", "set", "lo", "up"],
                ):
                    subprocess.run(words, check=True, capture_output=True)
                yield Host(other, own, here, holder.pid)
            finally:
                holder.stdin.close()  # ends it, and with it the namespaces and the link


def run(host: Host, folder: Path, *command: str, **environment: str) -> tuple[str, RunSummary]:
    """Return the messages and the summary of a run."""
    ours = [sys.executable, "-m", "iotide", "run", "-o", "report", "--"]
    done = subprocess.run(
        [*ours, *command, "sh", "-c", WRITER],
        cwd=folder,
        env=plain_environment() | {"TMPDIR": str(host.folder)} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert (folder / "report/summary.json").exists(), done.stderr
    return done.stderr, RunSummary.model_validate_json((folder / "report/summary.json").read_text())


def launcher(kind: str, host: Host, agent: Path) -> list[str]:
    hosts = f"{socket.gethostname()},{host.address}"
    if kind == "openmpi":
        options = ["--mca", "plm_rsh_agent", str(agent), "--mca", "oob_tcp_if_include", f"{host.own_address}/30"]
        return [need("mpirun.openmpi"), *options, "--host", hosts, "-n", "2"]
    return [
        need("mpirun.mpich"),
        "-localhost",
        host.own_address,
        "-launcher-exec",
        str(agent),
        "-hosts",
        hosts,
        "-n",
        "2",
    ]


def processes_of(summary: RunSummary) -> int:
    """Return the number of traced processes."""
    assert summary.archive is not None
    with Path(summary.archive).open("rb") as file:
        return len(ArchiveReader(file, "archive").streams)


def bytes_written(summary: RunSummary, folder: Path) -> list[int]:
    found = {row.path: row.bytes_written for row in summary.job.files}
    return [found.get(str(folder / f"out.{rank}"), 0) for rank in (0, 1)]


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_ranks_on_another_host_are_seen_to_the_last_byte(host: Host, tmp_path: Path, kind: str) -> None:
    said, summary = run(host, tmp_path, *launcher(kind, host, host.agent(tmp_path / "agent")))
    assert f"collectors listen on {host.address}, too" in said
    losses = {reason: count for reason, count in summary.job.losses.items() if "reentrant" not in reason}
    assert (summary.exit_status, losses) == (0, {}), said
    # mpirun's handler of SIGCHLD may interrupt a recorded call: it writes a byte for each child that has ended
    interrupted = [summary.job.losses.get(f"{unit}_dropped:reentrant", 0) for unit in ("events", "bytes")]
    assert max(interrupted) < processes_of(summary), said
    assert bytes_written(summary, tmp_path) == [BLOCKS * BLOCK_BYTES] * 2
    assert summary.job.hosts == sorted([socket.gethostname(), OTHER])
    wait_for(lambda: not list(host.folder.with_name("other").iterdir()), what="the end of the collector's folder")


def test_host_without_a_collector_is_missing_in_the_summary(host: Host, tmp_path: Path) -> None:
    agent = host.agent(tmp_path / "agent", REFUSAL)
    said, summary = run(host, tmp_path, *launcher("openmpi", host, agent))
    assert "nodes: no such program" in said
    assert f"not seen, or not to the end: {host.address}, where no collector was started" in said
    assert summary.exit_status == 0
    assert summary.job.losses["nodes_unseen"] == 1
    assert not summary.job.complete
    assert bytes_written(summary, tmp_path) == [BLOCKS * BLOCK_BYTES, 0]
