"""The demonstration: a cluster, its monitoring, and three jobs that collide."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from ...collectors.tracer.preload_environment import tracer_path
from ...events import IotideError, UnavailableError
from .processes import clean_environment, program, run_process, wait_for
from .small_slurm import Slurm, install_scripts, small_slurm

CAPACITY: Final = 2e7
_UP_S: Final = 60.0
_SEEN_S: Final = 300.0
_JOBS: Final = {"climate": 1, "plasma": 1, "melt": 2}
"""Name -> number of nodes."""
_COLLISIONS: Final = ("IotideCollisionAhead", "IotideJobSlowedDown")
_WRITER: Final = """
import os, sys, time
start, path = float(sys.argv[1]), sys.argv[2] + os.environ["SLURM_PROCID"]
data = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
while True:
    for step in range(6):
        os.pwrite(data, bytes(2000000), step * 2000000)
        time.sleep(0.1)
    time.sleep(-(time.time() - start) % 2)
"""
"""A checkpoint of 12 MB in 0.6 s of every 2 s. Together they need several times the configured capacity."""
_STEP_S: Final = 1.0
"""Periods below this are those of the steps of a checkpoint, s."""
_SERVE: Final = """ingest = "tcp://127.0.0.1:0"
http = "127.0.0.1:0"
publish = "tcp://127.0.0.1:0"
state = "{state}"
[notify]
alertmanagers = ["http://{alertmanager}"]
[contention]
interval_s = 1.0
[contention.capacity]
scratch = {capacity}
[analyzers.filesystems.names]
"{files}" = "scratch"
"""
_SCRAPES: Final = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs: [{{job_name: iotide, static_configs: [{{targets: ["{target}"]}}]}}]
"""


def main() -> int:
    """Run it and return the exit status.

    It is 0, or 1 if a part did not start or an expected event was not observed.
    """
    begun_s = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the started programs, too
    try:
        with tempfile.TemporaryDirectory(prefix="iotide-cluster-", ignore_cleanup_errors=True) as name:
            _show(Path(name), begun_s)
    except IotideError as error:
        click.echo(f"demo-cluster: {error}", err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _show(folder: Path, begun_s: float) -> None:
    tracer_path()  # without it, jobs would run untraced and nothing would be seen
    folder.chmod(0o755)  # users' jobs run below it
    files, slurm_folder = folder / "scratch", folder / "slurm"
    files.mkdir()
    slurm_folder.mkdir()
    with contextlib.ExitStack() as stack:
        alertmanager = stack.enter_context(_alertmanager(folder))
        ingest, http, publish = stack.enter_context(_aggregator(folder, files, alertmanager))
        prometheus = stack.enter_context(_prometheus(folder, alertmanager, http))
        lines = install_scripts(slurm_folder, slurm_folder / "node", ingest)
        slurm = stack.enter_context(
            small_slurm(slurm_folder, *lines, environment=clean_environment(), deadline_s=_UP_S)
        )
        jobs = _submit(slurm, files)
        _print("Slurm with two nodes, aggregator, Prometheus and Alertmanager run; three jobs begin", begun_s)
        checked = f"--aggregator http://{http} --connect {ingest} --prometheus http://{prometheus}"
        click.echo(f"""
  jobs          http://{http}/               iotide watch --connect {publish}
  contention    http://{http}/filesystems    iotide contention http://{http}
  Prometheus    {_alerts_page(prometheus)}
  Alertmanager  http://{alertmanager}/api/v2/alerts    amtool --alertmanager.url=http://{alertmanager} alert
  Slurm         SLURM_CONF={slurm_folder}/slurm.conf squeue
  check all     SLURM_CONF={slurm_folder}/slurm.conf iotide doctor --cluster {checked}
""")
        try:
            seen = wait_for(lambda: _predicted(http, jobs), "a period of each job", _SEEN_S)
        except UnavailableError as error:
            logged = "\n".join(log.read_text(encoding="utf-8").strip() for log in slurm_folder.glob("files.*/log"))
            raise UnavailableError(f"{error}; the logs of the nodes: {logged or 'empty'}") from None
        _print("each job is predicted", begun_s)
        for each in seen:
            period, nodes = each["period_s"]["value"], ", ".join(each["hosts"])
            click.echo(
                f"  {each['job']} {each['name']:8} on {nodes:14} period {period:.2f} s, {each['confidence']:.0%} sure"
            )
        names = wait_for(lambda: _alerts(alertmanager), "an alert of the collision", _SEEN_S)
        _print(f"Alertmanager was told: {', '.join(names)}", begun_s)
        subprocess.run([sys.executable, "-m", "iotide", "contention", f"http://{http}"], check=False)
        if sys.stdin.isatty():
            click.echo("\nEverything runs on until you press Enter.")
            sys.stdin.readline()
        slurm.output_of("scancel", *jobs)
        wait_for(lambda: not slurm.output_of("squeue", "-h").strip(), "the end of the jobs", _SEEN_S)
        wait_for(lambda: _acknowledged(http, jobs), "everything to be acknowledged", _SEEN_S)
        _print("the jobs are cancelled, and nothing of them was lost", begun_s)


@contextlib.contextmanager
def _alertmanager(folder: Path) -> Iterator[str]:
    (folder / "am.yml").write_text("route: {receiver: none}\nreceivers: [{name: none}]\n", encoding="utf-8")
    command = [program("prometheus-alertmanager"), f"--config.file={folder}/am.yml", f"--storage.path={folder}/am"]
    command += ["--web.listen-address=127.0.0.1:0", "--cluster.listen-address="]
    with run_process(command, log := folder / "am.log"):
        yield wait_for(lambda: _search_log(r'Listening on"? address=(127\S+)', log), "Alertmanager", _UP_S)[0]


@contextlib.contextmanager
def _prometheus(folder: Path, alertmanager: str, target: str) -> Iterator[str]:
    rules = folder / "rules.yml"
    with urllib.request.urlopen(f"http://{target}/rules.yml") as answer:
        rules.write_bytes(answer.read())
    made = _SCRAPES.format(rules=rules, alertmanager=alertmanager, target=target)
    (folder / "prometheus.yml").write_text(made, encoding="utf-8")
    command = [program("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with run_process([*command, "--web.listen-address=127.0.0.1:0"], log := folder / "prometheus.log"):
        yield wait_for(lambda: _search_log(r'Listening on"? address=(127\S+)', log), "Prometheus", _UP_S)[0]


@contextlib.contextmanager
def _aggregator(folder: Path, files: Path, alertmanager: str) -> Iterator[tuple[str, str, str]]:
    # Its own state: the user's default one has the jobs 1 to 3 of the last demonstration, and may be in use.
    state = folder / "state"
    made = _SERVE.format(state=state, alertmanager=alertmanager, capacity=CAPACITY, files=files)
    (folder / "serve.toml").write_text(made, encoding="utf-8")
    command = [sys.executable, "-m", "iotide", "serve", "--config", str(folder / "serve.toml")]
    with run_process(command, log := folder / "serve.log", clean_environment()):
        endpoints_pattern = r"ingest (tcp\S+), http http://(\S+), publish (tcp\S+)"
        ingest, http, publish = wait_for(lambda: _search_log(endpoints_pattern, log), "the aggregator", _UP_S)
        yield ingest, http, publish


def _search_log(pattern: str, log: Path) -> tuple[str, ...] | None:
    match = re.search(pattern, log.read_text(encoding="utf-8"))
    return None if match is None else match.groups()


def _submit(slurm: Slurm, files: Path) -> list[str]:
    """Submit the jobs; return their ids."""
    (files / "writer.py").write_text(_WRITER, encoding="utf-8")
    begin = int(time.time())
    jobs = []
    for name, nodes in _JOBS.items():
        wrapped = f"exec srun {sys.executable} {files}/writer.py {begin} {files}/{name}."
        options = ["-J", name, f"-N{nodes}", "--time=10", f"--output={files}/{name}.out", "--comment=iotide"]
        jobs.append(slurm.output_of("sbatch", "--parsable", *options, "--wrap", wrapped).strip())
    return jobs


def _predicted(http: str, jobs: list[str]) -> list[dict[str, Any]] | None:
    """Return the predictions once each has the period of the checkpoints; a first one may be that of their steps."""
    found = [_answer(f"http://{http}/api/v1/jobs/{job}/prediction") for job in jobs]
    periods = [each["period_s"] for each in found if each is not None]
    known = [period for period in periods if period is not None and period["value"] > _STEP_S]
    return found if len(known) == len(jobs) else None


def _alerts(alertmanager: str) -> list[str]:
    found = _answer(f"http://{alertmanager}/api/v2/alerts?active=true") or []
    names = sorted({each["labels"]["alertname"] for each in found})
    return names if any(name in _COLLISIONS for name in names) else []


def _alerts_page(prometheus: str) -> str:
    """Return the address of Prometheus' alerts page; Debian has the classic pages."""
    pages = [f"http://{prometheus}/alerts", f"http://{prometheus}/classic/alerts"]
    for page in pages:
        with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(page):  # noqa: S310  (ours)
            return page
    return pages[0]


def _acknowledged(http: str, jobs: list[str]) -> bool:
    found = [_answer(f"http://{http}/api/v1/jobs/{job}") for job in jobs]
    return all(each is not None and not each["streams"] and each["complete"] for each in found)


def _answer(url: str) -> Any:
    with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(url) as answer:  # noqa: S310  (ours)
        return json.loads(answer.read())
    return None


def _print(text: str, begun_s: float) -> None:
    click.echo(f"{time.monotonic() - begun_s:5.1f} s  {text}")


if __name__ == "__main__":
    sys.exit(main())
