"""``iotide serve --workers``: one machine's member with a NATS server of its own."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import pytest
from iotide.daemon.cluster.own_nats import OwnNats
from iotide.events import ConfigError
from support.places import DATA
from support.servers.nats_servers import PROGRAM
from support.servers.served_process import Served
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S, wait_for

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="nats-server is not installed")
SAMPLE = DATA / "tmio-8ranks.jsonl"


def server_pid(folder: Path) -> int:
    """Return the process of the NATS server, from the name of its file of ports."""
    (ports,) = (folder / "nats").glob("*.ports")
    return int(ports.stem.rpartition("_")[2])


@pytest.mark.slow
def test_killed_member_takes_its_server_along_and_the_next_one_has_its_jobs(tmp_path: Path) -> None:
    member = Served(tmp_path, "--workers", "1")
    try:
        member.start()
        total = 0
        for _ in range(3):
            done = iotide("collect", "--replay", "--connect", member.endpoint, "--job", "j", SAMPLE, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            before, total = total, member.written()
            assert total > before
            server = os.pidfd_open(server_pid(member.state))
            member.kill()
            try:
                assert select.select([server], [], [], DEADLINE_S)[0], "the server runs on"
            finally:
                os.close(server)
            member.start()
            wait_for(lambda: member.written() == total, what="the jobs")  # noqa: B023
        assert member.end(signal.SIGTERM) == 0
    finally:
        member.kill()


async def test_second_server_of_a_store_waits_for_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = OwnNats(tmp_path / "nats"), OwnNats(tmp_path / "nats")
    await first.start()
    with monkeypatch.context() as at_once:
        at_once.setattr("iotide.daemon.cluster.own_nats._START_S", 0.0)
        with pytest.raises(ConfigError, match="another NATS server uses"):
            await second.start()
    await first.stop()
    await second.start()
    assert json.loads(next((tmp_path / "nats").glob("*.ports")).read_text())["nats"] == [second.url]
    await second.stop()
