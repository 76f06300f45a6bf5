"""``iotide doctor`` tests the real functions."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.cli.doctor import aggregator_checks
from iotide.cli.doctor.aggregator_checks import problems_of
from iotide.cli.doctor.checks import extra
from iotide.cli.doctor.cluster_checks import clock_problem
from iotide.daemon.jobs.accounting.job_ledger import ledger_of
from iotide.daemon.jobs.job_summary import summary_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import StreamInfo
from iotide.events.losses import TAKEN_ELSEWHERE
from iotide.results.jobs.job import JobList
from support.places import DATA
from support.servers.served_process import served
from support.system.commands import iotide, plain_environment
from support.system.small_file_systems import fill, small_room
from support.tracing.programs import need, need_library


def test_healthy_machine_is_found_healthy(tmp_path: Path) -> None:
    done = iotide("doctor", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["healthy"]
    assert {check["name"] for check in report["checks"] if check["necessary"]} >= {"tracer library", "live tracing"}


def test_missing_tracer_is_found_with_its_remedy(tmp_path: Path) -> None:
    done = iotide(
        "doctor", cwd=tmp_path, env=plain_environment(IOTIDE_TRACER=str(tmp_path / "absent.so"), COLUMNS="300")
    )
    assert done.returncode == 1
    assert "FAIL" in done.stdout
    assert "with a C compiler" in done.stdout


def test_full_temporary_folder_is_not_taken_for_a_fault_of_the_tracer(tmp_path: Path) -> None:
    with small_room(tmp_path / ("too-long-for-sockets" * 5), 8192) as folder:
        done = iotide("doctor", "--json", cwd=tmp_path, env=plain_environment(TMPDIR=str(folder)))
    (check,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "live tracing"]
    assert "bytes" in check["detail"]
    assert "could be written" in check["detail"]


DENY = """
import ctypes, os, sys
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(0x7FFF0000))
library.seccomp_rule_add(context, 0x00050001, library.seccomp_syscall_resolve_name(sys.argv[1].encode()), 0)
assert library.seccomp_load(context) == 0
os.execv(sys.executable, [sys.executable, "-m", "iotide", "doctor", "--json"])
"""
"""Program that runs the doctor where a system call fails with EPERM, as in containers."""


def test_container_that_forbids_a_call_is_not_taken_for_an_old_kernel(tmp_path: Path) -> None:
    need_library("libseccomp.so.2")
    command = [sys.executable, "-c", DENY, "pidfd_open"]
    done = subprocess.run(command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=False)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert "pidfd_open is not permitted" in checks["kernel"]["detail"]
    assert "seccomp profile" in checks["kernel"]["remedy"]


def test_extra_of_an_installation_without_pip_is_not_installed_by_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    assert extra("hdf5") == "it has no pip: install iotide's wheel with [hdf5] in an environment of its own"
    monkeypatch.delitem(sys.modules, "pip")
    assert extra("hdf5").startswith("pip install" if importlib.util.find_spec("pip") else "it has no pip")


def test_missing_extra_costs_a_feature_only(tmp_path: Path) -> None:
    done = iotide("doctor", cwd=tmp_path, env=plain_environment(PATH="/nonexistent", COLUMNS="300"))
    assert done.returncode == 0
    assert "strace is not on PATH" in done.stdout


def test_each_layer_that_can_be_tried_is_traced(tmp_path: Path) -> None:
    need("ncgen")
    need("ncmpidump")  # installed with the library
    checks = {check["name"]: check for check in json.loads(iotide("doctor", "--json", cwd=tmp_path).stdout)["checks"]}
    assert checks["layer libraries"]["works"]
    for layer in ("MPI-IO", "NetCDF", "PnetCDF"):
        assert checks[f"{layer} layer"]["works"], checks[f"{layer} layer"]


def test_layer_that_cannot_be_tried_costs_nothing_else(tmp_path: Path) -> None:
    done = iotide("doctor", "--json", cwd=tmp_path, env=plain_environment(PATH="/nonexistent"))
    (netcdf,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "NetCDF layer"]
    assert done.returncode == 0
    assert not netcdf["works"]
    assert "not tried" in netcdf["detail"]


def test_ledgers_of_a_running_aggregator_are_checked(tmp_path: Path) -> None:
    sample = DATA / "tmio-8ranks.jsonl"
    with served(tmp_path) as server:
        iotide("collect", "--replay", "--connect", server.endpoint, "--job", "a/b c", sample, cwd=tmp_path)
        done = iotide("doctor", "--aggregator", server.url, "--json", cwd=tmp_path)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        assert checks["ledgers"]["detail"] == "the accounts of 1 job add up"
        assert (done.returncode, set(checks)) == (0, {"aggregator", "status", "ledgers"})
    done = iotide("doctor", "--aggregator", server.url, cwd=tmp_path, env=plain_environment(COLUMNS="300"))
    assert done.returncode == 1
    assert "no answer" in done.stdout


@pytest.mark.parametrize(("made", "received"), [(7, 5), (5, 7)])
def test_account_that_does_not_add_up_is_told_with_the_hop(made: int, received: int) -> None:
    session = JobSession("j", AggregatorSettings(), 0.0)
    session.open_stream("s", StreamInfo(job="j", source="test"), 0.0)
    session.ledger.received("s", received, journalled=False)
    session.ledger.set_taken("s", made, ended=True)
    session.close_stream("s", 1.0)
    told = problems_of(ledger_of(session, archives=False))
    assert told[0].startswith(f"job j: collector to aggregator: {abs(made - received)} calls")
    assert any("aggregator to analyzers" in each for each in told)


@pytest.mark.parametrize("losses", [{}, {TAKEN_ELSEWHERE: 1}])
def test_missing_calls_are_a_fault_unless_a_loss_of_the_job_explains_them(
    losses: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = JobSession("j", AggregatorSettings(), 0.0)
    session.open_stream("s", StreamInfo(job="j", source="test"), 0.0)
    session.ledger.set_taken("s", 7, ended=True)
    session.close_stream("s", 1.0)
    session.losses.update_stream("s", losses)
    ledger = ledger_of(session, archives=False)
    jobs = JobList(jobs=[summary_of(session, 0.0)])
    monkeypatch.setattr(aggregator_checks, "fetch_for_all_jobs", lambda address, path, model, **query: jobs)
    monkeypatch.setattr(aggregator_checks, "status_findings", lambda address: [])
    monkeypatch.setattr(aggregator_checks, "fetch", lambda address, path, model: ledger)
    finding = aggregator_checks.aggregator_findings("http://x")[-1]
    assert (finding.name, finding.necessary) == (("losses", False) if losses else ("ledgers", True))
    assert "7 calls" in finding.detail


def cluster_checks(tmp_path: Path, *options: str) -> tuple[int, dict[str, dict[str, object]]]:
    done = iotide("doctor", "--cluster", "--json", *options, cwd=tmp_path)
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_program_is_followed_through_a_running_installation(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        status, checks = cluster_checks(tmp_path, "--aggregator", server.url, "--connect", server.endpoint)
    necessary = [check for check in checks.values() if check["necessary"]]
    assert [check["detail"] for check in necessary if not check["works"]] == []
    assert (status, len(necessary), checks["clock"]["works"]) == (0, 8, True)


def test_broken_parts_of_an_installation_are_named(tmp_path: Path) -> None:
    status, checks = cluster_checks(tmp_path, "--aggregator", "http://127.0.0.1:1")
    assert status == 1
    assert "no answer" in str(checks["aggregator"]["detail"])
    assert "iotide serve" in str(checks["aggregator"]["remedy"])
    assert "not tried" in str(checks["metrics"]["detail"])


def test_collectors_without_an_aggregator_are_named(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        elsewhere = f"ipc://{tmp_path}/nobody"
        status, checks = cluster_checks(tmp_path, "--aggregator", server.url, "--connect", elsewhere)
    assert status == 1
    assert "nothing listens" in str(checks["connection"]["detail"])
    assert "--connect must be" in str(checks["connection"]["remedy"])
    assert "not tried" in str(checks["tracing"]["detail"])


@pytest.mark.slow
def test_disk_of_the_aggregator_that_is_full_is_named(tmp_path: Path) -> None:
    with small_room(tmp_path / "room", 1 << 20) as room, served(room) as server:
        fill(room)
        status, checks = cluster_checks(tmp_path, "--aggregator", server.url, "--connect", server.endpoint)
    assert status == 1
    assert "No space left on device" in str(checks["everything acknowledged"]["detail"])
    assert "free or repair the disk" in str(checks["everything acknowledged"]["remedy"])


def test_clock_that_is_off_is_named_with_its_side() -> None:
    assert clock_problem({"n1": 0.2, "n2": 30.0}) == "n2 is 30.0 s ahead of the aggregator's clock"
    assert "behind" in clock_problem({"n1": -7200.0})
    assert not clock_problem({"n1": 0.5})
    assert not clock_problem({})
