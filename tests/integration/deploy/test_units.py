"""The systemd units: their restrictions suffice, and allow all functions."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import iotide
import pytest
from iotide.clients.job_fetch import fetch_for_all_jobs
from iotide.results.jobs.job import JobList
from support.places import PROGRAMS
from support.system.commands import IOTIDE, Program, plain_environment
from support.system.mounting import need_mounts
from support.system.users import need_root
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need, need_library

UNITS = Path(iotide.__file__).parent / "deploy/systemd"
AS_UNIT = PROGRAMS / "as_unit.py"
MOST = {"iotide.service": 2.5, "iotide-collect.service": 4.0, "iotide-node.service": 4.0}
"""Maximum exposure by `systemd-analyze security`, of 10; a user unit lacks options that need namespaces."""


@pytest.mark.parametrize("name", MOST)
def test_unit_exposes_little(name: str) -> None:
    told = subprocess.run(
        [need("systemd-analyze"), "security", "--offline=true", "--no-pager", UNITS / name],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"exposure level for \S+: ([\d.]+)", told.stdout)
    assert found is not None
    assert float(found[1]) <= MOST[name]


@pytest.mark.parametrize("name", MOST)
def test_unit_has_no_setting_that_systemd_does_not_know(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    copy.write_text(re.sub("^ExecStart=.*", "ExecStart=/bin/true", (UNITS / name).read_text(), flags=re.MULTILINE))
    told = subprocess.run([need("systemd-analyze"), "verify", copy], capture_output=True, text=True, check=False)
    assert "Unknown" not in told.stderr


@pytest.mark.parametrize("has_mounts", [False, pytest.param(True, marks=need_root)], ids=["calls", "mounts"])
def test_aggregator_and_collector_do_all_they_do_within_their_units(tmp_path: Path, has_mounts: bool) -> None:
    """A program is traced, journalled, archived, predicted and reported, and both end in order."""
    need("systemd-analyze")
    need_library("libseccomp.so.2")
    as_unit = [sys.executable, str(AS_UNIT)]
    if has_mounts:
        need_mounts()
    mounts = ["--writable", str(tmp_path)] if has_mounts else []
    serve = [*as_unit, str(UNITS / "iotide.service"), *mounts, *IOTIDE, "serve", "--state", str(tmp_path / "state")]
    serve += ["--ingest", "tcp://127.0.0.1:*", "--publish", "tcp://127.0.0.1:*", "--http", "127.0.0.1:0"]
    settings = tmp_path / "serve.toml"
    settings.write_text(f'[archive]\nfolder = "{tmp_path}/archives"\n[journal]\nsnapshot_s = 0.2\n')
    gate = tmp_path / "tracer.sock"
    collect = [*as_unit, str(UNITS / "iotide-collect.service"), *IOTIDE, "collect", "--socket", str(gate)]
    environment = plain_environment()
    with Program(
        [*serve, "--config", str(settings)], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        ((endpoint, url),) = re.findall(r"ingest (\S+), http (http://\S+),", server.stderr.readline())
        with Program(
            [*collect, "--connect", endpoint, "--job", "kept", "--ftio-listen", "tcp://127.0.0.1:*"],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        ) as collector:
            wait_for(gate.exists, what="the collector's socket")
            told = subprocess.run(
                [*IOTIDE, "collect", "--socket", str(gate), "--print-environment"],
                capture_output=True, text=True, check=True, env=environment,
            )  # fmt: skip
            traced = environment | dict(word.split("=", 1) for word in told.stdout.split())
            subprocess.run(["dd", "if=/dev/zero", f"of={tmp_path}/data", "bs=64k", "count=200"], env=traced, check=True)

            def of_job() -> bool:
                jobs = fetch_for_all_jobs(url, "jobs", JobList).jobs
                return any(job.bytes_written >= 200 * 65_536 for job in jobs)

            wait_for(of_job, what="all bytes in the job")
            collector.send_signal(signal.SIGTERM)
            _, said = collector.communicate(timeout=DEADLINE_S)
            assert collector.returncode == 0
            assert re.fullmatch(r"iotide: ftio \S+\n", said)
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=DEADLINE_S)
        assert (server.returncode, said) == (0, "")
    (archive,) = (tmp_path / "archives").glob("*.iotide")
    info = subprocess.run(
        [*IOTIDE, "archive", "info", "--json", str(archive)], capture_output=True, text=True, check=True
    )
    assert json.loads(info.stdout)
    assert (tmp_path / "state" / "jobs.state").exists()
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_mode & 0o077 and "state" in path.parts
    ]
